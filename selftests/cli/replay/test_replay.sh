#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Description: replays of known workloads, by the commands that a user types.
#
# On one CPU that counts instructions a replay must be exact: the same tasks, the same wake-ups
# between the same tasks, CPU time within 5 % or the limit given below. With several emulated
# CPUs, a stalled CPU looks like load: there, all tasks must be there and the replay must reach
# its end.

set -u
here=$(dirname "$(realpath "$0")")
. "${here%/cli/replay}/lib/commands.sh"
exact=${SCHEDTAPE_EXACT:-} error=5 wall=100 tries=1

# Nothing is left of a replay: no player, and nothing in the module.
nobody_left()
{
	[ "$(schedtape list)" = "no sessions, no replays" ] &&
		! running pingpong periodic chain hog synthetic
}

nothing_left()
{
	eventually nobody_left > log 2>&1 && return
	{ schedtape list; ps -e; } >> log
	return 1
}

# The players of long.tape are running, and have the names of their tasks.
playing()
{
	schedtape list | grep -qw running && pgrep -x periodic > found
}

# cheap NAME ALL CHILD WALL COMMAND...: passes if players of tasks that do next to nothing use at most
# ALL % more CPU time together, the median one of the children at most CHILD %, and if the wall time
# differs by at most WALL %
cheap()
{
	local name=$1 tape options=(--max-wall-error "$4") limits=("$2" "$3")

	[ -n "$exact" ] || options=()
	shift 4
	recorded_and_replayed "$name" "$@" > log 2>&1
	report $? "$name: recorded and replayed${exact:+, wall time within ${options[1]} %}"
	grep '^wall' "$name.json" | sed 's/^/# /'
	[ -n "$exact" ] || return
	for tape in tape replay; do
		schedtape report --json "$name.$tape" > "$tape.json"
	done 2> log
	/usr/bin/python3 -IS - "${limits[@]}" >> log 2>&1 << 'END'
import json, statistics, sys
here, there = (sorted(t["cpu_time_ns"] for t in json.load(open(name + ".json"))["tasks"])
               for name in ("tape", "replay"))
most = [100 * (b / a - 1) for a, b in ((sum(here), sum(there)),
        (statistics.median(here[:-1]), statistics.median(there[:-1])))]
print("%.2f %% more CPU time in all, %.2f %% a child" % tuple(most))
sys.exit(len(here) != len(there) or any(m > float(l) for m, l in zip(most, sys.argv[1:])))
END
	report $? "$name: at most ${limits[0]} % more CPU time in all, ${limits[1]} % a child"
	sed 's/^/# /' log
}

# alike NAME MOST: passes if the first thread's bursts in NAME.replay are at most MOST % longer than in
# NAME.tape in the median, and twice as much shorter
alike()
{
	/usr/bin/python3 -IS - "$1" "$2" << 'END'
import json, statistics, subprocess, sys
name, most = sys.argv[1], float(sys.argv[2])

def median(tape):
	bursts, burst = [], 0
	lines = subprocess.run(["schedtape", "timehist", "--json", tape], stdout=subprocess.PIPE)
	for run in map(json.loads, lines.stdout.splitlines()[1:]):
		if run["event"] == "run" and run["comm"] == "bursts" and run["pid"] == run["tgid"]:
			burst += run["run_ns"]
			if run["state"] != "R":
				bursts.append(burst)
				burst = 0
	return statistics.median(bursts)

here, there = (median(f"{name}.{tape}") for tape in ("tape", "replay"))
more = 100 * (there / here - 1)
print(f"a burst takes {here:.0f} ns, in the replay {there:.0f} ns: {more:.2f} %")
sys.exit(not -2 * most <= more <= most)
END
}

# recorded_and_replayed NAME COMMAND...: records, replays and records again, and compares with
# $options of diff
recorded_and_replayed()
{
	schedtape record -q -o "$1.tape" -- "${@:2}" &&
	schedtape replay -q "$1.tape" --record "$1.replay" &&
	schedtape diff "${options[@]}" "$1.tape" "$1.replay" > "$1.json"
}

# in_tries COMMAND...: passes if COMMAND does in one of $tries tries
in_tries()
{
	local try

	for ((try = 0; try < tries; try++)); do
		"$@" > log 2>&1 && return
	done
	return 1
}

# known NAME COMMAND...: passes if one of $tries replays is like its recording
known()
{
	local name=$1 options=(--json)

	shift
	[ -z "$exact" ] || options+=(--same-graph --max-cpu-error "$error" --max-sleep-error 0
		--max-wakeup-error 0 --max-wall-error "$wall" --max-unmatched 0)
	in_tries recorded_and_replayed "$name" "$@"
	report $? "$name: replayed${exact:+ with the same graph, CPU time within $error %}"
	schedtape diff "$name.tape" "$name.replay" > log 2>&1
	grep '^wall\|^TOTAL' log | sed 's/^/# /'
	grep -q '^verdict: [a-z ]*, \([0-9]*\) of \1 tasks matched' log
	report $? "$name: every task has its player"
}

# replayed_alike KIND TURNS MOST: records and replays 300 bursts with TURNS of work, which are alike
replayed_alike()
{
	recorded_and_replayed "$1" bursts "$1" "$2" 300 && { [ -z "$exact" ] || alike "$1" "$3"; }
}

# short KIND TURNS MOST: passes if they are in one of $tries replays
short()
{
	local options=()

	in_tries replayed_alike "$@"
	report $? "bursts between sleeps, $1 with $2 turns: replayed${exact:+, at most $3 % longer}"
	[ -z "$exact" ] || sed -n 's/^a burst/# &/p' log
}

# in_parts NAME SHARE: passes if the parts of each error in NAME.json add up, and if with exact times
# costs and stalls are at least SHARE of an error of more than 5 %
in_parts()
{
	/usr/bin/python3 -IS - "$1.json" "$2" "$exact" > log 2>&1 << 'END'
import json, sys
diff = json.load(open(sys.argv[1]))
total = diff["verdict"]["cpu_error_parts"]
pairs = [(t["b"]["cpu_time_ns"] - t["a"]["cpu_time_ns"], t["cpu_error_parts"])
         for t in diff["tasks"] if t["a"] and t["b"]]
for error, parts in pairs:
    if error != parts["error_ns"] or 2 * error != sum(parts.values()):
        sys.exit("they do not add up to %d: %s" % (error, parts))
for part in total:
    if total[part] != sum(parts[part] for _, parts in pairs):
        sys.exit("%s: not the sum" % part)
error, rest = total["error_ns"], total["rest_ns"]
print("of %.1f %% more CPU time: %s" % (100 * diff["verdict"]["cpu_error_total"], total))
sys.exit(bool(sys.argv[3]) and error > 0.05 * diff["a"]["total"]["cpu_time_ns"] and
         abs(rest) > (1 - float(sys.argv[2])) * error)
END
	report $? "$1: the parts of errors add up${exact:+, and explain $2 of a large one}"
	sed 's/^/# /' log
}

# So long that one interrupt with much work is a small part of a task's time. On 6.12 a replay of
# it is off by 2 to 4 % (three of five), at worst by 13 %: the more often the wakee does not preempt
# its waker, the more the waker yields, and in bursts of 6 us a player cannot leave out anything to
# compensate that. One replay of 25 has one sleep more. Which one that is depends only on what was
# built, so each build has five tries. Without exact times only the structure is compared, and a
# wake-up on another CPU takes the emulator milliseconds.
error=10 tries=5 known pingpong pingpong $((exact ? 10000 : 1000))
in_parts pingpong 0.5
known chain chain 100 5
# The wall time is checked only for tasks that do more than switch, because switches of players
# are slower.
wall=0.5 known periodic periodic 10 2 50
# Eight threads of one process, which run in turn at its end.
synthetic 20 > /dev/null	# now it is in memory
# Costs that one of two threads has once, 20 us, must be a small part of the time.
error=0.5 wall=0.5 known synthetic synthetic 1000
# Twenty senders and as many receivers, which wake each other all the time: the wakers and wakees
# are compared. Half of the tasks' time is their fork.
storm_error=100 storm_tries=1
if [[ $(uname -r) != [1-6].* ]]; then
	# On 7.3 a task that yields forfeits vruntime, so players that wait for their wakees
	# yield to each other: tasks of 1 ms take up to 1.7 ms more.
	storm_error=300
	# On 7.3 one replay of forty has one sleep more: a child that exits waits for a lock,
	# because its parent holds that lock while it forks.
	storm_tries=3
fi
error=$storm_error tries=$storm_tries known storm storm 2 10 30
in_parts storm 0
# By chance a parent finds its child alive when it waits. So only the structure is compared.
exact='' known forktree forktree 3 2
cheap forks 2 5 2 forks 300
cheap tree 1 5 2 forktree 2 3
# Bursts of 4 us, of 6 where a pipe costs that, and of 10 us.
short sleep 150 5
short futex 0 5
short pipe 0 5
short sleep 3000 1
# When the woken thread runs at once, the first one has up to eight turns in a burst. Some of its
# player's bursts are 2 % longer because others are shorter, and once in thirty replays one of these
# is the median.
tries=3 short futex 2900 1
short pipe 2000 1
# A thread that executes a program takes the PID of its leader, and all other threads end.
exact='' known takeover takeover 3 periodic 10 2 20
schedtape report --json takeover.tape | /usr/bin/python3 -c '
import json, sys
tasks = json.load(sys.stdin)["tasks"]
new = [task for task in tasks if task["comm"] == "periodic"]
sys.exit(len(tasks) != 5 or not all(task["exited"] for task in tasks) or len(new) != 1 or
         new[0]["first_comm"] != "takeover" or new[0]["pid"] != new[0]["tgid"] or
         new[0]["cpu_time_ns"] < 35e6)' > log 2>&1
report $? "takeover: the thread and the program are one task"
nothing_left
report $? "nothing is left of them"

# A tape that takes a while to replay.
schedtape record -q -o long.tape -- periodic 100 5 300 > log 2>&1 &
recorder=$!
# On a busy host the recorder takes seconds to begin.
eventually pgrep -x periodic > /dev/null
sleep $((1 + 2 * slow))
interrupt $recorder
schedtape info long.tape > log 2>&1
report $? "Ctrl-C ends a recording and keeps it"

schedtape replay long.tape > out 2> log &
player=$!
eventually playing
interrupt $player && [ ! -s out ] &&
	grep -q '^schedtape replay: interrupted after [0-9.]* of [0-9.]* s: 0 of 1 tasks done, ' log
report $? "Ctrl-C ends a replay with status 130, and the replay says how far it came"
nothing_left
report $? "Ctrl-C leaves no player"

schedtape replay -q long.tape > log 2>&1 &
player=$!
eventually playing
kill -KILL $player
wait $player 2> /dev/null
nothing_left
report $? "kill -9 of the controller leaves no player"

schedtape replay -q long.tape > log 2>&1 &
player=$!
eventually playing
pkill -KILL -x periodic
wait $player
[ $? = 1 ] && grep -q 'a player (PID [0-9]*) died' log
report $? "a player's death ends the replay, with a message"
nothing_left
report $? "a player's death leaves no player"

# Where memory cannot be executed, players execute the installed program.
mkdir -p bin libexec/schedtape
cp "$(command -v schedtape)" bin
# Replays in a namespace that cannot execute memory.
without_memory()
{
	unshare --pid --fork --mount-proc sh -c "echo 2 > /proc/sys/vm/memfd_noexec &&
		exec $dir/bin/schedtape replay -q periodic.tape"
}
if [ -e /proc/sys/vm/memfd_noexec ] && [ -e "$build/schedtape-player" ]; then
	expect 1 "neither from memory \(Permission denied\) nor as /.*/player \(No such" without_memory
	cp "$build/schedtape-player" libexec/schedtape/player
	without_memory > log 2>&1
	report $? "the installed program of players is executed where memory cannot be"
else
	skip "the kernel executes memory always, or the program of players is not here"
fi

# A limit of files' sizes counts for files in memory, too.
limited()
{
	(ulimit -f 8 && schedtape replay -q periodic.tape)
}
expect 1 "cannot give players their program: File too large" limited

schedtape replay --json -r 2 periodic.tape > twice.json 2> log &&
	[ "$(grep -c '"wall_ns"' twice.json)" = 2 ]
report $? "-r 2 replays twice"

schedtape replay --json --speed 2 periodic.tape > fast.json 2> log &&
	/usr/bin/python3 -c '
import json, sys
slow, fast = (json.load(open(name))["rounds"][0]["wall_ns"] for name in ("twice.json", "fast.json"))
assert not sys.argv[1] or 0.4 < fast / slow < 0.6, fast / slow' "$exact" 2>> log
report $? "--speed 2 takes half the time"

finish
