#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Description: schedtape record as users type it: which files it keeps, its messages about bad
# input, and its exit status.

set -u
here=$(dirname "$(realpath "$0")")
. "${here%/cli/record}/lib/commands.sh"

schedtape record -h > out 2> log && grep -q '^Usage: schedtape record' out
report $? "record -h prints the options"
for word in version -v -V; do
	schedtape $word 2> log | cmp - <(schedtape --version) >> log 2>&1
	report $? "$word prints the version"
done
expect 1 '/nonexistent: No such file' schedtape record -- /nonexistent
[ ! -e schedtape.tape ]
report $? "a recording that never began leaves no tape"
schedtape record -q -- true
cp schedtape.tape first
expect 1 'PID 4194303: there is no such process or thread' schedtape record -p 4194303
cmp schedtape.tape first > log
report $? "a recording that never began leaves the old tape alone"
schedtape record -q -- true
cmp schedtape.tape.old first > log
report $? "the last tape is kept as .old"

# Files from before a recording that fails to start: two tapes, and nothing else.
mkdir keep
schedtape record -q -o keep/tape -- true && schedtape record -q --threads -o keep/tape -- true
find keep -type f -exec cksum {} + | sort > before

# untouched TEXT
untouched()
{
	find keep -type f -exec cksum {} + | sort | diff before - > log &&
		[ "$(find keep -maxdepth 1 | wc -l)" = 3 ]
	report $? "$1"
}

for options in "" --threads; do
	# shellcheck disable=SC2086 # none or one
	expect 1 '/nonexistent: No such file' \
		schedtape record $options -o keep/tape -- /nonexistent
	untouched "record $options -- typo: both tapes are as they were"
	for name in tape new; do
		(ulimit -f 0; schedtape record $options -o keep/$name -- true 2>&1) | cat > out
		[ "${PIPESTATUS[0]}" = 1 ] && [ "$(grep -c 'cannot write' out)" = 1 ]
		report $? "record $options: no room for $name"
		untouched "record $options: without room for $name, no file is left and both tapes are unchanged"
	done
done

expect 1 '/nonexistent/tape: No such file' schedtape record -o /nonexistent/tape -- true
expect 1 '/dev/full: cannot write at byte 0: No space left' schedtape record -o /dev/full -- true
expect 1 'a ring of [0-9]+ bytes is too large: at most 256M' schedtape record -m 1G -- true
expect 1 'a ring of [0-9]+ bytes is too large' schedtape record -m 262144 -- true
for size in x -1 0 1T 10MB 99999999999999G 9999999999999999; do
	expect 129 "-m $size: not a size" schedtape record -m "$size" -- true
done
pages=$((512 * 1024 / $(getconf PAGESIZE)))
for size in $pages $((pages * 3 / 4)) 512K 300000B; do
	schedtape record -q -m "$size" -o t -- schedtape list --json > list.json 2> log &&
		like list.json '[s["ring_pages"] for s in d["sessions"]] == [128]'
	report $? "-m $size: so large are the rings"
done
expect 129 'what to record' schedtape record
expect 129 'schedtape record -- make' schedtape
! grep -q 'cannot record' log
report $? "schedtape alone: nothing prevents root from recording"
expect 129 'schedtape record -- make' setpriv --bounding-set=-perfmon,-sys_admin \
	--inh-caps=-perfmon,-sys_admin schedtape
grep -q 'You cannot record here yet: CAP_PERFMON is missing: use sudo' log
report $? "schedtape alone: says what a user without rights can do"
expect 129 'no command "rekord", did you mean "record".$' schedtape rekord
expect 129 'no command "xyzzy", see "schedtape --help"$' schedtape xyzzy
for option in '-?' -h --help --usage help; do
	schedtape "$option" > out 2> log && grep -q '^  record  ' out && grep -q '^  status  ' out
	report $? "schedtape $option: the commands"
done
schedtape record --json -o t -- true > out 2> log && like out 'd["tape"] == "t" and d["bytes"]'
report $? "record --json"
schedtape record --json -o t -- true > /dev/full 2> log
[ $? = 1 ] && grep -q 'cannot write to standard output' log
report $? "record --json: fails if it cannot print its result"
expect 7 'wrote' schedtape record -- sh -c 'exit 7'
expect 137 'wrote' schedtape record -- sh -c 'kill -9 $$'
expect 1 '/etc/passwd: not a schedtape tape' schedtape info /etc/passwd
expect 1 'No such file' schedtape report /nonexistent
for command in 'record -- true' status list 'filter 1 del -p 1' 'steer 1 pause'; do
	# shellcheck disable=SC2086 # a command and its arguments
	expect 1 'CAP_PERFMON is missing: use sudo, or once' nobody schedtape $command
done

# A disk that is full in the middle of a recording: missing events are counted.
(ulimit -f 8; schedtape record -z0 -o short.tape -- forktree 4 3) > out 2> log
[ $? = 1 ] && [ "$(grep -c 'cannot write at byte 8192' log)" = 1 ]
report $? "a full disk is one error"
schedtape info --json short.tape > short.json 2> log &&
	like short.json 'sum(c["lost"] for c in d["cpus"]) > 0'
report $? "events that did not get onto the disk are lost, and counted"

schedtape record -q -o torn.tape -- true
head -c -60 torn.tape > cut.tape
schedtape report cut.tape > out 2> log && grep -q 'warning: cut.tape: .*byte' log
report $? "a truncated tape is read as far as it goes, with a warning"

# Records running processes, until the last of them has exited.
pingpong 100000000 > /dev/null &
workload=$!
schedtape record -q -o running.tape -p $workload 2> log &
recorder=$!
records()
{
	schedtape list --json > list.json 2> log && grep -q '"task_count": [1-9]' list.json
}
eventually records
# The workload's child is not in the process that was named.
like list.json 'len(d["sessions"]) == 1 and d["sessions"][0]["task_count"] == 1'
report $? "-p takes the process that is named"
pkill -KILL -x pingpong
wait $recorder
report $? "-p ends when the last task has gone"
schedtape report --json running.tape > running.json 2> log &&
	like running.json 'd["tasks"] and all(t["pid"] == '$workload' for t in d["tasks"])'
report $? "no other task is on the tape"

schedtape script --json running.tape 2> log | head -n 1000 > lines
/usr/bin/python3 -c 'import json, sys
times = [json.loads(line)["time_ns"] for line in list(sys.stdin)[1:]]
assert times and times == sorted(times)' < lines 2>> log
report $? "script prints events by time"

if [ -n "${SCHEDTAPE_KO:-}" ] && rmmod schedtape; then
	why='the module is not (loaded: sudo modprobe schedtape|installed for the kernel .*: sudo)'
	expect 1 "^schedtape record: $why" schedtape record -- true
	expect 1 "^schedtape replay: $why" schedtape replay running.tape
	expect 1 "^schedtape list: $why" schedtape list
	schedtape report running.tape > out 2> log
	report $? "a tape is read without the module"
	insmod "$SCHEDTAPE_KO"
else
	skip "needs SCHEDTAPE_KO, the module to load again"
fi

finish
