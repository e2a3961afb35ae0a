# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# tapes.sh - shared by the tests of recorders that write several tapes: those of "-o t". Sourced.

# tapes: prints the names of the tapes that have ended, in the order of their times, separated by
# blanks; not those of merges
tapes()
{
	local all

	all=$(find . -maxdepth 1 -name 't.*20*Z' ! -name 't.merged.*' -printf '%P\n' |
		sed 's/.*\.\(.*\..*\)/\1 &/' | sort | cut -d ' ' -f 2)
	# shellcheck disable=SC2086 # each line is a word
	echo $all
}

# count N: succeeds if there are N of them
count()
{
	# shellcheck disable=SC2046 # each name is a word
	set -- "$1" $(tapes)
	[ $(($# - 1)) = "$1" ]
}

# forget: removes all tapes
forget()
{
	rm -rf t t.old t.20* t.*.20*
}

# limit_pids MOST: PIDs are used again and again, up to this one, until the test ends. Kills its jobs
# then.
limit_pids()
{
	used=$(cat /proc/sys/kernel/pid_max)
	trap end_limited EXIT
	echo "$1" > /proc/sys/kernel/pid_max
}

# start_names BEFORE AFTER: starts a chain of tasks, $chain, and processes one after the other, $names.
# Each has a name of its own, after it has had another one for BEFORE seconds; it lasts for AFTER.
# shellcheck disable=SC2034 # the PIDs are for the caller
start_names()
{
	chain 1000000000 5 > /dev/null &
	chain=$!
	bash -c 'for ((n = 1; ; n++)); do
		(read -r -t "$1" <> <(:); echo "n$n" > /proc/self/comm; read -r -t "$2" <> <(:))
	done' names "$@" &
	names=$!
}

end_limited()
{
	# shellcheck disable=SC2046 # each PID is a word
	kill -KILL $(jobs -p) 2> /dev/null
	echo "$used" > /proc/sys/kernel/pid_max
	# shellcheck disable=SC2154 # commands.sh has made it
	rm -rf "$dir"
}
