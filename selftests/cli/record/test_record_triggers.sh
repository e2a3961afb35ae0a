#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Description: record --trigger: what takes snapshots, how often and when, and what they say of it.

set -u
here=$(dirname "$(realpath "$0")")
. "${here%/cli/record}/lib/commands.sh"
. "${here%/cli/record}/lib/tapes.sh"

chain 100000000 5 > /dev/null &
chain=$!
trap 'kill -KILL $(jobs -p) 2> /dev/null; rm -rf "$dir"' EXIT

# -- commands ----------------------------------------------------------------------

schedtape record -q -p $chain -o t -M 64K 2> said \
	--trigger 'file=exec:test -e go && echo noise, >&2,every=100ms,max=2,holdoff=8s' \
	--trigger 'exec:false' &
recorder=$!
eventually recording
sleep 1
count 0
report $? "nothing happens before a command succeeds"
touch go
eventually count 1
report $? "a snapshot when it does"
sleep 1.5
count 1
report $? "and none for a while after that"
eventually count 2
report $? "then another one"
sleep 2
count 2
report $? "and no more than were asked for"
interrupt $recorder
report $? "the recording ends well"
[ "$(grep -c '^noise,$' said)" -ge 2 ] && ! grep -v '^noise,$' said > log
report $? "what the command says is not lost, and nothing else is said"
for tape in t.file.20*Z; do
	schedtape info --json "$tape" > info.json 2> log
done
like info.json '(d["ended_by"] == "file" and d["meta"]["trigger"]["name"] == "file" and
	d["meta"]["trigger"]["text"].startswith("file=exec:test -e go && echo noise, >&2,every=") and
	d["start_ns"] < d["meta"]["trigger"]["time"] < d["stop_ns"])'
report $? "a snapshot says what it was taken for"
schedtape info --json t > info.json 2> log &&
	like info.json 'd["ended_by"] is None and "trigger" not in d["meta"]'
report $? "the tape at the end was taken for nothing"

forget
schedtape record -q -p $chain -o t -M 1M --trigger 'exec:true,max=1,after=2s' 2> log &
recorder=$!
eventually count 1
interrupt $recorder
schedtape info --json t.exec.20*Z > info.json 2> log &&
	like info.json '2e9 < d["stop_ns"] - d["meta"]["trigger"]["time"] < 4e9'
report $? "after=2s: it goes on for 2 s before the snapshot"

forget
schedtape record -q -p $chain -o t --switch-output --trigger 'exec:true,every=300ms,max=3' 2> log &
recorder=$!
eventually count 3
report $? "a trigger ends tapes that follow each other"
interrupt $recorder
count 4
report $? "and the last one ends with the recording"

# -- a command that hangs, and one that is killed ------------------------------------

forget
schedtape record -q -p $chain -o t -M 64K --trigger 'exec:sleep 1000' \
	--trigger 'exec:kill -9 $$,every=50ms' 2> log &
recorder=$!
eventually recording
sleep 1
interrupt $recorder
report $? "a command that hangs does not keep the recorder"
gone() { ! pgrep -f '^sleep 1000' > /dev/null; }
eventually gone
report $? "and is ended"

# -- what the module finds -----------------------------------------------------------

forget
schedtape record -q -a -o t -M 2M 2> log --trigger 'late=latency:200ms,max=1,after=2s,task=peri*' \
	--trigger 'burst:300ms,max=1' --trigger 'blocked:1h' --trigger 'rate:1000000000/s' \
	--trigger 'never=latency:200ms,task=peri' &
recorder=$!
eventually recording
taskset -c 1 periodic 20 0 1000000000 > /dev/null &
sleep 1
count 0
report $? "nothing happens while nobody waits for long"
chrt -f 50 taskset -c 1 hog 2500 > /dev/null
eventually count 2
report $? "a task that waits for a CPU, and one that does not leave it"
interrupt $recorder
late=$(echo t.late.20*Z)
burst=$(echo t.burst.20*Z)
schedtape info --json "$late" > info.json 2> log && like info.json '(d["ended_by"] == "late" and
	d["meta"]["trigger"]["text"] == "late=latency:200ms,max=1,after=2s,task=peri*")' &&
	schedtape info --json "$burst" > info.json 2> log && like info.json 'd["ended_by"] == "burst"'
report $? "each has its snapshot, with its name"
schedtape script "$late" 2> log | grep -E ' trigger: .*latency' > out
report $? "on which is what fired"
sed 's/^/# /' out
schedtape why periodic "$late" > out 2> log
grep -q hog out && grep -qE '^trigger: periodic:[0-9]+ was ready for .* ms(,| so far)' out
report $? "and why begins with it, and names who kept the task waiting"
sed 's/^/# /' out | head -20
schedtape why periodic "$burst" > out 2> log
grep -q 'when the tape ended' out && grep -q hog out
report $? "also on a snapshot that was taken while it still waited"

forget
schedtape record -q -p $chain -o t -M 64K --no-final --trigger exec:true,then=stop 2> log
report $? "then=stop ends the recording"
count 1 && [ ! -e t ]
report $? "after the snapshot"

# -- pressure ------------------------------------------------------------------------

if [ -w /proc/pressure/cpu ] && cat /proc/pressure/cpu > /dev/null 2>&1; then
	forget
	schedtape record -q -p $chain -o t -M 64K 2> log \
		--trigger 'psi:cpu some 50000 1000000,max=1' &
	recorder=$!
	eventually recording
	for _ in 1 2 3 4 5 6; do
		hog 10000 > /dev/null &
	done
	eventually count 1
	report $? "pressure takes a snapshot"
	interrupt $recorder
	expect 1 'trigger psi: .*some or full' \
		schedtape record -a -M 1M --trigger 'psi:cpu often 50000 1000000'
else
	for text in "pressure takes a snapshot" "a wrong pressure is refused"; do
		tests=$((tests + 1))
		echo "ok $tests $text # SKIP this kernel tells no pressure: boot it with psi=1"
	done
fi

# -- the command line ------------------------------------------------------------------

schedtape record --trigger help > out 2> log && grep -q '^  latency:TIME ' out && ! grep . log
report $? "--trigger help lists them"
expect 129 'those that --trigger help lists' schedtape record -a -M 1M --trigger 'latency'
expect 129 'latency:TIME with ns' schedtape record -a -M 1M --trigger 'latency:5'
expect 129 'a day at most' schedtape record -a -M 1M --trigger 'blocked:2d'
expect 129 'rate:N/s' schedtape record -a -M 1M --trigger 'rate:5'
# shellcheck disable=SC2046 # each option is a word
expect 129 'the module takes 8' schedtape record -a -M 1M \
	$(printf ' --trigger burst:%ss' 1 2 3 4 5 6 7 8 9)
expect 129 'exec: without a command' schedtape record -a -M 1M --trigger 'exec:'
expect 129 'after=1: after=TIME' schedtape record -a -M 1M --trigger 'exec:true,after=1'
expect 129 'max=0: after=TIME' schedtape record -a -M 1M --trigger 'exec:true,max=0'
expect 129 '"a b": a name has' schedtape record -a -M 1M --trigger 'a b=exec:true'
expect 129 'then=go: after=TIME' schedtape record -a -M 1M --trigger 'exec:true,then=go'
expect 129 'task=a: after=TIME' schedtape record -a -M 1M --trigger 'exec:true,task=a'
expect 129 'every=1s: after=TIME' \
	schedtape record -a -M 1M --trigger 'psi:cpu some 50000 1000000,every=1s'
expect 129 'in place of cpu' schedtape record -a -M 1M --trigger 'psi:gpu some 50000 1000000'
expect 129 'is for --switch-output, --overwrite and -M' schedtape record -a --trigger exec:true
expect 129 'not with -o -' schedtape record -a -M 1M -o - --trigger exec:true
expect 129 'not with --trigger' schedtape record -a --overwrite --threads --trigger exec:true
expect 129 'not with --switch-max-files' \
	schedtape record -a --overwrite --threads --switch-max-files 2
kill -KILL $chain
finish
