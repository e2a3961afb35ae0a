#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Description: recordings and a replay in a guest with many CPUs: a recorder thread for each CPU,
# socket and node, overwrite mode, full rings, CPUs that go offline. Each event is on the tape, or
# is counted as lost. And the module's probes and interrupts take no more instructions than with
# 2 CPUs.
#
# Usage: test_many_cpus.sh [long]
#
# With 8 CPUs; with "long" with 32. Or with those of CPUS. On the kernel KERNEL.
#
# With "long" the module's own tests of losses and CPUs run there as well, and a table shows what
# sessions and replays cost. To count instructions takes two guests more: only with "long", or if
# COUNT is set.

set -u
. "$(dirname "$(realpath "$0")")/lib.sh"
kernel=${KERNEL:-$("$top/selftests/qemu/fetch" default)}
long=${1-} cpus=8 memory=3072 limit=1000
[ "$long" != long ] || cpus=32 memory=6144 limit=3000
cpus=${CPUS:-$cpus}
nodes=$((cpus < 8 ? 1 : cpus < 16 ? cpus / 4 : 4))
script=$top/selftests/host/many-cpus-guest
tests="test_loss test_overwrite test_hotplug test_numa test_left_out_cpus"

build_all()
{
	make -s -C "$top" all && make -s -C "$top/selftests" && make -s -C "$top/selftests/qemu/plugin"
}

# guest CPUS OPTION... -- COMMAND...: the host has far fewer CPUs. One that waits for all others may
# wait for longer than the 20 s after which the kernel would call it stuck.
guest()
{
	timeout $((limit + 100)) "$top/selftests/qemu/vm" --kernel "$kernel" --cpus "$1" \
		--mem "$memory" --append watchdog_thresh=60 --timeout "$limit" --rw "$T" "${@:2}"
}

record()
{
	guest "$cpus" --nodes "$nodes" -- "$script" "$T" "$build" $((40 * cpus))
}

tape()
{
	/usr/bin/python3 "$top/selftests/host/many-cpus-tapes" "$build/schedtape" "$T" "$cpus" "$1"
}

# count CPUS: 50 processes a CPU
count()
{
	guest "$1" --plugin "$build/plugin/plugin.so,out=$T/plugin" -- \
		"$script" count "$build" $((50 * $1))
}

count_both()
{
	count 2 && count "$cpus"
}

# Its output is in the result of "make reliability", so it is printed in any case.
counted()
{
	/usr/bin/python3 "$top/selftests/host/many-cpus-tapes" "$T/plugin" "$cpus" > "$T/counted"
	echo $? > "$T/counted.status"
	sed 's/^/# /' "$T/counted"
}

own_tests()
{
	guest "$cpus" --nodes "$nodes" -- "SCHEDTAPE_KO=$build/kmod/$kernel/schedtape.ko \
		SCHEDTAPE_SLOW=10 $top/selftests/run $tests"
}

if [ "$(id -u)" != 0 ]; then
	skip "many CPUs" "only root can start guests"
	finish
fi
make_folder
if check "everything builds" build_all && check "a guest with $cpus CPUs records" record; then
	for way in cpu socket numa overwrite small hotplug; do
		check "$way: each event is on the tape, or counted" tape $way
	done
	check "a replay has all tasks" tape replay
fi
if [ "$long" = long ] || [ -n "${COUNT-}" ]; then
	sed 's/^/# memory: /' "$T/memory"
	check "guests with 2 and with $cpus CPUs count instructions" count_both && counted
	check "no probe or interrupt takes longer with $cpus CPUs than with 2" \
		grep -x 0 "$T/counted.status"
fi
[ "$long" != long ] || check "the module's tests, with $cpus CPUs" own_tests
finish
