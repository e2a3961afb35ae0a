#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Description: latency and timehist print what perf sched latency and timehist print of the same
# tasks, which both record at the same time.

set -u
here=$(dirname "$(realpath "$0")")
. "${here%/cli}/lib/commands.sh"

if ! command -v perf > /dev/null || ! command -v hackbench > /dev/null; then
	skip "perf or hackbench is not installed"
	finish
	exit
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
LOAD = ("hackbench", "ls", "sleep")

def near(pairs, what):
    """Of nearly all pairs of times in ms, both are the same but for the time between two probes.
    The host can stop the guest in between."""
    far = [p for p in pairs if abs(p[0] - p[1]) > 0.1 + 0.02 * p[1]]
    print(what, len(pairs), "compared,", len(far), "differ:", far[:5])
    assert pairs and len(far) <= len(pairs) / 20

def latency(ours, perf):
    theirs = {}
    for line in open(perf):
        match = LATENCY.match(line)
        if match and match[1] in LOAD:
            theirs[int(match[2])] = (match[1], float(match[3]), int(match[4]), float(match[6]))
    mine = {d["pid"]: d for d in json.load(open(ours))["delays"] if d["pid"] in theirs}
    print(len(theirs), "tasks of perf,", len(mine), "of ours")
    assert len(theirs) > 40 and len(mine) == len(theirs)
    other = [(p, mine[p]["delays"], theirs[p][2]) for p in theirs
             if mine[p]["delays"] != theirs[p][2]]
    print("other counts:", other[:5])
    assert not other
    near([(mine[p]["runtime_ns"] / 1e6, theirs[p][1]) for p in theirs], "run times")
    near([(mine[p]["delay_max_ns"] / 1e6, theirs[p][3]) for p in theirs], "longest delays")

def timehist(ours, perf):
    theirs, mine = {}, {}
    for line in open(perf):
        match = TIMEHIST.match(line)
        if match and match[2] in LOAD:
            theirs.setdefault(int(match[3]), []).append(
                (int(match[1]), *(float(match[n]) for n in (4, 5, 6))))
    with open(ours) as lines:
        next(lines)
        for line in lines:
            run = json.loads(line)
            if run["event"] == "run" and run["pid"] in theirs and run["comm"] in LOAD:
                mine.setdefault(run["pid"], []).append(
                    (run["cpu"], *((run[n] or 0) / 1e6 for n in ("wait_ns", "delay_ns", "run_ns"))))
    other = [(p, len(mine.get(p, [])), len(theirs[p])) for p in theirs
             if [r[0] for r in mine.get(p, [])] != [r[0] for r in theirs[p]]]
    print("other lines or CPUs:", other[:5])
    assert len(theirs) > 40 and not other
    for n, what in enumerate(("wait times", "delays", "run times"), 1):
        near([(a[n], b[n]) for p in theirs for a, b in zip(mine[p], theirs[p])], what)

{"latency": latency, "timehist": timehist}[sys.argv[1]](*sys.argv[2:])
EOP

perf sched latency -p -i perf.data > perf.txt 2> log &&
	schedtape latency -p --json both.tape > ours.json 2> log &&
	/usr/bin/python3 compare.py latency ours.json perf.txt > log 2>&1
report $? "latency: counts, run times and longest delays of perf sched latency"
sed 's/^/# /' log
perf sched timehist -i perf.data > perf.txt 2> log &&
	schedtape timehist --json both.tape > ours.json 2> log &&
	/usr/bin/python3 compare.py timehist ours.json perf.txt > log 2>&1
report $? "timehist: CPUs, wait times, delays and run times of perf sched timehist"
sed 's/^/# /' log

# An end in the middle: nothing is written to a reader that has gone, and this is no failure.
schedtape timehist both.tape 2> log | head -n 3 > head.txt
[ "${PIPESTATUS[*]}" = "0 0" ] && [ ! -s log ] && [ "$(wc -l < head.txt)" = 3 ]
report $? "timehist: a reader that closes its pipe"
expect 129 'cannot sort by' schedtape latency -s none both.tape
expect 129 'not comm, process' schedtape latency --by none both.tape
expect 1 'matches --tid; it has the tasks' schedtape latency --tid 4194303 both.tape

finish
