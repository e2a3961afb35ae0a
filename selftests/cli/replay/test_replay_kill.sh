#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Description: controllers and players of replays are killed at random moments, with the module,
# with cgroups, and with --engine=user: no task, no cgroup and nothing in the module is left, and
# the module can be unloaded. SCHEDTAPE_ROUNDS=50 makes a hundred replays, SCHEDTAPE_SEED repeats
# the moments.

set -u
here=$(dirname "$(realpath "$0")")
. "${here%/cli/replay}/lib/commands.sh"
rounds=${SCHEDTAPE_ROUNDS:-3}		# two replays each
many=150					# number of cgroups: making them takes a while
seed=${SCHEDTAPE_SEED:-$RANDOM}
echo "# SCHEDTAPE_SEED=$seed"
RANDOM=$seed

# Each replay has a parent cgroup of its own, whose controllers it enables.
ways=(--engine=module --engine=user) groups='' procs=/dev/null
if find_cgroups; then
	ways=(--engine=module --cgroups --engine=user)
	groups=$cg/recorded
	procs=$groups/1/cgroup.procs
	mkdir "$cg"/{first,second} "$groups"
	echo +cpu > "$groups/cgroup.subtree_control"
	eval "mkdir $groups/{1..$many}"
	echo 50 | tee "$groups"/*/cpu.weight > log
fi

# Players have the names of these programs.
cat > work << END
#!/bin/sh
periodic 10 3 30 2 > /dev/null &
(echo 0 > $procs; exec chain 40 10) > /dev/null &
wait
END
chmod 755 work
schedtape record -q -o work.tape -- ./work > log 2>&1
report $? "a tape of several processes and threads"

# Prints the PIDs of players.
players()
{
	ps -e -o pid= -o comm= | sed -nE 's/^ *([0-9]+) (work|periodic|chain)$/\1/p'
}

# Tests that there is a player, or no replay any more.
players_or_none()
{
	[ -n "$(players)" ] || [ -z "$(jobs -r)" ]
}

# Prints what replays have left behind: cgroups, and controllers in their parents.
groups_left()
{
	[ -z "$groups" ] || find "$cg" -maxdepth 2 -name 'schedtape-*'
	[ -z "$groups" ] || cat "$cg"/{first,second}/cgroup.subtree_control
}

# No task has the name of a player or of a process that starts and guards players, and nothing is
# left in the module and in the cgroups.
nobody_left()
{
	[ -z "$(players)" ] && ! pgrep -x schedtape > log && [ -z "$(groups_left)" ] &&
		[ "$(schedtape list)" = "no sessions, no replays" ]
}

nothing_left()
{
	eventually nobody_left && return
	{ schedtape list; groups_left; ps -e; } >> log
	return 1
}

# -- at random moments -------------------------------------------------------------

# replay WAY PARENT
replay()
{
	local way=$1

	[ "$way" != --cgroups ] || way=--cgroups=/$2
	exec schedtape replay -q "$way" --speed 0.1 work.tape > replay.log 2>&1
}

controllers=0 killed=0 left=0
for ((i = 0; i < rounds; i++)); do
	way=${ways[i % ${#ways[@]}]}
	replay "$way" first &
	first=$!
	replay "$way" second &
	second=$!
	# Three kills of five come when there are players; the others come while they are being
	# made.
	if [ $((i % 5 % 3)) = 0 ]; then
		sleep "0.$((RANDOM % 3))$((RANDOM % 10))$((RANDOM % 10))"
	else
		eventually players_or_none
		sleep "0.$((RANDOM % 8))$((RANDOM % 10))"
	fi
	mapfile -t all < <(players)
	player=''
	[ ${#all[@]} = 0 ] || player=${all[RANDOM % ${#all[@]}]}
	kill -KILL $first 2> /dev/null && controllers=$((controllers + 1))
	[ -n "$player" ] && kill -KILL "$player" 2> /dev/null && killed=$((killed + 1))
	sleep "0.0$((RANDOM % 10))"
	kill -KILL $second 2> /dev/null && controllers=$((controllers + 1))
	wait $first $second 2> /dev/null
	nothing_left || left=$((left + 1))
done
[ $left = 0 ]
report $? "$((2 * rounds)) replays, ${ways[*]}: nothing is left"
echo "$controllers controllers and $killed players were killed" | tee log | sed 's/^/# /'
[ $controllers -gt 0 ] && [ $killed -gt 0 ]
report $? "controllers and players were killed"

# -- at critical moments -----------------------------------------------------------

# kill_in_midst OPTION: kills after some of its cgroups are made; fails if all were made
kill_in_midst()
{
	local replay top made

	schedtape replay -q "$1" --cgroups=/first many.tape > replay.log 2>&1 &
	replay=$!
	top=$cg/first/schedtape-$replay
	until [ -d "$top/recorded/1" ] || ! kill -0 $replay 2> /dev/null; do
		:
	done
	kill -STOP $replay
	sleep 0.1
	made=$(find "$top" -mindepth 2 -type d | wc -l)
	echo "# $1: killed when it had made $made of $many cgroups"
	kill -KILL $replay
	wait $replay 2> /dev/null
	[ "$made" -lt $many ]
}

if [ -n "$groups" ]; then
	cat > many <<- END
		#!/bin/sh
		for procs in $groups/*/cgroup.procs; do
			echo 0 > \$procs
		done
	END
	chmod 755 many
	schedtape record -q -o many.tape -- ./many > log 2>&1
	report $? "a tape of many cgroups"
	for engine in module user; do
		for ((i = 0; i < 5; i++)); do
			! kill_in_midst --engine=$engine || break
			# Controllers that one replay has left enabled, the next one would leave
			# enabled, too.
			nothing_left
		done
		if [ $i -lt 5 ]; then
			nothing_left
			report $? "killed while it makes them, --engine=$engine: nothing is left"
		else
			skip "--engine=$engine had always made all before it was killed"
		fi
	done
else
	skip "no controller cpu for cgroups of version 2"
fi

LD_PRELOAD=$preloads/enter_late.so ENTER_MARK=$dir/entering \
	schedtape replay -q --engine=user work.tape > replay.log 2>&1 &
replay=$!
eventually test -e entering
kill -KILL $replay
wait $replay 2> /dev/null
[ -e entering ] && nothing_left
report $? "killed before a player is in its process group: nothing is left"

if [ -n "$groups" ]; then
	rmdir "$groups"/* "$groups" "$cg"/{first,second} 2> /dev/null
fi
if [ -n "${SCHEDTAPE_KO:-}" ]; then
	rmmod schedtape > log 2>&1 && [ ! -e /dev/schedtape ]
	report $? "the module unloads"
	insmod "$SCHEDTAPE_KO"
else
	skip "needs SCHEDTAPE_KO, the module to load again"
fi

finish
