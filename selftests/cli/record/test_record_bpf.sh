#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Description: record --trigger bpf:PATH: records of BPF programs take snapshots, as in the example of
# the documents, at calls of a function of the kernel and of one of a program.

set -u
here=$(dirname "$(realpath "$0")")
. "${here%/cli/record}/lib/commands.sh"
. "${here%/cli/record}/lib/tapes.sh"
examples=$here/../Documentation/examples
ring=/sys/fs/bpf/slow

chain 100000000 5 > /dev/null &
chain=$!
trap 'kill -KILL $(jobs -p) 2> /dev/null; rm -rf "$dir" $ring' EXIT

build()
{
	clang -O2 -g -target bpf -I/usr/include/"$(gcc -print-multiarch)" \
		-DKERNEL='"ksys_sync"' -DUSER="\"$(command -v periodic):main\"" \
		-o slow.bpf.o -c "$examples/slow.bpf.c" &&
		gcc "$examples/slow.c" -o slow -lbpf
}

# calls N COMMAND...: runs COMMAND until there are N tapes. In emulated guests the first call of a
# function may miss a probe that has just been set.
calls()
{
	local try

	for try in 1 2 3 4; do
		"${@:2}" > /dev/null
		! patience=$slow eventually count "$1" || return 0
		echo "# call $try had no effect"
	done
	cat messages > log
	return 1
}

# noted: prints the notes of all snapshots
noted()
{
	local tape

	for tape in t.bpf.20*Z; do
		schedtape info --json "$tape" | jq -r .meta.trigger.note
	done
}

if ! grep -q ' /sys/fs/bpf bpf ' /proc/mounts ||
	[ ! -e /sys/bus/event_source/devices/uprobe/type ]; then
	echo "1..0 # SKIP this kernel has no BPF programs for probes"
	exit 4
elif [ ! -e "$examples" ] || ! command -v clang > /dev/null; then
	echo "1..0 # SKIP needs a checkout with $examples, and clang"
	exit 4
fi
build > log 2>&1
report $? "the example builds as it says"
[ -x slow ] || { finish; exit 1; }
./slow slow.bpf.o $ring > loaded 2> log &
loader=$!
loaded() { grep -q ready loaded; }
eventually loaded
report $? "and loads"

schedtape record -q -p $chain -o t -M 64K --trigger "bpf:$ring,max=2" 2> messages &
recorder=$!
eventually recording
sleep 0.5
count 0
report $? "nothing happens before a call"
calls 1 sync
report $? "a call of the kernel's function takes a snapshot"
calls 2 periodic 1 0 1
report $? "and one of the program's"
sync
sleep 0.5
count 2
report $? "and no more than were asked for"
interrupt $recorder
report $? "the recording ends well"
[ ! -s messages ]
report $? "and says nothing"
noted > notes 2> log
grep -q '^the kernel is in ksys_sync()$' notes && grep -q '^called by periodic$' notes
report $? "the notes are what the programs have written"
said=0
for tape in t.bpf.20*Z; do
	said=$((said + $(schedtape info "$tape" | grep -c 'called by periodic')))
done
[ $said = 1 ]
report $? "info prints them"

# -- what is no ring buffer ----------------------------------------------------------

expect 1 'bpf:/sys/fs/bpf/none: No such file' \
	schedtape record -a -M 1M --trigger bpf:/sys/fs/bpf/none
expect 1 "bpf:$dir/slow: .*not in a file system of BPF" \
	schedtape record -a -M 1M --trigger "bpf:$dir/slow"
expect 129 'bpf: without a path' schedtape record -a -M 1M --trigger bpf:
expect 129 'pid=1: after=TIME' schedtape record -a -M 1M --trigger bpf:$ring,pid=1
kill -TERM $loader
wait $loader
kill -KILL $chain
finish
