#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Description: diff finds the task of each player, also of tasks that never run while they are
# recorded.

set -u
here=$(dirname "$(realpath "$0")")
. "${here%/cli/replay}/lib/commands.sh"

exact=${SCHEDTAPE_EXACT:-}

# A server as others are: a master that only waits for its workers, all of one name. Each worker
# has threads that only wait. The second worker does ten times as much as the first. A line on
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
for amount in 0.002, 0.02:
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

# Players that only end do so at the same time. Rarely, one of them waits for a lock of libc or of
# the kernel that another one has. The wake-up from that is an edge, which the tape does not have.
# So one replay of three has to be without it. On a busy host, players are late and do not sleep.
# like_it TAPE REPLAY OPTION...: records replays of the server until one has TAPE's tasks and, if
# instructions are counted, its graph, within the limits of OPTION
like_it()
{
	local tries=3 options=(--max-unmatched 0)

	[ -z "$exact" ] || options+=(--same-graph "${@:3}")
	while [ $((tries--)) -gt 0 ]; do
		schedtape replay -q server.tape --record "$2" > log 2>&1 || return
		schedtape diff "${options[@]}" "$1" "$2" > log 2>&1 && return
	done
	return 1
}

like_it server.tape server.replay --max-wakeup-error 10% &&
	grep -q "^verdict: ${exact:+same graph}.*, 9 of 9 tasks matched" log
report $? "diff matches all tasks"

[ "$(names server.replay | wc -w)" = 9 ]
report $? "the tape of a replay has the tasks that never run, too"

schedtape diff --json server.tape server.replay > diff.json 2> log &&
	like diff.json "all(t['a'] and t['b'] and t['a']['comm'] == t['b']['comm']
		for t in d['tasks'])"
report $? "each with a task"

# The two tasks with most CPU time are the workers' own, and one has much more than the other.
like diff.json "(lambda used: used[-2][1] < used[-1][1])(
	sorted((t['a']['cpu_time_ns'], t['b']['cpu_time_ns']) for t in d['tasks']))"
report $? "and each worker with its own player"
if [ -n "$exact" ]; then
	# The player of the other worker would be 90 or 900 % off.
	schedtape diff --max-cpu-error 80% server.tape server.replay > log 2>&1
	report $? "within 80 % of its CPU time"
fi

like_it server.replay again.replay --max-cpu-error 80% --min-runtime 50 &&
	grep -q "^verdict: ${exact:+same graph}.*, 9 of 9 tasks matched" log
report $? "diff matches the players of two replays"

schedtape replay -q --exclude pid="${workers%,*}" server.tape --record part.replay > log 2>&1 &&
	schedtape diff server.tape part.replay > log 2>&1 &&
	grep -q ' 8 of 9 tasks matched' log
report $? "diff matches the tasks of a replay that leaves out a worker's first thread"

# Only tasks that never run.
master_only() { schedtape record -q --duration 1 -p "$server" -o idle.tape; }
master_only > log 2>&1 && schedtape replay --json idle.tape > idle.json 2> log &&
	like idle.json "0 < d['rounds'][0]['wall_ns'] < 1e9 * $((exact ? 1 : 5 * patience))"
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
