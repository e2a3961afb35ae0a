# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154,SC2034 # what they do not set, guest-runs does
#
# The variant is record (not compressed) or record-z (compressed at the end, which is its
# default), or flight (no recorder, and snapshots of the kernel's ring).

trace_cmd_events=(
	sched:sched_switch sched:sched_waking sched:sched_wakeup
	sched:sched_wakeup_new sched:sched_migrate_task
	sched:sched_process_fork sched:sched_process_exit
	sched:sched_process_exec task:task_rename
)

peer_names='comm=(\S+)'
# Of snapshots.
peer_files='data.*'
tracing=/sys/kernel/tracing

# A snapshot is a second ring, which is made here. The header that snapshots need as files
# is the same for all.
start_flight()
{
	trace-cmd start "$@" "${trace_cmd_events[@]/#/-e}" && trace-cmd snapshot -s &&
		trace-cmd restore -c -o "$dir/header"
}

peer_start()
{
	local -a options=(-o "$dir/data")

	# trace-cmd does not restore the ring's size: 1408 KB is the usual size.
	options+=(-b "$(($(numfmt --from=iec "${ring:-1408K}") / 1024))")
	snapshots=0
	if [ "$variant" = flight ]; then
		start_flight "${options[@]:2}"
		return
	fi
	[ "$variant" != record ] || options+=(--compression none)
	# The last action of trace-cmd before it records is to enable this.
	echo 0 > $tracing/tracing_on
	trace-cmd record "${options[@]}" "${trace_cmd_events[@]/#/-e}" > "$dir/record.out" &
	readers=($!)
	until [ "$(< $tracing/tracing_on)" = 1 ]; do
		kill -0 "${readers[0]}" || return
		sleep 0.1
	done
	# trace-cmd has a process for each CPU.
	mapfile -t -O 1 readers < <(pgrep -P "${readers[0]}")
}

# Reads the counters, because the recorder resets them at its end.
trace_cmd_lost()
{
	cat $tracing/per_cpu/cpu*/stats > "$dir/stats"
}

# "trace-cmd extract -s" reads the ring that goes on, not the snapshot (3.1.6), so the snapshot is
# read from its own file: page by page, as long as there are any.
peer_snapshot()
{
	local cpu files=()

	trace-cmd snapshot -s || return
	for cpu in "$tracing"/per_cpu/cpu*; do
		files+=("$dir/${cpu##*/}")
		dd if="$cpu/snapshot_raw" of="${files[-1]}" bs=4096 iflag=nonblock
	done
	trace-cmd restore -i "$dir/header" -o "$dir/data.$((++snapshots))" "${files[@]}"
}

peer_stop()
{
	if [ "$variant" = flight ]; then
		trace-cmd reset && trace-cmd snapshot -f
		return
	fi
	trace_cmd_lost
	kill -INT "${readers[0]}"
	wait "${readers[0]}"
}

peer_events()
{
	trace-cmd report -N -i "$1" 2> /dev/null | grep -E ' [0-9.]+: +sched|task_rename' |
		sed -E 's/.* ([0-9]+\.[0-9]+): +([a-z_]+): +/\2 \1 /'
}

peer_count()
{
	echo "lost=$(awk '/^(overrun|dropped events):/ { n += $NF } END { print n }' "$1/stats")"
	peer_events "$1/data" | "$bench/whose" "$peer_names" "$load" 'trace-cmd'
}
