# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154 # what they do not set, guest-runs does
#
# The variant is record (not compressed) or record-z (compressed at the end, which is its
# default).

trace_cmd_events=(
	sched:sched_switch sched:sched_waking sched:sched_wakeup
	sched:sched_wakeup_new sched:sched_migrate_task
	sched:sched_process_fork sched:sched_process_exit
	sched:sched_process_exec task:task_rename
)

peer_start()
{
	local -a options=(-o "$dir/data")

	# trace-cmd does not restore the ring's size: 1408 KB is the usual size.
	options+=(-b "$(($(numfmt --from=iec "${ring:-1408K}") / 1024))")
	[ "$variant" != record ] || options+=(--compression none)
	# The last action of trace-cmd before it records is to enable this.
	echo 0 > /sys/kernel/tracing/tracing_on
	trace-cmd record "${options[@]}" "${trace_cmd_events[@]/#/-e}" > "$dir/record.out" &
	readers=($!)
	until [ "$(< /sys/kernel/tracing/tracing_on)" = 1 ]; do
		kill -0 "${readers[0]}" || return
		sleep 0.1
	done
	# trace-cmd has a process for each CPU.
	mapfile -t -O 1 readers < <(pgrep -P "${readers[0]}")
}

# Reads the counters, because the recorder resets them at its end.
trace_cmd_lost()
{
	cat /sys/kernel/tracing/per_cpu/cpu*/stats > "$dir/stats"
}

peer_stop()
{
	trace_cmd_lost
	kill -INT "${readers[0]}"
	wait "${readers[0]}"
}

peer_count()
{
	echo "lost=$(awk '/^(overrun|dropped events):/ { n += $NF } END { print n }' "$1/stats")"
	trace-cmd report -N -i "$1/data" 2> /dev/null | grep -E ' [0-9.]+: +sched|task_rename' |
		sed -E 's/.* [0-9]+\.[0-9]+: +([a-z_]+): +/\1 /' |
		"$bench/whose" 'comm=(\S+)' "$load" 'trace-cmd'
}
