#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Description: a real-time task that takes the CPU for a while is caught each time by
# --trigger latency:5ms of a task that waits meanwhile, and why names it. SCHEDTAPE_ROUNDS (3) is how
# often.

set -u
here=$(dirname "$(realpath "$0")")
. "${here%/cli/record}/lib/commands.sh"
. "${here%/cli/record}/lib/tapes.sh"
rounds=${SCHEDTAPE_ROUNDS:-3}

# Other tasks keep this one from the CPU for a short time only.
taskset -c 0 nice -n -20 periodic 2 0 1000000000 > /dev/null &
victim=$!
trap 'kill -KILL $(jobs -p) 2> /dev/null; rm -rf "$dir"' EXIT
schedtape record -q -a -o t -M 1M 2> said \
	--trigger "latency:5ms,pid=$victim,after=100ms" &
recorder=$!
eventually recording
report $? "all tasks are recorded"

# blamed: succeeds if a snapshot says that the hog kept the task waiting
blamed()
{
	local tape

	for tape in $(tapes); do
		schedtape why periodic "$tape" > blame 2> log && grep -q 'its CPU ran hog:' blame &&
			return
	done
	return 1
}

spike()
{
	rm -f t.latency.20*
	chrt -f 50 taskset -c 0 hog 30 > /dev/null && eventually blamed
}

caught=0
for ((round = 1; round <= rounds; round++)); do
	if spike; then
		caught=$((caught + 1))
	else
		sed "s/^/# $round: /" log blame
	fi
	sleep 0.5
done
echo "$caught of $rounds spikes" > log
sed 's/^/# /' log
[ $caught = "$rounds" ]
report $? "each spike is caught, and why names the hog"
interrupt $recorder && [ ! -s said ]
report $? "the recording ends well"

finish
