#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Description: schedtape script prints what perf script prints of the same tasks; which times and
# tasks of a recording its options select.

set -u
here=$(dirname "$(realpath "$0")")
. "${here%/cli}/lib/commands.sh"

# -- beside perf ------------------------------------------------------------------

# Both record the same load. The comparison leaves out what either recorder does itself.
cat > compare.py << 'EOP'
import collections, re, sys

LINE = re.compile(r"\s*(\S.*?)\s+(-?\d+) \[(\d+)\]\s+(\d+\.\d+): +(\S+): (.*)")
LOAD = re.compile(r"comm=(hackbench|sleep|ls) ")
# Names of kernel workers change with their work in perf; execs have no path on a tape.
LEFT_OUT = re.compile(r"comm=(perf|schedtape|other|kworker)|filename=")
# What a tape does not have: some values, and switches between two tasks that are not recorded, so
# that it may be another one that leaves the CPU.
UNKNOWN = [(r"prev_state=R\+", "prev_state=R"), (r"prev_state=Z", "prev_state=X"),
           (r"oom_score_adj=-?\d+", "oom_score_adj="),
           (r" group_dead=\w+", ""),
           (r"prev_comm=(swapper|perf|schedtape|other|kworker).* ==>", "prev ==>")]
# Since Linux 7.0 a task can be preempted, and moved, between two probes of a tracepoint, so the two
# recorders may see these events on different CPUs. The other tracepoints are passed with interrupts
# off.
PREEMPTIBLE = {"sched:sched_process_fork", "sched:sched_process_exec", "sched:sched_process_exit",
               "task:task_rename"}

def load(path):
    found = collections.Counter()
    for line in open(path):
        if line.startswith("#"):
            continue
        match = LINE.fullmatch(line.rstrip("\n"))
        assert match, f"{path}: {line}"
        trace = match[6]
        for pattern, text in UNKNOWN:
            trace = re.sub(pattern, text, trace)
        if not LOAD.search(trace) or LEFT_OUT.search(trace):
            continue
        found[match[5], None if match[5] in PREEMPTIBLE else match[3], trace] += 1
    return found

ours, perf = load(sys.argv[1]), load(sys.argv[2])
print(sum(ours.values()), "lines,", sum(perf.values()), "of perf")
kinds = {event for event, _, _ in ours}
assert len(kinds) >= 7, kinds
for what, more in ("only ours", ours - perf), ("only perf's", perf - ours):
    for line in list(more)[:5]:
        print(what, line)
assert ours == perf and sum(ours.values()) > 1000
EOP

beside_perf()
{
	local fields=perf,comm,pid,tid,cpu,time,event
	local events=sched:sched_switch,sched:sched_waking,sched:sched_wakeup,task:task_rename

	events+=,sched:sched_wakeup_new,sched:sched_migrate_task,sched:sched_process_fork
	events+=,sched:sched_process_exit,sched:sched_process_exec
	# shellcheck disable=SC2016 # the shell that is recorded expands it
	perf record -q -k CLOCK_MONOTONIC -m 4096 -a -e "$events" -o perf.data -- schedtape record -q \
		-a --kthreads -o both.tape -- sh -c 'sleep 0.2; hackbench -p -g 1 -l 40
		for i in 1 2 3; do sleep 0.01; ls; done; sleep 0.2' > log 2>&1
	report $? "perf and schedtape record at the same time"
	perf script -i perf.data > perf.txt 2> log &&
		schedtape script -F perf both.tape > our.txt 2> log &&
		/usr/bin/python3 compare.py our.txt perf.txt > log 2>&1
	report $? "-F perf: the lines of perf script"
	perf script -i perf.data --ns -F "${fields#perf,}" > perf.txt 2> log &&
		schedtape script --ns -F "$fields" both.tape > our.txt 2> log &&
		for lines in perf.txt our.txt; do
			sed -nE '/hackbench .*sched_process_fork/{s/[0-9]+\.[0-9]{9}:/time:/;s/ +/ /gp;q}' \
				$lines
		done > log && [ "$(wc -l < log)" = 2 ] && [ "$(uniq log | wc -l)" = 1 ]
	report $? "-F perf with fields: the columns of perf script"
}

if command -v perf > /dev/null && command -v hackbench > /dev/null; then
	beside_perf
else
	skip "perf or hackbench is not installed"
fi

# -- times ------------------------------------------------------------------------

before=$(TZ=XXX-3:30 date +%F)
schedtape record -q -o naps.tape -- sh -c 'for i in 1 2 3 4 5; do sleep 0.1; done' 2> log
report $? "record"

# within FROM TO < TEXT: all times at the beginning of lines are in this range, and there are some
within()
{
	awk -v from="$1" -v to="$2" '{ time = $3 + 0; n++ } time < from || time >= to { bad++; print }
		END { exit !n || bad }' > log
}

schedtape script -e switch --reltime --time +0.1,+0.3 naps.tape 2> log | within 0.1 0.3
report $? "--time +0.1,+0.3: lines of that time"
schedtape script -e switch --ns naps.tape > all 2> log
for half in 0%-50% 50%-100%; do
	schedtape script -e switch --ns --time "$half" naps.tape 2> log
done > halves
[ -s all ] && cmp all halves > log 2>&1
report $? "--time 0%-50% and 50%-100%: two halves, which are all"

# The date of a line selects the line, in any time zone.
export TZ=XXX-3:30
schedtape script -e switch --tod --ns naps.tape > all 2> log
date=$(sed -n '5s/.* \(2[0-9-]* [0-9:.]*\): .*/\1/p' all)
schedtape script -e switch --tod --ns --time "$date," naps.tape > later 2> log &&
	[ -n "$date" ] && tail -n +5 all | cmp - later > log 2>&1
report $? "--time with the date of a line ($date) begins with that line"
echo "$before $(date +%F)" > log
grep -q "${date% *}" log
report $? "--tod has the day"
unset TZ
expect 1 'it is from [0-9.]+ to [0-9.]+ s \(2' \
	schedtape script --time 2020-01-01,2020-01-02 naps.tape
expect 1 'no event of the tape matches --comm; it has the tasks .*sh:[0-9]+, sleep:' \
	schedtape script --comm none naps.tape
expect 129 'one of comm, pid, tid' schedtape script -F none naps.tape
expect 129 'one of switch, waking' schedtape script -e none naps.tape

# -- tasks ------------------------------------------------------------------------

# A process of two threads, and another process.
cat > threads.py << 'EOP'
import os, threading, time

def name(text):
    with open(f"/proc/self/task/{threading.get_native_id()}/comm", "w") as comm:
        comm.write(text)

def work():
    name("second")
    time.sleep(0.1)

child = os.fork()
if not child:
    name("child")
    time.sleep(0.1)
    os._exit(0)
name("first")
thread = threading.Thread(target=work)
thread.start()
thread.join()
os.waitpid(child, 0)
print(os.getpid(), thread.native_id)
EOP

# Prints the lines of all events that are of or about tasks with an attribute from the list.
cat > choose.py << 'EOP'
import json, sys

attribute, *values = sys.argv[1:]
print(sys.stdin.readline(), end="")
for line in sys.stdin:
    event = json.loads(line)
    if {str(event.get(which + attribute)) for which in ("curr_", "", "next_")} & {*values}:
        print(line, end="")
EOP

# selects OPTION ATTRIBUTE VALUE...: script with this option prints the events with these values
selects()
{
	schedtape script --json "$1" threads.tape > chosen 2> log &&
		/usr/bin/python3 choose.py "${@:2}" < all > expected 2> log &&
		[ "$(wc -l < expected)" -gt 5 ] && cmp chosen expected > log 2>&1
	report $? "script $1"
}

schedtape record -q -o threads.tape -- /usr/bin/python3 threads.py > tids 2> log
report $? "record threads"
read -r pid tid < tids
schedtape script --json threads.tape > all 2> log
selects "--pid=$pid" pid "$pid" "$tid"
selects "--tid=$pid" pid "$pid"
selects "--tid=$tid" pid "$tid"
selects "--comm=c*,second" comm child second
schedtape report --pid "$pid" --json threads.tape > tape.json 2> log &&
	like tape.json "{t['comm'] for t in d['tasks']} == {'first', 'second'}"
report $? "report --pid: all threads of the process"

# -- names ------------------------------------------------------------------------

# Tasks whose names look like patterns and lists, and tasks that these would select.
cat > names.sh << 'EOP'
for name in 'pool[0]' pool0 'a,b' a b 'back\slash'; do
	sh -c 'printf %s "$1" > /proc/self/comm; sleep 0.01 & wait' sh "$name"
done
EOP

# names_only TEXT: the tasks in the file "out" have this name
names_only()
{
	grep -qF "$1:" out && [ "$(grep -cE '^ *(pool|a|b)' out)" -eq 1 ]
}

schedtape record -q -o names.tape -- sh names.sh 2> log
report $? "record names"
for name in 'pool[0]' 'a,b' 'back\slash'; do
	schedtape report --comm "$name" names.tape > out 2> log && names_only "$name"
	report $? "report --comm '$name': only the task of this name"
	schedtape why --sleeps --worst 1 "$name" names.tape > out 2> log &&
		grep -qF "$name:" out
	report $? "why '$name'"
	schedtape replay -q --engine=user --only "comm=$name" names.tape > out 2> log
	report $? "replay --only 'comm=$name'"
done
schedtape report --comm 'pool[0]' names.tape 2> log > out &&
	grep -qF "'pool[0]' is the name of a task" log
report $? "a line says that it would be a pattern, too"
schedtape report --comm 'a\,b,back\\slash' --json names.tape > tape.json 2> log &&
	like tape.json "sorted(t['comm'] for t in d['tasks']) == ['a,b', 'back\\\\slash']"
report $? "a list whose names are quoted"

# -- cgroups ----------------------------------------------------------------------

cgroups=$(findmnt -n -o TARGET -t cgroup2 | head -n 1)
if [ -n "$cgroups" ] && mkdir -p "$cgroups/script-test/inner"; then
	sh -c "echo \$\$ > '$cgroups/script-test/inner/cgroup.procs'
		exec periodic 20 1 1000" > /dev/null &
	inside=$!
	periodic 20 1 1000 > /dev/null &
	outside=$!
	# settled: both programs run
	settled()
	{
		grep -qx periodic "/proc/$inside/comm" && grep -qx periodic "/proc/$outside/comm"
	}
	eventually settled
	schedtape record -q -p $inside,$outside -o groups.tape -- sleep 0.3 2> log
	report $? "record two cgroups"
	kill $inside $outside
	wait
	for pattern in /script-test script-test/inner '/*/inner'; do
		schedtape report --json --cgroup "$pattern" groups.tape > tape.json 2> log &&
			like tape.json "[t['pid'] for t in d['tasks']] == [$inside]"
		report $? "--cgroup '$pattern'"
	done
	schedtape script -e switch --cgroup /script-test groups.tape > lines 2> log &&
		grep -qw "periodic:$inside" lines && ! grep -vw "periodic:$inside" lines > log
	report $? "script --cgroup"
	expect 1 "no cgroup '/none'; it has /, /script-test, /script-test/inner" \
		schedtape script --cgroup /none groups.tape
	rmdir "$cgroups/script-test/inner" "$cgroups/script-test"
else
	skip "no cgroup2 hierarchy"
fi

finish
