#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Description: when schedtape record records, and how: delays, durations, orders through pipes,
# clocks, overwrite mode, and its messages meanwhile.

set -u
here=$(dirname "$(realpath "$0")")
. "${here%/cli/record}/lib/commands.sh"

# info TAPE EXPRESSION TEXT: tests an expression about d, info's output; T: its seconds
info()
{
	schedtape info --json "$1" > tape.json 2> log &&
		like tape.json "(lambda T: $2)((d['stop_ns'] -
			d['start_ns']) / 1e9)"
	report $? "$3"
}

# order WORD: gives the recorder an order, and waits for its acknowledgment
order()
{
	local answer

	echo "$1" >&8
	IFS= read -r -t $((30 * patience)) -u 9 answer && [ "$answer" = ack ]
	report $? "$1 is acknowledged"
}

# state STATE TEXT: tests the state of the only session
state()
{
	schedtape list > log
	[ "$(awk 'NR == 3 { print $2 }' log)" = "$1" ]
	report $? "$2"
}

# events: prints the number of events of the only session so far
events()
{
	schedtape list | awk 'NR == 3 { gsub(",", ""); print $5 }'
}

periodic 20 0 1000000 > /dev/null &
periodic=$!
trap 'kill $periodic 2> /dev/null; rm -rf "$dir"' EXIT

# Time.
schedtape record -q -o t -p $periodic --duration 0.5 2> log
report $? "--duration: no failure"
info t '0.5 <= T < 5' "--duration: as long as it says"
schedtape record -q -o t -p $periodic --duration 500ms 2> log
info t '0.5 <= T < 5' "--duration: with a unit, too"
begun=$EPOCHREALTIME
schedtape record -q -o t -D 1000 --duration 0.3 -- sleep 60 2> log
report $? "-D and --duration: the command is ended, which is no failure"
took=$(awk "BEGIN { print $EPOCHREALTIME - $begun }")
info t "0.3 <= T <= $took - 1" "-D: begins later"
schedtape record -q -o t -D 0-200,600-800 -p $periodic 2> log
report $? "-D with periods: ends with the last of them"
# Periods are counted in ms.
info t 'T >= 0.799' "-D with periods: lasts until then"
schedtape script t > script.txt 2> log && grep -q -i paused script.txt
report $? "-D with periods: the tape has the pause"
schedtape record -q -o t -D -1 -- true 2> log
report $? "-D -1: a recording that never began ends with its command"
info t "sum(c['events'] for c in d['cpus']) == 0" "-D -1: and has no events"
schedtape record -o t -D -1 -- true 2> log && grep -q 'warning: t: the tape has no events' log
report $? "-D -1: a warning says that the tape has no events"
expect 129 '-D x: ms' schedtape record -D x -- true
expect 129 '--duration 0: not a number of seconds' schedtape record --duration 0 -a

# Orders.
mkfifo ctl ack
exec 8<> ctl 9<> ack
schedtape record -q -o t -p $periodic -D -1 --control fifo:ctl,ack 2> record.log &
recorder=$!
order ping
state ready "-D -1: it waits"

# Another user's recording beside it.
two_users()
{
	schedtape list --json > list.json 2> log && like list.json 'len(d["users"]) == 2'
}
mkdir -m 777 theirs
mode=$(stat -c %a /dev/schedtape)
chmod 666 /dev/schedtape
setpriv --reuid=65534 --clear-groups --inh-caps +perfmon --ambient-caps +perfmon \
	schedtape record -q -o theirs/tape -- sleep 1000 2> theirs.log &
theirs=$!
eventually two_users
report $? "list: the users of two recordings"
chmod "$mode" /dev/schedtape
like list.json '([u["session_count"] for u in d["users"]] == [1, 1] and
	all(u["memory_bytes"] == sum(s["memory_bytes"] for s in d["sessions"]
				     if s["uid"] == u["uid"]) > 0 for u in d["users"]))'
report $? "list: what each of them has in all"
schedtape list > log && grep -qE '^ *user +sessions +replays +memory KB' log &&
	grep -qE '^ *nobody +1 +0 +[1-9]' log
report $? "list: the same in its table"
kill -INT $theirs
wait $theirs 2> /dev/null
schedtape list > log && ! grep -q replays log
report $? "list: no such table for one user"

order enable
state recording "enable: it records"
sleep 0.3
order disable
state paused "disable: it pauses"
order disable
events=$(events)
sleep 0.3
[ "$events" -gt 0 ] && [ "$(events)" = "$events" ]
report $? "disable: nothing is recorded"
order enable
order enable
state recording "enable: it goes on"
sleep 0.3
echo nonsense >&8
order stop
wait $recorder
report $? "stop: no failure"
grep -q 'no order "nonsense"' record.log
report $? "an unknown order is ignored, with a warning"
schedtape script t > script.txt 2> log &&
	[ "$(grep -c -i paused script.txt)" -ge 1 ] &&
	tail -n 5 script.txt | grep -q periodic
report $? "the tape has the pause, and events after it"

schedtape record -q -o t --control fd:8,9 -- sh -c '
	[ ! -e /proc/self/fd/8 ] && [ ! -e /proc/self/fd/9 ] && exec sleep 60' 2> log &
recorder=$!
order ping
order stop
wait $recorder
report $? "--control fd: stop ends the command, too"
exec 8>&- 9>&-
expect 1 'descriptor 8: Bad file descriptor' schedtape record --control fd:8 -- true
expect 1 'nonexistent: No such file' schedtape record --control fifo:nonexistent -- true
expect 129 'fd:CTL' schedtape record --control 8 -- true
schedtape record -q -o t --control fd:0 -- true < /dev/null 2> log
report $? "the end of orders is not the end of the recording"

# Clocks.
schedtape record -q -o t -k CLOCK_MONOTONIC -- true 2> log
info t "d['meta']['clock']['name'] == 'mono'" "-k mono: the tape has the clock"
schedtape status --json > status.json
if like status.json 'd["counter_khz"]'; then
	schedtape record -q -o t -k tsc -- true 2> log
	info t "d['meta']['clock']['name'] == 'tsc'" "-k tsc: the tape has the clock"
else
	expect 1 'no counter that is fit' schedtape record -k tsc -- true
fi
expect 129 '-k boot: only mono' schedtape record -k boot -- true

# Overwrite mode: a ring has 16 kB, and the workload fills it many times.
schedtape record -q -o t --overwrite -m 16K -- taskset -c 0 pingpong 3000 > out 2> log
report $? "--overwrite: no failure"
info t "d['meta']['overwrite'] and 0 < sum(c['events'] for c in d['cpus']) < 10000" \
	"--overwrite: the tape has the events that the rings had room for"
schedtape script --json t 2> log | grep '"event":"exit"' > exits
[ "$(wc -l < exits)" = 2 ]
report $? "--overwrite: the tape has the last events, with the ends of both processes"

# The same with the memory of all rings together: 17 kB for each CPU, so rings of 16 kB.
cpus=$(($(sed 's/.*[-,]//' /sys/devices/system/cpu/possible) + 1))
schedtape record -q -o t -M $((cpus * 17))K -- taskset -c 0 pingpong 3000 > out 2> log
info t "d['meta']['overwrite'] and 0 < sum(c['events'] for c in d['cpus']) < 10000" \
	"-M: the tape has the events that the rings had room for"
expect 1 "-M: rings of $cpus CPUs take from $((cpus * 16))K to" schedtape record -M 15K -- true
expect 1 "-M: rings of $cpus CPUs take from .*K to $((cpus * 256))M" schedtape record -M 100G -- true

# Messages.
schedtape record --json -o t -- true > out.json 2> log &&
	like out.json "d['tape'] == 't' and d['events'] > 0 and d['lost'] == 0 and d['bytes'] > 0"
report $? "--json: prints the name and the size of the tape"
/usr/bin/python3 -c 'import pty, sys
sys.exit(pty.spawn(sys.argv[1:]) >> 8)' \
	schedtape record -o t -p $periodic --duration 2.5 > out 2> log
report $? "on a terminal: no failure"
grep -q '\[ schedtape record: [0-9,]* events, [0-9,]*/s, [0-9.]* MB, 0 lost \]' out
report $? "on a terminal: a line shows the progress"
schedtape record -o t -p $periodic --duration 1.5 2> out
! grep -q /s out
report $? "without a terminal: no line shows the progress"

finish
