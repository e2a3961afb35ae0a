# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154 # what they do not set, guest-runs does
#
# The variant is record (the same events as schedtape, of all CPUs), record-z
# (the same, compressed), or sched ("perf sched record").

perf_events=sched:sched_switch,sched:sched_waking,sched:sched_wakeup
perf_events+=,sched:sched_wakeup_new,sched:sched_migrate_task
perf_events+=,sched:sched_process_fork,sched:sched_process_exit
perf_events+=,sched:sched_process_exec,task:task_rename

peer_start()
{
	local -a options=(-o "$dir/data" --control="fifo:$dir/control,$dir/ack")
	local control ack

	mkfifo "$dir/control" "$dir/ack"
	exec {control}<> "$dir/control" {ack}<> "$dir/ack"
	[ -z "$ring" ] || options+=(-m "$ring")
	case $variant in
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

peer_stop()
{
	kill -INT "${readers[0]}"
	wait "${readers[0]}"
}

peer_count()
{
	perf script -i "$1/data" --show-lost-events -F event,trace > "$1/script"
	echo "lost=$(sed -n 's/.*PERF_RECORD_LOST.* lost \([0-9]*\).*/\1/p' "$1/script" |
		awk '{ n += $1 } END { print n + 0 }')"
	sed -nE 's/^ *[a-z]+:([a-z_]+): /\1 /p' "$1/script" |
		"$bench/whose" 'comm=(\S+)' "$load" 'perf'
}
