#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Description: "record --all" of a fork storm on all CPUs: every fork and every end is on the tape,
# or is counted as lost, and the module's memory is as before. SCHEDTAPE_ROUNDS (2) is the number of
# processes in thousands.

set -u
here=$(dirname "$(realpath "$0")")
. "${here%/cli/record}/lib/commands.sh"
forks=$((1000 * ${SCHEDTAPE_ROUNDS:-2}))

# kB of kernel memory that cannot be reclaimed.
kernel_memory()
{
	awk '/^(SUnreclaim|Percpu|VmallocUsed):/ { n += $2 } END { print n }' /proc/meminfo
}

# storm_of PROCESSES TAPE
storm_of()
{
	schedtape record -q --all -o "$2" -- everywhere "$1" > forks 2> log &&
		[ "$(schedtape list)" = "no sessions, no replays" ]
}

# of_type TYPE: prints how many events of the type the tape has
of_type()
{
	schedtape script --json t | grep -c "\"event\":\"$1\""
}

storm_of 1000 t
report $? "a small storm"
rm -f t
before=$(kernel_memory)
storm_of $forks t
report $? "a storm of $forks processes"
after=$(kernel_memory)
made=$(sed -n 's/^forks=//p' forks)
schedtape info --json t > tape.json 2> log && like tape.json '(d["damage"] is None and
	d["events"] == sum(c["events"] for c in d["cpus"]))'
report $? "a whole tape"
lost=$(/usr/bin/python3 -c 'import json
print(sum(c["lost"] for c in json.load(open("tape.json"))["cpus"]))')
for type in fork exit; do
	n=$(of_type $type)
	echo "$made processes, $n events of $type, $lost events lost" | tee log | sed 's/^/# /'
	[ "$made" -ge "$forks" ] && [ $((n + lost)) -ge "$made" ]
	report $? "each $type is on the tape, or counted as lost"
done
grep -E 'stape|schedtape' /proc/vmallocinfo | grep -v load_module > log
echo "kB: $before before, $after after" | tee -a log | sed 's/^/# /'
# The kernel's own caches grow by some hundred kB, however many processes there are. A leak of 16
# bytes for each of a million would be 16 MB.
[ $((after - before)) -lt 4096 ]
report $? "the kernel has not grown"

finish
