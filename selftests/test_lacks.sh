#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Description: what this kernel lacks is named when the module is loaded and in "schedtape
# status", once each; all else works. "check" has a guest without high-resolution timers.

set -u
. "$(dirname "$(realpath "$0")")/lib/commands.sh"
resolution=$(awk '/\.resolution:/ { print $2; exit }' /proc/timer_list)
timers="high-resolution timers: a replay's waits end up to $((resolution / 1000)) us late"

# said FILE: how many lines of it name what is lacking
said()
{
	grep -cE "this kernel lacks|^missing  " "$1"
}

dmesg | grep 'schedtape: this kernel lacks' > log.txt
schedtape status > status.txt 2> log
schedtape status --json > status.json 2> log
if [ "$resolution" = 1 ]; then
	[ "$(said log.txt)" = 0 ] && [ "$(said status.txt)" = 0 ]
	report $? "this kernel lacks nothing, and nothing is said"
else
	[ "$(said log.txt)" = 1 ] && grep -qF "this kernel lacks $timers" log.txt
	report $? "the kernel's log names it when the module is loaded"
	[ "$(said status.txt)" = 1 ] && grep -qF "$timers" status.txt
	report $? "status names it"
	like status.json "any('high-resolution timers' in line for line in d['missing'])"
	report $? "status --json names it"
fi
schedtape record -q -o t -- periodic 20 1 10 > out 2> log &&
	schedtape replay --record=again t > out 2>> log &&
	schedtape diff --json t again > diff.json 2>> log &&
	like diff.json 'd["verdict"]["same_graph"]'
report $? "a periodic task is recorded and replayed, with the same graph"

finish
