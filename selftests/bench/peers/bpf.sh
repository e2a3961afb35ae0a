# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154 # what they do not set, guest-runs does
#
# A few lines of BPF on each tracepoint, and a BPF ring buffer: the leanest
# recorder that needs no module. See ../bpf.

peer_start()
{
	"$build/bench/bpf/record" "$build/bench/bpf/events.bpf.o" "$dir/data" \
		"$(numfmt --from=iec "${ring:-1M}")" > "$dir/record.out" &
	readers=($!)
	until grep -q ready "$dir/record.out"; do
		kill -0 "${readers[0]}" || return
		sleep 0.1
	done
}

peer_stop()
{
	kill -INT "${readers[0]}"
	wait "${readers[0]}"
}

peer_count()
{
	grep '^lost=' "$1/record.out"
	# A word, and the ring's own header.
	echo ring=16
	# shellcheck disable=SC2046 # two numbers
	"$bench/bpf/dump" "$1/data" "$1/tasks" "$load" $(sed -n 's/^uptime=//p' "$1/result") |
		"$bench/whose" 'comm=(\S+)' "$load" record
}
