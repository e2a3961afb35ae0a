#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Description: record --switch-output: tapes that follow each other without a gap, each of which can be
# read alone; which ones are kept; and a recording that goes on when one cannot be written.

set -u
here=$(dirname "$(realpath "$0")")
. "${here%/cli/record}/lib/commands.sh"
. "${here%/cli/record}/lib/tapes.sh"
name='t\.20[0-9]{6}T[0-9]{6}\.[0-9]{6}Z'

# -- nothing is missing ----------------------------------------------------------

# Another recorder, which runs all the time, has the same events on one tape.
chain 100000000 5 > /dev/null &
chain=$!
periodic 20 0 1000000000 > /dev/null &
old=$!
trap 'kill -KILL $(jobs -p) 2> /dev/null; rm -rf "$dir"' EXIT
schedtape record -q -k mono -p $chain,$old -o whole 2> log &
beside=$!
eventually recording
schedtape record -k mono -p $chain,$old -o t --switch-output 2> said &
recorder=$!
eventually [ -s t ]
for n in 1 2 3; do
	sleep 1
	kill "-USR$((n % 2 + 1))" $recorder
	eventually count $n
done
sleep 1
interrupt $recorder
report $? "SIGUSR1 and SIGUSR2 end a tape, SIGINT the last one"
interrupt $beside
count 4 && [ ! -e t ] && [ "$(grep -cE "^\[ schedtape record: wrote .* to $name: .* 0 lost \]$" said)" = 4 ] &&
	[ "$(wc -l < said)" = 4 ]
report $? "four tapes, and a line of each"
[ "$(stat -c %a t.20* | sort -u)" = 600 ]
report $? "which only their owner may read"
cat > compare.py << 'EOP'
import sys
sys.path.append(sys.argv[1])
from same_events import events_of, json_of, places_of_same

tapes = sys.argv[2:]
assert tapes == sorted(tapes)
whole = events_of("whole")
reached, end = {}, None
for number, tape in enumerate(tapes, 1):
    info = json_of("info", "--json", tape)
    assert not info["lost"] and info["meta"]["part"] == number, info
    assert info["ended_by"] == ("signal" if number < 4 else None), info
    assert end in (None, info["start_ns"]), "a tape begins when the one before it ends"
    end = info["stop_ns"]
    for cpu, events, at in places_of_same(tape, whole):
        missing = at - reached.get(cpu, at)
        print(f"{missing} events between it and the last one")
        # Of each CPU, readers leave out what is from before all have begun a new page.
        assert 0 <= missing < 100, missing
        reached[cpu] = at + len(events)
    names = {task["comm"] for task in json_of("report", "--json", tape)["tasks"]}
    assert names == {"chain", "periodic"}, names
EOP
# shellcheck disable=SC2046 # each name is a word
/usr/bin/python3 -IS compare.py "$here/lib" $(tapes) > log 2>&1
report $? "each has the events of its time, and the names and parents of its tasks"
sed 's/^/# /' log

# -- a tape by itself ----------------------------------------------------------------

last=$(tapes | cut -d ' ' -f 4)
schedtape report --json "$last" > file.json
# shellcheck disable=SC2002 # a pipe is what is tested
cat "$last" | schedtape report --json - 2> log | sed 's/"tape": "-"/"tape": "'"$last"'"/' > pipe.json
! grep . log && cmp file.json pipe.json
report $? "a later tape is read from a pipe like from a file"
forget
schedtape record -q -p $chain -o t --switch-output 2> log &
recorder=$!
eventually [ -s t ]
sleep 1
kill -USR2 $recorder
eventually count 1
sleep 2.5
kill -KILL $recorder
wait $recorder 2> /dev/null
schedtape recover -q -o whole.tape t 2> log
schedtape info --json whole.tape > info.json && like info.json '(d["meta"]["part"] == 2 and not d["lost"] and
	d["events"] > 100)' 2> log
report $? "a later tape whose recorder was killed is recovered, and nothing is lost in its beginning"

mkfifo ctl ack
schedtape record -q -p $chain -o p --switch-output --control fifo:ctl,ack 2> log &
recorder=$!
exec 8> ctl 9< ack
eventually recording
echo disable >&8
read -r -u 9
sleep 0.5
echo snapshot >&8
read -r -u 9
sleep 0.5
interrupt $recorder
[ "$(printf '%s\n' p.20*Z | wc -l)" = 2 ] && for tape in p.20*Z; do
	schedtape info "$tape" 2> log | grep -q '^end *: complete' || break
done
report $? "a tape that begins while the recording pauses ends well"
exec 8>&- 9>&-

# Many pages are full while the first CPU's are moved.
pingpong 100000000 > /dev/null &
pong=$!
forget
schedtape record --json -a -o t --switch-output=200ms --duration 3 > result.json 2> log
report $? "short tapes of busy CPUs"
kill $pong
/usr/bin/python3 -IS > log 2>&1 << 'EOP'
import json, subprocess
result, end, events = json.load(open("result.json")), None, 0
for tape in result["tapes"]:
    info = json.loads(subprocess.run(["schedtape", "info", "--json", tape], capture_output=True,
                                     check=True).stdout)
    events += info["events"]
    assert not info["lost"], info
    # Both are converted from the CPU's counter, between other samples of the clocks.
    assert end is None or abs(end - info["start_ns"]) < 1000000, (end, info["start_ns"])
    end = info["stop_ns"]
    # Readers begin where all CPUs are complete, which is the time of the latest event before.
    report = json.loads(subprocess.run(["schedtape", "report", "--json", tape],
                                       capture_output=True, check=True).stdout)
    assert report["tasks"], tape
print(len(result["tapes"]), "tapes,", events, "events")
assert len(result["tapes"]) > 5 and events == result["events"], (events, result["events"])
EOP
report $? "follow each other, and have all events together"
sed 's/^/# /' log

# -- which tapes are kept ------------------------------------------------------------

forget
schedtape record -q -p $chain -o t --switch-output=300ms --switch-max-files 2 --duration 2 2> log
report $? "--switch-output=300ms --switch-max-files 2"
count 2
report $? "leaves two tapes"
schedtape info --json "$(tapes | cut -d ' ' -f 2)" > last.json &&
	like last.json 'd["meta"]["part"] >= 4 and d["ended_by"] in ("time", None)'
report $? "the last ones"
forget
schedtape record --json -p $chain -o t --switch-output=8K --snapshot-max-bytes 30K --max-size 60K \
	> result.json 2> log
report $? "--switch-output=8K --snapshot-max-bytes 30K --max-size 60K"
like result.json '(60000 < d["bytes"] < 120000 and 1 < len(d["tapes"]) < 4 and
	d["events"] > 100 and d["tape"] == d["tapes"][-1] and not d["lost"])'
report $? "says what is there"
[ "$(tapes)" = "$(/usr/bin/python3 -c '
import json; print(*json.load(open("result.json"))["tapes"])')" ]
report $? "and no other tape is"
forget
schedtape record -q -p $chain -o t --max-size 10K 2> log && [ "$(stat -c %s t)" -ge 10240 ] &&
	[ "$(stat -c %s t)" -lt 100000 ]
report $? "--max-size without --switch-output"

# -- trouble ---------------------------------------------------------------------------

forget
mkdir small && mount -t tmpfs -o size=256K none small
schedtape record -p $chain -o small/t --switch-output=1s --switch-max-files 1 2> said &
recorder=$!
eventually [ -s small/t ]
sleep 1.5
# Nothing fits any more, not even the beginning of a tape.
dd if=/dev/zero of=small/rest bs=1K 2> /dev/null
eventually grep -q 'No space left' said
report $? "a full disk is reported"
sleep 3
[ "$(grep -c 'No space left' said)" = 1 ] && kill -0 $recorder
report $? "and the recording goes on"
rm small/rest
seen=$(printf '%s\n' small/t.20*Z)
again() { [ "$(printf '%s\n' small/t.20*Z)" != "$seen" ]; }
eventually again
report $? "when there is room, tapes are written again"
sleep 1.2
kill -INT $recorder
wait $recorder
[ $? = 1 ]
report $? "the exit status says that something is missing"
for tape in small/t.20*Z; do
	schedtape info "$tape" > info.txt 2>> log
	report $? "the last tape is whole"
done
rm -f small/*
# Now what a tape begins with has room, but its events have not.
schedtape record -p $chain -o small/t --switch-output 2> said &
recorder=$!
eventually [ -s small/t ]
sleep 1.5
dd if=/dev/zero of=small/rest bs=1K 2> /dev/null
eventually grep -q 'No space left' said
# writes: prints how often the recorder has tried to write
writes() { sed -n 's/^syscw: //p' /proc/$recorder/io; }
before=$(writes)
truncate -s -8K small/rest
sleep 3
tries=$(($(writes) - before)) said=$(grep -c 'No space left' said)
[ "$said" -le 2 ] && [ $tries -lt 200 ]
report $? "a disk that is nearly full keeps no CPU busy: $tries writes, $said errors"
rm -f small/rest
sleep 3
interrupt $recorder
for tape in small/t.20*Z; do
	last=$tape
	schedtape info "$tape" 2> log | grep -E '^(realtime set|machine slept|counter *: 0)' && break
done > odd
[ ! -s odd ]
report $? "no tape has clocks that were never read"
schedtape info "$last" 2> log | grep -q '^end *: complete'
report $? "and tapes are complete again"
umount small
forget
schedtape record -p $chain -o t --switch-output 2> said &
recorder=$!
eventually [ -s t ]
rm t
kill -USR1 $recorder
eventually grep -q 't: was removed, and what was recorded with it' said
report $? "a tape that was removed is reported"
eventually [ -s t ]
sleep 1
kill -INT $recorder
wait $recorder
[ $? = 1 ] && count 1
report $? "and the next one is written"
forget
mkdir gone
schedtape record -p $chain -o gone/t --switch-output 2> said &
recorder=$!
eventually [ -s gone/t ]
mv gone away
kill -USR1 $recorder
eventually grep -q 'gone/t: cannot be renamed: No such file' said
report $? "a folder that is gone is reported"
mv away gone
ended() { [ -e "$(echo gone/t.20*Z)" ]; }
eventually ended
interrupt $recorder
[ "$(printf '%s\n' gone/t.20*Z | wc -l)" = 2 ] && [ ! -e gone/t ]
report $? "and when it is back, both tapes are there"

# -- the command line ------------------------------------------------------------------

expect 129 'a size with B, K, M or G' schedtape record -a --switch-output=10
expect 129 'a time with' schedtape record -a --switch-output=1x
expect 129 'not with --overwrite' schedtape record -a --overwrite --switch-output=1M
expect 129 'not with --overwrite or -M' schedtape record -a -M 16M --switch-output=1M
expect 129 'not with --threads' schedtape record -a --threads --switch-output
expect 129 'not with -o -' schedtape record -a -o - --switch-output
expect 129 'is for --switch-output, --overwrite' schedtape record -a --switch-max-files 3
expect 129 'is for --switch-output, --overwrite' schedtape record -a --snapshot-max-bytes 3M
expect 129 'from 1 on' schedtape record -a --switch-output --switch-max-files 0
expect 129 'max-size: not with --overwrite' schedtape record -a -M 16M --max-size 1M
mkfifo pipe
expect 1 'pipe: --switch-output renames its tapes, and this is no file' \
	schedtape record -a -o pipe --switch-output
[ -p pipe ]
report $? "which is still there"
expect 129 'max-size 0' schedtape record -a --max-size 0
kill $chain $old
finish
