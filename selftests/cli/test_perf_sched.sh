#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Description: latency, timehist and map print what these commands of perf sched print of the same
# tasks, which both record at the same time.

set -u
here=$(dirname "$(realpath "$0")")
. "${here%/cli}/lib/commands.sh"

if ! command -v perf > /dev/null || ! command -v hackbench > /dev/null; then
	skip_all "perf or hackbench is not installed"
fi

# Without sched_waking perf counts delays from sched_wakeup on, as schedtape does.
events=sched:sched_switch,sched:sched_wakeup,sched:sched_wakeup_new,sched:sched_migrate_task
events+=,sched:sched_process_fork,sched:sched_process_exit,task:task_rename
# shellcheck disable=SC2016 # the shell that is recorded expands it
perf record -q -k CLOCK_MONOTONIC -m 4096 -a -e "$events" -o perf.data -- schedtape record -q \
	-a --kthreads -o both.tape -- sh -c 'sleep 0.2; hackbench -p -g 1 -l 40
	for i in 1 2 3; do sleep 0.01; ls; done; sleep 0.2' > log 2>&1
report $? "perf and schedtape record at the same time"

cat > compare.py << 'EOP'
import json, re, sys

LATENCY = re.compile(r"\s*(\S.*?):(\d+)\s*\|\s*([\d.]+) ms \|\s*(\d+) \| avg:\s*([\d.]+) ms \| "
                     r"max:\s*([\d.]+) ms \|")
TIMEHIST = re.compile(r"\s*[\d.]+ \[(\d+)\]\s+(\S.*?)\[(\d+)(?:/\d+)?\]\s+([\d.]+)\s+([\d.]+)\s+([\d.]+)")
LEGEND = re.compile(r"\s*([\d.]+) secs (?:(\S.) => (.*):(\d+))?")
LOAD = ("hackbench", "ls", "sleep")

def near(pairs, what):
    """Of nearly all pairs of times in ms, both are the same but for the time between two probes.
    The host can stop the guest in between."""
    far = [p for p in pairs if abs(p[0] - p[1]) > 0.1 + 0.02 * p[1]]
    print(what, len(pairs), "compared,", len(far), "differ:", far[:5])
    assert pairs and len(far) <= 2 + len(pairs) / 20

def woken(lines):
    """Returns for each task how many delays after a wake-up there are, and the longest in ms."""
    found = {}
    for line in lines:
        run = json.loads(line)
        if run.get("delay_ns") is not None:
            count, longest = found.get(run["pid"], (0, 0))
            found[run["pid"]] = (count + 1, max(longest, run["delay_ns"] / 1e6))
    return found

# perf takes the state "R+" of a preempted task for another one than "R" of one that yields, so it
# leaves out the delays after a preemption.
def latency(ours, perf, lines):
    theirs = {}
    for line in open(perf):
        match = LATENCY.match(line)
        if match and match[1] in LOAD:
            theirs[int(match[2])] = (int(match[4]), float(match[6]))
    mine = {d["pid"]: d for d in json.load(open(ours))["delays"] if d["pid"] in theirs}
    print(len(theirs), "tasks of perf,", len(mine), "of ours")
    assert len(theirs) > 40 and len(mine) == len(theirs)
    after = woken(open(lines))
    other = [(p, after[p][0], theirs[p][0], mine[p]["delays"]) for p in theirs
             if not after[p][0] <= theirs[p][0] <= mine[p]["delays"]]
    print("other counts:", other[:5])
    assert not other
    near([(after[p][1], theirs[p][1]) for p in theirs if after[p][0] == theirs[p][0]],
         "longest delays")

def timehist(ours, perf):
    theirs, mine, load = {}, {}, set()
    for line in open(perf):
        match = TIMEHIST.match(line)
        if not match:
            continue
        pid = int(match[3])
        theirs.setdefault(pid, []).append(
            (int(match[1]), *(float(match[n]) for n in (4, 5, 6))))
        if match[2] in LOAD:
            load.add(pid)
    theirs = {pid: theirs[pid] for pid in load}
    with open(ours) as lines:
        next(lines)
        for line in lines:
            run = json.loads(line)
            if run["event"] == "run" and run["pid"] in theirs:
                mine.setdefault(run["pid"], []).append(
                    (run["cpu"], *((run[n] or 0) / 1e6 for n in ("wait_ns", "delay_ns", "run_ns"))))
    # Of a task that ends, perf leaves out the last lines now and then.
    short = {p: len(mine.get(p, [])) - len(theirs[p]) for p in theirs}
    other = [(p, mine.get(p, [])[len(theirs[p]) - 1:], theirs[p][-1]) for p in theirs
             if not 0 <= short[p] <= 4 or
             [r[0] for r in mine[p]][:len(theirs[p])] != [r[0] for r in theirs[p]]]
    print(len(theirs), "tasks,", sum(n > 0 for n in short.values()), "without last lines in perf;",
          "with other lines or CPUs:", other[:5])
    assert len(theirs) > 40 and len(other) <= len(theirs) / 20
    for n, what in enumerate(("wait times", "delays", "run times"), 1):
        near([(a[n], b[n]) for p in theirs for a, b in zip(mine[p], theirs[p])], what)

def read_perf_map(path, cpus):
    """Returns for each CPU its switches: PID of the task that gets it, and the time in ms."""
    pids, found, own = {}, [[] for _ in range(cpus)], set()
    for line in open(path):
        cells = [line[2 + 4 * i:6 + 4 * i] for i in range(cpus)]
        match = LEGEND.match(line, 2 + 4 * cpus)
        assert match, line
        if match[2]:
            pids[match[2]] = int(match[4])
            if match[3] == "schedtape":
                own.add(int(match[4]))
        at, = (i for i, cell in enumerate(cells) if cell[0] == "*")
        found[at].append((pids[cells[at][1:3]], float(match[1]) * 1e3))
    return found, own

def switch_map(ours, perf, lines):
    """On each CPU, from the first to the last task of the load, the same tasks follow each other.
    A tape has no task of schedtape itself."""
    with open(ours) as file:
        next(file)
        mine = [json.loads(line) for line in file]
    load = {switch["pid"] for switch in mine if switch.get("comm") in LOAD}
    cpus = max(switch["cpu"] for switch in mine) + 1
    theirs, own = read_perf_map(perf, int(lines))
    # What schedtape has started had its name at first.
    own -= {switch["pid"] for switch in mine}
    times = []
    for cpu in range(cpus):
        a = [(s["pid"], s["time_ns"] / 1e6) for s in mine if s["cpu"] == cpu and s["pid"]]
        b = [(pid, time) for pid, time in theirs[cpu] if pid and pid not in own]
        ends = [[i for i, (pid, _) in enumerate(side) if pid in load] for side in (a, b)]
        a, b = (side[at[0]:at[-1] + 1] for side, at in zip((a, b), ends))
        other = [i for i, (x, y) in enumerate(zip(a, b)) if x[0] != y[0]][:1]
        print(f"CPU {cpu}: {len(a)} switches, perf {len(b)};",
              *(f"number {i} differs: {a[i:i + 5]} {b[i:i + 5]}" for i in other))
        assert len(a) > 200 and len(a) == len(b) and not other
        # Both count from the same moment, so the difference is the time between two probes.
        times += [(x[1] - y[1], 0) for x, y in zip(a, b)]
    near(times, "times of switches")

{"latency": latency, "timehist": timehist, "map": switch_map}[sys.argv[1]](*sys.argv[2:])
EOP

perf sched latency -p -i perf.data > perf.txt 2> log &&
	schedtape latency -p --json both.tape > ours.json 2> log &&
	schedtape timehist --json both.tape > lines.json 2> log &&
	/usr/bin/python3 compare.py latency ours.json perf.txt lines.json > log 2>&1
report $? "latency: counts and longest delays of perf sched latency"
sed 's/^/# /' log
perf sched timehist -i perf.data > perf.txt 2> log &&
	/usr/bin/python3 compare.py timehist lines.json perf.txt > log 2>&1
report $? "timehist: CPUs, wait times, delays and run times of perf sched timehist"
sed 's/^/# /' log

perf sched map -i perf.data > perf.txt 2> log &&
	schedtape map --json both.tape > ours.json 2> log &&
	/usr/bin/python3 compare.py map ours.json perf.txt "$(nproc)" > log 2>&1
report $? "map: tasks and times of perf sched map, on each CPU"
sed 's/^/# /' log

schedtape timehist both.tape 2> log | head -n 3 > head.txt
[ ! -s log ] && [ "$(wc -l < head.txt)" = 3 ]
report $? "timehist: no message if the reader closes its pipe"
expect 129 'cannot sort by' schedtape latency -s none both.tape
expect 129 'not task, comm, process' schedtape latency --by none both.tape
expect 129 'not auto, always or never' schedtape map --color=red both.tape
expect 129 '--cpus: not a list' schedtape map --cpus x both.tape
expect 129 'needs --task-name' schedtape map --fuzzy-name both.tape
expect 1 'matches --cpus --tid; it has' schedtape map --cpus 0 --tid 4194303 both.tape
expect 1 'matches --tid; it has the tasks' schedtape latency --tid 4194303 both.tape

finish
