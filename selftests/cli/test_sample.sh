#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Description: sample ends intervals where a workload has counted so much, and leaves it as it was.

set -u
here=$(dirname "$(realpath "$0")")
. "${here%/cli}/lib/commands.sh"

find_cgroups || skip_all "no controller cpu for cgroups of version 2"
all=task-clock,page-faults,task-time
exact=${SCHEDTAPE_EXACT:-}
apart=${exact:+1000}

# sample DIR ARG...: samples into a new directory
sample()
{
	local dir=$1

	rm -rf "$dir"
	schedtape sample --no-checkpoint -q -o "$dir" "${@:2}"
}

# manifest DIR EXPRESSION TEXT: f: the first line, e: the others, n: interval numbers
manifest()
{
	/usr/bin/python3 -IS -c 'import json, sys
f, *e = [json.loads(line) for line in open(sys.argv[1])]
n = [x["interval"] for x in e]
assert eval("(" + sys.argv[2] + ")"), (sys.argv[2], f, e)' "$1/manifest" "$2" 2> log
	report $? "$3"
}

# exactly DIR EXPRESSION TEXT: the same, where the host's load does not matter
exactly()
{
	if [ -n "$exact" ]; then
		manifest "$@"
	else
		skip "$3: this guest does not count instructions"
	fi
}

# marks DIR TEXT: the marks on the tape are the ends of the manifest, but for what is lost when the
# counter is converted to ns
marks()
{
	schedtape script --json "$1/tape" 2> log | /usr/bin/python3 -IS -c 'import json, sys
marks = [(x["interval"], x["time_ns"]) for x in map(json.loads, sys.stdin) if "interval" in x]
_, *ends = [json.loads(line) for line in open(sys.argv[1])]
ends = [(x["interval"], x["end_ns"]) for x in ends]
assert [n for n, _ in marks] == [n for n, _ in ends], (marks, ends)
assert all(abs(a - b) < int(sys.argv[2]) for (_, a), (_, b) in zip(marks, ends)), (marks, ends)' \
		"$1/manifest" "${apart:-1000000}" 2>> log
	report $? "$2"
}

# nothing_left TEXT: no cgroup of a sample is there any more
nothing_left()
{
	find "$cg" -name 'schedtape-sample-*' > log
	[ ! -s log ]
	report $? "$1"
}

# cgroup_of PID: prints its path
cgroup_of()
{
	sed -n 's/^0:://p' "/proc/$1/cgroup"
}

# -- a command ------------------------------------------------------------------

sample s --event $all --interval 10ms -- sh -c 'hog 50; hog 70; exit 3' > out 2> log
[ $? = 3 ] && [ "$(grep -c cpu_ns out)" = 2 ]
report $? "a command is sampled, with its own exit status"
manifest s "n == list(range(1, len(n) + 1)) and len(n) >= 12 and
	e[-1]['count'] // f['interval'] == len(n)" "it has an interval for each 10 ms"
manifest s "all(x['count'] == x['interval'] * f['interval'] + x['skid'] for x in e)" \
	"each ends with its count"
exactly s "max(x['skid'] for x in e) < 1_000_000" "the skid is less than a tenth of an interval"
manifest s "[sum(x['counts']['task-clock'] for x in e[:i]) for i in n] == [x['count'] for x in e]" \
	"the counts of intervals add up"
exactly s "all(abs(x['counts']['task-time'] - x['counts']['task-clock']) < 1e6 for x in e)" \
	"the kernel accounts the same time"
exactly s "all(x['tasks'] and sum(t['cpu_time_ns'] for t in x['tasks']) <
	x['counts']['task-clock'] + 1e6 for x in e) and
	all(x['tasks'][-1]['name'] == 'hog' and x['tasks'][-1]['cpu_time_ns'] > 9e6
		for x in e[1:4])" \
	"the tasks are those that ran"
marks s "the tape has the same ends"
id=$(sed -n 's/.*"id":"\([0-9a-f]*\)".*/\1/p' s/manifest)
schedtape info --json s/tape > info.json 2> log && like info.json "d['meta']['sample'] == '$id'"
report $? "and the sample's number"
on_tape s/tape "c == {'sh', 'hog'}" "the tape has the command's tasks"
nothing_left "its cgroup is removed"
sample s --event task-time --interval 10ms --at 3,7-8 --max 7 -- hog 120 > out 2> log
report $? "CPU time is counted without perf events"
manifest s "n == [3, 7] and 'counts' not in e[0]" "only the chosen ends are noted, up to --max"
manifest s "f['max'] == 7 and f['at'] == [[3, 3], [7, 8]]" "and so is the choice"
exactly s "max(x['skid'] for x in e) < 1_000_000" "their skid is less than a tenth of an interval"
marks s "on the tape as well"
sample s --event context-switches,sched:sched_switch --interval 50 -- periodic 2 0 120 > out 2> log
report $? "switches are counted"
exactly s "n == [1, 2] and all(x['skid'] < 5 for x in e)" "each interval has fifty of them"
echo 'env; ls -l /proc/self/fd | wc -l' > show
sh show > without
sample s --event page-faults --interval 1000000 -- sh show > with 2> log
diff <(grep -v '^_=' without) <(grep -v '^_=' with) >> log
report $? "the command has no variables and files of the sampler"
grep -q "ended within the first interval" log && [ -s s/tape ]
report $? "it ends within the first interval: a warning, and a tape"
manifest s "not e" "and no intervals"
schedtape sample --no-checkpoint -q -o c --event task-clock --interval 10ms -- hog 1000000 2> log &
sampler=$!
eventually grep -qs '"interval":3,' c/manifest && interrupt $sampler
report $? "Ctrl-C ends it"
marks c "and what was recorded is kept"
nothing_left "without its cgroup"

# -- a process ------------------------------------------------------------------

hog 1000000 > /dev/null &
hog=$!
before=$(cgroup_of $hog)

# begin_sample DIR: samples $hog in the background, until two intervals have ended
begin_sample()
{
	rm -rf "$1"
	schedtape sample --no-checkpoint -o "$1" --event task-clock --interval 10ms -p $hog \
		2> said &
	sampler=$!
	eventually grep -qs '"interval":2,' "$1/manifest"
}

begin_sample p &&
	grep -q "1 process moved from .* to .*schedtape-sample-$sampler until the end" said &&
	[ "$(cgroup_of $hog)" = "${before%/}/schedtape-sample-$sampler" ]
report $? "a process is moved to a cgroup of its own"
expect 1 "is being sampled already" schedtape sample --no-checkpoint -q -o q --event task-clock \
	--interval 10ms -p $hog
[ ! -e q ] && interrupt $sampler && [ "$(cgroup_of $hog)" = "$before" ]
report $? "and goes back, and runs on"
on_tape p/tape "p == {$hog}" "it alone is on the tape"
begin_sample p && kill -KILL $sampler
wait $sampler 2> /dev/null
[ "$(cgroup_of $hog)" != "$before" ] && kill -0 $hog &&
	schedtape sample --recover p > log 2>&1 && [ "$(cgroup_of $hog)" = "$before" ]
report $? "after kill -9 it goes back with --recover"
nothing_left "and the cgroup is removed"
schedtape sample --recover p 2>&1 | grep -q "has left no process"
report $? "a second time there is nothing to do"
mkdir "$cg/alone" && echo $hog > "$cg/alone/cgroup.procs"
begin_sample p && ! grep -q moved said && [ "$(cgroup_of $hog)" = /alone ] && interrupt $sampler
report $? "its cgroup is used if it is alone there"
begin_sample p
kill $hog
wait $sampler && [ -d "$cg/alone" ] && rmdir "$cg/alone"
report $? "the sample ends with the process"

# -- errors ---------------------------------------------------------------------

# refuse STATUS PATTERN ARG...
refuse()
{
	expect "$1" "$2" schedtape sample --no-checkpoint "${@:3}"
	[ ! -e new ] || report 1 "nothing is left"
}

refuse 1 "not empty" -o p --event task-clock --interval 10ms -- true
refuse 1 "nosuch: No such file" -o new --event task-clock --interval 10ms -- nosuch
refuse 1 "no such process" -o new --event task-clock --interval 10ms -p 4194304
refuse 1 "No such file or directory" -o no/new --event task-clock --interval 10ms -- true
refuse 1 "no such tracepoint" -o new --event sched:nosuch --interval 10 -- true
refuse 129 "not an event" -o new --event nosuch --interval 10 -- true
refuse 129 "at least 100us" -o new --event task-clock --interval 10 -- true
refuse 129 "what is to be sampled" -o new --event task-clock --interval 10ms
refuse 129 "come after --max 3" -o new --event task-clock --interval 10ms --at 5 --max 3 -- true
refuse 1 "is its descendant" -o new --event task-clock --interval 10ms -p $$
expect 1 'no program "nosuch": install the package criu, or use --no-checkpoint' \
	schedtape sample --criu=nosuch -o new --event task-clock --interval 10ms -- true
: > manifest
expect 1 "first line is not that of a sample" schedtape sample --recover .
if [ "$(sed -n 's/.*hypervisor.*/yes/p; T; q' /proc/cpuinfo)" = yes ]; then
	refuse 1 "cannot count it .* it has task-time, task-clock, .*page-faults" \
		-o new --event instructions --interval 1000000 -- true
fi
mkdir -m 777 open
expect 1 "cgroup cannot be made there.*use sudo" \
	nobody schedtape sample --no-checkpoint -o open/new --event task-clock \
	--interval 10ms -- true
finish
