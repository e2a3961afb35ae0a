#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Description: snapshots of a recorder that overwrites its rings: each has the events of its time,
# with the names of their tasks, also of those that started long before or have ended since; and the
# recording goes on.

set -u
here=$(dirname "$(realpath "$0")")
. "${here%/cli/record}/lib/commands.sh"
. "${here%/cli/record}/lib/tapes.sh"

# -- what is on it -----------------------------------------------------------------

# PIDs are used again and again, by tasks with other names.
last=$(cut -d ' ' -f 5 /proc/loadavg)
limit_pids $((last + 400))
start_names 0.004 0.004
# Another recorder, which runs all the time, has the same events on one tape.
schedtape record -q -k mono -p $chain,$names -o whole 2> log &
beside=$!
eventually recording
schedtape record -k mono -p $chain,$names -o t -M 32K --switch-output 2> said &
recorder=$!
# The rings have been filled several times.
overwritten()
{
	schedtape list --json > list.json &&
		like list.json 'any(s["overwritten"] > 5000 for s in d["sessions"])'
}
eventually overwritten
for n in 1 2 3 4; do
	sleep "0.$((RANDOM % 90 + 10))"
	kill "-USR$((n % 2 + 1))" $recorder
	eventually count $n
done
[ ! -e t ]
report $? "SIGUSR1 and SIGUSR2 take snapshots, and there is no other tape"
sleep 1
interrupt $recorder
report $? "SIGINT takes the last one"
interrupt $beside
kill $names
count 5 && [ "$(find . -name 't*' | wc -l)" = 5 ]
report $? "there are five"
[ "$(grep -cE '^\[ schedtape record: wrote .* to t\.20.*, 0 lost, .* overwritten \]$' said)" = 5 ]
report $? "with a line of each"
[ "$(stat -c %a t.20* | sort -u)" = 600 ]
report $? "which only their owner may read"
cat > compare.py << 'EOP'
import sys
sys.path.append(sys.argv[1])
from same_events import events_of, json_of, names_of_same

whole = events_of("whole")
tasks = {task["comm"] for task in json_of("report", "--json", "whole")["tasks"]}
print(len(tasks), "names on the whole tape")
assert len(tasks) > 100, tasks
for number, tape in enumerate(sys.argv[2:], 1):
    info = json_of("info", "--json", tape)
    overwritten = sum(cpu.get("overwritten", 0) for cpu in info["cpus"])
    assert not info["lost"] and overwritten and info["meta"]["part"] == number, info
    assert info["ended_by"] == ("signal" if number < 5 else None), info
    names = names_of_same(tape, whole)
    print(f"{len(names)} names, {overwritten} events overwritten")
    assert "chain" in names and len(names) > 3, names
EOP
# shellcheck disable=SC2046 # each name is a word
/usr/bin/python3 -IS compare.py "$here/lib" $(tapes) > log 2>&1
report $? "each has the events from its first to its last one, and the names of their tasks"
sed 's/^/# /' log
echo "$used" > /proc/sys/kernel/pid_max

# -- memory ------------------------------------------------------------------------

# A storm of forks: the recorder forgets tasks which have ended before the events in its rings.
forget
forks 1000000000 > /dev/null 2>&1 &
storm=$!
schedtape record -q -p $chain,$storm -o t -M 64K --switch-output=1s --switch-max-files 2 2> log &
recorder=$!
rss() { sed -n 's/^VmRSS:[^0-9]*\([0-9]*\) kB/\1/p' /proc/$recorder/status; }
eventually count 1
before=$(rss)
sleep 5
after=$(rss)
kill $storm
interrupt $recorder
report $? "a storm of forks"
[ "$after" -lt $((before + 1024)) ]
report $? "takes no more memory when it goes on: $before kB, then $after kB"
count 2
report $? "--switch-max-files keeps the last snapshots"

# -- orders ------------------------------------------------------------------------

forget
schedtape record -p $chain -o t -M 64K --name flight 2> said &
recorder=$!
eventually schedtape snapshot --recorder flight > first 2> log
report $? "schedtape snapshot takes one of a recorder with -M"
kill -USR1 $recorder
eventually count 2
report $? "and so does SIGUSR1"
interrupt $recorder
report $? "SIGINT ends the recording"
count 2 && [ "$(cat first)" = "$PWD/$(tapes | cut -d ' ' -f 1)" ] &&
	schedtape info t > out 2> log && grep -q '^end *: complete$' out
report $? "whose own tape has its own name"
schedtape info "$(cat first)" > out 2> log && grep -q '^end *: complete, by order$' out
report $? "a snapshot says what it was taken for"
forget
mkfifo pipe
cat pipe > t.pipe &
reader=$!
schedtape record -q -p $chain --overwrite -m 64K -o - 2> log > pipe &
recorder=$!
eventually recording
kill -USR1 $recorder
sleep 1
interrupt $recorder && wait $reader && [ "$(find . -name '*20*Z')" = "" ]
report $? "with -o - a signal takes no snapshot"
# shellcheck disable=SC2002 # a pipe is what is tested
cat t.pipe | schedtape report --json - > out.json 2> log &&
	like out.json '{task["comm"] for task in d["tasks"]} == {"chain"}'
report $? "and the tape at the end can be read from a pipe"

forget
schedtape record --json -p $chain -o t -M 64K --no-final > out.json 2> log &
recorder=$!
eventually recording
kill -USR1 $recorder
eventually count 1
interrupt $recorder
report $? "--no-final: the recording ends"
[ ! -e t ] && count 1 && like out.json 'd["tape"] == d["tapes"][0] and d["events"] > 0'
report $? "and leaves the snapshot only"
expect 129 'not with -o -' schedtape record -p $chain -M 64K -o -
expect 129 'is for --overwrite and -M' schedtape record -p $chain --no-final
expect 129 'not with --threads' schedtape record -p $chain --overwrite --threads --no-final
expect 129 'not with -o pipe' schedtape record -p $chain --overwrite --no-final -o pipe
expect 129 '-M takes snapshots: not with --threads' schedtape record -p $chain -M 64K --threads

# -- pauses ------------------------------------------------------------------------

schedtape record -q -p $chain -o t -M 64K --name flight 2> log &
recorder=$!
eventually schedtape pause flight > /dev/null 2> log
schedtape snapshot --recorder flight > out 2> log && schedtape snapshot --recorder flight >> out 2> log
report $? "snapshots while the recording pauses"
schedtape resume flight 2> log && sleep 1 && schedtape stop flight > /dev/null 2> log
report $? "after which it goes on"
wait $recorder
for tape in $(tapes) t; do
	schedtape report "$tape" > out 2> log || break
done
[ "$tape" = t ] && grep -q '^chain' out
report $? "and each can be read"

# -- trouble -----------------------------------------------------------------------

expect 1 'none/t: No such file' schedtape record -p $chain -M 64K -o none/t
forget
mkdir small && mount -t tmpfs -o size=256K none small
schedtape record -p $chain -o small/t -M 64K --switch-output --name flight 2> said &
recorder=$!
eventually schedtape snapshot --recorder flight > log 2>&1
dd if=/dev/zero of=small/rest bs=1K 2> /dev/null
schedtape snapshot --recorder flight > out 2>&1
[ $? = 1 ] && grep -q 'could not be written' out &&
	grep -q '^schedtape record: no snapshot: .*No space left' said
report $? "a full disk loses the snapshot in hand, and says so"
rm small/rest
schedtape snapshot --recorder flight > out 2> log
report $? "the next one has room"
mv small/t.20* . && umount small && rmdir small
schedtape snapshot --recorder flight > out 2>&1
[ $? = 1 ] && grep -q 'no snapshot: small/t: No such file' said
report $? "a folder that is gone"
mkdir small
schedtape snapshot --recorder flight > out 2> log && schedtape info "$(cat out)" > info.txt 2> log
report $? "and that is back"
kill -KILL $recorder
wait $recorder 2> /dev/null
[ "$(echo small/*)" = "$(cd small && printf 'small/%s' t.20*Z)" ]
report $? "a recorder that is killed leaves complete snapshots only"
forget
schedtape record -q -p $chain -o t -M 256K -z22 --no-final 2> log &
recorder=$!
eventually overwritten
# The file has no name yet. The recorder writes it with the lowest nice value. On another CPU it may be
# done before that is seen: then there is another snapshot.
# shellcheck disable=SC2016 # the inner shell expands it
chrt -f 50 bash -c 'for ((i = 0; i < 1000; i++)); do
		[ $((i % 50)) != 0 ] || kill -USR1 "$0"
		readlink "/proc/$0/fd/"* | grep -q "/#[0-9]* (deleted)$" && kill -KILL "$0" && break
	done' $recorder
report $? "a recorder is killed during a snapshot"
kill -KILL $recorder 2> /dev/null
wait $recorder 2> /dev/null
whole=0
for tape in $(tapes); do
	schedtape info "$tape" 2> log | grep -q '^end *: complete, by signal$' || whole=1
done
report $whole "what it leaves of that is a whole one, or nothing: $(tapes)"
kill -KILL $chain
finish
