#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Description: schedtape record --threads and --overwrite: the content of the tape, however many
# files it has, and the results of pack and recover.

set -u
here=$(dirname "$(realpath "$0")")
. "${here%/cli/record}/lib/commands.sh"

# info TAPE EXPRESSION TEXT: tests an expression about info's output
info()
{
	schedtape info --json "$1" > tape.json 2> log && like tape.json "($2)"
	report $? "$3"
}

# same_events TAPE TAPE TEXT
same_events()
{
	schedtape script "$1" > one 2> log && schedtape script "$2" > two 2>> log &&
		[ -s one ] && cmp one two >> log
	report $? "$3"
}

cpus=$(nproc --all)
last=$((cpus - 1))

# -- writers -----------------------------------------------------------------

schedtape record -q --threads -o t -- forktree 4 3 > out 2> log
report $? "a thread for each CPU"
[ "$(find t -name 'data.*' | wc -l)" = "$cpus" ] && [ -f t/data ]
report $? "each with a file of its own"
info t 'd["damage"] is None and d["events"] > 100 and
	sum(c["lost"] for c in d["cpus"]) == 0' "which together are whole"
schedtape report --json t > report.json 2> log && like report.json 'len(d["tasks"]) == 121'
report $? "and have all tasks"
[ "$(stat -c %a t)" = 700 ] && [ "$(stat -c %a t/data.0)" = 600 ]
report $? "no other user may read it"

schedtape record -q --threads -o t -- true 2> log && [ -f t.old/data.0 ] && [ -f t/data.0 ]
report $? "the last directory is kept as .old"
schedtape record -q -o t -- true 2> log && [ -f t.old/data.0 ] && [ -f t ]
report $? "also if a file takes its place"
schedtape record -q --threads -o t -- true 2> log && [ -f t.old ] && [ -d t ]
report $? "and a file, if a directory does"
mkdir -p mine/deep
expect 1 'a directory that is not a tape' schedtape record --threads -o mine -- true
[ -d mine/deep ]
report $? "a directory that is no tape is left alone"
mkdir given
schedtape record -q --threads -o given -- true 2> log && [ -f given/data.0 ] && [ ! -e given.old ]
report $? "an empty directory, such as a killed recorder leaves, becomes a tape"
mkdir empty
expect 1 'empty: Is a directory' schedtape record -o empty -- true
[ -d empty ] && [ ! -e empty.old ]
report $? "which a tape of one file does not replace"

for spec in core package socket numa "0-$last/0"; do
	schedtape record -q "--threads=$spec" -o t -- pingpong 20 > out 2> log &&
		schedtape info --json t > tape.json 2>> log &&
		like tape.json 'd["damage"] is None and d["events"] > 0'
	report $? "--threads=$spec"
done
expect 129 'masks as 0-3' schedtape record --threads=foo -- true
expect 129 'not with -o -' schedtape record --threads -o - -- true
expect 1 'none of these CPUs is there' schedtape record --threads=4000/0 -- true
expect 1 'has a CPU of a mask before it' schedtape record --threads=0/0:0/0 -- true

if [ "$cpus" -gt 1 ]; then
	schedtape record --threads=0/1 -o t -- pingpong 20 > out 2> log &&
		grep -q "CPUs 1.* are in no mask" log
	report $? "a warning names the CPUs that are in no mask"
	info t 'all(c["cpu"] in (0, None) for c in d["cpus"])' "and not recorded"
	expect 1 'none of these CPUs is there' schedtape record -C 0 --threads=1/1 -- true

	schedtape record -q --threads=0/1:1/0 -o t -a 2> log &
	recorder=$!
	# Reads their masks and signals, when both threads exist and have moved to their CPUs.
	masked()
	{
		for task in "/proc/$recorder/task"/*; do
			[ "${task##*/}" = $recorder ] ||
				grep -E '^(Cpus_allowed_list|SigBlk)' "$task/status"
		done > threads
		[ "$(grep -c 'list:.[01]$' threads)" = 2 ]
	}
	eventually masked
	schedtape list --json > list.json 2>> log
	interrupt $recorder
	report $? "SIGINT ends them all"
	[ "$(grep -c 'list:.1$' threads)" = 1 ] && [ "$(grep -c 'list:.0$' threads)" = 1 ]
	report $? "each runs where its mask says"
	blocking=0
	while read -r key mask; do
		# SIGHUP, SIGINT, SIGUSR1, SIGTERM
		[ "$key" != SigBlk: ] || [ $((0x$mask & 0x4203)) != $((0x4203)) ] ||
			blocking=$((blocking + 1))
	done < threads
	[ $blocking = 2 ]
	report $? "and blocks signals"
	info t 'd["damage"] is None' "the tape of both threads is complete"
else
	skip "needs two CPUs"
fi

# -- failed writes -----------------------------------------------------------

(ulimit -f 8; schedtape record -z0 --threads -o t -- taskset -c 0 pingpong 5000) > out 2> log
[ $? = 1 ] && [ "$(grep -c 'cannot write' log)" = 1 ]
report $? "files that are full are one error"
info t 'sum(c["lost"] for c in d["cpus"]) > 300 and d["damage"] is None' \
	"events that did not get into the files are lost, and counted"
schedtape script t > out 2> log && grep -q LOST out
report $? "where it was"

# A job is a process group: the storm stays in it when its parent dies.
rm -rf t
set -m
schedtape record -q --threads -o t -- storm 2 3 100000 > /dev/null 2> log &
set +m
recorder=$!
# Debug kernels take long to get as far.
written()
{
	[ "$(cat t/data.[0-9]* 2> /dev/null | wc -c)" -gt 4096 ]
}
eventually written
kill -KILL $recorder
kill -KILL -- -$recorder 2> /dev/null
wait $recorder 2> /dev/null
schedtape script t > one 2> log && [ -s one ] && grep -q 'no end record' log
report $? "a killed recorder leaves a tape without an end"
expect 1 'see .schedtape recover' schedtape pack t
[ ! -e t.packed ]
report $? "which is not packed"
schedtape recover t > out 2> log && grep -q 'no end record' log
report $? "but recovered"
info t.recovered 'd["damage"] is None and "no end" in d["meta"]["recovered"]' \
	"the recovered tape is complete, and says that its end was missing"
same_events t t.recovered "with the same events"

# -- one file of several ------------------------------------------------------

schedtape record -q --threads -o t -- storm 1 2 500 > /dev/null 2> log
schedtape pack t 2> log && [ -f t.packed ]
report $? "a directory is packed"
same_events t t.packed "and has the same events"
cp t.packed before
schedtape pack t -o t.packed 2> log && cmp t.packed.old before
report $? "the previous file is kept as .old"
schedtape pack t -o - 2> log | cmp - before && grep -q 'wrote [0-9.]* MB to - \]$' log
report $? "pack writes to standard output, too, without a count of events"
schedtape pack --json t -o again > pack.json 2> log &&
	like pack.json 'd["tape"] == "again" and d["events"] > 0 and d["damage"] is None'
report $? "pack --json"
expect 1 'is not a directory' schedtape pack t.packed
expect 1 'not a schedtape tape' schedtape pack mine
expect 1 'No such file' schedtape pack nowhere
expect 1 'would take the place' schedtape pack t -o t
expect 1 'would take the place' schedtape pack t -o t/data.9
expect 1 'would take the place' schedtape recover t.packed.old -o t.packed
expect 1 'would take the place' schedtape recover t/data -o t
cp -r t kept.old
expect 1 'would take the place' schedtape recover kept.old/data -o kept
[ -e kept.old/data ]
report $? "recover does not remove the tape that it reads"
schedtape pack t -o slash/ 2> log && schedtape pack t -o slash/ 2> log && [ -f slash.old ]
report $? "a name with a slash behind it, again"
expect 1 'No space left' schedtape pack t -o /dev/full
expect 0 'wrote [0-9.]* MB to /dev/null \]$' schedtape pack t -o /dev/null

# interrupted COMMAND...: runs COMMAND with a signal pending from the start
interrupted()
{
	/usr/bin/python3 -c 'import os, signal, sys
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
os.kill(os.getpid(), signal.SIGINT)
os.execvp(sys.argv[1], sys.argv[1:])' "$@"
}

echo 1 > kept.tape && echo 2 > kept.tape.old
for command in "pack t" "recover t"; do
	# shellcheck disable=SC2086 # two words
	interrupted schedtape $command -o kept.tape > out 2> log
	[ $? = 130 ] && [ ! -s out ] && [ ! -s log ]
	report $? "schedtape $command, interrupted: it ends by the signal"
	ls > log && [ "$(cat kept.tape kept.tape.old)" = "1
2" ] && [ "$(grep -c '^kept.tape' log)" = 2 ]
	report $? "and the files from before are there"
done

mv t/data.0 away
schedtape report t > out 2> log && grep -q 'data.0: missing' log
report $? "a warning names a missing stream, and the rest is read"
schedtape recover t -o rest 2> log && schedtape info rest > out 2>> log &&
	grep -q '^end .*: complete' out
report $? "and recovered"
mv away t/data.0

# -- the last events ------------------------------------------------------------

for threads in "" --threads; do
	schedtape record -q --overwrite $threads -m 16K -o o -- taskset -c 0 pingpong 5000 > /dev/null 2> log
	info o 'sum(c["lost"] for c in d["cpus"]) == 0 and
		sum(c.get("overwritten", 0) for c in d["cpus"]) > 0 and
		d["began_ns"] < d["start_ns"] < d["stop_ns"] and
		d["damage"] is None' "--overwrite $threads: nothing is lost, but overwritten"
	schedtape script --json o 2> log > lines &&
		/usr/bin/python3 -c 'import json, sys
start = json.load(open("tape.json"))["start_ns"]
times = [json.loads(line)["time_ns"] for line in list(open("lines"))[1:]]
assert times and times == sorted(times) and times[0] >= start' 2>> log
	report $? "and events begin with the window"
	schedtape report --json o > report.json 2> log &&
		like report.json 'any(t["comm"] == "pingpong" for t in d["tasks"])'
	report $? "with the names of their tasks"
done

# -- the counter ------------------------------------------------------------------

if schedtape record -q -k tsc --threads -o t -- periodic 10 2 20 > /dev/null 2> log; then
	info t 'd["clock"]["counter"] and d["clock"]["counter_khz"] > 1000' \
		"the clock is a counter"
	schedtape script --json t 2> log > lines &&
		/usr/bin/python3 -c 'import json, sys
tape = json.load(open("tape.json"))
times = [json.loads(line)["time_ns"] for line in list(open("lines"))[1:]]
assert times and times == sorted(times)
assert tape["start_ns"] <= times[0]
assert times[-1] <= tape["stop_ns"] + (100000 if sys.argv[1] else 10 ** 9), times[-1]' \
		"${SCHEDTAPE_EXACT-}" 2>> log
	report $? "and times are those of CLOCK_MONOTONIC"
else
	skip "needs a counter that is fit as a clock"
fi

finish
