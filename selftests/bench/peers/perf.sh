# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154,SC2034 # what they do not set, guest-runs does
#
# The variant is record (the same events as schedtape, of all CPUs), record-z
# (the same, compressed), sched ("perf sched record"), or flight (record, into rings that are
# overwritten).

perf_events=sched:sched_switch,sched:sched_waking,sched:sched_wakeup
perf_events+=,sched:sched_wakeup_new,sched:sched_migrate_task
perf_events+=,sched:sched_process_fork,sched:sched_process_exit
perf_events+=,sched:sched_process_exec,task:task_rename

peer_names='comm=(\S+)'
# Of snapshots.
peer_files='data.*'

peer_start()
{
	local -a options=(-o "$dir/data" --control="fifo:$dir/control,$dir/ack")
	local control ack

	mkfifo "$dir/control" "$dir/ack"
	exec {control}<> "$dir/control" {ack}<> "$dir/ack"
	[ -z "$ring" ] || options+=(-m "$ring")
	case $variant in
	flight)
		perf record -a -e "$perf_events" --overwrite --switch-output "${options[@]}" \
			2> "$dir/record.out" &
		;;
	record) perf record -a -e "$perf_events" "${options[@]}" & ;;
	record-z) perf record -a -z -e "$perf_events" "${options[@]}" & ;;
	sched) perf sched record "${options[@]}" & ;;
	esac
	readers=($!)
	# perf answers when it has begun to record.
	echo ping >&"$control"
	until read -r -t 10 -u "$ack"; do
		kill -0 "${readers[0]}" || return
	done
	exec {control}>&- {ack}>&-
}

# Waits for the line that perf prints when the file is complete.
peer_snapshot()
{
	local before

	before=$(grep -c Dump "$dir/record.out")
	kill -USR2 "${readers[0]}"
	while [ "$(grep -c Dump "$dir/record.out")" = "$before" ]; do
		kill -0 "${readers[0]}" || return
		rest 0.01
	done
}

peer_stop()
{
	kill -INT "${readers[0]}"
	wait "${readers[0]}"
}

peer_events()
{
	perf script -i "$1" --show-lost-events -F time,event,trace | tee "$(dirname "$1")/script" |
		sed -nE 's/^ *([0-9.]+): +[a-z]+:([a-z_]+): /\2 \1 /p'
}

peer_count()
{
	peer_events "$1/data" | "$bench/whose" "$peer_names" "$load" 'perf'
	echo "lost=$(sed -n 's/.*PERF_RECORD_LOST.* lost \([0-9]*\).*/\1/p' "$1/script" |
		awk '{ n += $1 } END { print n + 0 }')"
}
