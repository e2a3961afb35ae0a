#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Description: record -e drops events of tasks that the session does not record at that moment, and
# counts them: after a change of their name, cgroup or filter, and of kernel threads.

set -u
here=$(dirname "$(realpath "$0")")
. "${here%/cli/record}/lib/commands.sh"

need_syscall_points
nap=syscalls:sys_enter_clock_nanosleep

# Sleeps as each of its arguments says, "5" times or with a new name, "name=x"; "gate" waits.
cat > naps.py << 'EOP'
import os, sys, time

for word in sys.argv[1:]:
    if word == "gate":
        open("gate").read()
    elif word == "fork":
        pid = os.fork()
        if pid:
            os.waitpid(pid, 0)
            break
    elif word.startswith("name="):
        with open("/proc/self/comm", "w") as comm:
            comm.write(word[5:])
    else:
        for _ in range(int(word)):
            time.sleep(0.001)
EOP
naps=(/usr/bin/python3 -IS naps.py)

# has TAPE RECORDED DROPPED TEXT: so many of these events are on the tape, and so many, a pattern, are
# not
has()
{
	schedtape script -e $nap "$1" > text 2> log
	schedtape info --json "$1" > json 2>> log
	[ "$(grep -c "$nap: " text)" = "$2" ] && grep -q "\"samples_dropped\": $3,$" json
	report $? "$4"
	[ "$failed" = 0 ] || grep '"samples' json | sed 's/^/# /'
}

schedtape record -q -e $nap --exclude-comm 'hid*' -o tape -- \
	"${naps[@]}" name=seen 5 name=hidden 7 name=seen 3 name=hid 20 > log 2>&1
has tape 8 27 "--exclude-comm: as long as a task has another name"
schedtape info tape 2> log | grep -q '; 27 dropped, of tasks that were not recorded$'
report $? "info says so"
schedtape record -q -e $nap --exclude-comm 'hid*' -o tape -- \
	"${naps[@]}" name=hidden 2 fork 7 name=seen 3 > log 2>&1
has tape 3 9 "a child has its parent's name, until it gets another one"
schedtape record -q --threads -e $nap --exclude-comm 'hid*' -o dir -- \
	"${naps[@]}" name=seen 5 name=hidden 7 name=seen 3 > log 2>&1
has dir 8 7 "a thread may read the descriptions"

# waits: is $pid in front of the gate?
waits()
{
	[ "$(awk '$1 == "State:" { print $2 }' "/proc/$pid/status")" = S ]
}

# background OPTION...: records naps that wait at the gate, and sets $pid and $recorder
background()
{
	eventually waits
	schedtape record -q -e $nap -o tape "$@" > log 2>&1 &
	recorder=$!
	eventually recording && sleep 0.2
}

mkfifo gate
"${naps[@]}" gate 4 fork 6 &
pid=$!
background -i -p $pid
echo > gate
wait $recorder
has tape 4 0 "-i: not of a child"

"${naps[@]}" gate 4 gate 6 gate 3 &
pid=$!
sleep 1000 &
other=$!
background -p $pid -p $other
echo > gate
eventually waits
sleep 0.2
schedtape filter "$id" del -p $pid
echo > gate
sleep 0.2
eventually waits
schedtape filter "$id" add -p $pid
echo > gate
wait $pid
interrupt $recorder
kill $other
has tape 7 6 "a filter that changes meanwhile"

mkfifo ctl ack
"${naps[@]}" gate 4 gate 6 gate fork 3 &
pid=$!
eventually waits
schedtape record -q -e $nap -o tape -p $pid --control fifo:ctl,ack > log 2>&1 &
recorder=$!
exec 8> ctl 9< ack
eventually recording && sleep 0.2
echo > gate
eventually waits
echo disable >&8
read -r -u 9
echo > gate
sleep 0.2
eventually waits
echo enable >&8
read -r -u 9
echo > gate
wait $recorder
exec 8>&- 9<&-
has tape 7 0 "a pause has none, and what is forked after it is recorded"

if find_cgroups; then
	mkdir "$cg/stape-dropped" && trap 'rmdir "$cg/stape-dropped"; rm -rf "$dir"' EXIT
	"${naps[@]}" gate 4 gate 6 &
	pid=$!
	echo $pid > "$cg/stape-dropped/cgroup.procs"
	background -G "$cg/stape-dropped" -p $pid
	echo > gate
	sleep 0.2
	eventually waits
	echo $pid > "$cg/cgroup.procs"
	echo > gate
	wait $pid
	interrupt $recorder
	has tape 10 '[0-9]*' "-G and -p: a task of both has each event once"
else
	skip "-G and -p: there is no cgroup v2"
fi

# A kernel thread is recorded with --kthreads only, and the idle task with -a.
for option in '' --kthreads; do
	# shellcheck disable=SC2086 # nothing, or one option
	schedtape record -q -a $option -e 'workqueue:workqueue_execute_start,timer:*' -o tape -- \
		sleep 1 > log 2>&1
	schedtape script --json -e 'workqueue:*,timer:*' tape 2>> log > json
	kinds=$(/usr/bin/python3 -IS -c 'import json, sys
events = [json.loads(line) for line in sys.stdin][1:]
print(any(e["event"].startswith("workqueue") for e in events),
      any(e["curr_kind"] == "idle" for e in events))' < json)
	if [ "$option" ]; then
		[ "$kinds" = "True True" ]
	else
		[ "$kinds" = "False True" ] &&
			! schedtape info --json tape | grep -q '"samples_dropped": 0,'
	fi
	report $? "-a $option: the idle task's, ${option:+and }${option:-without kernel threads}"
done
finish
