#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Description: the effect of replay's options to keep, scale, choose and leave out.
#
# On one CPU that counts instructions, amounts are checked, too. With several emulated CPUs, a
# stalled CPU looks like load, and a late task does not sleep.

set -u
here=$(dirname "$(realpath "$0")")
. "${here%/cli/replay}/lib/commands.sh"

exact=${SCHEDTAPE_EXACT:-}

# record NAME COMMAND...: records to NAME.tape
record()
{
	schedtape record -q -o "$1.tape" -- "${@:2}" > log 2>&1
}

# replay NAME OPTION...: replays NAME.tape and records that to NAME.replay
replay()
{
	schedtape replay -q --record "$1.replay" "${@:2}" "$1.tape" > log 2>&1
}

# d_sleeps TAPE: prints the number of sleeps in state D
d_sleeps()
{
	schedtape script "$1" | grep -c 'switch: .*\[D\] ==>'
}

expect 129 "external maybe: absolute, relative or auto" schedtape replay --external maybe

# Waits in state D for files, and for children until they call exec.
cat > spawner.py << 'END'
import os
for i in range(5):
    os.waitpid(os.posix_spawn("/bin/true", ["true"], {}), 0)
END
record spawner /usr/bin/python3 spawner.py
for how in auto absolute relative; do
	replay spawner --external $how
	report $? "--external $how: replayed"
done
recorded=$(d_sleeps spawner.tape) replayed=$(d_sleeps spawner.replay)
echo "$recorded sleeps in state D recorded, $replayed replayed" > log
[ "$recorded" -gt 0 ] && [ "$replayed" -gt 0 ] &&
	{ [ -z "$exact" ] || [ "$replayed" = "$recorded" ]; }
report $? "sleeps in state D are such in the replay"

# -- selection of tasks ---------------------------------------------------------

expect 129 "speed 0: a number from 0.001 to 1000" schedtape replay --speed 0
expect 129 "scale-cpu x: a number from 0.001 to 1000" schedtape replay --scale-cpu x
expect 129 "burn fuel: time or work" schedtape replay --burn fuel
expect 129 "only 'pid=': a name, or comm=" schedtape replay --only pid=
expect 129 "exclude 'cgroup=': a name, or comm=" schedtape replay --exclude cgroup=
expect 129 "time 2,1: FROM,TO in seconds" schedtape replay --time 2,1
expect 129 "cpus 0-3: this process may not use all of these CPUs, only 0" schedtape replay --cpus 0-3
expect 129 "cpus 0:: CPUs like 0-1" schedtape replay --cpus 0:
expect 129 "record takes one replay, not --loop" schedtape replay --loop --record x

# Two tasks that timers wake, and a chain: producer, stage, consumer.
cat > work << 'END'
#!/bin/sh
periodic 20 2 25 > /dev/null &
chain 50 10 > /dev/null &
hog 200 > /dev/null &
wait
END
chmod 755 work
record work ./work
schedtape report --json work.tape > work.json 2> log
chain=$(/usr/bin/python3 -c 'import json
print(min(t["pid"] for t in json.load(open("work.json"))["tasks"] if t["comm"] == "chain"))')

# chosen NAMES OPTION...: the replay has these tasks
chosen()
{
	local wanted=$1 got

	replay work "${@:2}"
	report $? "${*:2}: replayed"
	got=$(names work.replay)
	echo "tasks: $got" > log
	[ "$got" = "$wanted" ]
	report $? "${*:2}: $wanted"
}

chosen "chain chain chain" --only 'ch?in'
chosen "hog periodic" --only hog --only 'peri*'
chosen "chain chain chain hog work" --exclude periodic
chosen "chain" --only "pid=$chain"
chosen "chain chain chain" --only "tgid=$chain"
chosen "hog periodic work" --exclude "tgid=$chain"
chosen "chain chain chain periodic work" --only "tgid=1-4000000" --exclude hog
expect 1 "no task that was chosen is on the tape" schedtape replay --only nobody work.tape
expect 1 "the tape has no cgroup '/nowhere'" schedtape replay --only cgroup=/nowhere work.tape

# Stage and consumer are woken as often without the producer: one of them by a timer.
replay work --only chain --exclude "pid=$chain"
schedtape report --json work.replay > replay.json 2> log
/usr/bin/python3 - "$chain" "$exact" << 'END' 2> log
import json, sys
chain, exact = int(sys.argv[1]), sys.argv[2]
a = {t["pid"]: t for t in json.load(open("work.json"))["tasks"]}
b = [t for t in json.load(open("replay.json"))["tasks"] if t["comm"] == "chain"]
stages = [t for pid, t in sorted(a.items()) if t["comm"] == "chain" and pid != chain]
assert len(b) == 2, b
outside = sum(t["wakeups"] - t["wakeups_by_task"] for t in b)
assert outside >= 0.8 * max(t["wakeups_by_task"] for t in stages) or not exact and outside, outside
END
report $? "wake-ups by an excluded task come from a timer"

# A shell forks a process; one of its threads creates two others and is excluded.
cat > teams.py << 'END'
import threading, time

def name(text):
    with open(f"/proc/self/task/{threading.get_native_id()}/comm", "w") as comm:
        comm.write(text)

def work():
    name("worker")
    for i in range(5):
        time.sleep(0.01)

def make():
    name("maker")
    workers = [threading.Thread(target=work) for i in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()

name("team")
time.sleep(0.01)
maker = threading.Thread(target=make)
maker.start()
maker.join()
END
record teams sh -c '/usr/bin/python3 teams.py & wait'
replay teams --exclude maker
schedtape report --json teams.replay > out.json 2> log &&
	like out.json '(lambda teams, workers: len(teams) == 1 and len(workers) == 2 and
		{t["tgid"] for t in workers} == {t["tgid"] for t in teams} and
		min(t["wakeups"] for t in workers) >= 5)(
			*([t for t in d["tasks"] if t["comm"] == c] for c in ("team", "worker")))'
report $? "threads whose maker is left out are in their process"
for engine in module user; do
	schedtape replay --engine $engine --exclude maker teams.tape > log 2>&1
	report $? "and the replay ends: $engine"
done

# -- comparison ----------------------------------------------------------------

expect 129 "not a distance from 0 to 1: 'x'" schedtape diff --max-burst-distance x a b
expect 129 "not a percentage: '-1'" schedtape diff --max-order-error=-1 a b
replay work --only chain
limits=(--max-{burst,sleep,delay}-distance=0 --max-{order,wall,cpu,wakeup,sleep}-error=0
	--max-unmatched=0 --same-graph)
schedtape diff "${limits[@]}" work.tape work.tape > out 2> log
report $? "a tape is within all limits of itself"
expect 1 "wall time: .* off, the limit is 0.0 %" schedtape diff --max-wall-error 0 work.{tape,replay}
expect 1 "wake-ups of (hog|work|periodic):" schedtape diff --max-wakeup-error 5 work.{tape,replay}
expect 1 "sleeps of (hog|work|periodic):" schedtape diff --max-sleep-error 5 work.{tape,replay}
expect 1 "tasks only in B: [1-9]" schedtape diff --max-unmatched 0 work.{replay,tape}
if [ -n "$exact" ]; then
	replay work --only chain --scale-cpu 0.1
	expect 1 "lengths of bursts of chain:[0-9]*: distance" \
		schedtape diff --max-burst-distance 0.5 work.{tape,replay}
fi
schedtape diff --json work.{tape,replay} > out.json 2> log &&
	like out.json '(0 <= d["verdict"]["burst_distance"] <= 1 and
		0 <= d["verdict"]["sleep_distance_total"] <= 1 and
		d["verdict"]["only_b"] == 0 and d["verdict"]["order_error"] < 0.5)'
report $? "distances in JSON"

# -- kernel threads --------------------------------------------------------------

# diff_kernel EXPRESSION TEXT: evaluates an expression about the verdict of diff
diff_kernel()
{
	schedtape diff --json kernel.{tape,replay} > out.json 2> log &&
		like out.json "(lambda v: $1)(d['verdict'])"
	report $? "$2"
}

schedtape record -q -a --kthreads -o kernel.tape -- \
	sh -c 'dd if=/dev/zero of=data bs=64k count=16; sync data' > log 2>&1
report $? "all tasks and kernel threads are recorded"
schedtape report --json kernel.tape 2> log | /usr/bin/python3 -IS -c 'import json, sys
print(sum(2 in (t["pid"], t["ppid"]) for t in json.load(sys.stdin)["tasks"]))' > kernel
n=$(cat kernel)
schedtape replay --json --record kernel.replay kernel.tape > out.json 2> log &&
	grep -q "warning: $n kernel threads are left out: --kthreads replays them" log &&
	like out.json "d['rounds'][0]['kthreads_left_out'] == $n > 9"
report $? "a replay leaves out the kernel threads, and says how many"
names kernel.replay > out
grep -wEo 'kthreadd|ksoftirqd/0|dd' out > log
[ "$(cat log)" = dd ]
report $? "only user tasks are replayed"
diff_kernel "v['kthreads_left_out'] == $n and not v['only_a'] and v['same_graph']" \
	"the graph is judged without them"
schedtape replay --json --kthreads --record kernel.replay kernel.tape > out.json 2> log &&
	! grep -q 'left out' log && like out.json "not d['rounds'][0]['kthreads_left_out']"
report $? "--kthreads leaves out none"
diff_kernel "not v['kthreads_left_out'] and not v['only_a'] and v['matched'] > $n" \
	"all tasks are matched"
expect 1 "only kernel threads were chosen: --kthreads replays them" \
	schedtape replay --only kthreadd kernel.tape

# -- time and CPU time ---------------------------------------------------------

# ran TAPE NAME: prints the CPU time of the tasks with that name, ns
ran()
{
	schedtape report --json "$1" 2> log | /usr/bin/python3 -c 'import json, sys
print(sum(t["cpu_time_ns"] for t in json.load(sys.stdin)["tasks"] if t["comm"] == sys.argv[1]))' "$2"
}

# about A B FACTOR: tests that A is about FACTOR times B
about()
{
	[ -n "$exact" ] || return 0
	/usr/bin/python3 -c 'import sys
a, b, factor = map(float, sys.argv[1:])
print(a / b, "times as much, wanted", factor, file=sys.stderr)
sys.exit(abs(a / b / factor - 1) > 0.02)' "$@" 2> log
}

truth=$(ran work.tape hog)
replay work --scale-cpu 0.1
about "$(ran work.replay hog)" "$truth" 0.1
report $? "--scale-cpu 0.1 uses a tenth of the CPU time"
schedtape replay --json --record work.replay --speed 10 work.tape > out.json 2> log
report $? "--speed 10: replayed"
about "$(ran work.replay hog)" "$truth" 0.1
report $? "--speed 10 uses a tenth of the CPU time"
# shellcheck disable=SC2046 # two numbers
about $(/usr/bin/python3 -c 'import json
replay = json.load(open("out.json"))["rounds"][0]
print(replay["wall_ns"], replay["recorded_wall_ns"])') 0.1
report $? "--speed 10 takes a tenth of the time"
replay work --speed 2 --only hog
about "$(ran work.replay hog)" "$truth" 0.5
report $? "--speed 2 uses half of the CPU time"
cpu=$(($(nproc) - 1))
replay work --cpus $cpu
schedtape script work.replay | sed -n 's/.* \[\([0-9]*\)\] .*switch.*==> [^io].*/\1/p' | sort -u > log
[ "$((10#$(cat log)))" = $cpu ]
report $? "--cpus $cpu: all run there"

# 0.2 s, the length of ten periods, before the periodic task's end.
from=$(schedtape script work.tape 2> log |
	awk '/waking: periodic:[0-9]+ by hardirq/ { t[n++] = $3 + 0 }
		END { printf "%.6f\n", t[n - 15] - 0.005 }')
to=$(/usr/bin/python3 -c 'import sys; print(float(sys.argv[1]) + 0.2)' "$from")
schedtape replay --json --record work.replay --time "$from,$to" work.tape > out.json 2> log &&
	like out.json '(abs(d["rounds"][0]["recorded_wall_ns"] - 200000000) < 1000 and
		100000000 < d["rounds"][0]["wall_ns"] < 2000000000)'
report $? "--time: 0.2 s of it"
about "$(schedtape report --json work.replay | /usr/bin/python3 -c 'import json, sys
periods = [t["wakeups"] for t in json.load(sys.stdin)["tasks"] if t["comm"] == "periodic"]
print(10 if 9 <= sum(periods) <= 12 else sum(periods))')" 10 1
report $? "--time: with as many periods as it has"

replay work --burn work --only hog
about "$(ran work.replay hog)" "$truth" 1
report $? "--burn=work on the same machine uses as much CPU time"

# -- the tape of a replay ---------------------------------------------------------

cp work.tape own && cp work.tape own.old
expect 1 'own: would take the place of the tape that is read' \
	schedtape replay -q --speed 10 --record own own.old
cmp own work.tape > log 2>&1 && cmp own.old work.tape >> log 2>&1
report $? "and it is still there"
schedtape replay --speed 10 --record - work.tape > own 2> log &&
	grep -q '^[0-9]* tasks replayed' log && schedtape info --json own > info.json 2>> log &&
	like info.json 'd["damage"] is None'
report $? "--record -: nothing but the tape is on standard output"
expect 129 "json and --record - would share" schedtape replay --json --record - work.tape

# -- without the module ----------------------------------------------------------

expect 129 "engine steam: module or user" schedtape replay --engine steam
expect 129 "record needs the module" schedtape replay --engine=user --record x work.tape
schedtape replay --engine=user work.tape > out 2> log && grep -q 'second choice' log &&
	grep -q '^[0-9]* tasks replayed' out
report $? "--engine=user replays, and says that it is the second choice"
record user schedtape replay -q --engine=user work.tape
about "$(ran user.tape hog)" "$truth" 1
report $? "--engine=user: as much CPU time"
on_tape user.tape 'len([t for t in d["tasks"] if t["comm"] == "chain"]) == 3' \
	"--engine=user: as many threads"

# No task has the name of a player.
no_players()
{
	eventually not_running work chain periodic hog > log
}

not_running()
{
	! running "$@"
}

# Starts a replay that would not end, and waits until it plays. With time counted in instructions,
# minutes pass while a program is read from the host.
begin_user()
{
	schedtape replay -q --engine=user --speed 0.02 --loop work.tape > log 2>&1 &
	replay=$!
	eventually running hog > log
}

begin_user
interrupt $replay && no_players
report $? "--engine=user: Ctrl-C leaves no player"
begin_user
kill -KILL $replay
wait $replay 2> /dev/null
no_players
report $? "--engine=user: kill -9 leaves no player"
begin_user
eventually pkill -KILL -x hog
wait $replay
[ $? = 1 ] && no_players
report $? "--engine=user: a player's death ends it"

finish
