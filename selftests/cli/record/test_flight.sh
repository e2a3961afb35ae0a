#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Description: a recorder in memory beside a storm of short processes that use each PID again and
# again: its memory and the module's stay the same, and each snapshot has what another recorder has
# of that time, and can be replayed. SCHEDTAPE_ROUNDS (1) is the number of snapshots; with more than
# 10 there are 20,000 processes between two of them, and the rings are larger.

set -u
here=$(dirname "$(realpath "$0")")
. "${here%/cli/record}/lib/commands.sh"
. "${here%/cli/record}/lib/tapes.sh"
rounds=${SCHEDTAPE_ROUNDS:-1}
apart=$((rounds > 10 ? 20000 : 500))
size=$((rounds > 10 ? 512 : 64))K

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

forks 1000000000 > /dev/null 2>&1 &
storm=$!
# A process in ten has a name of its own.
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

cat > compare.py << 'EOP'
import sys
sys.path.append(sys.argv[1])
from same_events import events_of, json_of, names_of_same

tape = sys.argv[2]
info = json_of("info", "--json", tape)
times = [time for times, _ in events_of(tape).values() for time in (times[0], times[-1])]
whole = events_of("whole", f"--time={min(times) / 1e9 - 0.1:.9f},{max(times) / 1e9 + 0.1:.9f}")
assert not info["lost"] and not info["damage"], info
names = names_of_same(tape, whole)
assert {"chain", "forks"} <= names, names
tasks = json_of("report", "--json", tape)["tasks"]
assert all(task["comm"] for task in tasks), tasks
EOP

# same_beside: takes a snapshot, and compares it with the whole tape
same_beside()
{
	whole_beside && schedtape snapshot --recorder flight > name 2> log || return
	interrupt $beside && /usr/bin/python3 -IS compare.py "$here/lib" "$(cat name)" > log 2>&1 &&
		schedtape replay -q --json "$(cat name)" > replay.json 2> log &&
		like replay.json 'd["rounds"][0]["task_count"] > 100'
}

began=$(processes)
memory=$(of_flight memory_bytes)
first=$(rss)
most=$first
wrong=0
for ((round = 1; round <= rounds; round++)); do
	next=$(($(processes) + apart))
	while [ "$(processes)" -lt $next ]; do
		sleep "0.$((RANDOM % 900 + 100))"
	done
	if ! same_beside; then
		wrong=$((wrong + 1))
		sed "s/^/# $round: /" log
	fi
	now=$(rss)
	most=$((now > most ? now : most))
	rm -f t.20* whole
done
[ $wrong = 0 ]
report $? "$rounds snapshots have what another recorder has, and can be replayed"
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
