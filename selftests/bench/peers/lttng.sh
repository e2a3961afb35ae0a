# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154,SC2034 # what they do not set, guest-runs does
#
# LTTng with its usual settings, into a folder. It has no event for renames. With the variant flight
# it records for snapshots, into a ring of 64 parts.

lttng_events=sched_switch,sched_waking,sched_wakeup,sched_wakeup_new,sched_migrate_task
lttng_events+=,sched_process_fork,sched_process_exit,sched_process_exec

lttng_modules=(
	lttng-wrapper lttng-clock lib/lttng-lib-ring-buffer lib/lttng-counter
	lttng-statedump probes/lttng-kprobes probes/lttng-kretprobes probes/lttng-uprobes
	lttng-tracer
	lttng-ring-buffer-client-discard lttng-ring-buffer-client-overwrite
	lttng-ring-buffer-client-mmap-discard lttng-ring-buffer-client-mmap-overwrite
	lttng-ring-buffer-metadata-client lttng-ring-buffer-metadata-mmap-client
	lttng-ring-buffer-event-notifier-client
	lttng-counter-client-percpu-32-modular lttng-counter-client-percpu-64-modular
	probes/lttng-probe-sched
)

peer_names='comm = "([^"]*)"'
# Of snapshots.
peer_files='data/*'

# LTTng's daemon unloads some of them when it ends.
load_modules()
{
	local module name

	for module in "${lttng_modules[@]}"; do
		name=${module##*/}
		[ -d "/sys/module/${name//-/_}" ] ||
			insmod "$build/bench/lttng/$kernel/src/$module.ko" || return
	done
}

peer_start()
{
	local -a channel=() session=(--output="$dir/data")

	load_modules || return
	lttng-sessiond --kmod-probes=sched > "$dir/sessiond.out" 2>&1 &
	readers=($!)
	until lttng list --kernel > /dev/null; do
		kill -0 "${readers[0]}" || return
		sleep 0.1
	done
	[ -z "$ring" ] || channel=(--subbuf-size=1M --num-subbuf="${ring%M}")
	if [ "$variant" = flight ]; then
		session=(--snapshot --output="$dir/data")
		channel=(--overwrite --num-subbuf=64)
		channel+=(--subbuf-size=$(($(numfmt --from=iec "$ring") / 64)))
	fi
	lttng create bench "${session[@]}" &&
		lttng enable-channel --kernel "${channel[@]}" all &&
		lttng enable-event --kernel --channel=all "$lttng_events" &&
		lttng start || return
	mapfile -t -O 1 readers < <(pgrep -x lttng-consumerd)
}

peer_snapshot()
{
	lttng snapshot record
}

peer_stop()
{
	lttng stop && lttng destroy
	kill "${readers[0]}"
	wait "${readers[0]}"
}

peer_events()
{
	babeltrace2 --clock-seconds "$1" 2> "$(dirname "$1")/babeltrace.log" |
		sed -E 's/^\[([0-9.]+)\] \([^)]*\) [^ ]+ ([a-z_]+): /\2 \1 /'
}

peer_count()
{
	peer_events "$1/data" | "$bench/whose" "$peer_names" "$load" 'lttng.*'
	grep -oE '[0-9]+ events' "$1/babeltrace.log" |
		awk '{ n += $1 } END { print "lost=" n + 0 }'
	echo "packed=$(tar -C "$1" -c data | zstd -c | wc -c)"
}
