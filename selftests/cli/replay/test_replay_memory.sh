#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Description: a replay of many short tasks needs no more memory than of few, and tasks without
# their parents do not all exist at once. SCHEDTAPE_TASKS (250) is the first number of tasks; the
# second one is four times as large.

set -u
here=$(dirname "$(realpath "$0")")
. "${here%/cli/replay}/lib/commands.sh"

few=${SCHEDTAPE_TASKS:-250}
many=$((4 * few))
schedtape=$(realpath "$(command -v schedtape)")

# kernel_kib: prints the kernel's memory for tasks and objects
kernel_kib()
{
	awk '/^(Slab|KernelStack|PageTables|VmallocUsed):/ { sum += $2 } END { print sum }' \
		/proc/meminfo
}

# process_kib: prints the largest peak in KiB of all processes of schedtape and players. That of getrusage()
# would also have the peak of the program that they were before exec.
process_kib()
{
	local dir

	for dir in /proc/[0-9]*; do
		case $(readlink "$dir/exe") in
		"$schedtape" | *schedtape-player*) awk '/^VmHWM:/ { print $2 }' "$dir/status" ;;
		esac
	done 2> /dev/null | sort -n | tail -n 1
}

# peak COMMAND...: sets $user and $kernel to the peak memory in KiB of one of its processes, and
# of the kernel in addition to what it had before
peak()
{
	local before now pid

	kernel=0 user=0
	before=$(kernel_kib)
	"$@" > log 2>&1 &
	pid=$!
	while kill -0 $pid 2> /dev/null; do
		now=$(($(kernel_kib) - before))
		[ $now -le $kernel ] || kernel=$now
		now=$(process_kib)
		[ "${now:-0}" -le "$user" ] || user=$now
		sleep 0.1
	done
	wait $pid
	report $? "$*"
}

for n in $few $many; do
	# Small rings, so that each read is small even if the rings are emptied late.
	schedtape record -q -m 64 -o "$n.tape" -- forks "$n" > log 2>&1
	report $? "forks $n is recorded"
	on_tape "$n.tape" "len(d['tasks']) == $n + 1" "$n short tasks are recorded"
done
peak schedtape replay -q "$few.tape"	# for the kernel's allocations that stay
peak schedtape replay -q "$few.tape"
user_few=$user kernel_few=$kernel
peak schedtape replay -q "$many.tape"
echo "# $few tasks: $user_few KiB and $kernel_few KiB of the kernel; $many: $user and $kernel"
echo "$((user - user_few)) KiB more" > log
[ $((user - user_few)) -le 1024 ]
report $? "4 times as many tasks: at most 1 MiB more in a process"
# Each task that stayed would keep 10 KiB and a stack of 16 KiB.
echo "$((kernel - kernel_few)) KiB more" > log
[ $((kernel - kernel_few)) -le $(((many - few) * 10)) ]
report $? "4 times as many tasks: no task of the kernel stays"

# -- tasks without parents --------------------------------------------------------

cat > sleepers << 'END'
#!/bin/sh
for i in $(seq 20); do
	sleep 0.2
done
END
chmod 755 sleepers
schedtape record -q -o sleepers.tape -- ./sleepers > log 2>&1
on_tape sleepers.tape "'sleep' in c and len(p) >= 21" "short tasks, one after the other"
schedtape replay --record sleepers.replay --only sleep sleepers.tape > out 2> log
report $? "their parent is left out"
on_tape sleepers.replay "len([t for t in d['tasks'] if t['comm'] == 'sleep']) == 20" \
	"all of them are in the replay"
most=$(/usr/bin/python3 -c 'import json
lives = [(t["start_time_ns"], t["end_ns"]) for t in json.load(open("tape.json"))["tasks"]
	 if t["comm"] == "sleep"]
print(max(sum(a <= begin < b for a, b in lives) for begin, _ in lives))' 2> log)
[ "${most:-0}" -ge 1 ] && [ "$most" -le 10 ]
report $? "they come when they are due, not all at once (${most:-0})"

finish
