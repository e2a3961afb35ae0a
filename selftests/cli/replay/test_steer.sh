#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Description: a running replay is paused, inspected, sped up and stopped.

set -u
here=$(dirname "$(realpath "$0")")
. "${here%/cli/replay}/lib/commands.sh"

expect 129 "which replay, and pause, resume" schedtape steer
expect 129 "'x': not the number of a replay" schedtape steer x pause
expect 129 "'4294967297': not the number of a replay" schedtape steer 4294967297 pause
expect 129 "'faster': not pause, resume" schedtape steer 1 faster
expect 129 "speed: how fast" schedtape steer 1 speed
expect 129 "speed 0: a number from" schedtape steer 1 speed 0
expect 129 "'2': one argument too many" schedtape steer 1 pause 2
expect 1 "steer: replay 4000000: there is no such replay" schedtape steer 4000000 pause
expect 1 "steer: replay 4000000: there is no such replay" schedtape steer 4000000 speed 2
# For dumps, not every kernel prints our message.
expect 1 "steer: replay 4000000: .*[Nn]o such" schedtape steer 4000000 players

# A hog, which uses CPU time, and a periodic task.
cat > work << 'END'
#!/bin/sh
periodic 20 2 200 > /dev/null &
hog 500 > /dev/null &
wait
END
chmod 755 work
schedtape record -q -o work.tape -- ./work > log 2>&1

# Starts a replay that would take minutes; its number is in $id.
begin()
{
	schedtape replay -q --speed 0.02 work.tape > replay.log 2>&1 &
	replay=$!
	eventually all_play
}

all_play()
{
	id=$(replays replay) && look 'len(d["players"]) == 3'
}

# look PYTHON: tests an expression about the players
look()
{
	schedtape steer --json "$id" players > players.json 2> log && like players.json "$1"
}

begin
schedtape steer "$id" pause > log 2>&1
report $? "pause"
[ "$(replays state)" = paused ]
report $? "list says so"
# A pause holds players that could run.
eventually look 'all(p["state"] != "running" for p in d["players"])'
report $? "no player runs in a pause"
cp players.json before.json
sleep 0.3
# Each may have a little more CPU time, which it needed to leave its CPU.
look '(lambda a, b: a == b)(*([{**p, "cpu_time_ns": 0} for p in look["players"]]
	for look in (d, json.load(open("before.json")))))'
report $? "no player makes a step in a pause"
expect 1 "does not run" schedtape steer "$id" pause
schedtape steer "$id" resume > log 2>&1
report $? "resume"
[ "$(replays state)" = running ]
report $? "list says so"
expect 1 "is not paused" schedtape steer "$id" resume
schedtape steer "$id" players > players.txt 2> log && grep -q 'lag max ms' players.txt
report $? "players, as a table"
schedtape steer "$id" speed 20 > log 2>&1
report $? "speed"
wait $replay
report $? "and then it ends soon"

begin
schedtape steer "$id" stop > log 2>&1
report $? "stop"
wait $replay
[ $? = 1 ] && cp replay.log log && grep -q 'stopped by another process' replay.log
report $? "the replay says that it was stopped"
LD_PRELOAD=$preloads/stop_first.so schedtape replay -q work.tape > log 2>&1
[ $? = 1 ] && [ "$(cat log)" = "schedtape replay: the replay was stopped by another process" ]
report $? "... also if that is after its players have joined, and before its start"

# -- rounds ---------------------------------------------------------------------------

# rounds N: succeeds if N rounds have ended
rounds()
{
	[ "$(wc -l < rounds.log)" -ge "$1" ]
}

# playing ID: succeeds if the only replay that plays is this one
playing()
{
	[ "$(replays replay)" = "$1" ]
}

schedtape replay --speed 0.02 --loop work.tape > rounds.log 2> replay.log &
replay=$!
eventually all_play
# At the first speed a round would take minutes.
schedtape steer "$id" speed 20 > log 2>&1 && eventually rounds 2
report $? "--loop: later rounds have the speed that was set in the first one"
eventually playing "$id"
report $? "--loop: later rounds have the number of the first one"
# Some of these come before the start of a round, or after its end.
until rounds 8; do
	schedtape steer "$id" speed 20 > log 2>&1 || break
done
rounds 8
report $? "--loop: a speed can be set at any time, in a round and between two"
schedtape steer "$id" stop > log 2>&1
report $? "--loop: a stop at any time"
wait $replay
[ $? = 1 ] && cp replay.log log && [ "$(grep -c 'stopped by another process' replay.log)" = 1 ]
report $? "ends all rounds"

# -- Ctrl-Z ---------------------------------------------------------------------------

cat > ctrl-z.py << 'END'
import glob, json, os, signal, subprocess, sys, time

def player():
    """State and CPU time of the hog's player, in ticks."""
    for path in glob.glob("/proc/[0-9]*/stat"):
        try:
            with open(path) as stat:
                name, rest = stat.read().split(" (", 1)[1].rsplit(") ", 1)
        except OSError:
            continue
        if name == "hog":
            return rest[0], sum(map(int, rest.split()[11:13]))
    return None, 0

# In a process group of its own, as a job of a shell.
replay = subprocess.Popen(["schedtape", "replay", "--json", "--engine=" + sys.argv[1], "stop.tape"],
                          stdout=subprocess.PIPE, preexec_fn=os.setpgrp)
while not player()[1] and replay.poll() is None:
    time.sleep(0.1)
replay.send_signal(signal.SIGTSTP)
assert os.WIFSTOPPED(os.waitpid(replay.pid, os.WUNTRACED)[1])
began = time.monotonic_ns()
# It may have been preempted when the pause began.
while player()[0] == "R":
    time.sleep(0.1)
before = player()
time.sleep(1)
after = player()
assert before[1] and after == before, (before, after)
pause = time.monotonic_ns() - began
replay.send_signal(signal.SIGCONT)
result = json.loads(replay.communicate()[0])["rounds"][0]
# What ends last is a sleep that had begun before the pause.
moved = result["wall_ns"] - result["recorded_wall_ns"]
assert replay.returncode == 0 and moved > pause / 2, (replay.returncode, moved, pause)
END
schedtape record -q -o stop.tape -- sh -c 'sleep 3 & hog 1500; wait' > log 2>&1
for engine in module user; do
	/usr/bin/python3 -IS ctrl-z.py $engine > log 2>&1
	report $? "--engine=$engine: Ctrl-Z stops the players, too, and their waits end later"
done

# -- figures of players ---------------------------------------------------------------

# Two tasks that sleep as often as their names say, and then long enough to be inspected.
cat > naps.py << 'END'
import os, time
for n in (8, 24):
	if not os.fork():
		with open("/proc/self/comm", "w") as file:
			file.write(f"naps{n}")
		for i in range(n):
			time.sleep(0.01)
		with open("times", "a") as file:
			print(time.monotonic() + 1, file=file)
		time.sleep(4)
		os._exit(0)
for i in range(2):
	os.wait()
END
schedtape record -q -o naps.tape -- /usr/bin/python3 naps.py > log 2>&1
schedtape report --json naps.tape > naps.json 2>> log &&
	like naps.json 'len(d["tasks"]) == 3'
report $? "tasks that sleep are recorded"
# What happens after the long sleep has begun: its end, and sometimes other sleeps of the exit.
schedtape script --time "$(sort -n times | tail -1)," naps.tape > later.txt 2>> log
# At this speed the last sleep takes 40 s, because a look takes seconds on a busy host.
schedtape replay -q --speed 0.1 naps.tape > replay.log 2>&1 &
replay=$!

# Both are in their long sleep: each has done all of its timed waits before that.
cat > compare.py << 'END'
import json, sys
tasks = {t["comm"]: t for t in json.load(open("naps.json"))["tasks"]}
players = json.load(open("players.json"))["players"]
for p in players:
	try:
		with open(f"/proc/{p['pid']}/comm") as file:
			p["task"] = tasks[file.read().strip()]
	except OSError:
		sys.exit(1)	# The player has ended: an earlier look says why it failed.
assert len({p["task"]["index"] for p in players}) == len(players) == 3, players
for p in players:
	task = p["task"]
	assert p["steps"] >= p["timed_waits"], p
	assert 0 <= p["lag_avg_ns"] <= p["lag_max_ns"], p
	# Their parent's activity after their end is not compared.
	if not task["comm"].startswith("naps"):
		continue
	assert p["state"] == "timed", p
	with open("later.txt") as file:
		later = sum(f" waking: {task['comm']}:" in line for line in file)
	assert later, p
	assert p["timed_waits"] == task["wakeups"] - task["wakeups_by_task"] - later, (p, later)
	assert p["timed_waits"] >= int(task["comm"][4:]), p
	# The current wait is a step already.
	assert p["steps"] == task["wakeups"] - later + 1, (p, later)
	assert p["cpu_time_ns"] > 0.5 * task["cpu_time_ns"], p
END
looked()
{
	schedtape steer --json "$(replays replay)" players > players.json 2> log &&
		/usr/bin/python3 compare.py 2> new && return
	[ -s new ] && mv new why
	return 1
}
: > new
until looked || ! kill -0 $replay 2> log; do
	sleep 0.1
done
cp why log
kill -0 $replay 2> /dev/null
report $? "each player has done as many steps and timed waits as its task has on the tape"
schedtape steer "$(replays replay)" stop 2> log
wait $replay

finish
