#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Description: phases finds the three known phases of a workload, and where each begins.

set -u
here=$(dirname "$(realpath "$0")")
. "${here%/cli}/lib/commands.sh"

# Computes, then two processes wake each other, then processes are forked that compute. Prints when
# each phase begins and ends. All is in memory when the first begins.
cat > work.py << 'EOP'
import os, sys, time

PHASE = 400_000_000

def now():
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC)

def compute(until):
    while now() < until:
        sum(range(1000))

def wake_each_other(until):
    here, there = os.pipe(), os.pipe()
    if not os.fork():
        while os.read(there[0], 1) == b"x":
            os.write(here[1], b"x")
        os._exit(0)
    while now() < until:
        os.write(there[1], b"x")
        os.read(here[0], 1)
    os.write(there[1], b"e")
    os.wait()

def fork(until):
    while now() < until:
        if not os.fork():
            open("/proc/self/comm", "w").write("child")
            compute(now() + 2_000_000)
            os._exit(0)
        os.wait()

for work in compute, wake_each_other, fork:
    work(now())
borders = [now()]
for work in compute, wake_each_other, fork:
    work(borders[-1] + PHASE)
    borders.append(now())
print(*borders)
EOP
schedtape record -q -o tape -- /usr/bin/python3 -IS work.py > borders 2> log
report $? "a workload of three phases"
awk '{ printf "%.9f,%.9f", $1 / 1e9, $NF / 1e9 }' borders > range.txt
schedtape phases --json --simpoint sim --interval 20ms --time "$(cat range.txt)" tape > found.json 2>> log
report $? "phases reads its tape"

# holds EXPRESSION TEXT: b: the borders; p, i: phases and intervals; s: the phases' letters by time
holds()
{
	like found.json "(lambda b, p, i, s: $1)([int(n) for n in open('borders').read().split()],
		d['phases'], d['intervals'], ''.join(i['phase'] for i in d['intervals']))"
	report $? "$2"
}

holds "len(p) == 3" "there are three phases"
holds "s == 'A' * s.count('A') + 'B' * s.count('B') + 'C' * s.count('C')" "one after the other"
holds "all(min(abs(x['begin_ns'] - y) for x in i) <= 20e6 and
	abs(i[s.index('ABC'[n])]['begin_ns'] - y) <= 20e6 for n, y in enumerate(b[:3]))" \
	"each begins where it does, give or take an interval"
holds "all(abs(x['weight'] - 1 / 3) < 0.05 for x in p)" "each has a third of the time"
holds "'child' in p[2]['tasks'] and 'child' not in p[0]['tasks'] + p[1]['tasks']" \
	"the third one has the children"
holds "len(open('sim.bb').readlines()) == len(i) and
	abs(sum(float(line.split()[0]) for line in open('sim.weights')) - 1) < 1e-6 and
	[int(line.split()[0]) for line in open('sim.simpoints')] == [x['interval'] for x in p]" \
	"SimPoint's files say the same"
like found.json "print('%.9f,%.9f' % tuple(d['phases'][1][x] / 1e9 for x in ('begin_ns', 'end_ns'))) or 1" \
	> range.txt && schedtape replay -q --time "$(cat range.txt)" tape > log 2>&1
report $? "what stands for the second one can be replayed"
expect 1 "there are only [0-9]+ intervals" schedtape phases -k 50 --interval 100ms tape
now=$(awk '{ printf "%.9f", $1 / 1e9 }' borders)
expect 1 "the tape has nothing then" schedtape phases --time "$now,$now" tape
expect 1 "no task of the tape matches --comm" schedtape phases --comm nosuch tape
expect 129 "not a time with its unit" schedtape phases --interval 100 tape
finish
