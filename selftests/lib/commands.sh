# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# commands.sh - what the tests of commands share: a folder of their own that
# goes with them, the programs in PATH, and TAP results.  Sourced.

# The workloads are built in the checkout, or beside the tests; where there is no
# checkout the program is the one that is installed.
here=$(realpath "$(dirname "$(realpath "${BASH_SOURCE[0]}")")/..")
build=${SCHEDTAPE_BUILD:-$here/../build}
PATH=$build:$build/selftests/workloads:$here/workloads:$here:$PATH
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
chmod 755 "$dir"
cd "$dir" || exit 1
# Libraries for LD_PRELOAD are likewise.
preloads=$build/selftests/preload
[ -d "$preloads" ] || preloads=$here
tests=0 failed=0

# report STATUS TEXT: one result; a failure shows the file "log"
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

# expect STATUS PATTERN COMMAND...: ends so, and says one line that matches
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

# like JSON-FILE PYTHON: an expression over the JSON in d
like()
{
	/usr/bin/python3 -c 'import json, sys
d = json.load(open(sys.argv[1]))
assert eval(sys.argv[2]), sys.argv[2]' "$@" 2> log
}

# on_tape TAPE EXPRESSION TEXT: is it true of its tasks? p: PIDs, c: names
on_tape()
{
	schedtape report --json "$1" > tape.json 2> log &&
		like tape.json "(lambda p, c: $2)({t['pid'] for t in d['tasks']},
			{t['comm'] for t in d['tasks']})"
	report $? "$3"
}

# names TAPE: of its tasks, each as often as it has it
names()
{
	schedtape report --json "$1" 2> log | /usr/bin/python3 -c 'import json, sys
print(*sorted(t["comm"] for t in json.load(sys.stdin)["tasks"]))'
}

# eventually COMMAND...: has it come true after a while? That is 20 s, or as many times
# longer as SCHEDTAPE_SLOW says. Tries are counted, as clocks may jump.
slow=${SCHEDTAPE_SLOW:-1}
eventually()
{
	local tries=$((200 * slow))

	until "$@"; do
		[ $((tries--)) -gt 0 ] || return
		sleep 0.1
	done
}

# recording: does a session record? Its number is in $id.
recording()
{
	id=$(schedtape list | awk '$2 == "recording" { print $1 }')
	[ -n "$id" ]
}

# running NAME...: has a task one of these names?
running()
{
	local name

	for name; do
		pgrep -x "$name" && return
	done
	return 1
}

# find_cgroups: $cg is where those of version 2 are; false: without the controller cpu
find_cgroups()
{
	cg=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/self/mounts)
	if [ -z "$cg" ]; then
		cg=/sys/fs/cgroup
		mount -t cgroup2 cgroup2 $cg 2> log
		trap 'umount "$cg"; rm -rf "$dir"' EXIT
	fi
	grep -qw cpu "$cg/cgroup.controllers" && echo +cpu > "$cg/cgroup.subtree_control"
}

# skip REASON: a result that this machine cannot give
skip()
{
	tests=$((tests + 1))
	echo "ok $tests # SKIP $1"
}

# finish: the plan, and the exit status
finish()
{
	echo "1..$tests"
	[ "$failed" = 0 ]
}
