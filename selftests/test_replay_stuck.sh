#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Description: a replay in which nobody wakes anybody comes to its end all the same, and
# says who waits for whom.

set -u
. "$(dirname "$(realpath "$0")")/lib/commands.sh"

# Built in the checkout, or beside the tests.
forget=$build/selftests/preload/forget_wakes.so
[ -e "$forget" ] || forget=$here/forget_wakes.so

# Receivers wait for senders, and their parent for all of them.
schedtape record -q -o storm.tape -- storm 1 20 2 > log 2>&1
report $? "tasks that wake each other are recorded"
schedtape replay -q storm.tape > log 2>&1
report $? "and replayed"

LD_PRELOAD=$forget schedtape replay storm.tape > out 2> log
[ $? = 1 ] && [ ! -s out ]
report $? "whose players do not wake each other: status 1"
schedtape report --json storm.tape > tape.json 2>> log
/usr/bin/python3 - 2> errors << 'END'
import json, re
report = json.load(open("tape.json"))
pids = {t["index"]: str(t["pid"]) for t in report["tasks"]}
first = [str(t["pid"]) for t in report["tasks"] if t["parent"] is None]
edges = {(pids[e["waker"]], pids[e["wakee"]]) for e in report["edges"]}
waiters = []
for line in open("log"):
	match = re.fullmatch(r"schedtape replay: deadlock: \S+:(\d+) \(PID (\d+)\) "
			     r"waits for \S+:(\d+)\n", line)
	assert match and (match[3], match[1]) in edges, line
	# Players are others than the tasks.
	assert match[2] not in pids.values(), line
	waiters.append(match[1])
# There are more.
assert first[0] in waiters and len(set(waiters)) == len(waiters) == 16, waiters
END
status=$?
cat errors >> log
report $status "16 that wait are named, and who woke each in the recording"
! running storm > log
report $? "no player is left"

finish
