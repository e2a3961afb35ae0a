#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Description: a recording agrees with the kernel's own counters: each task's switches with its
# voluntary and nonvoluntary ones, its CPU time with se.sum_exec_runtime, and all forks with
# "processes" of /proc/stat.

set -u
here=$(dirname "$(realpath "$0")")
. "${here%/cli/record}/lib/commands.sh"
# An emulated CPU may stall between the kernel's read of its clock and the tracepoint, and CPU
# times differ by that: they are checked only if instructions are counted.
exact=${SCHEDTAPE_EXACT:-}

# Runs some programs, stops them by a signal, and saves the kernel's counters of their threads.
# The counters of a stopped task do not change, so the tape up to then has the same numbers.
cat > stopped.py << 'END'
import json, os, signal, subprocess, sys, time

def fields(path):
    with open(path) as f:
        pairs = (line.split(":", 1) for line in f if ":" in line)
        return {key.strip(): value.strip() for key, value in pairs}

def threads(pids):
    return [(pid, int(tid)) for pid in pids for tid in os.listdir(f"/proc/{pid}/task")]

def tree(pid):
    with open(f"/proc/{pid}/task/{pid}/children") as f:
        return [pid] + [p for child in f.read().split() for p in tree(int(child))]

started = [subprocess.Popen(words.split(), stdout=subprocess.DEVNULL) for words in sys.argv[2:]]
time.sleep(0.5)
pids = [p for child in started for p in tree(child.pid)]
for pid in pids:
    os.kill(pid, signal.SIGSTOP)
while any(not fields(f"/proc/{pid}/task/{tid}/status")["State"].startswith("T")
          for pid, tid in threads(pids)):
    time.sleep(0.01)
time.sleep(0.1)
kernel = {"time_ns": time.clock_gettime_ns(time.CLOCK_MONOTONIC), "tasks": {}}
for pid, tid in threads(pids):
    status, sched = (fields(f"/proc/{pid}/task/{tid}/{name}") for name in ("status", "sched"))
    kernel["tasks"][tid] = {
        "comm": status["Name"],
        "switches": int(status["voluntary_ctxt_switches"]) + int(status["nonvoluntary_ctxt_switches"]),
        "run_ns": round(float(sched["se.sum_exec_runtime"]) * 1e6)}
with open(sys.argv[1], "w") as f:
    json.dump(kernel, f)
for pid in pids:
    os.kill(pid, signal.SIGKILL)
END

# Compares them with the tape. Each task has to be forked in the recording, because the kernel
# counts from there on. The kernel's clock of a switch is up to a microsecond older than the
# tracepoint; for a task of short runs this may be more than 1 %. If a wake-up preempts, it is the
# clock of the wake-up: what interrupts and softirqs take in between is the woken task's for the
# kernel, and the preempted one's on the tape. What one task lacks is another one's, so the sum has
# to agree nevertheless. A task of a few ms is checked by its switches, and in the sum.
cat > compare.py << 'END'
import json, sys

kernel = json.load(open(sys.argv[1]))
exact = bool(sys.argv[2])
switches, run, since, forked = {}, {}, {}, set()
woken, before_switch = {}, {}
for line in sys.stdin:
    event = json.loads(line)
    if "format" in event:
        continue
    if event["time_ns"] > kernel["time_ns"]:
        break
    if event["event"] == "fork":
        forked.add(event["pid"])
    if event["event"] == "wakeup":
        woken[event["pid"]] = event["time_ns"]
    if event["event"] != "switch":
        continue
    prev, following = event.get("curr_pid"), event.get("next_pid")
    if prev:
        switches[prev] = switches.get(prev, 0) + 1
        run[prev] = run.get(prev, 0) + event["time_ns"] - since.get(prev, event["time_ns"])
        if event.get("prev_state") == "R" and following in woken:
            late = event["time_ns"] - max(woken[following], since.get(prev, 0))
            for tid in (prev, following):
                before_switch[tid] = before_switch.get(tid, 0) + late
    if following:
        since[following] = event["time_ns"]
        woken.pop(following, None)
bad = 0
for tid, task in ((int(tid), task) for tid, task in kernel["tasks"].items()):
    off = 100 * (run.get(tid, 0) / task["run_ns"] - 1)
    right = tid in forked and switches.get(tid) == task["switches"] and (
        not exact or task["run_ns"] < 5000000 or abs(run.get(tid, 0) - task["run_ns"]) <=
        max(task["run_ns"] / 100, 1200 * task["switches"]) + before_switch.get(tid, 0))
    bad += not right
    print(f"{task['comm']}:{tid}: {switches.get(tid)} switches, kernel {task['switches']}; "
          f"{run.get(tid, 0)} ns, kernel {task['run_ns']} ({off:+.2f} %), "
          f"{before_switch.get(tid, 0)} ns between wake-up and switch{'' if right else '  WRONG'}")
total, ours = (sum(times) for times in zip(*(
    (task["run_ns"], run.get(int(tid), 0)) for tid, task in kernel["tasks"].items())))
print(f"all: {ours} ns, kernel {total} ({100 * (ours / total - 1):+.2f} %)")
assert not bad and len(kernel["tasks"]) >= 8
assert not exact or abs(ours - total) <= total / 100
END

schedtape record -q -m 4M -o stopped.tape -- /usr/bin/python3 stopped.py kernel.json \
	"pingpong 100000000" "chain 10000 3" "periodic 10 2 10000 2" "hog 100000" 2> log
report $? "a load is recorded until it is stopped"
schedtape script --ns --json stopped.tape 2> log | /usr/bin/python3 compare.py kernel.json "$exact" > agree 2>> log
status=$?
sed 's/^/# /' agree
report $status "each task has the kernel's switches${exact:+, and its CPU time within 1 %}"
schedtape info --json stopped.tape > info.json 2> log &&
	like info.json 'sum(c["lost"] for c in d["cpus"]) == 0'
report $? "nothing was lost"

# All forks between two reads of /proc/stat, including kernel threads.
cat > forks.py << 'END'
import subprocess, sys, time

def forks():
    with open("/proc/stat") as f:
        return next(int(line.split()[1]) for line in f if line.startswith("processes"))

# The number of forks, and a time. No process forked while it read them.
def look():
    while True:
        count, now = forks(), time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        if forks() == count:
            return count, now

before, start = look()
for words in sys.argv[2:]:
    subprocess.run(words, shell=True, stdout=subprocess.DEVNULL, check=True)
after, end = look()
with open(sys.argv[1], "w") as f:
    print(after - before, start, end, file=f)
END
schedtape record -q -a --kthreads -m 4M -o forks.tape -- /usr/bin/python3 forks.py forks \
	"forktree 4 3" "chain 20 1" "for i in 1 2 3 4 5 6 7 8; do ls / | sort; done" 2> log
report $? "forks are recorded"
schedtape script --ns --json forks.tape 2> log | /usr/bin/python3 -c 'import json, sys
processes, start, end = map(int, open("forks").read().split())
events = [json.loads(line) for line in list(sys.stdin)[1:]]
forks = sum(e["event"] == "fork" and start <= e["time_ns"] <= end for e in events)
print(f"{forks} forks on the tape, {processes} processes of /proc/stat")
assert forks == processes > 30' > agree 2>> log
status=$?
sed 's/^/# /' agree
report $status "all forks of the kernel are on the tape"

finish
