#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Description: replay --cgroups makes the recorded cgroups again, runs tasks in them, and leaves
# none behind.

set -u
here=$(dirname "$(realpath "$0")")
. "${here%/cli/replay}/lib/commands.sh"

exact=${SCHEDTAPE_EXACT:-}

find_cgroups || skip_all "no controller cpu for cgroups of version 2"

mkdir -p "$cg"/{heavy,light,outer/inner,busy}
echo +cpu > "$cg/outer/cgroup.subtree_control"
echo 300 > "$cg/heavy/cpu.weight"
echo "20000 100000" > "$cg/outer/inner/cpu.max"

# Each program with a name of its own.
for name in heavy light inner; do
	cp "$(command -v hog)" $name
done
cat > placed << END
#!/bin/sh
(echo 0 > $cg/heavy/cgroup.procs; exec ./heavy 300) > /dev/null &
(echo 0 > $cg/light/cgroup.procs; exec ./light 300) > /dev/null &
(echo 0 > $cg/outer/inner/cgroup.procs; exec ./inner 40) > /dev/null &
wait
END
chmod 755 placed
schedtape record -q -o placed.tape -- ./placed > log 2>&1
report $? "three tasks that move are recorded"

# -- what is on the tape ---------------------------------------------------------

# moves TAPE: prints names and paths of tasks that moved, as "heavy=/heavy"
moves()
{
	schedtape info --json "$1" > info.json
	schedtape script --json "$1" | /usr/bin/python3 -c 'import json, sys
paths = {c["id"]: c["path"] for c in json.load(open("info.json"))["meta"]["cgroups"]}
for line in sys.stdin:
	event = json.loads(line)
	if event.get("event") == "task" and event["why"] == "moves":
		print(paths.get(event["cgroup"]))' | sort
}

moves placed.tape > paths 2> log
[ "$(cat paths)" = "$(printf '%s\n' /heavy /light /outer/inner)" ]
report $? "their moves are on the tape"
cp paths log
like info.json '([(c["weight"], c.get("max")) for p in ("/heavy", "/light", "/outer/inner")
	for c in d["meta"]["cgroups"] if c["path"] == p] ==
	[(300, None), (100, None), (100, "20000 100000")])'
report $? "and weights and quotas"

# -- the replay --------------------------------------------------------------------

# left: prints what replays have left behind
left()
{
	find "$cg" -maxdepth 2 -name 'schedtape-*' > log
	[ -s log ]
}

# length TAPE NAME: prints the time from its first event to its last, ms
length()
{
	schedtape report --json "$1" 2> log | /usr/bin/python3 -c 'import json, sys
print(*[(t["end_ns"] - t["start_ns"]) // 1000000 for t in json.load(sys.stdin)["tasks"]
	if t["comm"] == sys.argv[1]])' "$2"
}

schedtape replay -q --cgroups --record replay.tape placed.tape > log 2>&1
report $? "--cgroups replays"
! left
report $? "and leaves no cgroup behind"
moves replay.tape > paths 2> log
cp paths log
[ "$(sed 's|^/schedtape-[0-9]*||' paths)" = "$(printf '%s\n' /heavy /light /outer/inner)" ] &&
	! grep -qv '^/schedtape-[0-9]*/' paths
report $? "players move to where their tasks did, in the replay's own cgroups"
schedtape replay -q --record without.tape placed.tape > log 2>&1
[ -z "$(moves without.tape 2> log)" ]
report $? "without --cgroups no player is moved"

recorded=$(length placed.tape heavy) with=$(length replay.tape heavy)
without=$(length without.tape heavy)
echo "300 ms of CPU time took $recorded ms, $with ms replayed, $without ms without --cgroups" |
	tee log | sed 's/^/# /'
# In ms, because before the load runs, minutes of this guest's time may pass, on the tape and in
# replays.
[ -z "$exact" ] || { [ "$with" -lt $((recorded + 50)) ] &&
	[ "$with" -gt $((recorded - 50)) ] && [ "$without" -gt $((recorded + 90)) ]; }
report $? "the weight has its effect"
recorded=$(length placed.tape inner) with=$(length replay.tape inner)
echo "40 ms of a fifth of a CPU took $recorded ms, $with ms replayed" | tee log | sed 's/^/# /'
[ "$with" -ge 120 ] && [ "$recorded" -ge 120 ]
report $? "the quota has its effect"

# begin TAPE THERE OPTION...: starts a long replay, and waits until THERE is true
begin()
{
	schedtape replay -q --cgroups --speed 0.02 "${@:3}" "$1" > log 2>&1 &
	replay=$!
	eventually "$2" 2> /dev/null
}

heavy_is_there()
{
	pid=$(pgrep -x heavy) && grep -q '/heavy$' "/proc/$pid/cgroup"
}

# gone: waits until no player, cgroup or controller is left
gone()
{
	eventually nothing_there > log
}

nothing_there()
{
	! running heavy light inner bound lazy && ! left &&
		[ "$(cat "$cg/cgroup.subtree_control")" = "$controllers" ]
}

controllers=$(cat "$cg/cgroup.subtree_control")
begin placed.tape heavy_is_there
top=$cg/schedtape-$replay
cat "/proc/$pid/cgroup" "$top"/heavy/cpu.weight "$top"/outer/inner/cpu.max > log 2>&1
[ "$(cat log)" = "0::/schedtape-$replay/heavy
300
20000 100000" ]
report $? "a player is where its task was, with weight and quota"
interrupt $replay && gone
report $? "Ctrl-C: no player and no cgroup is left"
for engine in module user; do
	begin placed.tape heavy_is_there --engine=$engine
	kill -KILL $replay
	wait $replay 2> /dev/null
	gone
	report $? "kill -9, --engine=$engine: no player and no cgroup is left"
done

# -- cpusets and idle cgroups ---------------------------------------------------------

# bounds CPUS: tests the settings of the running replay's cgroups
bounds()
{
	cat "$cg/schedtape-$replay"/{bound/cpuset.cpus,lazy/cpu.idle} > log 2>&1
	[ "$(cat log)" = "$1"$'\n1' ]
}

both_are_there()
{
	grep -q '/bound$' "/proc/$(pgrep -x bound)/cgroup" &&
		grep -q '/lazy$' "/proc/$(pgrep -x lazy)/cgroup"
}

test_bound()
{
	local name last

	mkdir -p "$cg"/{bound,lazy}
	echo +cpuset > "$cg/cgroup.subtree_control"
	echo 0 > "$cg/bound/cpuset.cpus"
	echo 1 > "$cg/lazy/cpu.idle"
	for name in bound lazy; do
		cp "$(command -v periodic)" $name
	done
	cat > bind <<- END
		#!/bin/sh
		(echo 0 > $cg/bound/cgroup.procs; exec ./bound 20 1 20) > /dev/null &
		(echo 0 > $cg/lazy/cgroup.procs; exec ./lazy 20 1 20) > /dev/null &
		wait
	END
	chmod 755 bind
	schedtape record -q -o bound.tape -- ./bind > log 2>&1
	report $? "two tasks are recorded, one with CPUs of its own, one idle"
	# The replay has to enable the controller, and to disable it again.
	echo -cpuset > "$cg/cgroup.subtree_control"
	controllers=$(cat "$cg/cgroup.subtree_control")

	begin bound.tape both_are_there
	bounds 0
	report $? "the CPUs and the idle one's mark are those of the tape"
	interrupt $replay && gone
	report $? "Ctrl-C: the controller cpuset is off as before"

	last=$(($(nproc) - 1))
	begin bound.tape both_are_there --cpus "0:$last"
	bounds "$last"
	report $? "--cpus 0:$last: of the CPUs, those that stand for them"
	kill -KILL $replay
	wait $replay 2> /dev/null
	gone
	report $? "kill -9: the controller cpuset is off as before"
	rmdir "$cg"/{bound,lazy}
}

if grep -qw cpuset "$cg/cgroup.controllers"; then
	test_bound
else
	skip "no controller cpuset for cgroups of version 2"
fi

# -- selection of tasks ------------------------------------------------------------

# chosen NAMES OPTION...: the replay has these tasks
chosen()
{
	schedtape replay -q --scale-cpu 0.1 --record chosen.replay "${@:2}" placed.tape \
		> log 2>&1 && names chosen.replay > found && cp found log && [ "$(cat log)" = "$1" ]
	report $? "${*:2}: $1"
}

# A task belongs to the last cgroup that it was in, and not to that one's parents.
schedtape info --json placed.tape > info.json 2> log
id=$(/usr/bin/python3 -c 'import json
print(*[c["id"] for c in json.load(open("info.json"))["meta"]["cgroups"] if c["path"] == "/light"])')
chosen heavy --only cgroup=/heavy
chosen "inner light" --only cgroup=/outer/inner --only "cgroup=id:$id"
chosen "inner placed" --exclude cgroup=/heavy --exclude cgroup=/light
chosen light --only 'l*' --only cgroup=/outer/inner --exclude cgroup=/outer/inner
expect 1 "no task that was chosen is on the tape" \
	schedtape replay --only cgroup=/outer placed.tape

# -- errors ------------------------------------------------------------------------

expect 1 "cgroup /nowhere: there is none of that name" \
	schedtape replay -q --cgroups=/nowhere placed.tape
sleep 1000 &
sleeper=$!
echo $sleeper > "$cg/busy/cgroup.procs"
expect 1 "processes are in [^ ]*/busy: none can be below it" \
	schedtape replay -q --cgroups=/busy placed.tape
kill $sleeper
wait $sleeper 2> /dev/null
schedtape replay -q --cgroups=/busy --only inner placed.tape > log 2>&1 &&
	[ -z "$(cat "$cg/busy/cgroup.subtree_control")" ] && ! left
report $? "below another one, which is as it was then"
expect 1 "schedtape-[0-9]* is there already, left behind by another replay" \
	sh -c "mkdir $cg/schedtape-\$\$ && exec schedtape replay -q --cgroups placed.tape"
rmdir "$cg"/schedtape-*
report $? "which is not touched"

rmdir "$cg"/{heavy,light,outer/inner,outer,busy} 2> log
report $? "no player is in the recorded cgroups"
finish
