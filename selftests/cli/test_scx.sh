#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Description: schedulers of sched_ext and the policy SCHED_EXT are on the tape, and in info,
# report and diff; recordings and replays survive schedulers that start, stop and fail.
#
# The schedulers are built by scx/build.

set -u
here=$(dirname "$(realpath "$0")")
. "${here%/cli}/lib/commands.sh"

sysfs=/sys/kernel/sched_ext
debug=/sys/kernel/debug/sched

# -- the settings, on each kernel ------------------------------------------------------

mountpoint -q /sys/kernel/debug || mount -t debugfs none /sys/kernel/debug
schedtape record -q -o plain.tape -- sleep 0.1 > log 2>&1 &&
	schedtape info --json plain.tape > info.json 2> log &&
	like info.json "d['meta']['sched_settings']['files']['base_slice_ns' if \
		'base_slice_ns' in d['meta']['sched_settings']['files'] else 'min_granularity_ns']" &&
	like info.json "'debug' not in d['meta']['sched_settings']['files']"
report $? "the scheduler's settings are on the tape, and the dump of all tasks is not"
slice=$(cat $debug/migration_cost_ns)
echo $((slice + 1000)) > $debug/migration_cost_ns
schedtape record -q -o other.tape -- sleep 0.1 > log 2>&1 &&
	schedtape diff plain.tape other.tape > log 2>&1 &&
	grep -qx "# setting migration_cost_ns differs: A: $slice, B: $((slice + 1000))" log &&
	[ "$(grep -c '^# settings\{0,1\} ' log)" = 1 ]
report $? "diff names the one that differs"
echo "$slice" > $debug/migration_cost_ns
unshare -m sh -c 'umount /sys/kernel/debug && schedtape record -q -o none.tape -- sleep 0.1' > log 2>&1 &&
	schedtape info none.tape > log 2>&1 &&
	grep -q '^sched settings .*: not readable: No such file or directory$' log
report $? "without debugfs the reason is there"

# -- the policy SCHED_EXT --------------------------------------------------------------

# policies TAPE: prints the policies of its tasks, each once
policies()
{
	schedtape report --json "$1" 2> log | /usr/bin/python3 -c 'import json, sys
print(*sorted({t["policy"] for t in json.load(sys.stdin)["tasks"]}))'
}

# plays_as_other TAPE: a replay of it prints one warning of SCHED_EXT, and uses SCHED_OTHER
plays_as_other()
{
	schedtape replay -q --record no.replay "$1" > warning 2>&1 &&
		[ "$(policies no.replay)" = other ] && grep -v 'affinities end' warning > log &&
		[ "$(grep -c . log)" = 1 ] &&
		grep -q 'warning: this kernel has no SCHED_EXT: [2-9] tasks that had it will play with SCHED_OTHER$' log
}

# The program is in the checkout's build folder, or beside the tests.
tapes=$build/selftests/tapes
[ -d "$tapes" ] || tapes=$here
"$tapes/ext_tape" made.tape 2> log && [ "$(policies made.tape)" = ext ]
report $? "a tape of tasks with SCHED_EXT is made by hand"
schedtape replay -q made.tape > log 2>&1
grep -q 'affinities end at CPU 895: 1 task that could run on later CPUs, too, will not do so$' log
report $? "a warning says that its affinity is cut"

if [ ! -d $sysfs ]; then
	schedtape info plain.tape > log 2>&1 &&
		grep -q '^scheduler .*: fair, without sched_ext in the kernel$' log
	report $? "a kernel without sched_ext has the fair scheduler"
	plays_as_other made.tape
	report $? "it plays tasks with SCHED_EXT with SCHED_OTHER, and one warning says so"
	skip_all "schedulers of sched_ext: this kernel has no $sysfs"
fi

schedtape replay -q --record made.replay made.tape > log 2>&1 &&
	[ "$(policies made.replay)" = ext ] && ! grep -q EXT log
report $? "it is played with SCHED_EXT, without a word"

# with_ext COMMAND...: runs COMMAND with the policy SCHED_EXT
with_ext()
{
	/usr/bin/python3 -c 'import os, sys
os.sched_setscheduler(0, 7, os.sched_param(0))
os.execvp(sys.argv[1], sys.argv[1:])' "$@"
}

with_ext schedtape record -q -o ext.tape -- periodic 20 1 10 3 > log 2>&1 &&
	schedtape report ext.tape > log 2>&1 && grep -q '^periodic:.* ext ' log &&
	[ "$(policies ext.tape)" = ext ]
report $? "tasks with SCHED_EXT are recorded with it"
schedtape replay -q --record ext.replay ext.tape > log 2>&1 && [ ! -s log ] &&
	[ "$(policies ext.replay)" = ext ]
report $? "and replayed with it, without a word"
# shellcheck disable=SC2154 # commands.sh has it
(
	export LD_PRELOAD=$preloads/no_ext.so
	plays_as_other ext.tape
)
report $? "where the kernel has no SCHED_EXT one warning says so"

# -- schedulers ------------------------------------------------------------------------

# shellcheck disable=SC2154 # commands.sh has it
scx=$build/scx
if [ ! -x "$scx/scx_simple" ] || [ ! -x "$scx/stall" ]; then
	skip_all "schedulers of sched_ext: selftests/scx/build has not built them, run it to see why"
fi

# is_now STATE: tests whether sched_ext is in STATE
is_now()
{
	[ "$(cat $sysfs/state)" = "$1" ]
}

# on PROGRAM [ARGUMENT...]: starts a scheduler and waits until it is on
on()
{
	"$scx/$1" "${@:2}" > scheduler.log 2>&1 &
	scheduler=$!
	eventually is_now enabled
}

off()
{
	kill "$scheduler"
	wait "$scheduler"
	eventually is_now disabled
}

now()
{
	/usr/bin/python3 -c 'import time; print(time.monotonic_ns())'
}

# schedulers TAPE: prints their names in order
schedulers()
{
	schedtape info --json "$1" 2> log | /usr/bin/python3 -c 'import json, sys
print(*(s["name"] for s in json.load(sys.stdin)["schedulers"]), sep="; ")'
}

# has_schedulers TAPE PATTERN: ignores those in transition, which may have no name yet
has_schedulers()
{
	schedulers "$1" | sed 's/ext ([a-z?]*, going [a-z]*)\(; \|$\)//g' > log
	grep -qxE "$2" log
}

# No graph is compared: on a busy machine two processes that begin or end at the same time may wait
# for a lock of the kernel.
on scx_simple
schedtape record -q -o work.tape -- periodic 20 1 50 3 > log 2>&1 &&
	has_schedulers work.tape 'ext \(simple\)'
report $? "a workload under scx_simple is recorded, with its scheduler"
schedtape replay -q --record work.replay work.tape > log 2>&1 &&
	schedtape diff --max-unmatched 0 work.tape work.replay > log 2>&1 &&
	! grep -q '^# schedulers' log && has_schedulers work.replay 'ext \(simple\)'
report $? "and replayed under it"
off
report $? "the scheduler goes off"
schedtape replay -q --record fair.replay work.tape > log 2>&1 &&
	schedtape diff --max-unmatched 0 work.tape fair.replay > log 2>&1 &&
	grep -qx '# schedulers differ: A: ext (simple), B: fair' log
report $? "of a replay without it, diff says which schedulers there were"
schedtape diff --json work.tape fair.replay > diff.json 2> log &&
	like diff.json "d['scheduler'] == {'a': 'ext (simple)', 'b': 'fair', 'differ': True}"
report $? "in JSON, too"

# -- in the middle of a recording ------------------------------------------------------

# latest: prints by how many ns a short sleep was too long at worst, while no file "over" is there.
# On a busy machine the looks of a recorder on the same CPU come late by as much.
latest()
{
	taskset -c 0 /usr/bin/python3 -c 'import os, time
late = 0
while not os.path.exists("over"):
	begun = time.monotonic_ns()
	time.sleep(0.01)
	late = max(late, time.monotonic_ns() - begun - 10 ** 7)
print(late)'
}

# Each change is between two times around it, $before and $on, or $after and $off. The recorder
# looks at the scheduler once a second.
taskset -c 0 schedtape record -q -o change.tape -- \
	sh -c 'until [ -e over ]; do sleep 0.1; done' > record.log 2>&1 &
recorder=$!
latest > late &
witness=$!
eventually recording
sleep 1.5
before=$(now)
on scx_simple
on=$(now)
sleep 2
after=$(now)
off
off=$(now)
touch over
wait $witness
wait $recorder
report $? "a scheduler goes on and off while a recording runs"
has_schedulers change.tape 'fair; ext \(simple\); fair'
report $? "which info shows"
schedtape info change.tape > log 2>&1 && grep -q '^scheduler .*: ext (simple), from between [0-9.]* and' log
report $? "with the times"
schedtape info --json change.tape > info.json 2> log &&
	like info.json "(lambda s: s[0]['after_ns'] is None and
		s[1]['before_ns'] >= $before and s[1]['after_ns'] <= $on and
		s[-1]['before_ns'] >= $after and s[-1]['after_ns'] <= $off and
		all(c['before_ns'] - c['after_ns'] < 1.2e9 * $slow + 2 * $(< late)
			for c in s[1:]))(d['schedulers'])"
report $? "within a second, or as late as this machine is"
like info.json "(lambda s: s[-1]['enable_seq'] == s[0]['enable_seq'] + 1)(d['schedulers'])"
report $? "it is counted once"

# -- in memory ---------------------------------------------------------------------------

schedtape record -q -a -o memory.tape -M 8M --switch-output --name memory > record.log 2>&1 &
recorder=$!
eventually recording
sleep $((2 * slow))
on scx_simple
sleep $((2 * slow))
off
tape=$(schedtape snapshot --recorder memory 2> log)
interrupt $recorder
has_schedulers "$tape" 'fair; ext \(simple\); fair'
report $? "a snapshot has the schedulers that were on meanwhile"

# -- while recordings start and stop ---------------------------------------------------

while [ ! -e enough ]; do
	"$scx/scx_simple" > /dev/null 2>&1 &
	sleep 0.3
	kill $! && wait $!
done 2> /dev/null &
toggler=$!
# only_simple TAPE: tests that it has schedulers, only the fair one and scx_simple, in order. A
# scheduler in transition may have no name yet, or none any more, and be partial for a moment.
only_simple()
{
	schedtape info --json "$1" > info.json 2> log && like info.json "(lambda s, match: s and
		all(match(c['name']) for c in s) and s[0]['after_ns'] is None and
		all(a['before_ns'] <= b['before_ns'] and a['enable_seq'] <= b['enable_seq'] and
			(a['state'], a['enable_seq']) != (b['state'], b['enable_seq'])
			for a, b in zip(s, s[1:])))(d['schedulers'],
		__import__('re').compile(r'fair|ext \((simple(, partial)?|(simple|\?), going (on|off))\)'
			).fullmatch)" && schedulers "$1" >> seen
}

# once ROUND: a recording and a replay, each a little longer than in the previous round. How often
# a thread is late for a wait depends on how busy this machine is.
once()
{
	{
		schedtape record -q -o round.tape -- periodic 20 1 $(($1 * 5)) 2 &&
		schedtape info round.tape &&
		schedtape replay -q --record round.replay round.tape &&
		schedtape diff round.tape round.replay
	} > log 2>&1 && grep -q '^verdict: [a-z ]*, 3 of 3 tasks matched' log && only_simple round.tape &&
		only_simple round.replay
}

for round in 1 2 3 4 5 6; do
	once $round
	status=$?
	[ $status = 0 ] || break
done
touch enough
wait $toggler 2> /dev/null
report "$status" "schedulers come and go while recordings and replays begin and end"
cp seen log && grep -q 'ext (simple' log && grep -q fair log
report $? "info shows them"
eventually is_now disabled
report $? "none is left"

# -- ejected ---------------------------------------------------------------------------

# The scheduler stops after some seconds, and the kernel ejects it a second later.
ejected()
{
	grep -q '^EXIT: ' scheduler.log
}

schedtape record -q -o long.tape -- periodic 20 1 $((300 * slow)) 3 > log 2>&1
on stall $((2500 * slow))
schedtape replay -q --record long.replay long.tape > log 2>&1
report $? "a replay ends as it should though its scheduler is ejected"
eventually ejected && wait "$scheduler" && eventually is_now disabled
report $? "which it was"
has_schedulers long.replay 'ext \(stall\); fair'
report $? "which info shows"
schedtape diff --max-unmatched 0 long.tape long.replay > log 2>&1 &&
	grep -qx '# schedulers differ: A: fair, B: ext (stall), then fair' log
report $? "it has the same tasks, and diff prints both schedulers"
on stall $((1500 * slow))
schedtape record -q -o stalled.tape -- periodic 20 1 $((200 * slow)) 3 > log 2>&1
report $? "so does a recording"
eventually ejected && wait "$scheduler" && has_schedulers stalled.tape 'ext \(stall\); fair'
report $? "and shows it"
schedtape replay -q stalled.tape > log 2>&1
report $? "and can be replayed"

# begin_stalled MS: starts a recording when the scheduler has just started, which stops after MS
# ms. Then the recorder does not run either, until the kernel ejects the scheduler.
begin_stalled()
{
	"$scx/stall" "$1" > scheduler.log 2>&1 &
	scheduler=$!
	while kill -0 "$scheduler" 2> /dev/null && ! is_now enabled; do
		:
	done
	schedtape record -q -o begin.tape -- periodic 20 1 100 3 > log 2>&1 &&
		eventually ejected && wait "$scheduler" && eventually is_now disabled &&
		schedtape info --json begin.tape > info.json 2> log &&
		like info.json "(lambda s: s and s[-1]['name'] == 'fair' and d['damage'] is None and
			(len(s) == 1 or any('ext (stall' in c['name'] for c in s)))(d['schedulers'])" &&
		schedulers begin.tape >> begun
}

for ms in 20 100 300 600 1000; do
	begin_stalled $ms
	status=$?
	[ $status = 0 ] || break
done
report "$status" "recordings begin while a scheduler is ejected"
cp begun log && grep -q 'ext (stall.*fair$' log
report $? "and show that it went off"
[ "$(schedtape list)" = "no sessions, no replays" ] 2> log
report $? "nothing is left of them"
finish
