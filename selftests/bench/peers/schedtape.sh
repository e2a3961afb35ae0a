# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154,SC2034 # what they do not set, guest-runs does
#
# The variant is a list of words, separated by commas:
#	z0		no compression
#	mono, tsc	the clock, if not the usual one
#	syscalls	with --syscalls
#	triggers	with triggers that never fire
#	flight		a flight recorder
#	all		all tasks, not only the load
#	dropped		the filter has another process, not the load
#	half		tasks with the name "other" are left out
#	pids=N		the filter has N sleeping threads in addition
#	cgroup=N	the filter has a cgroup, and the load is N levels below it
#	between		two sessions, each with one of the cgroups a and b, which an
#			unprivileged load may move to; tasks with the name "other" are
#			left out
#	sessions=N	N sessions with the same filter
#	idle=N		N sessions with another filter, in addition

peer_names='([^ :]+):[0-9]+'
# Of snapshots.
peer_files='data.0.*'

schedtape()
{
	"$build/schedtape" "$@"
}

# recorder OPTION...: starts one more session
recorder()
{
	"$build/schedtape" record -q "${options[@]}" "$@" 2>> "$dir/log" &
	readers+=($!)
}

# Waits up to a minute, which passes at once if nothing else runs.
wait_for_sessions()
{
	local tries=600

	until [ "$(schedtape list --json | grep -c '"state": "recording"')" = ${#readers[@]} ]; do
		tries=$((tries - 1))
		if [ $tries = 0 ] || ! kill -0 "${readers[@]}"; then
			return 1
		fi
		sleep 0.1
	done 2>> "$dir/log"
}

start_bystander()
{
	sleep 100000 &
	others+=($!)
}

# Starts another process with so many threads.
start_sleepers()
{
	allow_tasks
	"$build/bench/loads/sleepers" "$1" > "$dir/sleepers.out" &
	others+=($!)
	until [ -s "$dir/sleepers.out" ]; do
		sleep 0.1
	done
}

# Makes the cgroups a and b, in which nobody's processes may move, and puts the load into a.
make_cgroups()
{
	local bench=/sys/fs/cgroup/bench

	mkdir -p "$bench"/{a,b} && chown -R nobody "$bench" || return
	echo "$load_pid" > "$bench/a/cgroup.procs"
}

peer_start()
{
	local word n=1 idle=0
	local -a filter=(-p "$load_pid") options=()

	others=()
	[ -z "$ring" ] || [[ ,$variant, = *,flight,* ]] || options+=(-m "$ring")
	for word in ${variant//,/ }; do
		case $word in
		z0) options+=(-z0) ;;
		mono | tsc) options+=(-k "$word") ;;
		syscalls) options+=(--syscalls) ;;
		triggers) options+=(--switch-output --trigger latency:1h --trigger burst:1h) ;;
		flight) options+=(-M "$ring" --name bench) ;;
		all) filter=(-a) ;;
		half) options+=(--exclude-comm=other) ;;
		dropped) start_bystander && filter=(-p "${others[0]}") ;;
		pids=*) start_sleepers "${word#*=}" && filter=(-p "$load_pid,${others[0]}") ;;
		cgroup=*) enter_cgroup "${word#*=}" && filter=(-G /sys/fs/cgroup/bench) ;;
		between)
			make_cgroups && options+=(--exclude-comm=other) &&
				recorder -o "$dir/data.b" -G /sys/fs/cgroup/bench/b &&
				filter=(-G /sys/fs/cgroup/bench/a)
			;;
		sessions=*) n=${word#*=} ;;
		idle=*) start_bystander && idle=${word#*=} ;;
		esac || return
	done
	while [ $((n--)) -gt 0 ]; do
		recorder -o "$dir/data.$n" "${filter[@]}"
	done
	while [ $((idle--)) -gt 0 ]; do
		recorder -o "$dir/idle.$idle" -p "${others[0]}"
	done
	wait_for_sessions
}

peer_stop()
{
	# The recorders may have noticed the end of the load already.
	kill -INT "${readers[@]}" 2> /dev/null
	wait "${readers[@]}"
	[ ${#others[@]} = 0 ] || kill -KILL "${others[@]}"
}

# Prints the member keeps_ns, which is where "keeps about N s" of a terminal comes from, too.
peer_keeps()
{
	[[ ,$variant, != *,flight,* ]] ||
		schedtape list --json | sed -n 's/.*"keeps_ns": \([0-9]*\).*/\1/p'
}

peer_snapshot()
{
	schedtape snapshot --recorder bench
}

peer_events()
{
	schedtape script "$1" | sed -E 's/.* ([0-9.]+): +([a-z_]+): /\2 \1 /; s/\?:/:/g'
}

# shellcheck disable=SC2016 # awk expands it
peer_count()
{
	local file=$1/data.0

	schedtape info --json "$file" |
	/usr/bin/python3 -c 'if True:
		import json, sys
		cpus = json.load(sys.stdin)["cpus"]
		print("events=%d" % sum(cpu["events"] for cpu in cpus))
		print("lost=%d" % sum(cpu["lost"] for cpu in cpus))'
	peer_events "$file" | "$bench/whose" "$peer_names" "$load" schedtape
}
