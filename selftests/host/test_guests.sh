#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Description: if the emulator has lost a guest, another one runs the remaining tests; if a guest
# has failed, none does. A step's line has its CPU time.

set -u
. "$(dirname "$(realpath "$0")")/lib.sh"
make_folder
logs=$T
. "$top/selftests/suite/steps.sh"
. "$top/selftests/suite/guests.sh"
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

# The CPU time of a step is that of its children, too.
cpu_time()
{
	step "waits" sleep 1 | grep ', CPU 0 s)$' &&
	step "works" sh -c "perl -e 'while ((times)[0] < 1.2) {}'; true" | grep ', CPU [1-9] s)$'
}

check "all that a guest runs is counted" healthy
check "a guest that the emulator loses goes on with the tests that have not run" goes_on
check "... but not for ever" gives_up
check "a guest is not started again if its kernel has reported a bug" fails
check "a step that waits has no CPU time, one that works has" cpu_time
finish
