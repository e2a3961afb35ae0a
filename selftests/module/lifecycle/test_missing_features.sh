#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Description: features that this kernel lacks are named when the module is loaded and in
# "schedtape status", once each; all else works. "check" has a guest without high-resolution
# timers, and one with a module that is built as if for a kernel without return probes, for which
# SCHEDTAPE_LACKS=probes.

set -u
here=$(dirname "$(realpath "$0")")
. "${here%/module/lifecycle}/lib/commands.sh"
resolution=$(awk '/\.resolution:/ { print $2; exit }' /proc/timer_list)
lacking=()
# In a kernel tree there is no list.
series=$(uname -r | grep -oE '^[0-9]+\.[0-9]+') list=${here%/selftests/*}/kmod/tested-series
[ ! -e "$list" ] || grep -qxF "$series" "$list" ||
	lacking+=("tests: this version of schedtape is tested on Linux $(grep '^[0-9]' "$list" |
		paste -sd , | sed 's/,/, /g') only")
[ "${SCHEDTAPE_LACKS-}" != probes ] ||
	lacking+=("return probes: changes of policy, priority, nice value and affinity and throttling of cgroups are not recorded")
[ "$resolution" = 1 ] ||
	lacking+=("high-resolution timers: a replay's waits end up to $((resolution / 1000)) us late")

# said FILE: prints the number of lines that name a missing feature
said()
{
	grep -cE "this kernel lacks|^missing  " "$1"
}

# names_all FILE: it names all missing features, and nothing else
names_all()
{
	local text

	[ "$(said "$1")" = ${#lacking[@]} ] || return
	for text in "${lacking[@]}"; do
		grep -qF "$text" "$1" || return
	done
}

dmesg | grep 'schedtape: this kernel lacks' > log.txt
schedtape status > status.txt 2> log
schedtape status --json > status.json 2> log
if [ ${#lacking[@]} = 0 ]; then
	names_all log.txt && names_all status.txt
	report $? "this kernel lacks nothing, and nothing is said"
else
	cp log.txt log
	names_all log.txt
	report $? "the kernel's log names it when the module is loaded"
	cp status.txt log
	names_all status.txt
	report $? "status names it"
	printf '%s\n' "${lacking[@]}" > lacking.txt
	like status.json "all(text in d['missing'] for text in open('lacking.txt').read().splitlines())"
	report $? "status --json names it"
fi
kprobes=/sys/kernel/debug/kprobes/enabled
if [ -w "$kprobes" ]; then
	lines=$(said status.txt)
	echo 0 > "$kprobes"
	schedtape status > disarmed.txt 2> log
	echo 1 > "$kprobes"
	schedtape status > armed.txt 2>> log
	[ "$(said disarmed.txt)" = $((lines + 1)) ] &&
		grep -q "^missing  .*: kprobes.*$kprobes" disarmed.txt && [ "$(said armed.txt)" = "$lines" ]
	report $? "status names kprobes while they are switched off"
fi
schedtape record -q -o t -- periodic 20 1 10 > out 2> log &&
	schedtape replay --record=again t > out 2>> log &&
	schedtape diff --json t again > diff.json 2>> log &&
	like diff.json 'd["verdict"]["same_graph"]'
report $? "a periodic task is recorded and replayed, with the same graph"

finish
