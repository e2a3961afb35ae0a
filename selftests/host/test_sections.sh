#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Description: what an unprivileged process of many threads does adds no long section with
# interrupts off, and none that grows with its threads: moves between recorded cgroups, new names,
# the end of many threads. A section is what one call of the module does. And a fork with its exit
# takes few instructions of the module, as do the note of a system call, and triggers. One CPU,
# instructions counted by the emulator's plugin.
#
# The numbers of threads are those of THREADS (300 3000), the kernel is KERNEL.

set -u
. "$(dirname "$(realpath "$0")")/lib.sh"
make_folder
kernel=${KERNEL:-$("$top/selftests/qemu/fetch" default)}
read -r few many <<< "${THREADS:-300 3000}"
limit=50000
# For a fork and its exit; and for descriptions: 605, or 690 if the kernel finds the emulator's TSC
# unstable, so that the session has CLOCK_MONOTONIC.
life=520 descriptions=750
# More for a switch of a task that sleeps, if it names the system call: 19.9 on 6.12, of which some
# are because pages are full sooner.
syscalls=21
# More for a switch, and for a wake-up, if there are triggers: 20.6 and 18.2 on 6.12.
triggers=21
# By so much may sections differ by chance: only some calls wake the recorder, and only some of the
# tasks that have ended are searched for among the up to 64 that have left a filter.
chance=10000

build_all()
{
	make -s -C "$top" all && make -s -C "$top/selftests/qemu/plugin" &&
		make -s -C "$top/selftests/bench" KERNEL="$kernel" loads
}

# Runs the load with few threads and with many threads, in one guest.
count_sections()
{
	local n cgroups="/sys/fs/cgroup/bench/a /sys/fs/cgroup/bench/b"

	for n in "$few" "$many"; do
		echo "$n/drain schedtape z0,between drain crowd $n $cgroups"
	done > "$T/plan"
	cat >> "$T/plan" <<-END
		forks/drain schedtape z0 drain forks 300
		off/drain schedtape z0 drain pingpong 500
		on/drain schedtape z0,syscalls drain pingpong 500
		triggers/drain schedtape z0,triggers drain pingpong 500
	END
	timeout 2000 "$top/selftests/qemu/vm" --kernel "$kernel" --icount --mem 4096 --rw "$T" \
		--plugin "$build/plugin/plugin.so,out=$T/plugin" --timeout 1900 -- \
		"$top/selftests/bench/guest-runs" "$T/plan" "$T" "$build" "$kernel" plugin &&
		same "$(grep -h '^status=' "$T"/*/drain/result | sort -u)" status=ok
}

# Descriptions of tasks are counted apart.
quick_forks()
{
	/usr/bin/python3 -B - "$top/selftests/bench" "$T/plugin" "$life" "$descriptions" <<-'END'
		import json, sys
		sys.path.insert(0, sys.argv[1])
		import counted
		for result in map(json.loads, open(sys.argv[2])):
		    if result["phase"] == "forks":
		        life, described = counted.life(result) / 300, counted.described(result) / 300
		        print(f"{life:.0f} instructions, and {described:.0f} for descriptions")
		        sys.exit(not (0 < life <= int(sys.argv[3]) and described <= int(sys.argv[4])))
		sys.exit("no fork was counted")
	END
}

# Nearly all switches of a ping-pong are of a task that sleeps.
cheap_syscalls()
{
	/usr/bin/python3 -B - "$top/selftests/bench" "$T/plugin" "$syscalls" <<-'END'
		import json, sys
		sys.path.insert(0, sys.argv[1])
		import counted
		cost = {result["run"]: counted.switch_cost(result)
		        for result in map(json.loads, open(sys.argv[2])) if result["phase"] == "pingpong"}
		more = cost["on/drain"] - cost["off/drain"]
		print(f"{cost['off/drain']:.1f} instructions for a switch and a wake-up, {more:.1f} more"
		      " with system calls")
		sys.exit(not 5 < more <= int(sys.argv[3]))
	END
}

# A switch of a ping-pong is from one task that is recorded to another.
cheap_triggers()
{
	/usr/bin/python3 -B - "$top/selftests/bench" "$T/plugin" "$triggers" <<-'END'
		import json, sys
		sys.path.insert(0, sys.argv[1])
		import counted
		costs = {result["run"]: (counted.switch_cost(result, counted.PROBES[:1]),
		                         counted.switch_cost(result, counted.PROBES[1:]))
		         for result in map(json.loads, open(sys.argv[2])) if result["phase"] == "pingpong"}
		more = [on - off for on, off in zip(costs["triggers/drain"], costs["off/drain"])]
		print(f"{more[0]:.1f} more instructions for a switch, {more[1]:.1f} for a wake-up")
		sys.exit(not all(5 < cost <= int(sys.argv[3]) for cost in more))
	END
}

# longest PHASE THREADS: prints the instructions of the longest section
longest()
{
	/usr/bin/python3 - "$T/plugin" "$1" "$2/drain" <<-'END'
		import json, sys
		path, phase, run = sys.argv[1:]
		for result in map(json.loads, open(path)):
		    if (result["run"], result["phase"]) == (run, phase):
		        print(result["off"]["instructions"], result["off"]["function"])
	END
}

# bounded PHASE: a section that was not seen at all is a failure, too.
bounded()
{
	local short long of_short of_long

	read -r short of_short < <(longest "$1" "$few")
	read -r long of_long < <(longest "$1" "$many")
	echo "$few threads: ${short:-none} instructions in $of_short," \
		"$many threads: ${long:-none} in $of_long"
	[ "${short:-0}" -gt 0 ] && [ "${long:-0}" -gt 0 ] && [ "$long" -le "$limit" ] &&
		[ "$long" -le $((short + chance)) ]
}

if [ "$(id -u)" != 0 ]; then
	skip "sections" "only root can start guests"
	finish
fi
if check "everything builds" build_all && check "the guest counts sections" count_sections; then
	for phase in move rename end kill; do
		check "$phase: at most $limit instructions, and no more with more threads" \
			bounded "$phase"
	done
	check "a fork and its exit: at most $life instructions, and $descriptions for descriptions" \
		quick_forks
	check "a sleep's system call: at most $syscalls instructions" cheap_syscalls
	check "triggers: at most $triggers instructions for a switch, and for a wake-up" \
		cheap_triggers
fi
finish
