#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Description: record -C of tasks that move between recorded CPUs and others: what they are is on
# the tape wherever it happens, what they do only on the recorded CPUs.

set -u
here=$(dirname "$(realpath "$0")")
. "${here%/cli/record}/lib/commands.sh"

[ "$(nproc)" -ge 2 ] || skip_all "there is one CPU"

# A child gets its name and its priority on CPU 0, works on CPU 1 and ends on CPU 0.
cat > move.py << 'EOP'
import os, time

def rename(name):
    with open('/proc/self/comm', 'w') as comm:
        comm.write(name)

os.sched_setaffinity(0, {0})
rename('parent')
pid = os.fork()
if not pid:
    rename('mover')
    os.setpriority(os.PRIO_PROCESS, 0, 7)
    os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))
    for i in range(5):
        os.sched_setaffinity(0, {1})
        time.sleep(.005)
        os.sched_setaffinity(0, {0})
    os._exit(0)
os.waitpid(pid, 0)
EOP

# moved TAPE TEXT: the tape has all of the child
moved()
{
	on_tape "$1" 'len([t for t in d["tasks"] if t["comm"] == "mover" and
		t["first_comm"] == "parent" and t["policy"] == "batch" and t["nice"] == 7 and
		t["exited"] and t["cpu_time_ns"] > 0 and
		[p for p in d["tasks"] if p["index"] == t["parent_index"] and
		p["comm"] == "parent"]]) == 1' "$2"
}

# printed PATTERN TEXT: script prints one such line
printed()
{
	[ "$(grep -cE "$1" script.out)" = 1 ]
	report $? "script: $2"
}

schedtape record -q -C 1 -o tape -- /usr/bin/python3 move.py 2> log
report $? "record -C 1"
moved tape "report: name, priority, parent and end of a task that comes to the CPU later"
schedtape script tape > script.out 2> log
printed '^ *parent-[0-9]+ +\[---\].* fork: parent:[0-9]+$' "its fork"
printed ' rename: parent:[0-9]+ to mover$' "its name"
printed ' setprio: mover:[0-9]+ other nice=7 ' "its nice value"
printed ' setprio: mover:[0-9]+ batch nice=7 ' "its policy"
printed ' exit: mover:[0-9]+$' "its exit"
printed ' exit: mover:[0-9]+ ended$' "its end"
! grep -q '^.\{24\} \[000\]' script.out && grep -q '^.\{24\} \[001\]' script.out
report $? "script: events of CPU 1 only"
schedtape info --json tape > info.json 2> log &&
	like info.json '[c["cpu"] for c in d["cpus"]] == [None, 1] and d["cpus"][0]["events"] > 5'
report $? "info: the descriptions are counted apart"

schedtape replay -q tape --record replayed 2> log
report $? "such a tape can be replayed"
on_tape replayed '"mover" in c and "parent" in c' "the replay has the task"

schedtape record -q -C 1 --threads -o threads -- /usr/bin/python3 move.py 2> log
report $? "record -C 1 --threads"
moved threads "report: the same"
schedtape record -q -C 1 --overwrite -o newest -- /usr/bin/python3 move.py 2> log
report $? "record -C 1 --overwrite"
moved newest "report: the same"

# It never leaves CPU 0, and no event shows it.
taskset -c 0 sh -c 'while :; do :; done' &
hog=$!
# settled: succeeds when it has executed its program, after it came to CPU 0
settled()
{
	grep -qx sh "/proc/$hog/comm" && taskset -pc $hog | grep -q ': 0$'
}
eventually settled
schedtape record -q -C 1 -o others -- sleep .3 2> log &&
	schedtape report --json others > tape.json 2> log &&
	like tape.json "[t['cpu_time_ns'] for t in d['tasks'] if t['pid'] == $hog] == [0]"
report $? "a task on another CPU gets no CPU time"
kill $hog

finish
