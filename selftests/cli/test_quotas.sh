#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Description: a tape has the quotas of cgroups as they were during the recording, and what the
# kernel counted of them; info shows them, and why takes the one that held during a wait. A snapshot
# has those of its own time.

set -u
here=$(dirname "$(realpath "$0")")
. "${here%/cli}/lib/commands.sh"
. "${here%/cli}/lib/tapes.sh"

find_cgroups || skip_all "no controller cpu for cgroups of version 2"
mkdir "$cg/limited" "$cg/calm"
# No two CPUs can use that up.
echo "400000 100000" > "$cg/calm/cpu.max"

# quota CGROUP: prints the cgroup's line of info; fails if info prints no such line
quota()
{
	schedtape info "$tape" 2> log | grep -E "^quota +: .*/$1"
}

# shows CGROUP PATTERN TEXT: info has a line of the cgroup that matches
shows()
{
	quota "$1" > out && grep -qE ": .*/$1: $2\$" out
	report $? "$3"
}

set_limit()
{
	echo "$1 100000" > "$cg/limited/cpu.max"
}

# A task in each of the cgroups, a change, and a new cgroup.
cat > load << 'EOL'
sh -c 'echo $$ > $0/calm/cgroup.procs; exec sleep 2' "$1" &
sh -c 'echo $$ > $0/limited/cgroup.procs; exec hog 400' "$1" > /dev/null &
sleep 0.8
echo "40000 100000" > "$1/limited/cpu.max"
wait
mkdir "$1/new"
echo "50000 100000" > "$1/new/cpu.max"
EOL

# -- from the start to the end ------------------------------------------------------------

tape=changed.tape
set_limit 20000
schedtape record -q -a --kthreads -o $tape -- bash load "$cg" > out 2> log
report $? "records cgroups with quotas"
counts='; throttled in [0-9,]+ of [0-9,]+ periods, for [0-9.]+ s'
shows limited "20 % of a CPU, then 40 % of a CPU from [0-9.]+ on$counts" \
	"a quota that was changed, and how often it throttled"
shows calm "400 % of a CPU; never throttled" "one that never throttled"
shows new "(none, then )?50 % of a CPU( from [0-9.]+ on)?(; never throttled)?" \
	"that of a new cgroup"
schedtape info --json $tape > info.json 2> log && like info.json "(lambda q, start, stop:
	[c['quota_ns'] for c in q['limited']['changes']] == [20000000, 40000000] and
	start < q['limited']['changes'][1]['time_ns'] < stop and
	q['limited']['counts']['throttled_periods'] > 0 and
	q['limited']['counts']['throttled_ns'] > 0 and
	q['calm']['counts']['throttled_ns'] == 0 < q['calm']['counts']['periods'] and
	q['calm']['counts']['until_ns'] >= stop)(
		{q['cgroup'].split('/')[-1]: q for q in d['quotas']}, d['start_ns'], d['stop_ns'])"
report $? "the same as JSON"

# A wait in which the quota was changed may have either.
schedtape why --json --worst 1000 hog $tape > waits.json 2> log && like waits.json \
	"(lambda change, waits: {q for w in waits for q in w[2]} == {20000000, 40000000} and
	all(q == 20000000 for w in waits if w[1] < change for q in w[2]) and
	all(q == 40000000 for w in waits if w[0] > change for q in w[2]))(
		[q['changes'][1]['time_ns'] for q in json.load(open('info.json'))['quotas']
			if q['cgroup'].endswith('/limited')][0],
		[(w['begin_ns'], w['end_ns'], {l['quota_ns'] for l in w['links']
			if l['kind'] == 'throttled' and l['comm'] == 'hog'})
			for w in d['chains']])"
report $? "why takes the quota of the time of a wait"
schedtape why --summary --sleeps --json --comm sleep $tape > causes.json 2> log && like causes.json \
	"d['causes'] and not any(c['kind'] == 'throttled' and c['cause'].startswith('sleep ')
		for c in d['causes'])"
report $? "a cgroup that was never throttled is no cause"
rmdir "$cg/new"

# -- a pipe, threads, and recordings that end early -----------------------------------------

tape=piped.tape
set_limit 20000
schedtape record -q -a --kthreads -o - -- bash load "$cg" 2> log | tee $tape |
	schedtape why hog - > out 2>> log
grep -qE 'was throttled \(cpu.max [24]0 %\)$' out
report $? "why reads quotas from a pipe"
shows limited "20 % of a CPU, then 40 % of a CPU from [0-9.]+ on$counts" "the tape has all of them"
rmdir "$cg/new"

tape=threads.tape
set_limit 20000
schedtape record -q -a --threads=cpu -o $tape -- bash load "$cg" > out 2> log
shows limited "20 % of a CPU, then 40 % of a CPU from [0-9.]+ on$counts" "so has a directory"
schedtape pack -o packed.tape $tape 2> log
tape=packed.tape
shows limited "20 % of a CPU, then 40 % of a CPU from [0-9.]+ on$counts" "and a copy of it"
rmdir "$cg/new"

tape=torn.tape
set_limit 20000
schedtape record -q -a -o $tape > out 2> log &
recorder=$!
eventually recording
set_limit 30000
eventually quota 'limited: 20 % of a CPU, then 30 % of a CPU from [0-9.]+ on; never throttled' > out
report $? "another process changes a quota: the tape has it at once"
kill -KILL $recorder
wait $recorder 2> /dev/null
schedtape recover -o recovered.tape $tape 2> log
tape=recovered.tape
# Its last event may be earlier than the last look.
shows limited \
	'20 % of a CPU, then 30 % of a CPU from [0-9.]+ on; never throttled(, as of [0-9.]+)?' \
	"a recovered tape has what was there before its recorder was killed"

tape=stopped.tape
schedtape record -q -a -o $tape > out 2> log &
recorder=$!
eventually recording
set_limit max
eventually quota 'limited: .* none' > out
interrupt $recorder
shows limited "30 % of a CPU, then none from [0-9.]+ on; never throttled" "Ctrl-C ends the counting"

# -- a snapshot -----------------------------------------------------------------------------

set_limit 10000
chain 100000000 5 > /dev/null &
chain=$!
sh -c 'echo $$ > $0/limited/cgroup.procs; exec hog 600000' "$cg" > /dev/null &
hog=$!
schedtape record -q -a -o t -M 64K --switch-output --name flight 2> log &
recorder=$!
eventually recording
set_limit 20000
changed=$(date +%s%N)
# The rings have what came after the first change.
goes_on()
{
	schedtape list --json > list.json &&
		like list.json "any(0 < s['keeps_ns'] < $(date +%s%N) - $changed for s in d['sessions'])"
}
eventually goes_on
set_limit 40000
echo 300 > "$cg/limited/cpu.weight"
# The kernel counts a throttling when it ends.
sleep 0.5
schedtape snapshot --recorder flight > first 2> log
tape=$(cat first)
shows limited "20 % of a CPU, then 40 % of a CPU from [0-9.]+ on$counts" \
	"a snapshot has the quota from before its first event, and later ones"
schedtape info --json "$tape" > info.json 2> log && like info.json \
	"[d['start_ns'] < q['changes'][1]['time_ns'] < d['stop_ns']
		for q in d['quotas'] if q['cgroup'].endswith('/limited')] == [True]"
report $? "with the time of the change"
like info.json "[c['weight'] for c in d['meta']['cgroups'] if c['path'].endswith('/limited')] == [300]"
report $? "and the weight, which was changed after the recorder's start"
kill $hog $chain
wait $hog 2> /dev/null
mkdir "$cg/new"
echo "50000 100000" > "$cg/new/cpu.max"
# Long enough that its quota is read.
sh -c 'echo $$ > $0/new/cgroup.procs; exec sleep 0.5' "$cg"
rmdir "$cg/new"
interrupt $recorder
tape=$(tapes | cut -d ' ' -f 2)
shows new "(none, then )?50 % of a CPU( from [0-9.]+ on)?(; never throttled)?(, as of [0-9.]+)?" \
	"the tape at the end has that of a cgroup that has come and gone"
schedtape report --by cgroup "$tape" > out 2> log && grep -q '^/new ' out
report $? "and its path, for its tasks"

# A task of the recording is moved to a cgroup of others.
forget
mkdir "$cg/moved"
echo "50000 100000" > "$cg/moved/cpu.max"
hog 600000 > /dev/null &
hog=$!
schedtape record -q -p $hog -o t -M 64K --switch-output --name flight 2> log &
recorder=$!
eventually recording
echo $hog > "$cg/moved/cgroup.procs"
schedtape snapshot --recorder flight > first 2> log
tape=$(cat first)
shows moved "50 % of a CPU.*" "a snapshot has the quota of a cgroup that a task was moved to"
kill $hog
wait $hog 2> /dev/null
wait $recorder
rmdir "$cg/moved"
tape=$(tapes | cut -d ' ' -f 2)
schedtape report --by cgroup "$tape" > out 2> log && grep -q '^/moved ' out
report $? "and the path, also when the task has ended"
rmdir "$cg/limited" "$cg/calm"
finish
