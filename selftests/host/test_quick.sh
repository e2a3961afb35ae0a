#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Description: what "make quick" promises of a kernel that is a program of this machine: its reports
# and a hang are failures of the program that was running, and what it writes is lost. Kernels that
# are not built yet are skipped.

set -u
. "$(dirname "$(realpath "$0")")/lib.sh"
make_folder

# Programs for "run". It takes those of a build folder that has test_lifecycle.
mkdir -p "$T/selftests" "$T/planted"
cat > "$T/selftests/test_lifecycle" <<END
#!/bin/bash
echo > $T/lost
echo "1..1"
echo "ok 1 writes"
END
cat > "$T/selftests/test_planted" <<END
#!/bin/bash
insmod $T/planted/planted.ko bug=\$SCHEDTAPE_BUG && rmmod planted
echo "1..1"
echo "ok 1 commits a bug"
END
cat > "$T/selftests/test_hang" <<END
#!/bin/bash
sleep 1000
END
chmod +x "$T"/selftests/*

# guest KERNEL PROGRAM...: runs programs; prints the results and the status
guest()
{
	SCHEDTAPE_TIMEOUT=3 timeout -k 5 120 "$top/selftests/qemu/vm" --kernel "$1" --no-module \
		--timeout 60 -- "SCHEDTAPE_BUILD=$T $top/selftests/run ${*:2}" 2> "$T/stderr" |
		tee "$T/out" | grep -E '^(ok|not ok|[0-9]+ passed)'
	echo "status ${PIPESTATUS[0]}"
}

fine()
{
	same "$(guest "$1" test_lifecycle)" $'ok 1 writes\n1 passed, 0 failed, 0 skipped\nstatus 0' &&
	[ ! -e "$T/lost" ]
}

hangs()
{
	same "$(guest "$1" test_hang test_lifecycle | sed 's/[0-9]* results of/N results of/')" \
"not ok test_hang: took more than 3 s
not ok test_hang: N results of ?
ok 1 writes
1 passed, 2 failed, 0 skipped
status 1"
}

# planted KERNEL BUG REPORT
planted()
{
	ln -sf "$top"/selftests/planted/* "$T/planted/" &&
	"$top/selftests/qemu/build-module" "$1" "$T/planted" &&
	same "$(SCHEDTAPE_BUG=$2 guest "$1" test_planted test_lifecycle)" \
"ok 1 commits a bug
not ok test_planted: the kernel's log
ok 1 writes
2 passed, 1 failed, 0 skipped
status 120" &&
	grep -q "^# .*$3" "$T/out" && grep -q "$3" "$T/stderr"
}

# built KERNEL TEXT: tests whether the kernel is there
built()
{
	[ -e "$build/kernels/$1/key" ] && return
	skip "$2" "no kernel $1 is here, and to build one takes long"
	return 1
}

kernel=$(tested_series | tail -n 1)-uml
if built "$kernel" "a program in $kernel"; then
	check "a program passes in $kernel, and what it writes is lost" fine "$kernel"
	check "... one that hangs is ended" hangs "$kernel"
	check "... one during which the kernel warned has failed" planted "$kernel" warn \
		'WARNING: .*planted_warn'
fi
if built "$kernel-kasan" "a bug in $kernel-kasan"; then
	check "$kernel-kasan reports memory that is used after it was freed" planted "$kernel-kasan" \
		use_after_free 'BUG: KASAN: .*use-after-free'
fi
finish
