#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Description: with record --syscalls, reports name the system calls that tasks sleep in.

set -u
here=$(dirname "$(realpath "$0")")
. "${here%/cli}/lib/commands.sh"

# Sleeps in known calls. Each sleep is long, so that no emulator's timer is over before it begins.
cat > work.py << 'EOP'
import ctypes, mmap, select, signal, threading, time

LENGTH = 0.02

def nap():
    for _ in range(10):
        time.sleep(LENGTH)

def poll():
    epoll = select.epoll()
    for _ in range(5):
        epoll.poll(LENGTH)

def lock():
    held = threading.Lock()
    held.acquire()
    for _ in range(5):
        held.acquire(timeout=LENGTH)

def wait():
    signal.sigtimedwait([signal.SIGUSR1], LENGTH)

nap(); poll(); lock(); wait()
EOP
schedtape record -q --syscalls -o with.tape -- /usr/bin/python3 -IS work.py > log 2>&1
report $? "record --syscalls"
schedtape record -q -o without.tape -- /usr/bin/python3 -IS work.py > log 2>&1
report $? "record without"

# A sleep may be missing if the machine stood still in between.
cat > check.py << 'EOP'
import json, sys

EXPECTED = {"clock_nanosleep": 10, "epoll_wait": 5, "futex": 5, "rt_sigtimedwait": 1}

with open(sys.argv[1]) as file:
    lines = json.load(file)["syscalls"]
lines = [line for line in lines if line["name"].startswith("python3")]
found = {line["syscall"]: line for line in lines}
print({name: line["sleeps"] for name, line in found.items()})
for name, n in EXPECTED.items():
    line = found.get(name) or found[name.replace("epoll_wait", "epoll_pwait")]
    assert n / 2 <= line["sleeps"] <= n + 2, (name, line)
    assert 0 < line["sleep_median_ns"] <= line["sleep_max_ns"] <= line["sleep_total_ns"]
    assert line["sleep_max_ns"] > 10_000_000, line
for key, shared in (("sleeps", "sleeps_share"), ("sleep_total_ns", "sleep_share")):
    total = sum(line[key] for line in lines)
    for line in lines:
        assert abs(line[shared] - line[key] / total) < 0.001, line
EOP
schedtape report --json with.tape > with.json 2> log &&
	/usr/bin/python3 -IS check.py with.json > log 2>&1
report $? "report: sleeps, their time, and their shares"

# has PATTERN COMMAND...: COMMAND succeeds and prints a line that matches
has()
{
	"${@:2}" > out 2> log && grep -qE -e "$1" out
	report $? "${*:2}: $1"
}

has '^python3:[0-9]+ +clock_nanosleep +[0-9]' schedtape report --syscalls with.tape
has '^python3:\(?[0-9]+\)? +clock_nanosleep' schedtape report --syscalls --by comm with.tape
has '^CPU [0-9]+ +clock_nanosleep' schedtape report --syscalls --by cpu with.tape
has 'python3:[0-9]+ \[S\] ==> .* in clock_nanosleep$' schedtape script with.tape
has '"syscall":"futex","syscall_number":[0-9]+' schedtape script --json with.tape
has ' S  in clock_nanosleep' schedtape timehist --state --syscalls with.tape
has '"state":"S","syscall":"futex"' schedtape timehist --json with.tape
has 'python3:[0-9]+ did not run for .* in [a-z_0-9]+, and then' \
	schedtape why python3 --sleeps with.tape
has 'python3:[0-9]+ slept in [a-z_0-9]+ until an interrupt' schedtape why python3 --sleeps with.tape

schedtape script -F perf with.tape > out 2> log && ! grep -q nanosleep out
report $? "script -F perf: perf's own text"

# Each sleep of a task of user space is in a call, or in none.
schedtape script -e switch --comm python3 with.tape > out 2> log &&
	! grep -E 'python3:[0-9]+ \[[SD]\]' out | grep -vE ' in [a-z_0-9]+( system call)?$' > log
report $? "every sleep says what it is in"

schedtape report --syscalls without.tape > out 2> log &&
	grep -q 'without.tape: has no system calls: .*record --syscalls' log &&
	grep -q '^python3' out
report $? "report of a tape without them says so, and shows the rest"
schedtape timehist --syscalls without.tape > out 2> log &&
	grep -q 'without.tape: has no system calls' log && grep -q python3 out
report $? "so does timehist"
schedtape report --json without.tape > without.json 2> log && like without.json '"syscalls" not in d'
report $? "JSON of a tape without them"

finish
