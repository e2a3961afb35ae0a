#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Description: how long the module's locks are held, and waited for, under a storm of forks on all
# CPUs, changes of filters, and replays. Prints a table in us. Needs a kernel with
# CONFIG_LOCK_STAT: the debug kernels.

set -u
here=$(dirname "$(realpath "$0")")
. "${here%/module/lifecycle}/lib/commands.sh"
stat=/proc/lock_stat

# The module's locks by the names that the kernel has for them, whether a spinlock, and whether
# the load takes it for certain.
locks='{
	"stape_filter_locks": (True, True), "&filter->lock": (True, True),
	"stape_actives_lock": (True, True), "&descriptions->lock": (True, True),
	"&session->notified_lock": (True, False), "stape_watches_lock": (True, False),
	"stape_retprobe_lock": (True, False), "stape_accounts_lock": (True, True),
	"&replay->lock": (True, True), "stape_mm_pins_lock": (True, True),
	"&player->park_lock": (True, False), "&session->lock": (False, True),
	"&session->read_lock": (False, False), "stape_attach_lock": (False, True),
}'

if [ ! -e $stat ]; then
	echo "1..0 # SKIP the kernel has no CONFIG_LOCK_STAT"
	exit
fi

# Three sessions record the load, and a process is added to their filters and removed again.
load()
{
	local round id pids=()

	for round in 1 2; do
		schedtape record -q -a -o "all$round" -- everywhere $((300 * round)) > forks 2>> log &
		pids+=($!)
	done
	schedtape record -q -o threads -- chain 300 0 > /dev/null 2>> log &
	pids+=($!)
	sleep 1
	schedtape list --json > list.json 2>> log
	for round in {1..20}; do
		# The sessions may have ended, on a fast machine.
		for id in $(/usr/bin/python3 -c 'import json
print(*(s["id"] for s in json.load(open("list.json"))["sessions"]))'); do
			schedtape filter "$id" add -p $$ && schedtape filter "$id" del -p $$
		done > /dev/null 2>&1
	done
	for round in "${pids[@]}"; do
		wait "$round" || return
	done
	schedtape replay -q threads > /dev/null 2>> log
}

: > log
echo 0 > $stat && echo 1 > /proc/sys/kernel/lock_stat
load
status=$?
echo 0 > /proc/sys/kernel/lock_stat
report $status "the load"
grep -E '^ *[^ ].*:' $stat > holds

# A row has: contentions with another CPU, contentions, waits (least, longest, sum, average),
# taken from another CPU, taken, holds (least, longest, sum, average).
/usr/bin/python3 - "$locks" > table 2> log << 'EOF'
import re, sys
locks = eval(sys.argv[1])
found = {}
for line in open("holds"):
    name, _, numbers = line.rpartition(": ")
    name = re.sub(r"(-[RW]|#\d+|/\d+)+$", "", name.strip())
    if name not in locks or len(numbers.split()) != 12:
        continue
    row = [float(n) for n in numbers.split()]
    sums = found.setdefault(name, [0, 0, 0.0, 0.0, 0.0])
    sums[0] += int(row[7])
    sums[1] += int(row[1])
    sums[2] = max(sums[2], row[3])
    sums[3] = max(sums[3], row[9])
    sums[4] += row[10]
print("%-26s %9s %9s %12s %12s %12s" % ("lock", "taken", "contended", "longest wait",
                                        "longest hold", "average hold"))
for name, (taken, contended, wait, longest, total) in sorted(found.items()):
    print("%-26s %9d %9d %12.2f %12.2f %12.2f" % (name, taken, contended, wait, longest,
                                                  total / taken if taken else 0))
missing = [n for n in locks if locks[n][1] and not (n in found and found[n][0])]
long = [n for n in found if locks[n][0] and found[n][0] >= 100 and found[n][4] / found[n][0] > 5000]
if missing:
    print("not taken:", *missing, file=sys.stderr)
if long:
    print("spinlocks that are held for more than 5 ms on average:", *long, file=sys.stderr)
sys.exit(bool(missing) + 2 * bool(long))
EOF
status=$?
sed 's/^/# /' table
[ $((status & 1)) = 0 ]
report $? "each lock of the load is in the table"
# When the host stops a CPU of the guest, a hold lasts for some ms, so the average of many is judged.
# It is some 100 us, with the detectors of a debug kernel in an emulator on a busy host.
[ $((status & 2)) = 0 ]
report $? "no spinlock is held for long"

finish
