#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Description: replay --burn=work of tapes of slower and faster machines: this machine's tapes
# with another calibration.

set -u
here=$(dirname "$(realpath "$0")")
. "${here%/cli/replay}/lib/commands.sh"

exact=${SCHEDTAPE_EXACT:-}

schedtape record -q -o here.tape -- hog 50 > log 2>&1
schedtape info --json here.tape > info.json 2>> log &&
	like info.json '(lambda c: c["spins_per_ms"] >= 1 and c["spread"] >= 0)(
		d["meta"]["calibration"])'
report $? "a tape has the speed of its machine, and how much that varied"

# machine NAME FACTOR SPREAD: makes NAME.tape of a machine that is FACTOR times as fast
machine()
{
	/usr/bin/python3 "$here/lib/calibrate.py" here.tape "$1.tape" "$2" "$3" 2> log
	report $? "the tape of a machine that is $2 times as fast"
}

machine slow 0.1 0
machine fast 10 0
machine vague 1 7
machine none 0 0
schedtape info --json fast.tape > fast.json 2> log && like fast.json '(lambda c, here:
	abs(c["spins_per_ms"] / here["spins_per_ms"] - 10) < 0.001 and not c["spread"])(
	d["meta"]["calibration"], json.load(open("info.json"))["meta"]["calibration"])'
report $? "such a tape says so"

# ran TAPE: prints its CPU time, ns
ran()
{
	schedtape report --json "$1" 2> log | /usr/bin/python3 -c 'import json, sys
print(sum(t["cpu_time_ns"] for t in json.load(sys.stdin)["tasks"]))'
}

# replay NAME: with as much work as on its tape
replay()
{
	schedtape replay -q --burn=work --record "$1.replay" "$1.tape" > log 2>&1
	report $? "$1: replayed"
	if [ -n "$exact" ]; then
		[ ! -s log ]
		report $? "$1: without a warning"
	fi
}

replay slow
replay fast
truth=$(ran here.tape) slow=$(ran slow.replay) fast=$(ran fast.replay)
echo "$truth ns of CPU time, $slow of a slower machine, $fast of a faster one" > log
[ "$fast" -gt $((2 * truth)) ] && [ "$fast" -gt $((2 * slow)) ]
report $? "the work of a faster machine takes more CPU time"
if [ -n "$exact" ]; then
	[ $((100 * fast / truth)) -ge 980 ] && [ $((100 * fast / truth)) -le 1020 ]
	report $? "ten times as much"
	# Includes the cost of starting a program.
	[ $((1000 * slow / truth)) -ge 98 ] && [ $((1000 * slow / truth)) -le 105 ]
	report $? "and a tenth of a slower one"
fi

schedtape replay -q --burn=work vague.tape 2>&1 | tee log |
	grep -q 'warning: .*varied by 700 % when it was measured for the recording'
report $? "a warning says that the speed varied"
schedtape replay -q --burn=time none.tape > log 2>&1 && [ ! -s log ]
report $? "--burn=time does not ask for it"
expect 1 "does not say how fast its machine was" schedtape replay -q --burn=work none.tape

finish
