#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Description: a recording of one command tells what its CPUs did meanwhile: how long they were idle,
# and how long they ran tasks that are not recorded. It agrees with a recording of all tasks, and
# with the kernel's own counts.

set -u
here=$(dirname "$(realpath "$0")")
. "${here%/cli/*}/lib/commands.sh"

# A share of the time: of CPUs that share a host's, one may stop between two clock readings.
# And how often the one cause has to be as long as all others: a CPU that the host stops looks idle.
part=0.01 times=0
[ -z "${SCHEDTAPE_EXACT-}" ] || part=0.001 times=9

# The CPUs of two tapes did the same in the time of the first one
cat > same.py << 'EOP'
import json, subprocess, sys

def ask(*args):
	return json.loads(subprocess.run(["schedtape", *args], check=True, capture_output=True).stdout)

one, everything, part = sys.argv[1], sys.argv[2], float(sys.argv[3])
info = ask("info", "--json", one)
first, last = info["start_ns"], info["stop_ns"]
between = "--time=%d.%09d,%d.%09d" % (*divmod(first, 10 ** 9), *divmod(last, 10 ** 9))
rows = [{c["cpu"]: c for c in ask("timehist", "-I", "--json", *options)["idle"]}
	for options in ([one], [between, everything])]
assert rows[0].keys() == rows[1].keys(), rows
for cpu, row in rows[0].items():
	other = rows[1][cpu]
	others = other["tasks_ns"] + other["others_ns"] - row["tasks_ns"]
	print(f"CPU {cpu}: idle {row['idle_ns']} {other['idle_ns']}, others {row['others_ns']} {others}, "
	      f"unknown {row['unknown_ns']} {other['unknown_ns']} of {last - first}")
	limit = part * (last - first)
	assert row["unknown_ns"] <= limit and other["unknown_ns"] <= limit
	assert abs(row["idle_ns"] - other["idle_ns"]) <= limit
	assert abs(row["others_ns"] - others) <= limit
	assert row["tasks_ns"] + row["others_ns"] + row["idle_ns"] + row["unknown_ns"] == last - first
EOP

# Of another task that is never recorded: 4 of 10 ms on CPU 0, before all other tasks.
periodic 10 4 100000000 > /dev/null &
neighbour=$!
taskset -pc 0 $neighbour > log && chrt -f -p 50 $neighbour 2> log
report $? "a task with priority is on CPU 0"

schedtape record -q -a --kthreads -o everything.tape > out 2> everything.log &
recorder=$!
eventually recording
# On its way it sleeps and runs, on each CPU.
schedtape record -q -o one.tape -- sh -c 'taskset -c 0 periodic 7 1 100 && periodic 5 1 50' > out 2> log
report $? "a command is recorded while another session records all"
kill -INT $recorder
wait $recorder
/usr/bin/python3 -IS same.py one.tape everything.tape $part > log 2>&1
report $? "both agree on what each CPU did"
[ -z "${VERBOSE-}" ] || sed 's/^/# /' log

schedtape why --summary --json --comm periodic one.tape > causes.json 2> log && like causes.json \
	"(lambda ns: print(ns, file=sys.stderr) or ns('other') > $times * (ns('idle') + ns('ready')) and
		ns('other') > 100e6)(lambda kind: sum(c['time_ns'] for c in d['causes']
			if c['kind'] == kind))"
report $? "why blames the other task for the waits, and not idle CPUs"
kill $neighbour

cat > stat.py << 'EOP'
import os, time

def look():
	# A recorded task on each CPU, so that the tape tells what that did until now.
	for cpu in cpus:
		os.sched_setaffinity(0, {cpu})
	now = time.clock_gettime(time.CLOCK_MONOTONIC)
	with open("/proc/stat") as stat:
		return now, {line.split()[0]: sum(map(int, line.split()[4:6])) for line in stat
			if line.startswith("cpu") and line[3].isdigit()}

cpus = os.sched_getaffinity(0)
# The first one loads what the others have then.
look()
begin, before = look()
while time.clock_gettime(time.CLOCK_MONOTONIC) < begin + 5:
	time.sleep(.2)
end, after = look()
print(begin, end, *("%s=%d" % (cpu[3:], after[cpu] - before[cpu]) for cpu in after))
EOP
cat > counted.py << 'EOP'
import json, sys
begin, end, *cpus = open(sys.argv[1]).read().split()
rows = {str(c["cpu"]): c for c in json.load(open(sys.argv[2]))["idle"]}
for cpu, ticks in (c.split("=") for c in cpus):
	print(f"CPU {cpu}: {rows[cpu]}, the kernel counts {ticks} ticks of 10 ms")
	assert abs(rows[cpu]["idle_ns"] - int(ticks) * 1e7) <= .01 * 1e9 * (float(end) - float(begin))
EOP
# With counted instructions 7.3 counts more idle ticks than there were ticks.
if [ -z "${SCHEDTAPE_EXACT-}" ]; then
	schedtape record -q -o stat.tape -- /usr/bin/python3 -IS stat.py > counts 2> log &&
		read -r begin end _ < counts &&
		schedtape timehist -I --json --time="$begin,$end" stat.tape > idle.json 2> log &&
		/usr/bin/python3 -IS counted.py counts idle.json > log 2>&1
	report $? "and so does the kernel"
	[ -z "${VERBOSE-}" ] || sed 's/^/# /' log
fi

# The other task runs on an idle CPU 1, becomes a recorded one meanwhile, and wakes one at once.
cat > enter.py << 'EOP'
import mmap, os, sys, time

ROUNDS, SPINS = 5, 0.3

def on_cpu1(work):
	pid = os.fork()
	if not pid:
		os.sched_setaffinity(0, {1})
		work()
		os._exit(0)
	return pid

def move(pid, cgroup):
	with open(cgroup + "/cgroup.procs", "w") as procs:
		procs.write(str(pid))

def answer():
	while os.read(call[0], 1) != b"e":
		pass

def spin():
	while os.read(begin[0], 1) != b"e":
		while not flag[0]:
			pass
		os.write(call[1], b"x")

root, recorded = sys.argv[1:]
flag, call, begin = mmap.mmap(-1, 1), os.pipe(), os.pipe()
move(on_cpu1(answer), recorded)
other = on_cpu1(spin)
for _ in range(ROUNDS):
	os.write(call[1], b"x")
	time.sleep(0.05)
	os.write(begin[1], b"x")
	time.sleep(SPINS)
	move(other, recorded)
	flag[0] = 1
	time.sleep(0.05)
	flag[0] = 0
	move(other, root)
os.write(call[1], b"e")
os.write(begin[1], b"e")
os.wait()
os.wait()
EOP
cg=$(cgroup_mount)
if [ "$(nproc)" -gt 1 ] && [ -n "$cg" ] && mkdir -p "$cg/st" 2> log; then
	trap 'rm -rf "$dir"; rmdir "$cg/st"' EXIT
	schedtape record -q -o enter.tape -G st -- /usr/bin/python3 -IS enter.py "$cg" "$cg/st" 2> log
	schedtape timehist -I --json enter.tape > idle.json 2>> log && like idle.json \
		'[c for c in d["idle"] if c["cpu"] == 1 and c["tasks_ns"] + c["others_ns"] > 1e9]'
	report $? "a CPU is not idle while it runs a task that becomes a recorded one"
	[ -z "${VERBOSE-}" ] || sed 's/^/# /' idle.json
else
	skip "needs two CPUs and cgroups of version 2"
fi

finish
