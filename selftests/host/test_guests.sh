#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Description: if the emulator has lost a guest, another one runs the remaining tests; if a guest
# has failed, none does. Programs that did not run or end have failed, by name; those that failed
# run once more, alone, unless the kernel has reported a bug. A program has to leave the gate when
# it has failed and then passed alone three times. A step's line has its CPU time.

set -u
. "$(dirname "$(realpath "$0")")/lib.sh"
make_folder
logs=$T
. "$top/selftests/suite/steps.sh"
. "$top/selftests/suite/guests.sh"
. "$top/selftests/suite/programs.sh"
export T

# A fake guest with three programs. The second one fails if $T/console exists, which then is on
# the console.
cat > "$T/vm" <<'END'
#!/bin/bash
for test in test_one test_two.sh fuzz_three; do
	[[ " $SCHEDTAPE_RAN " != *" $test "* ]] || continue
	echo "# $test"
	echo "$test" >> "$T/begun"
	if [ $test = test_two.sh ] && [ -e "$T/console" ]; then
		cp "$T/console" "$4"
		[ -n "${ALWAYS-}" ] || rm "$T/console"
		echo "not ok 1 half of it"
		exit 125
	fi
	echo "ok 1 $test"
done
END
chmod +x "$T/vm"

# guest_with LINE: prints which programs began, and their results, with LINE on the console
guest_with()
{
	rm -f "$T"/{begun,console}
	[ -z "$1" ] || echo "$1" > "$T/console"
	guest_step "a guest" "$T/vm" > "$T/told"
	tr '\n' ' ' < "$T/begun"
	grep -E '^(not )?ok' "$T/a-guest.log" | tr '\n' ' '
}

stuck='Oops: int3: 0000 [#1] PREEMPT SMP NOPTI'
all='ok 1 test_one ok 1 test_two.sh ok 1 fuzz_three '

healthy()
{
	same "$(guest_with '')" "test_one test_two.sh fuzz_three $all"
}

goes_on()
{
	same "$(guest_with "$stuck")" "test_one test_two.sh test_two.sh fuzz_three $all" &&
	grep '3 passed, 0 failed' "$T/told" && grep 'the emulator was stuck' "$T/told"
}

gives_up()
{
	export ALWAYS=1
	same "$(guest_with "$stuck")" \
		"test_one test_two.sh test_two.sh test_two.sh ok 1 test_one not ok 1 half of it " &&
	grep '1 passed, 1 failed' "$T/told"
}

fails()
{
	same "$(guest_with 'WARNING: CPU: 0 PID: 97 at kmod/session.c:120')" \
		"test_one test_two.sh ok 1 test_one not ok 1 half of it " &&
	grep '1 passed, 1 failed' "$T/told"
}

# A kernel's report is long, and begins with what matters.
reports()
{
	{ echo "vm: the guest's kernel reported:" && echo 'WARNING: the first line' && seq 100; } \
		> "$T/said"
	step "a kernel" sh -c "cat $T/said; exit 120" > "$T/told"
	grep 'WARNING: the first line' "$T/told" && grep 'WARNING: the first line' <<< "$failures"
}

# A fake guest that says, alone and before, what is in these files.
cat > "$T/says" <<'END'
#!/bin/bash
cat "$T/${SCHEDTAPE_ONLY-all}"
exit "$(cat "$T/${SCHEDTAPE_ONLY-all}.exit")"
END
chmod +x "$T/says"

# says FILE STATUS [PROGRAM RESULT]...: what a guest says; without RESULT the program does not end
says()
{
	local file=$1

	echo "$2" > "$T/$file.exit"
	shift 2
	while [ $# -gt 0 ]; do
		printf '# %s\n' "$1"
		[ -z "$2" ] || printf '%s\n# %s: 1 s, CPU 1 s\n' "$2" "$1"
		shift 2
	done > "$T/$file"
}

# told_of [OPTION]: prints the line of a step with that guest, and of the summary
told_of()
{
	unstable='' failures=''
	rm -f "$logs"/*.{status,command}
	guest_later "a guest" "$T/says" "$@"
	repeat_failed
	{
		tell
		summary
	} > "$T/told"
	sed -n 's/^a guest *\(.* skipped\).*/\1/p' "$T/told"
}

plan()
{
	sed -i "1i # plan: $*" "$T/all"
}

did_not_run()
{
	says all 124 test_one 'ok 1 a' test_two.sh ''
	plan test_one test_two.sh test_c test_d
	says test_two.sh 1 test_two.sh 'not ok 1 b'
	says test_c 1 test_c 'not ok 1 c'
	says test_d 1 test_d 'not ok 1 d'
	same "$(told_of)" "1 passed, 3 failed, 0 skipped" &&
	same "$(grep '^not ok' "$T/told" | sort)" "not ok test_c: did not run
not ok test_d: did not run
not ok test_two.sh: did not end"
}

passes_alone()
{
	says all 1 test_one 'ok 1 a' test_two.sh "not ok 1 b" test_c 'ok 1 c'
	plan test_one test_two.sh test_c
	says test_two.sh 0 test_two.sh 'ok 1 b'
	same "$(told_of)" "3 passed, 0 failed, 0 skipped" &&
	same "$(grep '^unstable' "$T/told")" \
		"unstable: a guest: test_two.sh: not ok 1 b; it passed alone"
}

fails_alone()
{
	says test_two.sh 1 test_two.sh 'not ok 1 b'
	says all 1 test_one 'ok 1 a' test_two.sh "not ok 1 b"
	same "$(told_of)" "1 passed, 1 failed, 0 skipped" &&
	grep 'test_two.sh failed alone as well' "$T/told" && ! grep '^unstable' "$T/told"
}

counted()
{
	says test_two.sh 0 test_two.sh 'ok 1 b'
	says all 1 test_one 'ok 1 a' test_two.sh "not ok 1 b"
	same "$(told_of --icount)" "1 passed, 1 failed, 0 skipped" &&
	same "$(told_of)" "2 passed, 0 failed, 0 skipped"
}

step_did_not_run()
{
	rm -f "$logs"/*.{log,status}
	: > "$logs/begun.log"
	untold=(begun later)
	tell > "$T/told"
	same "$(grep '^    not ok' "$T/told")" "    not ok begun: did not end
    not ok later: did not run"
}

# One more try of a program whose kernel had a bug would hide that.
reported()
{
	says test_two.sh 0 test_two.sh 'ok 1 b'
	says all 1 test_one 'ok 1 a' test_two.sh "# $1"$'\n'"not ok test_two.sh: the kernel's log"
	told_of
}

bug()
{
	same "$(reported 'BUG: KASAN: slab-out-of-bounds in stape_ring')" \
		"1 passed, 1 failed, 0 skipped" &&
	same "$(reported 'watchdog: BUG: soft lockup - CPU#0 stuck for 26s!')" \
		"2 passed, 0 failed, 0 skipped"
}

many()
{
	local i results=()

	for i in a b c d e f g; do
		says "test_$i" 0 "test_$i" 'ok 1 x'
		results+=("test_$i" 'not ok 1 x')
	done
	says all 1 "${results[@]}"
	same "$(told_of)" "0 passed, 7 failed, 0 skipped" &&
	says all 1 "${results[@]:2}" && same "$(told_of)" "6 passed, 0 failed, 0 skipped"
}

third_time()
{
	local i unstable_programs=$T/unstable

	for i in 1 2; do
		echo "2026-11-0$i 7d2cd7f guest 6.12 two CPUs: test_unload: not ok 3 x: y" >> "$T/unstable"
	done
	echo "2026-11-03 7d2cd7f guest 6.12 two CPUs: test_hotplug: not ok 1 x" >> "$T/unstable"
	check_table || return
	echo "2026-11-04 7d2cd7f guest 6.12 two CPUs: test_unload: not ok 3 z" >> "$T/unstable"
	! check_table && same "$(often_unstable)" test_unload
}

# The CPU time of a step is that of its children, too.
cpu_time()
{
	step "waits" sleep 1 | grep ', CPU 0 s)$' &&
	step "works" sh -c "perl -e 'while ((times)[0] < 1.2) {}'; true" | grep ', CPU [1-9] s)$'
}

check "all that a guest runs is counted" healthy
check "the beginning of a kernel's report is printed" reports
check "a program that did not run, or not to its end, is a failure by name" did_not_run
check "a program that passes alone has passed, and is named" passes_alone
check "... and one that fails alone has failed" fails_alone
check "... but not if the guest counts instructions" counted
check "a step that did not run, or not to its end, is a failure by name" step_did_not_run
check "a program does not run again if its kernel has reported a bug; a stalled CPU is none" bug
check "... nor if more than six have failed" many
check "a program that failed and then passed alone three times has to leave the gate" third_time
check "a guest that the emulator loses goes on with the tests that have not run" goes_on
check "... but not for ever" gives_up
check "a guest is not started again if its kernel has reported a bug" fails
check "a step that waits has no CPU time, one that works has" cpu_time
finish
