#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Description: estimate tells what a whole run would be from replays of a tenth of it.

set -u
here=$(dirname "$(realpath "$0")")
. "${here%/cli}/lib/commands.sh"

length=20	# of an interval, ms
schedtape record -q -o tape -- phases 400 > borders 2> log
report $? "a workload of three phases"
range=$(range_of borders)
options=(--interval "${length}ms" --time "$range")
schedtape phases --json "${options[@]}" tape > three.json 2> log &&
	schedtape phases --json "${options[@]}" -k 6 tape > six.json 2>> log
report $? "phases reads its tape"

# choose EXPRESSION: prints numbers of intervals; n: how many there are, p: six phases
choose()
{
	like six.json "print(*(lambda n, p: $1)(len(d['intervals']), d['phases'])) or True"
}

# replay_intervals NUMBER...: records replays of intervals as NUMBER.replay
replay_intervals()
{
	local number time

	for number; do
		time=$(like three.json "print('%.9f,%.9f' % tuple(d['intervals'][$number][x] / 1e9
			for x in ('begin_ns', 'end_ns'))) or True")
		[ -e "$number.replay" ] || schedtape replay -q --time "$time" --record "$number.replay" tape \
			> log 2>&1 || return
	done
}

# estimate NAME "NUMBERS" [OPTION...]: estimates from these intervals, and says how far that is off
estimate()
{
	local numbers

	read -ra numbers <<< "$2"
	replay_intervals "${numbers[@]}" &&
		schedtape estimate --json "${options[@]}" "${@:3}" "${numbers[@]/%/.replay}" whole.replay tape \
		> "$1.json" 2> log
	report $? "an estimate from intervals: $1: ${#numbers[@]}"
	print_errors "$1"
}

# print_errors NAME: prints how far each quantity is off
print_errors()
{
	like "$1.json" "print('# $1:', *('%s %s,' % (e['quantity'], 'not known' if e['error'] is None
		else '%.1f %%' % (100 * e['error'])) for e in d['estimates'])) or True"
}

# errors NAME CONDITION TEXT: e: the errors by the quantity's name
errors()
{
	like "$1.json" "(lambda e: $2)({e['quantity']: e['error'] for e in d['estimates']})"
	report $? "$3"
}

schedtape replay -q --time "$range" --record whole.replay tape > log 2>&1
report $? "a replay of the whole"
chosen=$(choose "[x['interval'] for x in p]")
estimate chosen "$chosen" -k 6
errors chosen "abs(e['cpu_time_ns']) < 0.03 and abs(e['switches']) < 0.03" \
	"CPU time and switches are within 3 %"
errors chosen "abs(e['latency_median_ns']) < 0.05" "the median latency is within 5 %"
errors chosen "abs(e['run_time_ns']) < 0.03" "the run time is within 3 %"
read -ra numbers <<< "$chosen"
schedtape estimate --json "${options[@]}" -k 6 tape "${numbers[@]/%/.replay}" > recorded.json 2> log
report $? "an estimate beside what was recorded, so that it has the errors of replays, too"
print_errors recorded
errors recorded "abs(e['cpu_time_ns']) < 0.03" "CPU time is within 3 %"
estimate evenly "$(choose "[n * (2 * x + 1) // 12 for x in range(6)]")" -k 1
estimate random "$(choose "__import__('random').Random(1).sample(range(n), 6)")" -k 1

first=${numbers[0]}.replay
mkdir moved && cp tape moved/other-name && cp "${numbers[@]/%/.replay}" moved
(cd moved && schedtape estimate "${options[@]}" -k 6 -- *) > log 2>&1
report $? "tapes may be moved and renamed, and come in any order"
expect 1 "no tape is of phases? [A-F]+:" schedtape estimate "${options[@]}" -k 6 tape "$first"
cp "$first" twice.replay
expect 1 "it replays the same interval as $first" \
	schedtape estimate "${options[@]}" -k 6 tape "${numbers[@]/%/.replay}" twice.replay
schedtape replay -q --time "$range" --speed 0.001 --record cut.replay tape > log 2>&1 &
replay=$!
eventually in_state running
kill -INT $replay
wait $replay
expect 1 "it does not say that the replay reached its end" \
	schedtape estimate "${options[@]}" -k 6 tape "${numbers[@]/%/.replay}" cut.replay
expect 1 "which is no interval of tape" schedtape estimate --interval 30ms tape "$first"
expect 1 "the tape of the run is missing" schedtape estimate "$first" whole.replay
expect 1 "it is of a whole run, as tape is" schedtape estimate tape moved/other-name "$first"
schedtape record -q -o second -- true 2> log
expect 1 "it replays another tape than second" schedtape estimate second "$first"
expect 129 "needs the tape of the run" schedtape estimate tape
finish
