#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Description: record -e takes other tracepoints of the same tasks, and script merges them by time.

set -u
here=$(dirname "$(realpath "$0")")
. "${here%/cli/record}/lib/commands.sh"

need_syscall_points

# Sleeps 50 times in a child and 10 times in a thread, and writes 7 and 8 bytes 5 times each.
cat > work.py << 'EOP'
import os, threading, time

def sleeps(n):
    for _ in range(n):
        time.sleep(0.001)

pid = os.fork()
if not pid:
    sleeps(50)
    os._exit(0)
thread = threading.Thread(target=sleeps, args=(10,))
thread.start()
thread.join()
null = os.open("/dev/null", os.O_WRONLY)
for _ in range(5):
    os.write(null, b"1234567")
    os.write(null, b"12345678")
os.waitpid(pid, 0)
EOP
nap=syscalls:sys_enter_clock_nanosleep
schedtape record -e $nap,syscalls:sys_exit_clock_nanosleep -e syscalls:sys_enter_write \
	--filter "count == 7" -o work.tape -- /usr/bin/python3 -IS work.py > log 2>&1 &&
	grep -q 'of other tracepoints 12[0-9], 0 lost' log
report $? "record takes two system calls of a command, what it forks, and a filter"

cat > check.py << 'EOP'
import json, sys

NAP, WRITE = "syscalls:sys_enter_clock_nanosleep", "syscalls:sys_enter_write"
events = [json.loads(line) for line in open(sys.argv[1])][1:]
times = [e["time_ns"] for e in events]
assert times == sorted(times)
naps = [e for e in events if e["event"] == NAP]
assert len(naps) == 60, len(naps)
writes = [e["fields"]["count"] for e in events if e["event"] == WRITE]
assert len(writes) >= 5 and set(writes) == {7}, writes

# Of each task: it enters the system call, and then it sleeps, until it leaves the call. On a busy
# machine the time may be over before it sleeps.
state = {}
slept = 0
missed = 0
for e in events:
    pid = e.get("curr_pid")
    if e["event"] == NAP:
        assert state.get(pid) != "in", e
        state[pid] = "in"
    elif e["event"] == "switch" and e.get("prev_state") == "S" and state.get(pid) == "in":
        state[pid] = "asleep"
        slept += 1
    elif e["event"] == "syscalls:sys_exit_clock_nanosleep":
        assert state.get(pid) in ("in", "asleep"), (state.get(pid), e)
        missed += state[pid] == "in"
        assert e["fields"]["ret"] == 0, e
        state[pid] = "out"
assert slept + missed == 60 and slept > 40, (slept, missed)
EOP
schedtape script --json work.tape > work.json 2> log &&
	/usr/bin/python3 -IS check.py work.json > log 2>&1
report $? "each system call begins before the sleep that it causes, and ends after it"

# Each tracepoint's name is "syscalls:...", "syscalls__..." and "syscalls::...".
cat > tally.py << 'EOP'
from collections import Counter
tally = Counter()
def trace_unhandled(event_name, context, fields):
    tally[event_name, fields.get("count")] += event_name.startswith("syscalls__")
def trace_end():
    for (name, count), number in tally.items():
        if number:
            print(name.replace("__", ":", 1), count, number)
EOP
cat > tally.pl << 'EOP'
sub trace_unhandled {
    my ($name) = @_;
    $tally{$name . ' ' . ($name =~ /write$/ ? $_[11] : 'None')}++ if $name =~ s/^syscalls::/syscalls:/;
}
sub trace_end { print "$_ $tally{$_}\n" for keys %tally }
EOP
/usr/bin/python3 -IS -c 'import collections, json, sys
events = [json.loads(line) for line in open(sys.argv[1])][1:]
for (name, count), number in collections.Counter(
        (e["event"], e["fields"].get("count")) for e in events if "fields" in e).items():
    print(name, count, number)' work.json | sort > expected
for script in tally.pl tally.py; do
	if [ $script = tally.py ] && ! PYTHONPATH=$build/python schedtape script -l > log 2>&1; then
		skip "a script in Python: the package schedtape is not built"
		continue
	fi
	PYTHONPATH=$build/python schedtape script -i work.tape -s $script 2> log | sort > tally
	[ "$(wc -l < expected)" -ge 3 ] && diff expected tally >> log 2>&1
	report $? "a script, $script, gets as many of them as script prints"
done

schedtape script -e $nap work.tape > text 2> log && [ "$(wc -l < text)" = 60 ] &&
	grep -q "python3-[0-9]* *\[00[0-9]\] *[0-9.]*: $nap: which_clock: 0x" text
report $? "script prints them as the kernel does, and -e selects them"
schedtape script -F perf work.tape > text 2> log &&
	grep -qE "^ *python3 +[0-9]+ \[00[0-9]\] +[0-9.]+: +$nap: which_clock: 0x" text
report $? "and as perf does"

# On a machine that has never seen these tracepoints.
schedtape script work.tape > before 2> log
unshare -m sh -c "umount -l $tracing; mount -t tmpfs none $tracing
	schedtape script work.tape" > after 2> log
cmp -s before after
report $? "no tracefs is needed to read them"
schedtape recover work.tape -o again.tape > log 2>&1 &&
	schedtape script again.tape > after 2> log && cmp -s before after
report $? "a copy of the tape has them, too"
schedtape script - < work.tape > after 2> log && cmp -s before after
report $? "they come from standard input that is a file"
# shellcheck disable=SC2002 # a pipe is tested
cat work.tape | schedtape script - > after 2> log &&
	grep -q 'a pipe: events of other tracepoints are left out' log &&
	[ "$(wc -l < after)" = $(($(wc -l < before) - $(grep -c syscalls: before))) ]
report $? "a pipe's are left out, with a warning"
schedtape report work.tape > log 2>&1 && schedtape replay -q work.tape > log 2>&1
report $? "report and replay take the tape"

# All CPUs: what interrupts do while they are idle, but nothing of the recorder.
schedtape record -q -a -e 'irq:*' -e 'syscalls:sys_enter_p*' -o all.tape -- sleep 0.5 > log 2>&1 &&
	schedtape script --json -e 'irq:*,syscalls:*' all.tape > all.json 2> log &&
	/usr/bin/python3 -IS -c 'import json, sys
events = [json.loads(line) for line in open(sys.argv[1])][1:]
kinds = {e["event"].split(":")[0] for e in events}
assert kinds == {"irq", "syscalls"}, kinds
assert any(e["curr_kind"] == "idle" for e in events)
assert not any(e.get("curr_comm") == "schedtape" and e["event"] == "syscalls:sys_enter_poll"
               for e in events)' all.json > log 2>&1
report $? "-a takes all CPUs, without what the recorder does"

# The other events are switched on just after the session.
recording_events()
{
	eventually recording && sleep 0.2
}

mkfifo gate
/usr/bin/python3 -IS -c 'import time
open("gate").read()
for _ in range(20):
    time.sleep(0.01)' &
pid=$!
schedtape record -q -p $pid -e $nap -o pid.tape > log 2>&1 &
recorder=$!
recording_events
echo > gate
wait $recorder && [ "$(schedtape script -e $nap pid.tape 2> log | wc -l)" = 20 ]
report $? "-p takes a process that runs already"
if find_cgroups; then
	mkdir "$cg/stape-events" && trap 'rmdir "$cg/stape-events"; rm -rf "$dir"' EXIT
	schedtape record -q -G "$cg/stape-events" -e $nap -o cgroup.tape -- sh -c \
		"echo \$\$ > $cg/stape-events/cgroup.procs; exec sleep 0.1" > log 2>&1 &&
		[ "$(schedtape script -e $nap cgroup.tape 2> log | grep -c sleep-)" = 1 ]
	report $? "-G takes the tasks of a cgroup"
else
	skip "-G takes the tasks of a cgroup: there is no cgroup v2"
fi

# The recorder is stopped while more happens than a ring holds.
# shellcheck disable=SC2016 # the shell that is recorded expands it
schedtape record -q -e 'syscalls:*' -o lost.tape -- sh -c 'kill -STOP $PPID
	dd if=/dev/zero of=/dev/null bs=1 count=6000 status=none; kill -CONT $PPID; sleep 0.1
	for i in 1 2 3 4; do taskset -c 0 true; taskset -c 1 true; done' > log 2>&1
grep -q 'events of other tracepoints were lost' log
lost=$(schedtape script -F trace,event lost.tape 2> log |
	awk '/^ *lost: events of other/ { n += $NF } END { print n + 0 }')
[ "$lost" -gt 5000 ]
report $? "losses are counted, and printed where they happened ($lost)"

# The same, but no sample follows: it goes on when the command has ended.
# shellcheck disable=SC2016 # the shell that is recorded expands it
schedtape record -q -e 'syscalls:*' -o tail.tape -- sh -c 'kill -STOP $PPID
	exec dd if=/dev/zero of=/dev/null bs=1 count=6000 status=none' > log 2>&1 &
recorder=$!
command_ended()
{
	pgrep -r Z -P $recorder > found
}
eventually command_ended
kill -CONT $recorder
wait $recorder
schedtape script --json tail.tape 2> log | tail -n 4 | grep -c '"event":"samples_lost"' > count
lost=$(schedtape info --json tail.tape | sed -n 's/.*"samples_lost": \([0-9]*\),/\1/p')
[ "$(cat count)" -ge 1 ] && [ "${lost:-0}" -gt 5000 ]
report $? "losses at the end are counted, too ($lost)"

# The description of kmalloc is longer than a page, and the names of gfp_flags are at its end.
schedtape record -q -a -e kmem:kmalloc -o kmem.tape -- ls > out 2> log &&
	schedtape script -e kmem:kmalloc kmem.tape 2>> log | grep -q 'gfp_flags=GFP_KERNEL'
report $? "the whole description of a tracepoint is on the tape"

# A thread of a process, and a process of a cgroup, are recorded once.
schedtape record -q -e $nap -p $$ -t $$ -o twice.tape 2> log &
recorder=$!
recording_events
/usr/bin/python3 -IS -c 'import time; [time.sleep(0.001) for i in range(3)]'
interrupt $recorder
[ "$(schedtape script -e $nap twice.tape 2>> log | grep -c python3-)" = 3 ]
report $? "who is named twice has each event once"

expect 1 "-e nosuch:thing: the kernel has no such tracepoint" \
	schedtape record -e nosuch:thing -o bad.tape -- touch ran
expect 1 "-e ftrace:function: perf events cannot record it: Invalid argument" \
	schedtape record -e ftrace:function -o bad.tape -- touch ran
schedtape record -e 'ftrace:functio*,irq:irq_handler_*' -o left.tape -- true 2> log &&
	grep -q 'warning: -e ftrace:function: perf events cannot record it: left out' log
report $? "what only matches a pattern is left out then"
expect 1 "the kernel refuses it for syscalls:sys_enter_write: Field not found; its fields are in" \
	schedtape record -e syscalls:sys_enter_write --filter 'nofield == 1' -o bad.tape -- touch ran
[ ! -e ran ] && [ ! -e bad.tape ] && ! ls -d $tracing/instances/schedtape-* > /dev/null 2>&1
report $? "nothing is recorded then"
expect 129 "-e irq: not tracepoints" schedtape record -e irq -- true
expect 129 "--filter is for the -e before it" schedtape record --filter 'a == 1' -- true
expect 129 "-e: not with --overwrite, -M or --switch-output" \
	schedtape record -M 1M -e 'irq:*' -- true
expect 129 "-e: not with -o -" schedtape record -o - -e 'irq:*' -- true
expect 129 "-e: not with -k tsc" schedtape record -k tsc -e 'irq:*' -- true

schedtape record -q -o plain.tape -- true > log 2>&1
schedtape info --json plain.tape | grep -q '"counter": true'
slower=$?
schedtape record -e $nap -o plain.tape -- true > log 2>&1
grep -q 'the clock is mono, with which an event of scheduling costs' log
[ $? = $slower ]
report $? "a line says so if the clock of -e costs more than the usual one"

# A user who may record, but not read tracefs, until the message's mount is done.
user()
{
	setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
}
mkdir -m 777 theirs
mode=$(stat -c %a /dev/schedtape)
chmod 666 /dev/schedtape
caps=(--inh-caps +perfmon --ambient-caps +perfmon)
expect 1 "/sys/kernel/tracing/events: only root may read it: .* CAP_DAC_READ_SEARCH, or first: " \
	user "${caps[@]}" schedtape record -e 'irq:*' -o theirs/tape -- true
mount=$(sed -nE 's/.*: sudo (mount.*)/\1/; s/\$\(id -g\)/65534/p' log)
options=$(stat -c mode=%a,gid=%g $tracing)
paranoid=/proc/sys/kernel/perf_event_paranoid
level=$(cat $paranoid)
$mount 2> log
# Debian's kernels take 3, which is their default, for one more restriction.
[ "$level" -le 2 ] || expect 1 "$paranoid is $level: use sudo, give the recorder CAP_SYS_ADMIN, or" \
	user "${caps[@]}" schedtape record -e 'irq:*' -o theirs/tape -- true
echo 2 > $paranoid
user "${caps[@]}" schedtape record -q -e 'irq:*' -o theirs/tape -- true > log 2>&1
report $? "$mount helps, with perf_event_paranoid=2"
echo "$level" > $paranoid
mount -o "remount,$options" $tracing
chmod "$mode" /dev/schedtape
finish
