#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Description: schedtape record -G while cgroups come and go.

set -u
here=$(dirname "$(realpath "$0")")
. "${here%/cli/record}/lib/commands.sh"

cg=$(cgroup_mount)
if [ -z "$cg" ] || ! mkdir -p "$cg/st/svc" 2> log; then
	skip_all "needs cgroups of version 2"
fi
trap 'rm -rf "$dir"; rmdir "$cg"/st/*/* "$cg"/st/* "$cg/st" 2> /dev/null' EXIT

# start COMMAND...: records to the tape t, with messages in the file said
start()
{
	"$@" 2> said &
	recorder=$!
	eventually recording
}

# within CGROUP COMMAND...: runs a command in a cgroup that it makes if need be, and then removes it
within()
{
	mkdir -p "$cg/$1"
	# shellcheck disable=SC2016 # for the other shell
	sh -c 'echo $$ > "$0/cgroup.procs" && exec "$@"' "$cg/$1" "${@:2}" 2> log
	rmdir "$cg/$1"
}

# recorded NAMES TEXT: the tape's tasks have these names, and their cgroups have a path
recorded()
{
	local got

	interrupt $recorder
	got=$(names t)
	echo "$got" > log
	[ "$got" = "$1" ]
	report $? "$2"
	schedtape report --by cgroup t > log 2>&1 && grep -q /st/ log && ! grep -q 'id:' log
	report $? "$2: with their cgroups"
}

# said PATTERN TEXT: the recorder says so
said()
{
	eventually grep -q "$1" said
	report $? "$2"
}

start schedtape record -o t -G st/svc
for command in "sleep 0.011" "sleep 0.012" "sleep 0.013" true; do
	# shellcheck disable=SC2086 # a command and its argument
	within st/svc $command
done
rmdir "$cg/st"
within st/svc sleep 0.02
mkdir -p "$cg/st/svc"
within st/svc/below sleep 0.2
within st/beside sleep 0.01
rmdir "$cg/st/svc"
said '/st/svc has been removed: the recording goes on' "the end of the last cgroup is told"
recorded "sleep sleep sleep sleep sleep true" "a service that restarts: all its tasks"

expect 1 'make it first, or give the name of a cgroup above it' schedtape record -G st/none
mkdir -p "$cg/st/svc"
find_tracing
if [ -d $tracing/events/sched/sched_process_exit ]; then
	start schedtape record -o t -e sched:sched_process_exit -G st/svc
	within st/svc true
	within st/svc sleep 0.1
	mkdir -p "$cg/st/svc"
	said '/st/svc has been made again: .* no tracepoints of -e' "-e does not follow, and says so"
	recorded "sleep true" "but the recording does"
else
	skip "needs tracepoints"
fi

mkdir -p "$cg/st/svc"
start schedtape record -o t --no-follow -G st/svc
within st/svc sleep 0.1
said '/st/svc has been removed: no more tasks' "--no-follow: the end of the cgroup is told"
within st/svc sleep 0.1
recorded sleep "--no-follow: the tasks of one cgroup"

mkdir -p "$cg/st/a" "$cg/st/b"
start schedtape record -o t -G "st/a,id:$(stat -c %i "$cg/st/b")"
within st/b sleep 0.1
within st/b sh -c true
within st/a sleep 0.1
said 'the last of these cgroups has been removed' "several cgroups: the end of the last one"
within st/a true
recorded "sleep sleep true" "a path is followed, and a number is not"

# A container: its namespace of cgroups has the cgroup st as its root.
mkdir -p "$cg/st/svc"
# shellcheck disable=SC2016 # for the other shells
start sh -c 'echo $$ > "$0/st/cgroup.procs" && exec unshare -Cm sh -c \
	'\''umount -l "$0" && mount -t cgroup2 cgroup2 "$0" && exec \
		schedtape record -o t -G svc'\'' "$0"' "$cg"
within st/svc sleep 0.011
within st/svc sleep 0.1
said ' /svc has been removed: the recording goes on' "a cgroup namespace: the end is told"
interrupt $recorder
[ "$(names t)" = "sleep sleep" ]
report $? "a service that restarts: all its tasks"
schedtape report --by cgroup t > log 2>&1 && grep -q '^/svc ' log && ! grep -q 'id:' log
report $? "with their cgroups"

# The recorder does not see them, and the second one has a name that takes several events.
for option in -G/ "-M 1M -G/" "-p $$"; do
	# shellcheck disable=SC2086 # options
	start schedtape record -o t $option
	kill -STOP $recorder
	long=$(printf '%0200d' 0)
	within st/short true
	within "st/$long/below" true
	rmdir "$cg/st/$long"
	kill -CONT $recorder
	interrupt $recorder
	schedtape report --by cgroup --json t > log 2>&1 && grep -q '/st/short"' log &&
		grep -q "/st/$long/below\"" log
	report $? "$option: paths of cgroups that were gone at once"
done

finish
