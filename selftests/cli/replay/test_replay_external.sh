#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Description: which property of a wait with an external wake-up replay --external keeps if
# players are late because they use four times the CPU time: its end or its length. Times are
# checked on one CPU that counts instructions; a busy host stretches sleeps and CPU time.

set -u
here=$(dirname "$(realpath "$0")")
. "${here%/cli/replay}/lib/commands.sh"

exact=${SCHEDTAPE_EXACT:-}

# replay NAME: replays to NAME.HOW with each of the settings
replay()
{
	local how

	for how in absolute relative auto; do
		schedtape replay -q --external $how --scale-cpu 4 --record "$1.$how" "$1.tape" \
			> log 2>&1
		report $? "--external $how: $1 replayed"
	done
}

schedtape record -q -o periodic.tape -- periodic 20 3 16 > log 2>&1
report $? "a task that sleeps in state S is recorded"
replay periodic
# The tasks for which it waits are not on the tape, because its children are not recorded.
schedtape record -q --no-inherit -o vforks.tape -- vforks 3 15 12 > log 2>&1
report $? "a task that sleeps in state D is recorded"
replay vforks

# Prints for each tape the last 10 sleeps that work follows: their median, the time from the end
# of the first to the end of the last, and how much of that was not sleep. A program's start, and
# the closing of its files after its exit, wait for the host's file system.
/usr/bin/python3 - "$exact" > results 2> log << 'END'
import json, statistics, subprocess, sys
exact = sys.argv[1]

def look(tape, name, state):
	# On a slow machine a late task does not sleep, perhaps never.
	sleeps, ends, since, end, seen = [0] * 10, [0] * 10, None, None, False
	script = subprocess.run(["schedtape", "script", "--json", tape], stdout=subprocess.PIPE)
	for event in map(json.loads, script.stdout.splitlines()[1:]):
		time = event["time_ns"]
		if event["event"] == "switch" and event.get("curr_comm") == name:
			seen = True
			if event["prev_state"] != state:
				continue
			if end and time - end > 2e6:
				sleeps.append(end - since)
				ends.append(end)
			since, end = time, None
		elif event["event"] == "waking" and event["comm"] == name and since and not end:
			end = time
	assert seen, f"{tape}: where is {name}?"
	wall = ends[-1] - ends[-10]
	result = [ns / 1e6 for ns in (statistics.median(sleeps[-10:]), wall, wall - sum(sleeps[-9:]))]
	print(tape, "median sleep {:.3f}, wall {:.3f}, awake {:.3f} ms".format(*result),
		file=sys.stderr)
	return result

def tell(good, text):
	print(0 if good else 1, text)

for name, state in ("periodic", "S"), ("vforks", "D"):
	recorded, wall_recorded, awake = look(name + ".tape", name, state)
	# With four times the CPU time: the additional time in nine turns.
	extra = 3 * awake
	for how in "absolute", "relative", "auto":
		sleep, wall, _ = look(f"{name}.{how}", name, state)
		if how == "relative" or how == "auto" and state == "D":
			wanted, wall_wanted, what = recorded, wall_recorded + extra, "as long"
		else:
			wanted, wall_wanted, what = recorded - extra / 9, wall_recorded, "less"
		if exact:
			tell(abs(sleep / wanted - 1) < 0.03 and abs(wall / wall_wanted - 1) < 0.03,
				f"--external {how}: a late player sleeps {what} in state {state}: "
				f"{wanted:.0f} ms each, {wall_wanted:.0f} in all")
END
report $? "all of them sleep"
while read -r status text; do
	report "$status" "$text"
done < results

finish
