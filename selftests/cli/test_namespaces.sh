#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Description: in a container, a PID namespace with a /proc of its own, commands take and print the
# PIDs that tasks have there; readers find tasks by them; no process gets the name of another one;
# parents at the fork and at the end.

[ $$ = 1 ] || exec unshare --pid --fork --kill-child --mount-proc "$0"

set -u
here=$(dirname "$(realpath "$0")")
. "${here%/cli}/lib/commands.sh"

# -- PIDs of here ---------------------------------------------------------------

periodic 50 0 1000000 > /dev/null &
one=$!
mkfifo orders
bash -c 'while read -r order; do sleep 1000 & echo $! > child; done' < orders &
shell=$!
exec 3> orders
schedtape record -q -p "$one,$shell" -o t 2> log &
recorder=$!
eventually recording
schedtape list > list.txt 2>> log && grep -q " schedtape:$recorder " list.txt &&
	schedtape list --json > list.json 2>> log &&
	like list.json "[s['owner_pid'] for s in d['sessions']] == [$recorder]"
report $? "list has the recorder's PID and name"
schedtape top --like "$id" -n 1 --json > top.json 2> log &&
	like top.json "'periodic' in [l['name'].split(':')[0] for l in d['lines']]"
report $? "top --like shows the tasks of its session"
unshare --pid --fork schedtape top --like "$id" -n 1 > top.txt 2> log
grep -q "session $id: 2 of its tasks have no PID in this PID namespace" log
report $? "... or says that it cannot"
echo fork >&3
eventually [ -s child ]
child=$(cat child)
interrupt $recorder
schedtape report --json t > tape.json 2> log &&
	like tape.json "([t['ns_pid'] for t in d['tasks'] if t['comm'] == 'periodic'] == [$one] and
		all(t['pid'] != $one for t in d['tasks']))"
report $? "the tape has both PIDs of a task"
kill $one "$child"
exec 3>&-

# -- readers --------------------------------------------------------------------

for pid in "$one" "$child"; do
	schedtape report --json --pid "ns:$pid" t > tape.json 2> log &&
		like tape.json "[t['ns_pid'] for t in d['tasks']] == [$pid]"
	report $? "report --pid ns:$pid selects the task with this PID here"
done
schedtape script --pid "ns:$child" t > script.txt 2> log &&
	grep -q " task: .* forked .* ns_pid=$child " script.txt && grep -q ' exec: ' script.txt
report $? "script does so from the fork on"
expect 1 "periodic:[0-9]* has the PID $one: --pid ns:$one" schedtape report --pid "$one" t
expect 1 "has the PID $child: --pid ns:$child" schedtape timehist --pid "$child" t

# -- replays --------------------------------------------------------------------

schedtape record -q -o work.tape -- periodic 20 5 40 > /dev/null 2> log
schedtape replay -q --speed 0.01 work.tape > replay.log 2>&1 &
replay=$!
plays() { [ -n "$(replays replay)" ]; }
eventually plays
# The player has its name some time after its start, as the workload.
players()
{
	schedtape steer "$(replays replay)" players --json > players.json 2> log &&
		like players.json "{open('/proc/%d/comm' % p['pid']).read().strip()
			for p in d['players']} == {'periodic'}"
}
eventually players
report $? "steer has the PIDs of players"
schedtape list > list.txt 2> log && [ "$(grep -c " schedtape:$replay " list.txt)" = 1 ]
report $? "list has that of the replay's controller"
schedtape steer "$(replays replay)" stop
wait $replay

schedtape record -q -o storm -- storm 1 20 2 > log 2>&1
if [ -e "$preloads/forget_wakes.so" ]; then
	LD_PRELOAD=$preloads/forget_wakes.so schedtape replay -q storm > out 2> log
	[ $? = 1 ] && last=$(cat /proc/sys/kernel/ns_last_pid) &&
		awk -F '[ )]' -v last="$last" '/deadlock: .*PID/ { n++; wrong += !($6 > 0 && $6 <= last) }
			END { exit !n || wrong }' log
	report $? "a replay's players that wait for each other are named by their PIDs here"
else
	skip "forget_wakes.so is only in a checkout"
fi

# -- names of other processes ------------------------------------------------------

# A recorder has the PID here that another process has in the namespace of /proc.
periodic 50 0 1000000 > /dev/null &
one=$!
unshare --pid --fork bash -c "echo $((one - 1)) > /proc/sys/kernel/ns_last_pid
	schedtape record -q -a -o u --duration 60 & recorder=\$!
	for _ in \$(seq $((200 * patience))); do
		schedtape list | grep -q recording && break
		sleep 0.1
	done
	schedtape list > list.txt; kill -INT \$recorder; wait; echo \$recorder > pid" 2> log
grep "^ *[0-9]* *recording " list.txt > log && [ "$(cat pid)" = $one ] && grep -q " ?:$one " log
report $? "a /proc of another namespace names no recorder"
kill $one

# The process that has opened the session ends, a child of it still has the file.
/usr/bin/python3 -IS -c 'import os, signal
os.open("/dev/schedtape", os.O_RDWR)
os.fork() and os._exit(0)
open("owner", "w").write(str(os.getpid()))
signal.pause()' 2> log
eventually [ -s owner ]
schedtape list --json > list.json 2> log &&
	like list.json "[s['owner_pid'] for s in d['sessions']] == [0]"
report $? "an owner that has ended has no PID"
kill "$(cat owner)"

# -- parents ----------------------------------------------------------------------

schedtape record -q -a -o parents -- bash -c '(sh -c "echo \$\$ > orphan; sleep 0.5" &); sleep 2' \
	2> log && schedtape report --json parents > tape.json 2> log &&
	like tape.json "(lambda T: [t['exit_ppid'] for t in T if t['ns_pid'] == $(cat orphan)] ==
		[t['pid'] for t in T if t['ns_pid'] == 1 and t['pid'] != 1] and
		[t['ppid'] for t in T if t['ns_pid'] == $(cat orphan)] ==
		[t['pid'] for t in T if t['index'] in [u['parent_index'] for u in T
			if u['ns_pid'] == $(cat orphan)]])(d['tasks'])"
report $? "a process has the parent that forked it, and another one when it ends"
schedtape timehist -s -F task,parent,exit-parent --pid "ns:$(cat orphan)" parents > out 2> log &&
	awk '/^sh:|^sleep:/ { print; found = $2 != $3 && $3 ~ /^[0-9]+$/ } END { exit !found }' out
report $? "timehist prints both"

finish
