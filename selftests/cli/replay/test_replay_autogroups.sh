#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Description: players share an autogroup if their tasks did, with the same nice values; where that
# cannot be, a warning says of how many tasks.

set -u
here=$(dirname "$(realpath "$0")")
. "${here%/cli/replay}/lib/commands.sh"

exact=${SCHEDTAPE_EXACT:-}
switch=/proc/sys/kernel/sched_autogroup_enabled

[ -w $switch ] || skip_all "this kernel has no autogroups"
before=$(cat $switch)
echo 1 > $switch

# Each program with a name of its own.
for name in alone first second; do
	cp "$(command -v hog)" $name
done

# groups TAPE: prints which tasks shared an autogroup at their end, a line for each
groups()
{
	schedtape report --json "$1" | /usr/bin/python3 -IS -c 'import json, sys
groups = {}
for t in json.load(sys.stdin)["tasks"]:
	key = t.get("autogroup"), t.get("autogroup_nice")
	groups.setdefault(key, set()).add(t["comm"])
print(*sorted(" ".join(sorted(g)) for g in groups.values()), sep="\n")'
}

# length TAPE NAME: prints the time from its first event to its last, ms
length()
{
	schedtape report --json "$1" 2> log | /usr/bin/python3 -IS -c 'import json, sys
print(*[(t["end_ns"] - t["start_ns"]) // 1000000 for t in json.load(sys.stdin)["tasks"]
	if t["comm"] == sys.argv[1]])' "$2"
}

# -- autogroups that tasks make ----------------------------------------------------------

cat > makes << 'END'
#!/bin/sh
setsid ./alone 300 > /dev/null &
setsid sh -c './first 300 & ./second 300 & wait' > /dev/null &
wait
END
chmod 755 makes
schedtape record -q -o makes.tape -- ./makes > log 2>&1 && groups makes.tape > groups.tape
printf '%s\n' alone "first second sh" makes | diff - groups.tape > log
report $? "the tape says which tasks share an autogroup"
schedtape script makes.tape | grep -q 'task: .*:[0-9]* regrouped .* autogroup='
report $? "and when they get another one"

# A parent stays in its autogroup when they are switched off, and its children are in none.
schedtape record -q -o switched.tape -- setsid sh -c "echo 0 > $switch; ./first 1; :" > log 2>&1
echo 1 > $switch
schedtape script switched.tape > log && grep -q 'task: sh:[0-9]* regrouped ' log
report $? "a child that is not in its parent's autogroup is described"

schedtape replay -q --record makes.replay makes.tape > log 2>&1 && [ ! -s log ] &&
	groups makes.replay | diff groups.tape - > log
report $? "players share autogroups in the same way"

# By half of the CPU, and not a third, the one that is alone takes 600 ms.
schedtape replay -q --no-attributes --record plain.replay makes.tape > log 2>&1
recorded=$(length makes.tape alone) with=$(length makes.replay alone)
without=$(length plain.replay alone)
echo "300 ms of CPU time took $recorded ms, $with ms replayed, $without ms without autogroups" |
	tee log | sed 's/^/# /'
if [ -n "$exact" ]; then
	[ "$with" -lt $((recorded + 50)) ] && [ "$with" -gt $((recorded - 50)) ] &&
		[ "$without" -gt $((recorded + 90)) ]
	report $? "which has its effect"
else
	skip "shares of CPU time need a guest that counts instructions"
fi

# -- autogroups that were there ------------------------------------------------------------

setsid ./alone 100000 > /dev/null &
alone=$!
setsid ./first 100000 > /dev/null &
first=$!
sleep 0.2
echo 7 > /proc/$first/autogroup
schedtape record -q -o there.tape -p $alone,$first sleep 0.5 > log 2>&1
kill $alone $first
wait $alone $first 2> /dev/null
nices()
{
	schedtape report --json "$1" | /usr/bin/python3 -IS -c 'import json, sys
for t in json.load(sys.stdin)["tasks"]:
	print(t["comm"], t.get("autogroup_nice"))' | sort
}
nices there.tape | diff - <(printf '%s\n' "alone 0" "first 7") > log
report $? "nice values of autogroups are recorded"
schedtape replay -q --record there.replay there.tape > log 2>&1 && [ ! -s log ] &&
	nices there.replay | diff - <(printf '%s\n' "alone 0" "first 7") > log &&
	[ "$(groups there.replay | wc -l)" = 2 ]
report $? "and players have them"

none_left()
{
	! running schedtape makes alone first second
}

# Stops the processes of the controller that hold sessions: each leads one.
stop_holders()
{
	local pid

	for pid in $(pgrep -x -P $replay schedtape); do
		[ "$(ps -o sid= -p "$pid")" -ne "$pid" ] || kill -STOP "$pid"
	done
}

# ends SIGNAL TEXT [COMMAND]: sends it to a controller, after COMMAND
ends()
{
	schedtape replay -q --speed 0.02 makes.tape > log 2>&1 &
	replay=$!
	eventually running alone first second 2> /dev/null
	"${@:3}"
	kill -"$1" $replay
	wait $replay 2> /dev/null
	eventually none_left > log
	report $? "$2: no player is left"
}

ends KILL "SIGKILL ends the controller"
ends INT "SIGINT ends it"
ends INT "it ends also if the process that holds a session is stopped" stop_holders

# -- kernels and engines without autogroups -------------------------------------------------

expect 0 "engine=user has no autogroups: [0-9]* tasks that had them will play without" \
	schedtape replay -q --engine=user makes.tape
echo 0 > $switch
expect 0 "autogroups are switched off .*: [0-9]* tasks that had them will play without" \
	schedtape replay -q --record off.replay makes.tape
[ "$(groups off.replay | wc -l)" = 1 ]
report $? "then no player is in one"
schedtape record -q -o off.tape -- ./makes > log 2>&1 && [ "$(groups off.tape | wc -l)" = 1 ] &&
	schedtape replay -q off.tape > log 2>&1 && [ ! -s log ]
report $? "a tape of that time has none, and nothing is said"
echo "$before" > $switch
finish
