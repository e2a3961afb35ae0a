#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Description: tapes of one recorder are merged: those of --switch-output into what another recorder
# has beside them, and snapshots into one tape with gaps, by the command and by SIGUSR2; PIDs that
# are used again in a gap are those of other tasks.

set -u
here=$(dirname "$(realpath "$0")")
. "${here%/cli/record}/lib/commands.sh"
. "${here%/cli/record}/lib/tapes.sh"

# PIDs are used again and again, by tasks with other names.
last=$(cut -d ' ' -f 5 /proc/loadavg)
limit_pids $((last + 400))
start_names 0.001 0.004
# For three recorders at once: one tape with all, tapes that follow each other, snapshots.
schedtape record -q -k mono -p $chain,$names -o whole 2> log &
beside=$!
eventually recording
mkdir parts && cd parts || exit
schedtape record -q -k mono -p $chain,$names -o t --switch-output=300ms 2> log &
recorder=$!
ten() { [ "$(tapes | wc -w)" -ge 10 ]; }
eventually ten
interrupt $recorder
report $? "ten tapes that follow each other"
cd ..
schedtape record -k mono -p $chain,$names -o t -M 32K 2> said &
recorder=$!
# overwritten: prints how many events newer ones have replaced
overwritten()
{
	schedtape list --json | /usr/bin/python3 -IS -c 'import json, sys
print(sum(session["overwritten"] for session in json.load(sys.stdin)["sessions"]))'
}
more_than() { [ "$(overwritten)" -gt "$1" ]; }
# The first two have events in common, between the last two there is a gap.
for n in 1 2 3; do
	before=$(overwritten)
	[ $n = 2 ] || eventually more_than $((before + 8000))
	kill -USR1 $recorder
	eventually count $n
done
kill -USR2 $recorder
merged()
{
	[ -e "$(echo t.merged.20*Z)" ]
}
eventually merged
report $? "SIGUSR2 merges the snapshots"
grep -q '^\[ schedtape record: merged 3 snapshots into t.merged.20.*Z, .* MB \]$' said
report $? "and says so"
count 3 && [ "$(stat -c %a t.merged.20*Z)" = 600 ]
report $? "which stay"
kill -USR1 $recorder
eventually count 4
report $? "the recording goes on"
interrupt $recorder
report $? "to its end"
# While it waits for its command, which ignores SIGTERM, there is no recording to merge.
# shellcheck disable=SC2016 # the command's shell expands it
schedtape record -k mono -o late -M 32K -- bash -c 'trap "" TERM; echo $$ > up; exec sleep 60' \
	2> said &
recorder=$!
up() { [ -s up ]; }
eventually up
kill -USR1 $recorder
one_late() { [ -e "$(echo late.20*Z)" ]; }
eventually one_late
kill -INT $recorder
wrote() { grep -q 'wrote .* to late:' said; }
eventually wrote
kill -USR2 $recorder
sleep 0.2
interrupt $recorder && ! [ -e "$(echo late.merged.20*Z)" ]
report $? "SIGUSR2 does nothing when the tape is complete"
kill -KILL "$(cat up)"
interrupt $beside
kill -KILL $names

# -- what is on them ---------------------------------------------------------------

# Sorted the other way.
# shellcheck disable=SC2046 # each name is a word
schedtape merge --json -o one $(printf '%s\n' parts/t.20*Z | tac) > out.json 2> log &&
	like out.json '(not d["lost"] and not d["gaps"] and len(d["merged"]) > 9 and
		[m["part"] for m in d["merged"]] == list(range(1, len(d["merged"]) + 1)))'
report $? "tapes that follow each other have no gap"
# shellcheck disable=SC2046 # each name is a word
schedtape merge --json -o out $(printf '%s\n' parts/t.20*Z | sed 4d) > out.json 2> log &&
	like out.json '(d["lost"] and d["gaps"] == 1 and
		4 not in [m["part"] for m in d["merged"]])' &&
	schedtape script out 2> log | grep -q 'LOST '
report $? "without one of them, its time is a loss"
# shellcheck disable=SC2046 # each name is a word
schedtape merge -o snapshots t.20*Z t 2> log &&
	grep -q '^\[ schedtape merge: wrote .* events, .* lost in [1234] gaps\? \]$' log
report $? "snapshots have some"
mv t.merged.20*Z three
cat > compare.py << 'EOP'
import bisect, json, subprocess

def json_of(*words):
    return json.loads(subprocess.run(["schedtape", *words], capture_output=True, check=True).stdout)

def events_of(tape):
    """For each CPU a list of what lies between two gaps: the times, and what else is in the events."""
    cpus = {}
    kinds = "switch,waking,wakeup,migrate"
    out = subprocess.run(["schedtape", "script", "--json", "-e", kinds, tape],
                         capture_output=True, check=True, text=True).stdout
    for line in out.splitlines()[1:]:
        event = json.loads(line)
        if event["cpu"] is None:
            continue
        pieces = cpus.setdefault(event["cpu"], [([], [])])
        if event["event"] == "lost":
            assert event["lost"] > 0, event
            pieces.append(([], []))
            continue
        times, events = pieces[-1]
        times.append(event["time_ns"])
        events.append([event.get(key) for key in ("event", "pid", "comm")])
    return cpus

whole = {cpu: pieces[0] for cpu, pieces in events_of("whole").items()}
for tape, least, most in ("one", 1, 1), ("three", 2, 3), ("snapshots", 2, 5):
    names = set()
    for cpu, pieces in events_of(tape).items():
        assert least <= len(pieces) <= most, (tape, cpu, len(pieces))
        for times, events in pieces:
            # Tasks that are forked while a recorder begins are perhaps not in its filter.
            later = bisect.bisect(times, times[0] + 300e6) if tape == "one" else 0
            times, events = times[later:], events[later:]
            near = bisect.bisect(whole[cpu][0], times[0])
            # Both sessions have an event at times of their own.
            same = -1
            for at in range(max(near - 20, 0), near + 20):
                pairs = zip(events, whole[cpu][1][at:])
                length = next((i for i, (a, b) in enumerate(pairs) if a != b), len(events))
                if length > same:
                    same, begin = length, at
            beside = whole[cpu][1][begin:][max(same - 9, 0):same + 9]
            assert same == len(events), (tape, cpu, same, len(events), times[same],
                                         events[max(same - 9, 0):same + 9], beside)
            names |= {event[2] for event in events}
        print(f"{tape}: {[len(piece[0]) for piece in pieces]} events of CPU {cpu}")
    print(f"{len(names)} names")
    assert "chain" in names and len(names) > 3, names
    tasks = json_of("report", "--json", tape)["tasks"]
    ended = [task for task in tasks if task["comm"].startswith("n")]
    pids = [task["pid"] for task in ended]
    print(f"{len(ended)} short tasks with {len(set(pids))} PIDs")
    merged = json_of("info", "--json", tape)["meta"]["merged"]
    assert len(merged) == {"one": len(merged), "three": 3, "snapshots": 5}[tape], merged
    if tape != "one":
        assert all(one["trigger"]["name"] == "signal" for one in merged[:3]), merged
EOP
/usr/bin/python3 -IS compare.py > log 2>&1
report $? "between the gaps each has all events of all its time, and the names of their tasks"
sed 's/^/# /' log
schedtape info three > out 2> log && [ "$(grep -c '^merged tape *: from .*, by name=signal' out)" = 3 ]
report $? "info lists the tapes, with the trigger of each"
schedtape report three > out 2> log && grep -q '^chain' out && schedtape timehist three > out 2> log
report $? "report and timehist read it"
timeout $((60 * patience)) schedtape replay -q --only chain three > out 2> log
report $? "and it can be replayed"

# -- what cannot be merged ---------------------------------------------------------

first=$(tapes | cut -d ' ' -f 1)
expect 1 'are not of one recording' schedtape merge -o out "$first" parts/t.20*1*Z
expect 1 'is the only tape of its recording' schedtape merge -o out whole "$first"
expect 1 'would take the place of the tape that is read' schedtape merge -o t t.20*Z t
expect 129 '-o FILE is needed' schedtape merge t
expect 1 'merge reads each tape twice' schedtape merge -o out - < t
schedtape merge -q -o "$PWD/copy" "$first" && schedtape script "$first" > a 2> log &&
	schedtape script copy > b 2> log && cmp a b > log
report $? "one tape is copied"
head -c -1000 "$first" > cut.tape
schedtape merge -f -o copy cut.tape t 2> log && grep -q '^schedtape merge: warning: cut.tape: ' log && ! [ -e copy.old ]
report $? "a truncated tape is read with a warning"
kill -KILL $chain
finish
