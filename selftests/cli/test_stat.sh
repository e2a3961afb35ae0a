#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Description: stat, and scripts in Python and Perl, count the events that perf stat counts of the
# same tasks at the same time.

set -u
here=$(dirname "$(realpath "$0")")
. "${here%/cli}/lib/commands.sh"

command -v perf > /dev/null || skip_all "perf is not installed"

# The tasks are asleep when perf and schedtape begin and end to count, so both count the same time.
# "stays" wait at the end; "ends" exits in between.
cat > work.py << 'EOP'
import os, sys, threading

go, stay, ready = (os.open(name, os.O_RDWR) for name in ("go", "stay", "ready"))

def ping(rounds, read, write, first):
    for _ in range(rounds):
        if first:
            os.write(write, b"x")
        os.read(read, 1)
        if not first:
            os.write(write, b"x")

def forks(n):
    for i in range(n):
        pid = os.fork()
        if not pid:
            os._exit(0)
        os.waitpid(pid, 0)

def threads(n):
    begin = threading.Barrier(4)
    def move():
        for i in range(n):
            begin.wait()
            os.sched_setaffinity(0, {i % (os.cpu_count() or 1)})
    others = [threading.Thread(target=move) for _ in range(3)]
    for t in others:
        t.start()
    move()
    for t in others:
        t.join()

a, b = os.pipe(), os.pipe()
workers = (lambda: ping(300, a[0], b[1], True), lambda: ping(300, b[0], a[1], False),
           lambda: forks(20), lambda: threads(20))

def start(work, stays):
    pid = os.fork()
    if pid:
        return pid
    os.read(go, 1)
    work()
    os.write(ready, b"x")
    if stays:
        os.read(stay, 1)
    os._exit(0)

stays = [start(work, True) for work in workers]
ends = [start(lambda: forks(3), False)]
# A shell is small, so its execve() is quick.
pid = os.fork()
if not pid:
    os.execv("/bin/sh", ["sh", "-c", "read x < shell && exec sh -c 'echo x > ready; read x < stay'"])
stays.append(pid)
print("stays", *stays)
print("ends", *ends)
sys.stdout.flush()
for pid in ends:
    os.waitpid(pid, 0)
os.read(stay, 1)
EOP
mkfifo go stay ready shell
/usr/bin/python3 -IS work.py > pids 2> log &
work=$!
eventually grep -q ends pids
read -ra stays <<< "$(sed -n 's/^stays //p' pids)"
read -ra ends <<< "$(sed -n 's/^ends //p' pids)"
trap 'kill "$work" "${stays[@]}" "${ends[@]}" 2> /dev/null; rm -rf "$dir"' EXIT

# asleep PID...: succeeds if all tasks of these processes sleep
asleep()
{
	local pid

	for pid; do
		! grep -h '^State:' "/proc/$pid"/task/*/status | grep -qv sleeping || return
	done
}
export -f asleep eventually
export patience

eventually asleep "${stays[@]}" "${ends[@]}"
sleep 0.5
pids=$(IFS=,; echo "${stays[*]},${ends[*]}")
# A tape does not have the recorder itself, so what wakes it is left out of perf's counts, too.
options=()
for event in switch waking wakeup wakeup_new migrate_task process_fork process_exec process_exit; do
	options+=(-e "sched:sched_$event")
	case $event in
	wak*) options+=(--filter 'comm != "schedtape"') ;;
	esac
done
# shellcheck disable=SC2016 # the shell within expands it
schedtape record -q -a --kthreads -o both.tape -- perf stat --no-inherit --per-thread -x , \
	-p "$pids" "${options[@]}" -o perf.csv -- bash -c '
	exec 3<> ready
	printf xxxxx > go
	echo x > shell
	read -r -N 7 -u 3
	eventually asleep "$@"
	sleep 0.5' bash "${stays[@]}" > log 2>&1
report $? "perf stat and schedtape count at the same time"

cat > compare.py << 'EOP'
import csv, json, sys

NAMES = {"sched:sched_switch": "switch", "sched:sched_waking": "waking",
         "sched:sched_wakeup": "wakeup", "sched:sched_wakeup_new": "wakeup_new",
         "sched:sched_migrate_task": "migrate", "sched:sched_process_fork": "fork",
         "sched:sched_process_exec": "exec", "sched:sched_process_exit": "exit"}
# perf stops to count a task within its exit, before or after that event.  What follows are wake-ups
# of its parent, of tasks that wait for what it gives back and of the kernel's threads, which may
# migrate, and its last switch.
AT_EXIT = {"exit": (0, 1), "switch": (1, 100), "waking": (0, 100), "wakeup": (0, 100),
           "migrate": (0, 100)}

theirs = {}
for row in csv.reader(open(sys.argv[1])):
    if len(row) > 3 and row[3] in NAMES:
        theirs[int(row[0].rpartition("-")[2]), NAMES[row[3]]] = int(row[1])
pids = dict(line.split(" ", 1) for line in open(sys.argv[2]))
ends = [int(pid) for pid in pids["ends"].split()]
with open(sys.argv[3]) as file:
    report = json.load(file)
mine = {}
for line in report["counts"]:
    if line["pid"] is not None:
        for name in NAMES.values():
            mine[line["pid"], name] = mine.get((line["pid"], name), 0) + line[name]

sums = {name: 0 for name in NAMES.values()}
wrong = []
for (tid, name), n in sorted(theirs.items()):
    ours = mine.get((tid, name), 0)
    least, most = AT_EXIT.get(name, (0, 0)) if tid in ends else (0, 0)
    if ours != n:
        print(f"{name} of {tid}: {ours}, perf {n}")
    if not least <= ours - n <= most:
        wrong.append((tid, name))
    sums[name] += ours
tids = {tid for tid, _ in theirs}
print(len(tids), "tasks;", ", ".join(f"{n} {name}" for name, n in sums.items()))
tools = [line for line in report["counts"] if line["name"].startswith(("perf:", "<other>"))]
print("not compared:", ", ".join(f"{line['name']} {line['events']}" for line in tools))
assert not wrong, wrong
assert len(tids) >= 6 and sums["switch"] > 300 and sums["waking"] > 300
assert all(sums[name] for name in ("wakeup", "wakeup_new", "fork", "exec", "exit")), sums
EOP
schedtape stat --per-thread --json both.tape > ours.json 2> log &&
	/usr/bin/python3 -IS compare.py perf.csv pids ours.json > log 2>&1
report $? "per task and event, stat counts what perf stat counts"
sed 's/^/# /' log

# -- tallies of scripts ----------------------------------------------------------

cat > tally.pl << 'EOP'
sub trace_unhandled { $n{"$_[0] $_[5]"}++ }
sub trace_end { print map { s/(\S+) (.*)/$n{$_} $1 $2\n/r } keys %n }
EOP
# "COUNT EVENT PID" of each task and event. A name may have blanks.
tally_perl()
{
	schedtape script -i both.tape -s tally.pl | sed 's/::/:/'
}

tally_python()
{
	PYTHONPATH=$build/python schedtape script -i both.tape -s event-counts |
		sed -n 's/,//g; 1,/^$/d; s/^ *\([0-9]*\)  \([a-z_]*:[a-z_]*\) .*:\(-\?[0-9]*\)$/\1 \2 \3/p'
}

# Tasks that are not recorded, and the idle task, have no PID in stat.
cat > tallies.py << 'EOP'
import json, sys
from collections import Counter

RENAMED = {"process_fork": "fork", "process_exec": "exec", "process_exit": "exit",
           "migrate_task": "migrate"}
tallies, expected = Counter(), Counter()
for line in open(sys.argv[1]):
    count, event, pid = line.split()
    name = event.partition(":")[2].removeprefix("sched_").removeprefix("task_")
    # The kernel has this one for a part of what the tape has.
    if int(pid) > 0 and name != "pi_setprio":
        tallies[int(pid), RENAMED.get(name, name)] += int(count)
names = {name for _, name in tallies}
for line in json.load(open(sys.argv[2]))["counts"]:
    if line["pid"] is not None:
        expected.update({(line["pid"], name): line[name] for name in names if line[name]})
wrong = [(key, tallies[key], expected[key]) for key in tallies | expected
         if tallies[key] != expected[key]]
print(len(tallies), "counts,", sum(tallies.values()), "events of", ", ".join(sorted(names)))
assert not wrong, wrong[:5]
assert len(names) >= 8 and sum(tallies.values()) > 2000
EOP
for language in python perl; do
	if ! command -v "${language/python/python3}" > /dev/null; then
		skip "$language is not installed"
	elif [ $language = python ] && ! PYTHONPATH=$build/python schedtape script -l > log 2>&1; then
		skip "the Python package schedtape is not built"
	else
		tally_$language > $language.txt 2> log &&
			/usr/bin/python3 -IS tallies.py $language.txt ours.json > log 2>&1
		report $? "$language counts what stat counts, per task and event"
		sed 's/^/# /' log
	fi
done

# The table and each way to group it have the same events: all but idle times, if no task has them.
schedtape stat --per-thread --json both.tape > a.json 2> log
schedtape script -e idle both.tape > idle.txt 2>> log
report $? "idle times are selected by their type"
idle=$(wc -l < idle.txt)
for by in comm process cgroup cpu policy; do
	schedtape stat --by "$by" --json both.tape > b.json 2> log &&
		/usr/bin/python3 -IS -c 'import json, sys
a, b = (json.load(open(name)) for name in ("a.json", "b.json"))
for total in a["total"], b["total"]:
    del total["tasks"], total["pid"]
assert a["total"] == b["total"], (a["total"], b["total"])
assert 0 <= a["events"] - a["total"]["events"] <= int(sys.argv[1]), (a["total"], a["events"])
assert all(sum(line[key] for line in b["counts"]) == b["total"][key]
           for key in b["total"] if key != "name")' "$idle" 2> log
	report $? "--by $by has the events of all lines"
done

expect 129 '.-pid: not a list of PIDs: .none' schedtape stat -p none both.tape
expect 129 'cannot sort by .none.: one of task, events, switch' schedtape stat -s none both.tape
expect 129 'not task, comm, process' schedtape stat --by none both.tape
expect 1 'no event of the tape matches --tid; it has the tasks' \
	schedtape stat --tid 4194303 both.tape

finish
