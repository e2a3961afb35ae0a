#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Description: diff finds the task of each player, also of tasks that never run while they are
# recorded.

set -u
here=$(dirname "$(realpath "$0")")
. "${here%/cli/replay}/lib/commands.sh"

# A server as others are: a master that only waits for its workers, all of one name. Each worker
# has threads that only wait. The second worker does four times as much as the first. A line on
# standard input ends the server.
cat > server.py << 'EOF'
import os, sys, threading, time

def idle():
    threading.Event().wait()

def work(amount):
    for i in range(3):
        threading.Thread(target=idle, daemon=True).start()
    while True:
        end = time.thread_time() + amount
        while time.thread_time() < end:
            pass
        time.sleep(0.05)

workers = []
for amount in 0.002, 0.008:
    pid = os.fork()
    if not pid:
        work(amount)
    workers.append(pid)
print("ready", flush=True)
sys.stdin.readline()
for pid in workers:
    os.kill(pid, 9)
EOF

mkfifo in
/usr/bin/python3 server.py < in > ready &
server=$!
exec 3> in
# The threads of the workers have begun to wait.
has_started() { grep -q ready ready && [ "$(pgrep -P "$server" | wc -l)" = 2 ] &&
	[ "$(for pid in $(pgrep -P "$server"); do ls "/proc/$pid/task"; done | wc -l)" = 8 ]; }
eventually has_started
sleep 1
workers=$(pgrep -P "$server" | paste -sd,)

schedtape record -q --duration 2 -p "$server,$workers" -o server.tape > log 2>&1 &&
	[ "$(names server.tape | wc -w)" = 9 ]
report $? "a server with a master and two workers, of three idle threads each"

schedtape replay -q server.tape --record server.replay > log 2>&1 &&
	[ "$(names server.replay | wc -w)" = 9 ]
report $? "the tape of its replay has the tasks that never run, too"

schedtape diff --same-graph --max-wakeup-error 10% server.tape server.replay > log 2>&1 &&
	grep -q '^verdict: same graph, 9 of 9 tasks matched' log
report $? "diff matches all tasks"

schedtape diff --json server.tape server.replay > diff.json 2> log &&
	like diff.json "all(t['a'] and t['b'] and t['a']['comm'] == t['b']['comm']
		for t in d['tasks'])"
report $? "each with a task"

# By CPU time: whether a worker's player is that of the other worker.
schedtape diff --max-cpu-error 30% server.tape server.replay > log 2>&1
report $? "and each worker with its own player"

schedtape replay -q server.tape --record again.replay > log 2>&1 &&
	schedtape diff --same-graph --max-cpu-error 30% --min-runtime 50 \
		server.replay again.replay > log 2>&1 &&
	grep -q '^verdict: same graph, 9 of 9 tasks matched' log
report $? "diff matches the players of two replays"

schedtape replay -q --exclude pid="${workers%,*}" server.tape --record part.replay > log 2>&1 &&
	schedtape diff server.tape part.replay > log 2>&1 &&
	grep -q ' 8 of 9 tasks matched' log
report $? "diff matches the tasks of a replay that leaves out a worker's first thread"

# Only tasks that never run.
master_only() { schedtape record -q --duration 1 -p "$server" -o idle.tape; }
master_only > log 2>&1 && schedtape replay --json idle.tape > idle.json 2> log &&
	like idle.json "0 < d['rounds'][0]['wall_ns'] < 1000000000 * $slow"
report $? "the replay of tasks that do nothing takes no time"
schedtape report idle.tape 2>&1 > out | grep -q 'idle.tape: the tape has no events: no chosen task'
report $? "report says that the tape has no events"
schedtape script idle.tape 2>&1 > out | grep -q 'idle.tape: the tape has no events: no chosen task'
report $? "and so does script"

schedtape replay -q server.tape > log 2>&1 &
replay=$!
eventually in_state running
schedtape list > listed 2> log && ! grep -q "^session" listed
report $? "list has no session for a replay"
wait $replay

echo end >&3
wait "$server"
finish
