#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Description: SCHED_DEADLINE is recorded with its parameters, and replayed with them; a replay
# whose deadlines are not admitted reports that.

set -u
here=$(dirname "$(realpath "$0")")
. "${here%/cli/replay}/lib/commands.sh"

exact=${SCHEDTAPE_EXACT:-}

# deadline RUNTIME PERIOD COMMAND...: in ms; replaces the shell, so call it in a subshell
deadline()
{
	exec chrt -d -T "${1}000000" -D "${2}000000" -P "${2}000000" 0 "${@:3}"
}

(deadline 5 20 true) 2> log || skip_all "no SCHED_DEADLINE here: $(cat log)"

# One task has a deadline from the start, another one gets one and changes it.
deadline 4 20 periodic 20 2 150 > /dev/null &
early=$!
cat > late << 'END'
#!/bin/sh
chrt -d -T 5000000 -D 15000000 -P 20000000 0 periodic 20 2 25 > /dev/null &
sleep 0.2
chrt -d -T 6000000 -D 15000000 -P 20000000 -p 0 $!
wait
END
chmod 755 late

schedtape record -q -o early.tape -p $early > log 2>&1
report $? "a task with a deadline is recorded"
wait $early
schedtape record -q -o late.tape -- ./late > log 2>&1
report $? "and one that gets one"

# deadlines TAPE: prints all deadlines in its events, in order, each once
deadlines()
{
	schedtape script "$1" | sed -n \
		's/.* deadline nice=.* runtime=\([0-9]*\) deadline=\([0-9]*\) period=\([0-9]*\).*/\1 \2 \3/p' |
		uniq
}

# has TAPE LINE...: tests that it has these deadlines
has()
{
	deadlines "$1" > log
	[ "$(cat log)" = "$(printf '%s\n' "${@:2}")" ]
}

has early.tape "4000000 20000000 20000000"
report $? "its deadline is in its exit"
has late.tape "5000000 15000000 20000000" "6000000 15000000 20000000"
report $? "each change is on the tape"
schedtape report --json early.tape > early.json 2> log &&
	like early.json '([(t["policy"], t["runtime_ns"], t["deadline_ns"], t["period_ns"])
		for t in d["tasks"] if t["comm"] == "periodic"] ==
		[("deadline", 4000000, 20000000, 20000000)])'
report $? "and in the report"

# -- replays -------------------------------------------------------------------------

for name in early late; do
	schedtape replay -q --record $name.replay $name.tape > log 2>&1 && [ ! -s log ]
	report $? "$name: replayed, without a word"
done
has early.replay "4000000 20000000 20000000"
report $? "the replay has the deadline from the start"
has late.replay "5000000 15000000 20000000" "6000000 15000000 20000000"
report $? "and its changes"
schedtape diff --json early.tape early.replay > diff.json 2> log &&
	{ [ -z "$exact" ] || like diff.json 'd["verdict"]["same_graph"]'; }
report $? "the same wake-ups"
schedtape replay -q --speed 0.5 --record slow.replay early.tape > log 2>&1 &&
	has slow.replay "8000000 40000000 40000000"
report $? "--speed 0.5: twice as long, all of it"
schedtape replay -q --no-attributes --record plain.replay early.tape > log 2>&1 &&
	! deadlines plain.replay | grep -q .
report $? "--no-attributes: without"

# -- no bandwidth left -------------------------------------------------------------------

occupants=()
for ((i = 0; i < $(nproc); i++)); do
	deadline 90 100 sleep 1000 &
	occupants+=($!)
done
/usr/bin/python3 -c 'import time; time.sleep(0.5)'
schedtape replay -q --record full.replay early.tape > log 2>&1
report $? "without room for it, it plays"
grep -q 'warning: periodic:[0-9]*: SCHED_DEADLINE with 4.000 of 20.000 ms, by 20.000 ms, is refused: Device or resource busy; too little CPU time is left for it; it plays with SCHED_OTHER' log
report $? "and prints the task and the policy that it has instead"
schedtape report --json full.replay > full.json 2> log &&
	like full.json '[t["policy"] for t in d["tasks"]] == ["other"]'
report $? "as it says"
kill "${occupants[@]}"
wait "${occupants[@]}" 2> /dev/null

finish
