#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Description: why finds what made tasks wait in a lock convoy and in a cgroup with a quota of CPU
# time, and explains at least 90 % of the time.

set -u
here=$(dirname "$(realpath "$0")")
. "${here%/cli}/lib/commands.sh"

exact=${SCHEDTAPE_EXACT:-}

# What is known of the waits' time: all but the kinds that tell nothing. On a busy host tasks also
# wait for other reasons, so shares of the time are judged only where instructions are counted.
cat > known.py << 'EOP'
import json, sys
d = json.load(open(sys.argv[1]))
causes = d["causes"]
total = sum(c["time_ns"] for c in causes)
dark = sum(c["time_ns"] for c in causes if c["kind"] in ("unknown", "outside"))
wanted = sum(c["time_ns"] for c in causes if eval(sys.argv[2]))
print("%.1f ms of waits, %.1f %% not known, %.1f %% wanted" %
      (total / 1e6, 100 * dark / total, 100 * wanted / total))
for c in causes[:6]:
	print("%.1f %% %s" % (100 * c["share"], c["cause"]))
assert total == d["total"]["time_ns"]
assert wanted >= int(sys.argv[4])
assert not sys.argv[5] or dark <= total / 10 and wanted >= total * float(sys.argv[3])
EOP

# explains OPTIONS KIND SHARE NS TEXT: the causes are known, and those of KIND have at least SHARE
# and NS
explains()
{
	# shellcheck disable=SC2086 # words
	schedtape why --summary --json $1 > causes.json 2> log &&
		/usr/bin/python3 -IS known.py causes.json "$2" "$3" "$4" "$exact" > log 2>&1
	report $? "$5"
	[ -z "${VERBOSE-}" ] || sed 's/^/# /' log
}

# adds_up OPTIONS: the links of each wait are as long as the wait
adds_up()
{
	# shellcheck disable=SC2086 # words
	schedtape why --json $1 > waits.json 2> log && like waits.json \
		"d['chains'] and all(sum(l['time_ns'] for l in w['links']) ==
			w['end_ns'] - w['begin_ns'] for w in d['chains'])"
	report $? "the links of each wait add up: why $1"
}

# -- a lock convoy ------------------------------------------------------------------------

schedtape record -q -a --kthreads -o convoy.tape -- convoy 30 > out 2> log
report $? "a lock convoy is recorded"
explains "--comm waiter convoy.tape" "c['cause'].startswith('holder ran')" 0.4 1 \
	"waiters wait for the holder"
adds_up "waiter --worst 20 convoy.tape"
schedtape why waiter --worst 1 convoy.tape > out 2> log &&
	grep -q '^waiter:[0-9]* did not run for ' out && grep -q '% .* holder:[0-9]* ran$' out
report $? "the worst wait names the holder"
schedtape why --path holder convoy.tape > out 2> log &&
	grep -qE '^ +[0-9.]+ % .* holder(:[0-9]+)? ran$' out
report $? "the critical path of the process is of the holder"
schedtape record -q -o threads.tape -- convoy 10 > out 2> log &&
	schedtape why --path holder --json threads.tape > path.json 2> log && like path.json \
	"(lambda w: sum(l['time_ns'] for l in w['links']) == w['end_ns'] - w['begin_ns'] and
		sum(l['time_ns'] for l in w['links'] if l['kind'] == 'ran') > 30e6)(d['chains'][0])"
report $? "also without other tasks on the tape"

# -- a quota of CPU time ------------------------------------------------------------------

# throttled: prints for how many ns the kernel has throttled the cgroup
throttled()
{
	echo $((1000 * $(sed -n 's/^throttled_usec //p' "$cg/limited/cpu.stat")))
}

# explains_quota TAPE BEFORE TEXT: the task waits for its quota, for at least half of the time for
# which the kernel has throttled the cgroup since BEFORE. The rest may be after the task's end.
explains_quota()
{
	explains "--comm hog $1" "c['kind'] == 'throttled'" 0.9 $((($(throttled) - $2) / 2)) "$3"
}

if find_cgroups; then
	mkdir "$cg/limited"
	echo "20000 100000" > "$cg/limited/cpu.max"
	before=$(throttled)
	# shellcheck disable=SC2016 # the shell that is recorded expands it
	schedtape record -q -a --kthreads -o limited.tape -- sh -c \
		'echo $$ > '"$cg"'/limited/cgroup.procs; exec hog 200' > out 2> log
	report $? "a task with a quota is recorded"
	explains_quota limited.tape "$before" "it waits for its quota"
	schedtape why hog --worst 1 limited.tape > out 2> log &&
		grep -q 'hog:[0-9]* was throttled (cpu.max 20 %)$' out &&
		grep -qE '^# Throttled: cpu.max of the cgroup .*limited is 20 % of a CPU; it was throttled in [0-9]+ of [0-9]+ periods, for [0-9.]+ s\.$' out
	report $? "the quota is named"
	adds_up "hog --worst 5 limited.tape"
	before=$(throttled)
	# shellcheck disable=SC2016 # the shell that is recorded expands it
	schedtape record -q -o own.tape -- sh -c \
		'echo $$ > '"$cg"'/limited/cgroup.procs; exec hog 100' > out 2> log
	explains_quota own.tape "$before" "it does so with no other task on the tape"
	before=$(throttled)
	# Other CPUs may do what the tape does not have, so why can only suspect.
	# shellcheck disable=SC2016 # the shell that is recorded expands it
	schedtape record -q -a --kthreads -C "$(cat /sys/devices/system/cpu/online)" -o some.tape -- \
		sh -c 'echo $$ > '"$cg"'/limited/cgroup.procs; exec hog 100' > out 2> log
	schedtape script some.tape > out 2> log && grep -q ' throttle: cgroup=' out
	report $? "throttling is on a tape of chosen CPUs"
	explains_quota some.tape "$before" "and explains its waits"
	rmdir "$cg/limited"
else
	skip "no controller cpu for cgroups of version 2"
fi

# -- options ------------------------------------------------------------------------------

expect 129 'which TASK\?' schedtape why
expect 129 'only one of --at or --worst, --summary and --path' schedtape why --summary --path 1
expect 129 "--at: not a time: 'noon'" schedtape why 1 --at noon
expect 129 "--worst: not a number from 1 to 10000: '0'" schedtape why 1 --worst 0
expect 1 'it has the tasks' schedtape why nobody convoy.tape
expect 1 '--at: the tape has nothing then' schedtape why waiter --at +1000 convoy.tape
finish
