#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Description: replays whose controllers and players are killed at random moments: no
# task is left, nothing in the module, and it can go. SCHEDTAPE_ROUNDS=50 makes a
# hundred of them, SCHEDTAPE_SEED chooses the same moments again.

set -u
. "$(dirname "$(realpath "$0")")/lib/commands.sh"
rounds=${SCHEDTAPE_ROUNDS:-6}		# of two replays each
seed=${SCHEDTAPE_SEED:-$RANDOM}
echo "# SCHEDTAPE_SEED=$seed"
RANDOM=$seed

# Players have the names of these.
cat > work << 'END'
#!/bin/sh
periodic 10 3 30 2 > /dev/null &
chain 40 10 > /dev/null &
wait
END
chmod 755 work
schedtape record -q -o work.tape -- ./work > log 2>&1
report $? "a tape of several processes and threads"

# PIDs of players
players()
{
	ps -e -o pid= -o comm= | sed -nE 's/^ *([0-9]+) (work|periodic|chain)$/\1/p'
}

# Until there is a player, or none comes.
wait_for_players()
{
	local i

	for ((i = 0; i < 100; i++)); do
		[ -z "$(players)" ] || return
		sleep 0.1
	done
}

# Until nobody has the name of a player, and the module has nothing.
nothing_left()
{
	local i

	for ((i = 0; i < 100; i++)); do
		[ -z "$(players)" ] && [ "$(schedtape list)" = "no sessions, no replays" ] && return
		sleep 0.1
	done
	schedtape list >> log
	ps -e >> log
	return 1
}

controllers=0 killed=0 left=0
for ((i = 0; i < rounds; i++)); do
	schedtape replay -q --speed 0.1 work.tape > replay.log 2>&1 &
	first=$!
	schedtape replay -q --speed 0.1 work.tape > replay.log 2>&1 &
	second=$!
	# A slow machine has no players yet at most moments: every other time it has.
	[ $((i % 2)) = 0 ] || wait_for_players
	sleep "0.$((RANDOM % 8))$((RANDOM % 10))"
	mapfile -t all < <(players)
	player=${all[RANDOM % (${#all[@]} + 1)]-}
	kill -KILL $first 2> /dev/null && controllers=$((controllers + 1))
	[ -n "$player" ] && kill -KILL "$player" 2> /dev/null && killed=$((killed + 1))
	sleep "0.0$((RANDOM % 10))"
	kill -KILL $second 2> /dev/null && controllers=$((controllers + 1))
	wait $first $second 2> /dev/null
	nothing_left || left=$((left + 1))
done
[ $left = 0 ]
report $? "$((2 * rounds)) replays: nothing is left"
echo "$controllers controllers and $killed players were killed" | tee log | sed 's/^/# /'
[ $controllers -gt 0 ] && [ $killed -gt 0 ]
report $? "controllers and players were killed"

if [ -n "${SCHEDTAPE_KO:-}" ]; then
	rmmod schedtape > log 2>&1 && [ ! -e /dev/schedtape ]
	report $? "the module unloads"
	insmod "$SCHEDTAPE_KO"
else
	skip "needs SCHEDTAPE_KO, the module to load again"
fi

finish
