#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Description: perf's own scripts print of a tape what they print of perf's recording of the same
# tasks at the same time, and the tallies of scripts are those of perf stat.

set -u
here=$(dirname "$(realpath "$0")")
. "${here%/cli}/lib/commands.sh"

perf_scripts=
for place in /usr/lib*/perf-core /usr/lib*/*/perf-core /usr/share/perf-core; do
	[ ! -d "$place/scripts/python" ] || perf_scripts=$place/scripts
done
export PYTHONPATH=$build/python
if [ -z "$perf_scripts" ] || ! command -v perf > /dev/null; then
	skip_all "perf or its scripts are not installed"
fi
schedtape script -l > log 2>&1 || skip_all "the Python package schedtape is not built"

# -- one run, recorded and counted by three --------------------------------------

mkfifo gate

# perf has opened its events, of which each CPU needs one.
opened()
{
	[ "$(find "/proc/$1/fd" -lname '*perf_event*' 2> /dev/null | wc -l)" -ge 2 ]
}

# record_run NAME POINTS COMMAND...: records and counts it, in NAME.data, NAME.csv and NAME. It waits
# at the gate, so all three have seen nothing when it begins, and all of it when it ends. With
# all_tasks perf records the others as well, and a tape has its own events only.
record_run()
{
	local name=$1 points=$2 run recording counting recorder tasks others=(-e "$2")

	"${@:3}" < gate &
	run=$!
	tasks=(-p "$run")
	[ -z "${all_tasks-}" ] || tasks=(-a -- tail --pid="$run" -f /dev/null) others=()
	perf record -q -k CLOCK_MONOTONIC -e "$points" -o "$name.data" "${tasks[@]}" 2> log &
	recording=$!
	perf stat -x, -e "$points" -p $run 2> "$name.csv" &
	counting=$!
	schedtape record -q "${others[@]}" -p $run -o "$name" 2> said &
	recorder=$!
	eventually recording
	eventually opened $recording
	eventually opened $counting
	sleep 1
	echo > gate
	wait $recording $counting $recorder
	report $? "a run of $name is recorded by perf and by schedtape"
}

# shellcheck disable=SC2016 # the shell expands it
record_run calls raw_syscalls:sys_enter,raw_syscalls:sys_exit sh -c 'read x
	dd if=/dev/zero of=/dev/null bs=1 count=300 status=none
	cat /nonexistent 2> /dev/null
	for i in 1 2 3; do sleep 0.01; done'

# -- tallies ---------------------------------------------------------------------

cat > tally.pl << 'EOP'
sub raw_syscalls::sys_enter { $n{sys_enter}++ }
sub raw_syscalls::sys_exit { $n{sys_exit}++ }
sub trace_end { print "$n{$_} raw_syscalls:$_\n" for sort keys %n }
EOP
awk -F, '/raw_syscalls/ { print $1, $3 }' calls.csv | sort -k2 > counted
schedtape script -i calls -s event-counts 2> log |
	awk '!NF { exit } /raw_syscalls/ { gsub(",", ""); print $1, $2 }' | sort -k2 > python
schedtape script -i calls -s tally.pl > perl 2>> log
sed 's/^/# /' counted
for language in python perl; do
	[ "$(awk '$1 > 600' counted | wc -l)" = 2 ] && diff counted $language > log
	report $? "$language counts what perf stat counts"
done

# -- perf's scripts --------------------------------------------------------------

# perf's scripts take the names of system calls from a module that Debian does not have. It has the
# names that ours has, so that lines can be compared.
cat > audit.py << EOP
import runpy
syscall_name = runpy.run_path("$build/python/schedtape/perf/Util.py")["syscall_name"]
def audit_syscall_to_name(number, machine):
    return syscall_name(number)
def __getattr__(name):
    return 0
EOP

# Times differ by as long as the events of the other recorder take, a few us.
figures()
{
	sed -E "${1:-}" "$2" | sort
}

# like_perf NAME FILE RUN LINES [SED]: the script prints the same of both recordings, more than LINES
# of them, in any order, but for what a command of sed replaces. Both get the array "arguments".
arguments=()
like_perf()
{
	PYTHONPATH=. perf script -i "$3.data" -s "$2" -- "${arguments[@]}" > perf.out 2> log &&
		schedtape script -i "$3" -s "$2" -- "${arguments[@]}" > our.out 2> log &&
		[ "$(wc -l < our.out)" -gt "$4" ] &&
		diff <(figures "${5-}" perf.out) <(figures "${5-}" our.out) > log
	report $? "$1 prints the same"
}

# perf_has LANGUAGE: newer versions of perf are built without Perl
perf_has()
{
	perf version --build-options | grep -q " lib$1: \[ on"
}

# python_like_perf NAME [RUN LINES SED]: a script of perf's, or an own copy of it
python_like_perf()
{
	local file=$perf_scripts/python/$1.py

	[ ! -e "$1.py" ] || file=$1.py
	if ! perf_has python; then
		skip "$1.py: perf is built without Python"
	elif [ ! -e "$file" ]; then
		skip "$1.py: this perf does not have it"
	else
		like_perf "$1.py" "$file" "${2-calls}" "${3-5}" "${4-}"
	fi
}

for name in syscall-counts syscall-counts-by-pid failed-syscalls-by-pid; do
	python_like_perf $name
done
# This one prints for ever, by a thread: here it prints once, in the end.
sed -E 's/thread.start_new_thread.*/pass/; s/while 1:/for once in (1,):/; s/time.sleep.*/pass/
	$a def trace_end():\n\tprint_syscall_totals(0)' "$perf_scripts/python/sctop.py" > sctop.py
python_like_perf sctop
if perf_has perl; then
	like_perf failed-syscalls.pl "$perf_scripts/perl/failed-syscalls.pl" calls 5
else
	skip "failed-syscalls.pl: perf is built without Perl"
fi

# -- the network, futexes and interrupts -------------------------------------------

ip link set lo up
cat > net.py << 'EOP'
import ctypes, os, socket, threading, time

def serve(listener):
    with listener.accept()[0] as client:
        client.sendall(b"x" * 200000)

os.read(0, 1)
with socket.create_server(("127.0.0.1", 0)) as listener:
    threading.Thread(target=serve, args=(listener,)).start()
    with socket.create_connection(listener.getsockname()) as server:
        while server.recv(65536):
            pass
# Nobody receives these, so the kernel drops them.
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as nobody:
    for _ in range(3):
        nobody.sendto(b"x", ("127.0.0.1", 9))
        time.sleep(0.001)
# FUTEX_WAIT until a time is over.
lock, call = ctypes.c_int(7), ctypes.CDLL(None).syscall
for _ in range(5):
    call({"x86_64": 202}.get(os.uname().machine, 98), ctypes.byref(lock), 0, 7,
         (ctypes.c_long * 2)(0, 1000000), None, 0)
EOP
points=net:net_dev_xmit,net:net_dev_queue,net:netif_receive_skb,net:netif_rx,skb:consume_skb
points=$points,skb:kfree_skb,skb:skb_copy_datagram_iovec,napi:napi_poll,"irq:*"
points=$points,syscalls:sys_enter_futex,syscalls:sys_exit_futex
points=$points,sched:sched_switch,sched:sched_wakeup,sched:sched_migrate_task
points=$points,sched:sched_process_exit
record_run net "$points" /usr/bin/python3 -IS net.py
time='s/[0-9]+\.[0-9]+/N/g'
python_like_perf futex-contention net 1 's/[0-9]+ (avg )?ns/N ns/g'
# perf's versions of these do not run on kernels in which these tracepoints have got fields.
cat > fit.py << 'EOP'
import re, sys

def fit(found):
    with open(f"/sys/kernel/tracing/events/skb/{found[2]}/format") as file:
        fields = re.findall(r"\bfield:[^;]*?(\w+)(?:\[\w*\])?;", file.read())
    return found[1] + ", ".join(field for field in fields if not field.startswith("common_")) + ")"

handler = r"(def skb__(kfree_skb|consume_skb)\([^)]*\bcallchain,\s*)[^)]*\)"
print(re.sub(handler, fit, open(sys.argv[1]).read()))
EOP
for name in netdev-times net_dropmonitor; do
	/usr/bin/python3 -IS fit.py "$perf_scripts/python/$name.py" > $name.py
done
python_like_perf netdev-times net 2 "$time"
python_like_perf net_dropmonitor net 3
# A tape has more events of scheduling.
python_like_perf check-perf-trace net 5 "$time; /^(sched|task)__/d; /^ *$/d"
# A tape also has the switches to its tasks, which perf counts for the tasks before.
# shellcheck disable=SC2016 # the shell expands it
all_tasks=1 record_run tasks sched:sched_switch,sched:sched_wakeup sh -c 'read x
	for i in 1 2 3 4 5; do
		sleep 0.02 &
		dd if=/dev/zero bs=1M count=9 status=none | wc -c > /dev/null
	done
	wait'
arguments=(--limit-to-tasks "$(schedtape report --json tasks | /usr/bin/python3 -IS -c '
import json, sys
print(*(task["pid"] for task in json.load(sys.stdin)["tasks"]), sep=",")')")
# A task that is reaped before its last switch has no PID in perf. Each process has one thread here,
# so that its TID is its PID.
python_like_perf task-analyzer tasks 20 "$time; s/ +/ /g; s/ 4294967295 ([0-9]+)/ \1 \1/"
arguments=()
# The types of all arguments, and of what perf_sample_dict has. A tape has no addresses, so that the
# names of their objects and symbols are missing.
cat > arguments.py << 'EOP'
seen = set()

def note(where, values):
    for key, value in values.items():
        if isinstance(value, dict):
            note(f"{where}.{key}", value)
        elif key != "context" and not key.startswith(("dso", "sym")):
            seen.add(f"{where}.{key} {type(value).__name__}")

def sched__sched_switch(event_name, context, common_cpu, common_secs, common_nsecs, common_pid,
                        common_comm, common_callchain, prev_comm, prev_pid, prev_prio, prev_state,
                        next_comm, next_pid, next_prio, perf_sample_dict):
    note(event_name, dict(locals()))

def trace_unhandled(event_name, context, event_fields_dict, perf_sample_dict):
    if event_name == "sched__sched_wakeup":
        note(event_name, dict(locals()))

def trace_end():
    print(*sorted(seen), sep="\n")
EOP
if perf_has python; then
	perf script -i net.data -s arguments.py > perf.out 2> log &&
		schedtape script -i net -s arguments.py > our.out 2> log &&
		[ "$(wc -l < perf.out)" -gt 60 ] &&
		[ -z "$(LC_ALL=C comm -23 perf.out our.out)" ]
	report $? "functions get arguments of the types that perf gives"
	diff perf.out our.out | sed "s/^/# /"
else
	skip "types of arguments: perf is built without Python"
fi
finish
