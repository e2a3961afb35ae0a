# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# commands.sh - shared by the tests of commands: a temporary directory, the programs in PATH, and
# TAP results. Sourced.

# The workloads are in the build folder of the checkout, or beside the tests. Without a checkout,
# schedtape is the installed one.
here=$(realpath "$(dirname "$(realpath "${BASH_SOURCE[0]}")")/..")
build=${SCHEDTAPE_BUILD:-${here%/*}/build}
PATH=$build:$build/selftests/workloads:$here/workloads:$here:$PATH
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
chmod 755 "$dir"
cd "$dir" || exit 1
# Libraries for LD_PRELOAD are in the same places.
preloads=$build/selftests/preload
[ -d "$preloads" ] || preloads=$here
tests=0 failed=0

# report STATUS TEXT: prints one result; after a failure, also the file "log"
report()
{
	tests=$((tests + 1))
	if [ "$1" = 0 ]; then
		echo "ok $tests $2"
	else
		failed=$((failed + 1))
		echo "not ok $tests $2"
		sed 's/^/# /' log
	fi
}

# expect STATUS PATTERN COMMAND...: COMMAND exits with STATUS and prints a line that matches
expect()
{
	local status=$1 pattern=$2 got

	shift 2
	"$@" > out 2> log
	got=$?
	[ $got = "$status" ] && grep -qE -e "$pattern" log &&
		[ "$(grep -cE '^(\[ )?schedtape' log)" = 1 ]
	report $? "status $status: $(basename "$1") ${*:2}"
}

# like JSON-FILE PYTHON: evaluates an expression; d is the content of the file. Without -IS Python
# looks for more modules when it starts, which takes a while in an emulated guest.
like()
{
	/usr/bin/python3 -IS -c 'import json, sys
d = json.load(open(sys.argv[1]))
assert eval(sys.argv[2]), sys.argv[2]' "$@" 2> log
}

# on_tape TAPE EXPRESSION TEXT: evaluates an expression about its tasks; p: PIDs, c: names
on_tape()
{
	schedtape report --json "$1" > tape.json 2> log &&
		like tape.json "(lambda p, c: $2)({t['pid'] for t in d['tasks']},
			{t['comm'] for t in d['tasks']})"
	report $? "$3"
}

# names TAPE: prints the names of its tasks, one for each task
names()
{
	schedtape report --json "$1" 2> log | /usr/bin/python3 -IS -c 'import json, sys
print(*sorted(t["comm"] for t in json.load(sys.stdin)["tasks"]))'
}

# range_of BORDERS: prints the time of all phases of the workload "phases", as --time takes it.
# BORDERS is the file with its output.
range_of()
{
	awk '{ printf "%.9f,%.9f", $1 / 1e9, $NF / 1e9 }' "$1"
}

# Factors for loads, and for limits that only end a hang: see time-limit.c.
slow=${SCHEDTAPE_SLOW:-1}
patience=$((${SCHEDTAPE_PATIENCE:-4} * slow))

# eventually COMMAND...: repeats COMMAND until it succeeds, for 20 s at most, times $patience. It
# counts tries, because clocks may jump.
eventually()
{
	local tries=$((200 * patience))

	until "$@"; do
		[ $((tries--)) -gt 0 ] || return
		sleep 0.1
	done
}

# in_state STATE: succeeds if a session or replay is in this state, and sets $id to its number
in_state()
{
	id=$(schedtape list | awk -v state="$1" '$2 == state { print $1; exit }')
	[ -n "$id" ]
}

# recording: succeeds if a session records, and sets $id to its number
recording()
{
	in_state recording
}

# interrupt PID: sends SIGINT to a child, and waits for it. Succeeds if the signal has ended it.
interrupt()
{
	kill -INT "$1"
	wait "$1"
	[ $? = 130 ]
}

# replays KEY: prints the member KEY of each replay in "schedtape list --json". A replay is left out
# until one of its players has made a step, because its other players may not have started yet.
replays()
{
	schedtape list --json 2> log | /usr/bin/python3 -IS -c 'import json, sys
print(*[r[sys.argv[1]] for r in json.load(sys.stdin)["replays"] if r["steps"]])' "$1"
}

# nobody COMMAND...: runs COMMAND as a user without rights, who may not be able to reach the
# checkout and gets a copy of schedtape
nobody()
{
	mkdir -p "$dir/nobody" && cp -u "$(command -v schedtape)" "$dir/nobody/" || return
	setpriv --reuid=65534 --clear-groups env PATH="$dir/nobody:$PATH" "$@"
}

# start_three: starts three workloads with little work, each with a name of its own, and sets
# $other, $periodic and $chain to their PIDs. The caller kills them.
# shellcheck disable=SC2034 # the PIDs are for the caller
start_three()
{
	cp "$(command -v periodic)" other
	./other 50 0 100000000 > /dev/null &
	other=$!
	periodic 50 0 100000000 > /dev/null &
	periodic=$!
	chain 100000000 50 > /dev/null &
	chain=$!
}

# running NAME...: succeeds if a task has one of these names
running()
{
	local name

	for name; do
		pgrep -x "$name" && return
	done
	return 1
}

# find_tracing: sets tracing to the folder of tracepoints
find_tracing()
{
	tracing=/sys/kernel/tracing
	mountpoint -q $tracing || mount -t tracefs tracefs $tracing
}

# need_syscall_points: sets tracing, and ends a test if this kernel has no tracepoints of system calls
need_syscall_points()
{
	find_tracing
	[ -d $tracing/events/syscalls ] || skip_all "this kernel has no tracepoints of system calls"
}

# cgroup_mount: prints where cgroup v2 is mounted; nothing: it is not
cgroup_mount()
{
	awk '$3 == "cgroup2" { print $2; exit }' /proc/self/mounts
}

# find_cgroups: sets $cg to the mount point of cgroup v2; fails without the controller cpu
find_cgroups()
{
	cg=$(cgroup_mount)
	if [ -z "$cg" ]; then
		cg=/sys/fs/cgroup
		mount -t cgroup2 cgroup2 $cg 2> log
		trap 'umount "$cg"; rm -rf "$dir"' EXIT
	fi
	grep -qw cpu "$cg/cgroup.controllers" && echo +cpu > "$cg/cgroup.subtree_control"
}

# skip REASON: prints a skipped result
skip()
{
	tests=$((tests + 1))
	echo "ok $tests # SKIP $1"
}

# skip_all REASON: ends a test with a skipped result
skip_all()
{
	skip "$1"
	finish
	exit
}

# finish: prints the plan; its status is the test's exit status
finish()
{
	echo "1..$tests"
	[ "$failed" = 0 ]
}
