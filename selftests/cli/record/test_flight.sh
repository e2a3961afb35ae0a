#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Description: a recorder in memory beside a storm of 20,000 short processes that use each PID again
# and again: its memory and the module's stay the same, and each of 50 snapshots has what another
# recorder has of that time, and can be replayed. With SCHEDTAPE_ROUNDS (1) of more than 1 there are so
# many processes in each round, one after the other, but one snapshot, and the rings are larger.

set -u
here=$(dirname "$(realpath "$0")")
. "${here%/cli/record}/lib/commands.sh"
. "${here%/cli/record}/lib/tapes.sh"
rounds=${SCHEDTAPE_ROUNDS:-1}
shots=$((rounds > 1 ? 1 : 50))
apart=$((20000 / shots))
size=$((rounds > 1 ? 512 : 128))K

limit_pids 1024

# processes: prints how many there have been since the machine started
processes() { sed -n 's/^processes //p' /proc/stat; }

# rss: prints the recorder's memory, kB
rss() { sed -n 's/^VmRSS:[^0-9]*\([0-9]*\) kB/\1/p' /proc/$recorder/status; }

# of_flight KEY: prints a number that list has of the recorder in memory
of_flight()
{
	schedtape list --json |
		jq ".sessions[] | select(.name == \"flight\") | .$1 // 0"
}

# The ring of descriptions is as small as the others. So that it has room for some seconds, in which a
# busy host may stop the recorder's CPU, each process waits a little.
cat > storm.sh << 'EOS'
exec 3<> pipe
while :; do
	(:)
	read -r -t 0.004 -u 3
done
EOS
mkfifo pipe
if [ "$rounds" = 1 ]; then
	bash storm.sh &
else
	forks 1000000000 > /dev/null 2>&1 &
fi
storm=$!
# Other processes have names of their own.
start_names 0.02 0.01
schedtape record -q -k mono -p $chain,$storm,$names -o t -M $size --name flight 2> said &
recorder=$!
# Until its rings are full, and so is what it keeps of tasks.
full() { [ "$(of_flight keeps_ns)" -gt 0 ] 2> log; }
eventually full
report $? "a recorder in memory beside a storm of processes"
sleep 2

# whole_beside: another recorder runs for longer than the rings reach back
whole_beside()
{
	local since

	schedtape record -q -k mono -p $chain,$storm,$names -o whole 2> log &
	beside=$!
	since=$(date +%s%N)
	covers() { [ $(($(date +%s%N) - since)) -gt $(($(of_flight keeps_ns) + 1000000000)) ]; }
	eventually covers
}

# after_processes N: waits until there have been N more, and for a random time
after_processes()
{
	local next=$(($(processes) + $1))

	while [ "$(processes)" -lt $next ]; do
		sleep 0.1
	done
	sleep "0.$((RANDOM % 90 + 10))"
}

# take_shots: takes snapshots at random moments, while the other recorder runs, and writes their names
# to "shots". Sets $most to the recorder's memory when it was largest.
take_shots()
{
	local shot now

	whole_beside || return
	: > shots
	for ((shot = 1; shot <= shots; shot++)); do
		after_processes $apart
		schedtape snapshot --recorder flight >> shots 2> log || return
		now=$(rss)
		most=$((now > most ? now : most))
	done
	interrupt $beside
}

cat > compare.py << 'EOP'
import sys
sys.path.append(sys.argv[1])
from same_events import events_of, json_of, names_of_same

def compare(tape):
    info = json_of("info", "--json", tape)
    assert not info["lost"] and not info["damage"], info
    names = names_of_same(tape, whole)
    assert "chain" in names and names & {"bash", "forks"}, names
    tasks = json_of("report", "--json", tape)["tasks"]
    assert all(task["comm"] for task in tasks), tasks

whole = events_of("whole")
with open("same", "w") as same:
    for tape in sys.argv[2:]:
        try:
            compare(tape)
            print(tape, file=same)
        except AssertionError as error:
            print(tape, repr(error)[:500], file=sys.stderr)
EOP

# compare_shots: adds to $same the number of those that are the same as the whole, and can be replayed.
# The storm rests meanwhile.
compare_shots()
{
	local shot

	kill -STOP $storm $names
	: > same
	# shellcheck disable=SC2046 # each name is a word
	/usr/bin/python3 -IS compare.py "$here/lib" $(cat shots) > /dev/null 2> log
	sed 's/^/# /' log
	while read -r shot; do
		if schedtape replay -q --json "$shot" > replay.json 2> log &&
			like replay.json 'd["rounds"][0]["task_count"] > 100'; then
			same=$((same + 1))
		else
			sed "s,^,# ${shot##*/}: ," log
		fi
	done < same
	kill -CONT $storm $names
}

began=$(processes)
memory=$(of_flight memory_bytes)
first=$(rss)
most=$first
same=0
for ((round = 1; round <= rounds; round++)); do
	if ! take_shots; then
		sed "s/^/# $round: /" log
		continue
	fi
	compare_shots
	rm -f t.20* whole
done
echo "$same are the same" > log
[ $same = $((rounds * shots)) ]
report $? "$((rounds * shots)) snapshots have what another recorder has, and can be replayed"
echo "# $(($(processes) - began)) processes, each PID about $((($(processes) - began) / 724)) times"
echo "recorder: $first kB after the start, $most kB at most; module: $memory bytes, then" \
	"$(of_flight memory_bytes)" > log
sed 's/^/# /' log
# What it keeps of tasks depends on what the rings have; the C library keeps some memory, too.
[ "$most" -lt $((first + 2048)) ] && [ "$(of_flight memory_bytes)" = "$memory" ]
report $? "neither the recorder nor the module takes more memory"
kill $storm
schedtape stop flight > out 2> log && wait $recorder && [ ! -s said ]
report $? "the recording ends well"

finish
