#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Description: phases finds the three known phases of workloads of one process and of several, and
# where each begins.

set -u
here=$(dirname "$(realpath "$0")")
. "${here%/cli}/lib/commands.sh"

# find NAME [alone]: records the workload as NAME.tape, its borders as NAME.borders, and what phases
# finds as NAME.json
find()
{
	schedtape record -q -o "$1.tape" -- phases 400 "${@:2}" > "$1.borders" 2> log
	report $? "a workload of three phases, $1"
	schedtape phases --json --simpoint "$1" --interval 20ms --time "$(range_of "$1.borders")" \
		"$1.tape" > "$1.json" 2> log
	report $? "phases reads its tape"
	name=$1
}

# holds EXPRESSION TEXT: b: the borders; p, i: phases and intervals; s: the phases' letters by time
holds()
{
	like "$name.json" "(lambda b, p, i, s: $1)([int(n) for n in open('$name.borders').read().split()],
		d['phases'], d['intervals'], ''.join(i['phase'] for i in d['intervals']))"
	report $? "$2"
}

three_phases()
{
	holds "len(p) == 3" "there are three phases"
	holds "s == 'A' * s.count('A') + 'B' * s.count('B') + 'C' * s.count('C')" \
		"one after the other"
	holds "all(min(abs(x['begin_ns'] - y) for x in i) <= 20e6 and
		abs(i[s.index('ABC'[n])]['begin_ns'] - y) <= 20e6 for n, y in enumerate(b[:3]))" \
		"each begins where it does, give or take an interval"
	holds "all(abs(x['weight'] - 1 / 3) < 0.05 for x in p)" "each has a third of the time"
}

find several
three_phases
holds "'child' in p[2]['tasks'] and 'child' not in p[0]['tasks'] + p[1]['tasks']" \
	"the third one has the children"
holds "len(open('several.bb').readlines()) == len(i) and
	abs(sum(float(line.split()[0]) for line in open('several.weights')) - 1) < 1e-6 and
	[int(line.split()[0]) for line in open('several.simpoints')] == [x['interval'] for x in p]" \
	"SimPoint's files say the same"
like several.json "print('%.9f,%.9f' % tuple(d['phases'][1][x] / 1e9
	for x in ('begin_ns', 'end_ns'))) or 1" \
	> range.txt && schedtape replay -q --time "$(cat range.txt)" several.tape > log 2>&1
report $? "what stands for the second one can be replayed"
find alone alone
three_phases

if find_cgroups; then
	schedtape sample --no-checkpoint -q --event task-clock,page-faults --interval 20ms -o sampled \
		-- phases 400 > sampled.borders 2> log
	report $? "a sample of three phases"
	range=$(range_of sampled.borders)
	schedtape phases --json --time "$range" sampled > sampled.json 2> log
	report $? "phases reads its directory"
	name=sampled
	three_phases
	numbers=$(like sampled.json "print(*(x['interval'] for x in d['phases']), sep=',') or True")
	schedtape phases --time "$range" sampled > text 2> log &&
		grep -q "^schedtape sample --event=task-clock,page-faults --interval=20000000 \
--at=${numbers#0,} -o sampled-at -- phases 400$" text
	report $? "a line samples again where these begin"
	mkdir growing
	for file in tape manifest; do
		head -c "$(($(stat -c %s "sampled/$file") * 2 / 3))" "sampled/$file" > "growing/$file"
	done
	schedtape phases --json growing > growing.json 2> log &&
		like growing.json "10 < len(d['intervals']) < 60"
	report $? "a directory that is not written to its end"
else
	skip "a sample of three phases: no controller cpu for cgroups of version 2"
fi

cp several.tape tape
expect 1 "there are only [0-9]+ intervals" schedtape phases -k 50 --interval 100ms tape
expect 1 "there is only 1 interval:" schedtape phases -k 2 --interval 1h tape
now=$(awk '{ printf "%.9f", $1 / 1e9 }' several.borders)
expect 1 "the tape has nothing then" schedtape phases --time "$now,$now" tape
expect 1 "no task of the tape matches --comm" schedtape phases --comm nosuch tape
expect 129 "not a time with its unit" schedtape phases --interval 100 tape
finish
