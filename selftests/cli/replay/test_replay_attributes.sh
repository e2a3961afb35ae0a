#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Description: players have the policy, nice value and affinity that their tasks had, at the same
# times.

set -u
here=$(dirname "$(realpath "$0")")
. "${here%/cli/replay}/lib/commands.sh"

# Each program has a name of its own.
for name in other nice batch idle fifo rr child changes first second mover; do
	ln -s "$(command -v periodic)" $name
done
cat > work << 'END'
#!/bin/sh
./other 20 1 10 > /dev/null &
nice -n 5 ./nice 20 1 10 > /dev/null &
chrt -b 0 ./batch 20 1 10 > /dev/null &
chrt -i 0 ./idle 20 1 10 > /dev/null &
chrt -f 7 ./fifo 20 1 10 > /dev/null &
chrt -r 8 ./rr 20 1 10 > /dev/null &
chrt -r 9 ./child 20 1 10 2 > /dev/null &
./changes 20 1 100000 > /dev/null &
sleep 0.2
renice -n 3 -p $! > /dev/null
sleep 0.1
chrt -f -p 4 $!
sleep 0.1
chrt -b -p 0 $!
sleep 0.1
kill $!
wait
END
chmod 755 work
schedtape record -q -o work.tape -- ./work > log 2>&1
report $? "tasks of all policies are recorded"

# attributes TAPE: prints the name of each task, and its attributes at its end, all of them at once
# because Python takes a second to start
attributes()
{
	schedtape report --json "$1" | /usr/bin/python3 -IS -c 'import json, sys
for t in json.load(sys.stdin)["tasks"]:
	print(t["comm"], t["policy"], t["nice"], t["rt_priority"])' | sort -u
}

# all TAPE TEXT
all()
{
	local line status=0

	attributes "$1" > log 2>&1
	for line in "other other 0 0" "nice other 5 0" "batch batch 0 0" "idle idle 0 0" \
		"fifo fifo 0 7" "rr rr 0 8" "child rr 0 9"; do
		[ "$(grep "^${line%% *} " log)" = "$line" ] || status=1
	done
	report $status "$2"
}

# none TAPE: all tasks but one have attributes in work.tape, and have none in this one
none()
{
	attributes "$1" > log 2>&1
	[ "$(grep -E '^(nice|batch|idle|fifo|rr|child|changes) ' log)" = "$(
		printf '%s other 0 0\n' batch changes child fifo idle nice rr)" ]
}

# history TAPE: prints the attributes of the task that changes them
history()
{
	schedtape script "$1" | sed -n \
		's/.* setprio: changes:[0-9]* \(.*\) prio=.*/\1/p' | uniq
}

all work.tape "each has its own"
history work.tape > tape.history
printf '%s\n' "other nice=3 rt_priority=0" "fifo nice=3 rt_priority=4" \
	"batch nice=3 rt_priority=0" | diff - tape.history > log
report $? "and one has one after the other"
schedtape replay -q --record work.replay work.tape > log 2>&1 && [ ! -s log ]
report $? "replayed, without a word"
all work.replay "each player has its task's"
history work.replay > replay.history
diff tape.history replay.history > log
report $? "and their changes"
schedtape replay -q --no-attributes --record plain.replay work.tape > log 2>&1 && none plain.replay
report $? "--no-attributes: all the same"
schedtape record -q -o user.tape -- schedtape replay -q --engine=user work.tape > log 2>&1
report $? "--engine=user: replayed"
all user.tape "--engine=user: the same"

# -- slices and utilization clamps -------------------------------------------------------

# One task has a slice and a child that inherits it, another one has clamps and loses its slice.
slice=20000000 clamp=512
wish 0 $slice -1 -1 true || slice=0
wish 0 0 $clamp -1 true || clamp=-1
cat > asks << END
#!/bin/sh
wish 0 $slice -1 -1 ./child 20 1 10 2 > /dev/null &
wish 3 $slice $clamp $clamp wish 3 0 -1 -1 ./second 20 1 10 > /dev/null &
wait
END
chmod 755 asks

# wishes TAPE: prints what the tasks have at their ends, and all changes
wishes()
{
	schedtape report --json "$1" | /usr/bin/python3 -IS -c 'import json, sys
for t in json.load(sys.stdin)["tasks"]:
	if t["comm"] in ("child", "second"):
		print(t["comm"], t["policy"], t.get("slice_ns", 0), t.get("clamp_min", -1),
			t.get("clamp_max", -1))' | sort -u
	schedtape script "$1" | sed -n 's/.* setprio: .* prio=120 *//p' | sort | uniq -c
}

if [ $slice = 0 ]; then
	skip "this kernel has neither slices of tasks nor utilization clamps"
else
	schedtape record -q -o asks.tape -- ./asks > log 2>&1
	wishes asks.tape > wishes.tape
	head -n 2 wishes.tape | diff - <(echo "child other $slice -1 -1"
		echo "second batch 0 $clamp $clamp") > log
	report $? "slices and utilization clamps are recorded"
	schedtape replay -q --record asks.replay asks.tape > log 2>&1 && [ ! -s log ] &&
		wishes asks.replay | diff wishes.tape - > log
	report $? "and replayed, with their changes"
	LD_PRELOAD=$preloads/no_wishes.so schedtape replay -q --record asks.replay asks.tape \
		> log 2>&1
	grep -q 'this kernel has no slices of tasks: 4 tasks that had them will play with' log &&
		{ [ $clamp = -1 ] || grep -q 'no utilization clamps: 1 task that had them' log; } &&
		wishes asks.replay | head -n 2 | diff - <(echo "child other 0 -1 -1"
			echo "second batch 0 -1 -1") > log
	report $? "where the kernel has neither, the players play without, and are counted"
fi

# -- affinities -----------------------------------------------------------------------

[ "$(nproc)" != 1 ] || skip_all "affinities: needs two CPUs"

# cpus TAPE NAME: prints the CPUs on which it ran
cpus()
{
	schedtape script "$1" | sed -n "s/.* \[\([0-9]*\)\] .* switch: .*==> $2:.*/\1/p" | sort -u
}

# ran_on TAPE FIRST SECOND: tests the CPUs of the two pinned tasks
ran_on()
{
	[ "$(cpus "$1" first)" = "00$2" ] && [ "$(cpus "$1" second)" = "00$3" ]
}

taskset -c 0 ./first 20 1 100000 > /dev/null &
pinned=($!)
taskset -c 1 ./second 20 1 100000 > /dev/null &
pinned+=($!)
sleep 0.5
schedtape record -q -o pinned.tape -p "${pinned[0]},${pinned[1]}" sleep 0.5 > log 2>&1
kill "${pinned[@]}"
wait "${pinned[@]}" 2> /dev/null
ran_on pinned.tape 0 1
report $? "tasks that are pinned are recorded"
schedtape replay -q --record pinned.replay pinned.tape > log 2>&1 && ran_on pinned.replay 0 1
report $? "players run where their tasks could"
schedtape replay -q --record pinned.replay --cpus 0:1,1:0 pinned.tape > log 2>&1 &&
	ran_on pinned.replay 1 0
report $? "--cpus 0:1,1:0: the other way round"
schedtape replay -q --record pinned.replay --cpus 0-1:1 pinned.tape > log 2>&1 &&
	ran_on pinned.replay 1 1
report $? "--cpus 0-1:1: both on one"

# A task that is pinned during the recording, moves, and forks.
cat > moves << 'END'
#!/bin/sh
taskset -c 0 ./first 20 1 10 2 > /dev/null &
./mover 20 1 100000 > /dev/null &
sleep 0.2
taskset -p -c 1 $! > /dev/null
sleep 0.3
taskset -p -c 0 $! > /dev/null
sleep 0.3
taskset -p -c 0,1 $! > /dev/null
sleep 0.1
kill $!
wait
END
chmod 755 moves

# affinities TAPE: prints those of the task that is moved
affinities()
{
	schedtape script "$1" | sed -n 's/.* setaffinity: mover:[0-9]* to \(.*\)/\1/p'
}

schedtape record -q -o moves.tape -- ./moves > log 2>&1
affinities moves.tape > moves.wanted
printf '%s\n' "[1]" "[0]" "[0-1]" | diff - moves.wanted > log && [ "$(cpus moves.tape first)" = 000 ]
report $? "changes of affinity are recorded"
schedtape script --json moves.tape > moves.json 2> log && grep -q '"affinity": *\[ *0, *1 *\]' moves.json
report $? "in JSON, too"
schedtape replay -q --record moves.replay moves.tape > log 2>&1 && [ ! -s log ] &&
	[ "$(cpus moves.replay first)" = 000 ]
report $? "a pinned task and its children are pinned in the replay, too"
affinities moves.replay | diff moves.wanted - > log
report $? "a task that was moved is moved at the same time"
from=$(schedtape script moves.tape | awk '/setaffinity: mover.*\[0\]/ { print $3 + 0.1 }')
schedtape replay -q --record moves.replay --only mover --time "$from," moves.tape > log 2>&1 &&
	affinities moves.replay | tail -n 2 | diff - <(printf '%s\n' "[0]" "[0-1]") > log
report $? "--time: begins with the affinity of that time"
schedtape record -q -o user.tape -- \
	schedtape replay -q --engine=user --cpus 0:1,1:0 moves.tape > log 2>&1 &&
	[ "$(cpus user.tape first)" = 001 ]
report $? "--engine=user --cpus 0:1,1:0: the other way round"
schedtape replay -q --no-attributes --record moves.replay moves.tape > log 2>&1 &&
	! affinities moves.replay | grep -q .
report $? "--no-attributes: without"
finish
