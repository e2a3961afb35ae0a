#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Description: schedtape record under odd conditions: a disk that is slow or broken, a clock that
# is set, signals. Recorded events are kept, missing ones are counted.

set -u
here=$(dirname "$(realpath "$0")")
. "${here%/cli/record}/lib/commands.sh"

# whole TAPE EXPRESSION TEXT: the tape has its end, and an expression about info's output holds
whole()
{
	schedtape info --json "$1" > info.json 2> log &&
		like info.json "d['damage'] is None and ($2)"
	report $? "$3"
}

# -- a disk that is slow -------------------------------------------------------

# A pipe takes 64 kB, the rings less, and its reader starts only after they were full.
mkfifo slow
(until schedtape list --json 2> /dev/null | grep -q '"lost": [1-9]'; do
	sleep 0.1
done; cat) < slow > t &
schedtape record -z0 -m 16K -o slow -- taskset -c 0 pingpong 20000 > out 2> log
report $? "a slow disk: no failure"
grep -q ' [1-9][0-9,]* lost' log
report $? "a slow disk: a message has the number of lost events"
wait
whole t 'all(c["lost"] == 0 or d["start_ns"] <= c["lost_first_ns"] <=
	c["lost_last_ns"] <= d["stop_ns"] for c in d["cpus"]) and
	sum(c["lost"] for c in d["cpus"]) > 0' "a slow disk: how many, and when"
schedtape script t 2> log | grep -q LOST
report $? "a slow disk: script shows where"
schedtape report t > out 2> log && grep -q LOST out
report $? "a slow disk: report prints the loss"

# -- a disk that breaks ----------------------------------------------------------

# A terminal after a hang-up: from then on, writing to it is EIO.
/usr/bin/python3 - schedtape record -z0 -m 64K -o PTY -- taskset -c 0 pingpong 20000 > out 2> log <<-'END'
	import os, pty, subprocess, sys, tty
	master, slave = pty.openpty()
	tty.setraw(slave)
	command = [os.ttyname(slave) if arg == "PTY" else arg for arg in sys.argv[1:]]
	recorder = subprocess.Popen(command, start_new_session=True)
	with open("t", "wb") as tape:
	    while tape.tell() < 200000:
	        tape.write(os.read(master, 4096))
	os.close(slave)
	os.close(master)
	sys.exit(recorder.wait())
END
[ $? = 1 ] && [ "$(grep -c 'cannot write at byte [0-9]*: Input/output error' log)" = 1 ]
report $? "a broken disk is one error"
schedtape report t > out 2> log && grep -q 'warning: t: .*byte' log && grep -q pingpong out
report $? "a broken disk: the tape is read as far as it goes"
schedtape recover t -o recovered 2> log
report $? "a broken disk: and recovered"
whole recovered 'sum(c["events"] for c in d["cpus"]) > 1000' "a broken disk: whole"

# -- a disk that is full ---------------------------------------------------------

mkdir full
mount -t tmpfs -o size=128k none full
# full PATTERN COMMAND...: fails, with an error of this pattern and the number of missing events
full()
{
	local pattern=$1

	shift
	rm -rf full/*
	"$@" > out 2> log
	[ $? = 1 ] &&
		[ "$(grep -c "cannot write at byte [0-9]*: No space left on device$" log)" = 1 ] &&
		grep -q "^schedtape record: full/t: $pattern" log
}
missing='[1-9][0-9,]* events are missing, because the tape could not be written$'
full "$missing" schedtape record -q -z0 -o full/t -- taskset -c 0 pingpong 6000
report $? "a full disk: an error, and how much is missing"
schedtape info --json full/t > info.json 2> log && like info.json "d['events'] > 0"
report $? "a full disk: what was written can be read"
full "$missing" schedtape record -q -z0 --threads -o full/t -- taskset -c 0 pingpong 6000
report $? "a full disk: the same with --threads"

schedtape record -q -z0 -o t -- taskset -c 0 pingpong 5000 > out 2> log
rm -rf full/*
# A replay's tape is compressed.
fallocate -l 112K full/other
schedtape replay -q t --record full/u 2> log
[ $? = 1 ] && grep -q 'full/u: [1-9][0-9,]* events are missing' log
report $? "a full disk: the same for a replay"
head -c 1m /dev/zero > full/rest 2> log
schedtape recover t -o full/v 2> log
[ $? = 1 ] && grep -q 'No space left on device: 0\.000 of [0-9.]* MB were copied$' log &&
	[ ! -e full/v ]
report $? "a full disk: recover says how far it came, and leaves no part of a tape"
umount full
for command in script report info "script --json" "report --json"; do
	# shellcheck disable=SC2086 # words
	schedtape $command t > /dev/full 2> log
	[ $? = 1 ] && grep -q 'No space left on device: the output is not complete$' log
	report $? "a full disk: $command says that its output is not complete"
done
schedtape diff t t > /dev/full 2> log
[ $? = 2 ] && grep -q 'the output is not complete$' log
report $? "a full disk: diff says so, too"

# -- a recorder that cannot wait ---------------------------------------------------

# poll() refuses more files than a process may have open.
chain 100000000 5 > /dev/null &
workload=$!
for options in "" --threads "--threads --overwrite"; do
	# shellcheck disable=SC2086 # words
	schedtape record -q $options -o t -p $workload 2> log &
	recorder=$!
	eventually recording
	prlimit --pid $recorder --nofile=1
	timeout $((20 * patience)) tail -f --pid=$recorder /dev/null
	kill -INT $recorder 2> /dev/null
	wait $recorder
	[ $? = 1 ] && grep -q 'cannot wait for events' log
	report $? "a recorder that cannot wait ends, with an error: $options"
done
kill -KILL $workload
wait 2> log

# -- a clock that is set ---------------------------------------------------------

# shellcheck disable=SC2016 # sh expands it
schedtape record -q -o t -- sh -c 'for day in 1 -2 1; do
	date -s "$day day" > /dev/null && sleep 0.1
done' 2> log
report $? "a clock that is set: no failure"
whole t '0 < d["stop_ns"] - d["start_ns"] < 600e9 and
	d["clock"]["realtime_steps"] and sum(c["lost"] for c in d["cpus"]) == 0' \
	"a clock that is set: the tape's times go on evenly, and its description has the step"
schedtape script --json t 2> log > lines && /usr/bin/python3 -c 'import json
d = json.load(open("info.json"))
times = [json.loads(line)["time_ns"] for line in list(open("lines"))[1:]]
assert times and times == sorted(times)
assert d["start_ns"] <= times[0] and times[-1] <= d["stop_ns"]' 2>> log
report $? "a clock that is set: events have their times"

# -- signals ---------------------------------------------------------------------

chain 100000000 5 > /dev/null &
workload=$!
for signal in INT TERM HUP; do
	# A script's background job would ignore SIGINT.
	/usr/bin/python3 -c 'import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
os.execvp(sys.argv[1], sys.argv[1:])' schedtape record -o t -p $workload 2> log &
	recorder=$!
	eventually recording
	sleep 0.5
	kill "-$signal" $recorder
	wait $recorder 2> /dev/null
	[ "$(kill -l $?)" = $signal ]
	report $? "SIG$signal ends the recorder"
	whole t 'sum(c["events"] for c in d["cpus"]) > 0' "SIG$signal: the tape is whole"
done
kill -KILL $workload
wait 2> log

finish
