#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Description: a replay that cannot go on ends nevertheless, and reports why: no player makes
# wake-ups, a player dies before it joins, or a player may not fork or has no memory left.

set -u
here=$(dirname "$(realpath "$0")")
. "${here%/cli/replay}/lib/commands.sh"

# Receivers wait for senders, and their parent waits for all of them.
schedtape record -q -o storm.tape -- storm 1 20 2 > log 2>&1
report $? "tasks that wake each other are recorded"
schedtape replay -q storm.tape > log 2>&1
report $? "and replayed"

# Tests that the log names 16 waiting tasks, and the waker of each in the recording.
names_waiters()
{
	schedtape report --json storm.tape > tape.json 2>> log
	/usr/bin/python3 - 2> errors << 'END'
import json, re
report = json.load(open("tape.json"))
pids = {t["index"]: str(t["pid"]) for t in report["tasks"]}
first = [str(t["pid"]) for t in report["tasks"] if t["parent_index"] is None]
edges = {(pids[e["waker_index"]], pids[e["wakee_index"]]) for e in report["edges"]}
waiters = []
for line in open("log"):
	match = re.fullmatch(r"schedtape replay: deadlock: \S+:(\d+) \(PID (\d+)\) "
			     r"waits for \S+:(\d+)\n", line)
	assert match and (match[3], match[1]) in edges, line
	# A player's PID differs from its task's.
	assert match[2] not in pids.values(), line
	waiters.append(match[1])
# There are more lines.
assert first[0] in waiters and len(set(waiters)) == len(waiters) == 16, waiters
END
}

if [ -e "$preloads/forget_wakes.so" ]; then
	LD_PRELOAD=$preloads/forget_wakes.so schedtape replay storm.tape > out 2> log
	[ $? = 1 ] && [ ! -s out ]
	report $? "replay ends with status 1 if its players do not wake each other"
	names_waiters
	status=$?
	cat errors >> log
	report $status "a message names 16 waiting tasks, and the waker of each in the recording"
	! running storm > log
	report $? "no player is left"
else
	skip "forget_wakes.so is only in a checkout"
fi

# Two processes without parents on the tape. One waits for the start, the other one never gets there.
cp "$(command -v periodic)" other
PATH=$dir:$PATH
periodic 20 3 1000000 > out &
other 20 3 1000000 > out &
workers=$(jobs -p | paste -sd,)
eventually running periodic > log && eventually running other > log
schedtape record -q -o two.tape -p "$workers" -- sleep 0.3 > log 2>&1
report $? "two processes are recorded"
pkill -x 'periodic|other'
wait 2> log
dead='a player \(PID [0-9]+\) died as other:[0-9]+: Killed$'
for options in --engine=module --engine=user --cgroups; do
	expect 1 "$dead" env LD_PRELOAD="$preloads/die_early.so" DIE_AS=other DIE_OF=9 \
		schedtape replay -q "$options" two.tape
	! running periodic other > log
	report $? "$options: no player is left"
done

finish_early()
{
	timeout 45 env LD_PRELOAD="$preloads/die_early.so" DIE_AS=other DIE_OF=0 \
		schedtape replay -q --engine=user --only other two.tape
}

# Only the guard is left, and the controller does not wait a minute for it.
expect 1 'only 0 of [0-9]+ players were ready' finish_early

# A process that was there before its recording, forks, and then has more threads than its first
# stacks are for.
cat > grows << 'END'
#!/usr/bin/python3 -IS
import os, threading, time
while not os.path.exists("go"):
	time.sleep(0.1)
if not os.fork():
	os._exit(0)
os.wait()
all_there = threading.Barrier(80)
for _ in range(80):
	threading.Thread(target=all_there.wait).start()
END
chmod 755 grows
./grows &
grows=$!
eventually running grows > log
schedtape record -q -o grows.tape -p $grows -- \
	sh -c "touch go; while kill -0 $grows; do sleep 0.1; done" > log 2>&1
on_tape grows.tape "len([t for t in d['tasks'] if t['comm'] == 'grows']) == 82" \
	"a process with a child and 80 threads is recorded"

# limited LIMIT OPTION
limited()
{
	env LD_PRELOAD="$preloads/limit_players.so" LIMIT_AS=grows "$1" \
		schedtape replay -q "$2" grows.tape
}

# ends_by PATTERN LIMIT OPTION
ends_by()
{
	expect 1 "$1" limited "$2" "$3"
	! running grows sh > log
	report $? "$3, $2: no player is left"
}

schedtape replay -q grows.tape > log 2>&1
report $? "it is replayed"
# A limit of processes, seccomp, the same with a signal, and a limit of memory.
ends_by 'player of grows:[0-9]+: fork: Resource temporarily unavailable' LIMIT_TO=11 --engine=module
ends_by 'player of grows:[0-9]+: fork: Operation not permitted' LIMIT_TO=1 --engine=user
ends_by 'a player \(PID [0-9]+\) died as grows:[0-9]+: Bad system call' LIMIT_TO=0 --engine=module
ends_by 'player of grows:[0-9]+: fork: Cannot allocate memory' LIMIT_KIB=2000 --engine=module

finish
