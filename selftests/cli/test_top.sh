#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Description: schedtape top shows of each interval what a tape of the same time has: run time,
# switches and delays of each task; it ends with its tasks, with Ctrl-C and with its output.

set -u
here=$(dirname "$(realpath "$0")")
. "${here%/cli}/lib/commands.sh"

# -- the figures ---------------------------------------------------------------

# A task that always runs, and two that wake each other.
hog 100000000 > /dev/null &
busy=$!
pingpong 100000000 > /dev/null &
pong=$!
trap 'kill $(jobs -p) 2> /dev/null; rm -rf "$dir"' EXIT
eventually pgrep -P "$pong" > /dev/null
other=$(pgrep -P "$pong")
# The tape is of longer than top runs, so that it has each interval.
schedtape record -q -k mono -p "$busy,$pong,$other" -o t 2> log &
recorder=$!
eventually recording
schedtape top -k mono -p "$busy,$pong,$other" -n 3 --json > top.json 2>> log
report $? "three intervals of tasks that run"
sleep 0.2
interrupt $recorder

# Both sessions have the same events, with the same times.  Only of the first interval top knows less:
# not when a delay began before it, and what a task did before the recorder asked for it.
cat > compare.py << 'EOP'
import json, subprocess, sys

busy, *pongs = map(int, sys.argv[1:])
intervals = [json.loads(line) for line in open("top.json")]
assert len(intervals) == 3, len(intervals)
end = None
for interval in intervals:
    begin, length = interval["begin_ns"], interval["end_ns"] - interval["begin_ns"]
    assert end in (None, begin), "the intervals follow each other"
    end = interval["end_ns"]
    assert 0.9e9 <= length, length
    assert not interval["lost"], interval["lost"]
    times = "%d.%09d,%d.%09d" % (*divmod(begin, 10**9), *divmod(end, 10**9))
    tape = json.loads(subprocess.run(["schedtape", "report", "--json", "--time", times, "t"],
                                     capture_output=True, check=True).stdout)
    wanted = {line["pid"]: line for line in tape["lines"]}
    lines = {line["pid"]: line for line in interval["lines"]}
    assert {busy, *pongs} == set(lines) == set(wanted), (set(lines), set(wanted))
    for pid, line in lines.items():
        ours, theirs = line["cpu_time_ns"], wanted[pid]["cpu_time_ns"]
        delays = abs(line["delays"] - wanted[pid]["delays"])
        print(line["name"], "run time", ours, "on the tape", theirs, "delays", line["delays"],
              "differ by", delays, "switches", line["switches"])
        first = interval is intervals[0]
        assert abs(ours - theirs) <= (0.1 * theirs + 2e7 if first else 1e5), pid
        assert abs(line["cpu_share"] - ours / length) < 1e-3, line["cpu_share"]
        assert delays <= first, pid
        assert line["delays"] == 0 or line["delay_p99_ns"] <= line["delay_max_ns"] < length * 2, line
    for pid in pongs:
        assert lines[pid]["switches"] > 10 and lines[pid]["wakeups"] > 10, lines[pid]
    total = interval["total"]
    assert total["cpu_time_ns"] == sum(line["cpu_time_ns"] for line in lines.values())
    assert total["switches"] == sum(line["switches"] for line in lines.values())
    assert total["tasks"] == len(lines)
EOP
/usr/bin/python3 -IS compare.py "$busy" "$pong" "$other" > log 2>&1
report $? "each interval has the run time and the delays of a tape"
sed 's/^/# /' log

# A task that never leaves its CPU has no event; its time counts all the same.
kill "$pong" "$other"
sleep 1
schedtape top -p $busy -n 2 -d 0.5 --json > top.json 2> log &&
	/usr/bin/python3 -IS -c 'import json
for line in open("top.json"):
    interval = json.loads(line)
    share = interval["total"]["cpu_share"]
    print(share, interval["events"])
    assert 0.4 < share <= 1.001, share
    assert interval["end_ns"] - interval["begin_ns"] < 30e9, interval' > log 2>&1
report $? "a task that runs through all of an interval"
sed 's/^/# /' log

# -- which tasks, and how ------------------------------------------------------

start_three
schedtape top -n 2 > top.txt 2> log && [ "$(grep -c ' tasks on ' top.txt)" = 2 ] &&
	[ "$(grep -c '^TOTAL' top.txt)" = 2 ] && grep -q "^hog:$busy " top.txt &&
	grep -q "^other:$other " top.txt && ! grep -q '^schedtape:' top.txt
report $? "without a target, all tasks but top itself, as lines"
schedtape top -n 1 --comm 'oth*' -F task,switches > top.txt 2> log &&
	[ "$(sed -n 4p top.txt | cut -d: -f1)" = other ] && [ "$(wc -l < top.txt)" = 7 ]
report $? "--comm shows some of them"
schedtape top -n 1 --tod > top.txt 2> log && read -r day clock _ < top.txt &&
	ago=$(($(date +%s) - $(date -d "$day ${clock%,}" +%s))) && [ "$ago" -ge 0 ] &&
	[ "$ago" -lt $((5 * patience)) ]
report $? "--tod: the head has the date and the time"
schedtape top -n 1 --by cpu -s task -F task,cpu -C 0 > top.txt 2> log &&
	[ "$(sed -n 4p top.txt | cut -c 1-6)" = 'CPU 0 ' ] && ! grep -q '^CPU 1' top.txt
report $? "-C 0 --by cpu shows one CPU"
schedtape top -n 1 --by comm -s task --json > top.json 2> log &&
	like top.json '(lambda names: names == sorted(names) and "other" in str(names))(
		[line["name"].split(":")[0] for line in d["lines"]])'
report $? "a line for each name, sorted by names"
# shellcheck disable=SC2046 # jobs -p prints a word for each
kill $(jobs -p)

# -- the tasks of another session ----------------------------------------------

sleep 1000 &
asleep=$!
periodic 50 0 1000000 > /dev/null &
one=$!
(exec -a two periodic 20 0 1000000 > /dev/null) &
two=$!
schedtape record -q -p $one,$asleep -o like.tape 2> log &
recorder=$!
eventually recording
schedtape top --like "$id" -n 1 --json > top.json 2>> log &&
	like top.json "{line['pid'] for line in d['lines']} == {$one}"
report $? "--like shows the tasks of another session"
schedtape top --like "$id" -d 0.5 -F pid > top.txt 2> log &
top=$!
eventually grep -qx " *$one" top.txt
! grep -qx " *$two" top.txt && schedtape filter "$id" add -t $two 2>> log &&
	eventually grep -qx " *$two" top.txt
report $? "and those that its filter gets"
schedtape filter "$id" del -p $one 2> log
# Those of two blocks, of which the last one has begun after the look that found the change.
left() { tail -n 14 top.txt | grep -qx " *$two" && ! tail -n 14 top.txt | grep -qx " *$one"; }
eventually left
report $? "not those that have left it"
interrupt $recorder
sleep 2
eventually left
status=$?
interrupt $top && grep -q "session $id has ended" log && [ $status = 0 ]
report $? "it goes on with the last ones when that session ends"
expect 1 'session 4000' schedtape top --like 4000
expect 129 'not with -p' schedtape top --like 1 -p 1
expect 129 'not with -p' schedtape top web -p 1
expect 129 'not with --like' schedtape top web --like 1
expect 129 'one argument too many' schedtape top web other
expect 1 'there is no recorder of that name' schedtape top nobody
kill $asleep $one $two

# -- the screen ----------------------------------------------------------------

start_three
schedtape record -q --name web -o fly -M 64K -p "$(pgrep -o chain)" 2> log &
eventually recording
cat > screen.py << 'EOP'
import os, re, signal, sys
sys.path.append(sys.argv[1])
from terminal import Terminal

def rows(lines):
    """The rows of the table: between its headings and the line above the total."""
    end = next((i for i, line in enumerate(lines) if line.startswith("--")), 4)
    return [line for line in lines[4:end] if line]

def is_table(lines):
    return len(rows(lines)) > 1 and "tasks on" in lines[1] and lines[-1].startswith("q quit")

top = Terminal(24, 100, "schedtape", "top", "-d", "0.5")
top.until("a table, and the keys below it", lambda lines: is_table(lines) and
          lines[0] == "schedtape top: every 0.5 s, by task, sorted by cpu")
top.until("with the total", lambda lines: lines[-2].startswith("TOTAL"))
top.type(">")
top.until("the column to the right", lambda lines: lines[0].endswith("sorted by switches"))
top.type("stask,pid\r")
top.until("sorted by a name", lambda lines: lines[0].endswith("sorted by task,pid") and
          is_table(lines) and rows(lines) == sorted(rows(lines)))
top.type("sdelay\r")
top.until("a wrong name", lambda lines: lines[-1].startswith("No such column"))
top.type("foth*,x\x7f*\r")
top.until("only some names", lambda lines: lines[0].endswith(", only oth*,*") or
          lines[0].endswith(", only oth*,*  [paused]"))
top.type("foth*\r")
top.until("a pattern", lambda lines: lines[0].endswith(", only oth*") and
          [line.split(":")[0] for line in rows(lines)] == ["other"])
top.type("fnone\x1b")
top.until("a filter that is not entered", lambda lines: lines[0].endswith(", only oth*"))
top.type("f\r")
top.until("all names again", lambda lines: is_table(lines) and "only" not in lines[0])
top.type("b")
top.until("a line for each name", lambda lines: ", by comm, " in lines[0])
top.type("p")
top.until("a pause", lambda lines: lines[0].endswith("[paused]"))
before = top.lines()
top.read(1.5)
top.type("p")
top.until("and further intervals", lambda lines: is_table(lines) and lines[1] != before[1])
# From here on the table is always the same one, which has more rows than a small terminal.
top.until("all three workloads", lambda lines: {"chain", "other", "periodic"} <=
          {line.split()[0].split(":")[0] for line in rows(lines)})
top.type("p")
top.until("another pause", lambda lines: lines[0].endswith("[paused]"))
top.type("h")
top.until("the keys", lambda lines: any("scroll by a line" in line for line in lines))
top.type("h")
top.resize(9, 60)
top.until("a smaller terminal", lambda lines: lines[8].startswith("q quit") and
          lines[7].startswith("TOTAL") and len(rows(lines)) == 2 and "task " in lines[3])
first = rows(top.lines())[0].split(":")[0]
top.type("\x1bOB")
top.until("scrolled by a line", lambda lines: is_table(lines) and
          rows(lines)[0].split(":")[0] != first)
top.type("q")
assert top.end() == 0, "q ends it"
print("ok: q ends it")

top = Terminal(24, 80, "schedtape", "top", "-d", "0.5")
top.until("a table", is_table)
top.type("\x03")
assert top.end() == -signal.SIGINT, "Ctrl-C ends it"
print("ok: Ctrl-C ends it")

top = Terminal(24, 80, "schedtape", "top", "-d", "0.5", "-n", "1")
assert top.end() == 0
assert any(line.startswith("TOTAL") for line in top.lines()), top.lines()
print("ok: the last interval stays")

top = Terminal(24, 80, "schedtape", "top", "-p", "4194303")
assert top.end() == 1
assert any("4194303" in line for line in top.lines()), top.lines()
print("ok: a message stays")

top = Terminal(24, 100, "schedtape", "top", "-d", "0.5", "web")
top.until("a recorder's tasks", lambda lines: lines[-1].endswith("w tape  h help") and
          {line.split(":")[0] for line in rows(lines)} == {"chain"})
top.type("w")
top.until("its last seconds on a tape", lambda lines: re.search(r"/fly\.20.*Z$", lines[-1]))
assert os.path.getsize(top.lines()[-1]) > 0
top.type("q")
assert top.end() == 0

top = Terminal(24, 80, "schedtape", "top", "-b", "-d", "0.2", "-n", "2")
assert top.end() == 0
assert not any("q quit" in line for line in top.lines()), top.lines()
print("ok: lines with -b")
EOP
/usr/bin/python3 -IS screen.py "$here/lib" > log 2>&1
report $? "a screen, and its keys"
sed 's/^/# /' log
# shellcheck disable=SC2046 # jobs -p prints a word for each
kill $(jobs -p)

# -- the end -------------------------------------------------------------------

sleep 1000 &
sleeper=$!
schedtape top -p $sleeper -d 0.2 > top.txt 2> log &
top=$!
eventually grep -q ' 0 tasks on 0.00 CPUs, 0 events' top.txt
report $? "tasks that sleep: intervals without events"
kill $sleeper
wait $top
report $? "it ends with the last of its tasks"
for signal in INT TERM; do
	env --default-signal=$signal schedtape top -d 0.2 > top.txt 2> log &
	top=$!
	eventually grep -q ' tasks on ' top.txt
	kill -$signal $top
	wait $top 2> /dev/null
	[ "$(kill -l $?)" = $signal ]
	report $? "SIG$signal ends it"
done
schedtape top --duration 0.5 -d 10 > top.txt 2> log &&
	[ "$(grep -c ' tasks on ' top.txt)" = 1 ]
report $? "--duration ends the last interval"
env --default-signal=PIPE schedtape top -d 0.2 2> log | head -n 1 > top.txt
[ "${PIPESTATUS[0]}" = 141 ] && [ ! -s log ]
report $? "it ends by SIGPIPE when nobody reads its output"
env --ignore-signal=PIPE schedtape top -d 0.2 2> log | head -n 1 > top.txt
[ "${PIPESTATUS[0]}" = 0 ] && [ ! -s log ]
report $? "where that is ignored, without an error"
expect 1 'cannot write to standard output: No space left' bash -c 'schedtape top -d 0.2 > /dev/full'
[ "$(schedtape list)" = "no sessions, no replays" ]
report $? "no session is left"

# -- wrong options, no rights --------------------------------------------------

expect 129 'not a number of seconds from 0.1 to 3600' schedtape top -d 0
expect 129 'not a number of intervals' schedtape top -n 0
expect 129 'cannot sort by .none.: one of task, cpu-share, cpu' schedtape top -s none
expect 1 'no such process' schedtape top -p 4194303
expect 1 'there is no CPU 4000 here' schedtape top -C 4000
expect 1 'may not record|sudo|CAP_PERFMON' nobody schedtape top -n 1

finish
