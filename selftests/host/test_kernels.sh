#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Description: check reports a kernel that is newer than the tested ones, with the reason, as a
# skipped result, and fails on it if KERNELS contains it. Nothing is built and no guest starts:
# make, qemu/fetch and qemu/vm are replaced. TESTS and KERNELS select what runs.

set -u
. "$(dirname "$(realpath "$0")")/lib.sh"
make_folder
logs=$T/logs
. "$top/selftests/suite/steps.sh"
. "$top/selftests/suite/guests.sh"
. "$top/selftests/suite/chosen.sh"
unset KERNELS
newer=99.9
export T
mkdir -p "$T"/{bin,logs,qemu}

# A folder selftests for the functions; files in it select the failures.
cat > "$T/qemu/fetch" <<'END'
#!/bin/bash
case $1 in
newest) cat "$T/newest" ;;
offers) ! grep -qxF "$2" "$T/gone" ;;
esac
END
cat > "$T/qemu/vm" <<'END'
#!/bin/bash
echo "vm $*" >> "$T/calls"
echo "# test_one"
[ ! -e "$T/fails" ] || { echo "not ok 1 test_one"; exit 1; }
echo "ok 1 test_one"
END
cat > "$T/bin/make" <<'END'
#!/bin/bash
echo "make $*" >> "$T/calls"
[ ! -e "$T/broken" ] || { echo "kmod/probe.c: no such tracepoint"; exit 2; }
END
chmod +x "$T"/{qemu/*,bin/make}
PATH=$T/bin:$PATH
cd "$T" || exit

# with NEWEST [FILE...]: the archive offers NEWEST as its newest series, and FILEs exist
with()
{
	rm -f calls fails broken
	touch calls gone
	echo "$1" > newest
	[ $# = 1 ] || touch "${@:2}"
}

# outcome PASSED FAILED SKIPPED COMMAND...: tests the numbers of COMMAND's results
outcome()
{
	passed=0 failed=0 skipped=0
	step "a step" "${@:4}" | tee told
	grep -E "^a step +$1 passed, $2 failed, $3 skipped" told
}

unbuilt()
{
	with "$newer" broken && choose_kernels && same "$untried" "$newer" &&
	outcome 0 0 1 try_untried test_one &&
	grep -xF "    $newer is newer than what was tested, and the module does not build: see $logs/guest-$newer.log" told &&
	grep "no such tracepoint" "$logs/guest-$newer.log" && ! grep ^vm calls
}

tests_fail()
{
	with "$newer" fails && choose_kernels && same "$untried" "$newer" &&
	outcome 0 0 1 try_untried test_one &&
	grep -xF "    $newer is newer than what was tested, and tests fail: see $logs/guest-$newer.log" told &&
	grep "not ok 1 test_one" "$logs/guest-$newer.log"
}

passes()
{
	with "$newer" && choose_kernels && outcome 1 0 0 try_untried test_one test_two &&
	grep "^make .*KERNEL=$newer\$" calls &&
	grep "^vm .*--kernel $newer .*/$newer/schedtape.ko ./run test_one test_two\$" calls
}

nothing_newer()
{
	with "$(tested_series | tail -n 1)" && choose_kernels && same "$untried" "" &&
	same "${kernels[*]}" "$(tested_series | xargs)"
}

# asked_for: KERNELS contains it, so that it is one of the tested kernels
asked_for()
{
	KERNELS=newest choose_kernels && same "${kernels[*]}" "$newer" && same "$untried" ""
}

asked_tests_fail()
{
	with "$newer" fails && asked_for && guest_step "a guest" qemu/vm > told
	grep -E "^a guest +0 passed, 1 failed, 0 skipped" told
}

gone()
{
	with "$newer" && tested_series | head -n 1 > gone && choose_kernels &&
	same "${missing[*]}" "$(tested_series | head -n 1)" &&
	same "${kernels[*]}" "$(tested_series | tail -n +2 | xargs)" &&
	outcome 0 0 1 leave_out "${missing[0]}" "is offered by no release of Debian any more" &&
	grep -x "    ${missing[0]} is offered .*" told
}

# die: qemu/lib.sh's, for a subshell
die()
{
	echo "$1"
	exit "${2-1}"
}

chosen()
{
	with "$newer" && rm -f gone && touch gone && choose_tests test_one test_two.sh test_here.sh &&
	KERNELS="6.1 6.12-rt" run_chosen > told &&
	same "$(grep -c ^vm calls)" 2 &&
	grep "^vm .*--kernel 6.1 .*/6.1/schedtape.ko ./run test_one test_two.sh\$" calls &&
	grep "^vm .*--kernel 6.12-rt .*/6.12-rt/schedtape.ko ./run test_one test_two.sh\$" calls &&
	grep "^make .*module KERNEL=6.12-rt\$" calls && grep -x here calls
}

chosen_here()
{
	with "$newer" && choose_tests test_here.sh && run_chosen > told
	grep -x here calls && ! grep -E '^(vm|make)' calls
}

unknown()
{
	(choose_tests test_one test_none) > told
	[ $? = 2 ] && grep "no test 'test_none'" told || return
	with "$newer" && echo 5.4 > gone && choose_tests test_one &&
		! (KERNELS=5.4 run_chosen) > told && grep 'no release .* 5.4$' told
}

# Tests for choose_tests.
mkdir -p module/record cli/record fuzz/module host
touch module/record/test_one.c cli/record/test_two.sh
cat > host/test_here.sh <<'END'
#!/bin/bash
echo here >> "$T/calls"
echo "ok 1 here"
END
chmod +x host/test_here.sh

echo "TAP version 13"
check "a newer kernel for which the module does not build is skipped, with its name" unbuilt
check "... one on which tests fail, too" tests_fail
check "... and one on which they pass is counted" passes
check "the newest tested kernel is not tried twice" nothing_newer
check "... and if tests fail" asked_tests_fail
check "a tested series that is not offered any more is skipped, with its name" gone
check "TESTS and KERNELS: these tests run on these kernels" chosen
check "... those of the host without a guest" chosen_here
check "... and unknown names are refused" unknown
finish
