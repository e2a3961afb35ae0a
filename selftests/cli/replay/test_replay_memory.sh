#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Description: a replay of many short tasks needs no more memory than of a quarter of them, and says
# how late it was; tasks without their parents do not all exist at once. SCHEDTAPE_ROUNDS=400 is
# another number of batches, of 2,500 tasks each, than 8 (4 on a slow kernel).

set -u
here=$(dirname "$(realpath "$0")")
. "${here%/cli/replay}/lib/commands.sh"

batch=2500			# that of "forks"
many=${SCHEDTAPE_ROUNDS:-$((slow > 1 ? 4 : 8))}	# batches; a debug kernel takes ten times as long
few=$((many / 4))
controller_limit=8192		# KiB; most arrays are in memory until they have 1 MB
player_limit=1024		# what it keeps between two looks at what it has played

# kernel_kib: prints the kernel's memory for tasks and objects
kernel_kib()
{
	awk '/^(Slab|KernelStack|PageTables|VmallocUsed):/ { sum += $2 } END { print sum }' \
		/proc/meminfo
}

# peak_kib PID...: prints the largest peak in KiB of these processes. That of getrusage() would also
# have the peak of the program that they were before exec.
peak_kib()
{
	awk '/^VmHWM:/ && $2 > most { most = $2 } END { print +most }' "${@/%//status}" \
		2> /dev/null < /dev/null
}

# charged_kib: reads "schedtape list --json", prints the memory of all sessions and replays in KiB
charged_kib()
{
	sed -n 's/.*"memory_bytes": *\([0-9]*\).*/\1/p' | sort -n | tail -n 1 |
		awk '{ kib = $1 / 1024 } END { print int(kib) }'
}

# raise NAME VALUE: sets a variable to a number if that is larger
raise()
{
	[ "${2:-0}" -le "${!1}" ] || printf -v "$1" %s "$2"
}

# peak COMMAND...: sets to peaks of memory in KiB: $controller and $player, of one of their
# processes; $kernel, of the kernel in addition to what it had before; $module, what the module has
# charged for the replay
peak()
{
	local before pid players

	kernel=0 controller=0 player=0 module=0
	before=$(kernel_kib)
	"$@" > log 2>&1 &
	pid=$!
	while kill -0 $pid 2> /dev/null; do
		raise kernel $(($(kernel_kib) - before))
		raise controller "$(peak_kib /proc/$pid)"
		read -ra players 2> /dev/null < "/proc/$pid/task/$pid/children"
		raise player "$(peak_kib "${players[@]/#//proc/}")"
		# It stays the same during a replay.
		[ "$module" -gt 0 ] || module=$(schedtape list --json 2> errors | charged_kib)
		sleep 0.1
	done
	wait $pid
	report $? "$*"
}

for n in $few $many; do
	# A number of a player rests for a second, until it is used again. Small rings, so that each
	# read is small even if the rings are emptied late.
	schedtape record -q -m 64 -o "$n.tape" -- forks $((n * batch)) 1100 > log 2>&1
	report $? "$n batches of $batch short tasks are recorded"
done
peak schedtape replay -q "$few.tape"	# for the kernel's allocations that stay
peak schedtape replay -q "$few.tape"
controller_few=$controller player_few=$player kernel_few=$kernel
peak schedtape replay "$many.tape"
result="^$((many * batch + 1)) tasks replayed in .* (recorded: .* timed waits, lag [0-9.]* ms on "
grep -q "$result" log
report $? "the replay says how late it was"
sed 's/^/# /' log
{
	echo "$few batches: controller $controller_few, a player $player_few, kernel $kernel_few KiB"
	echo "$many batches: $controller, $player, $kernel KiB, $module of them the module's"
} | tee log | sed 's/^/# /'
[ "$controller" -gt 0 ] && [ $((controller - controller_few)) -le $controller_limit ]
report $? "4 times as many tasks: at most $controller_limit KiB more in the controller"
[ "$player" -gt 0 ] && [ $((player - player_few)) -le $player_limit ]
report $? "and $player_limit KiB in a player"
# Each task that stayed would keep 10 KiB and a stack of 16 KiB.
[ $((kernel - kernel_few)) -le $(((many - few) * batch * 10)) ]
report $? "no task of the kernel stays"
# Players have at most 4,096 numbers more than there are tasks within a second. Each number has 20
# bytes and two edges of 12 bytes; there are some more, and pages are rounded up.
[ "$module" -gt 0 ] && [ "$module" -le $(((4096 + batch) * 44 / 1024 + 20)) ]
report $? "and the module uses numbers of players again"

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
schedtape script sleepers.replay > log 2>&1 && ! grep -q ' exec: ' log
report $? "the execution of the players' program is not"
most=$(/usr/bin/python3 -c 'import json
lives = [(t["start_time_ns"], t["end_ns"]) for t in json.load(open("tape.json"))["tasks"]
	 if t["comm"] == "sleep"]
print(max(sum(a <= begin < b for a, b in lives) for begin, _ in lives))' 2> log)
[ "${most:-0}" -ge 1 ] && [ "$most" -le 10 ]
report $? "they come when they are due, not all at once (${most:-0})"

finish
