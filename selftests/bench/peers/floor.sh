# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154 # what they do not set, guest-runs does
#
# Bare probes: no recorder can be cheaper. The variant is the probes' action: empty, tsc or mono
# (see floor.c).

peer_start()
{
	insmod "$build/bench/floor/$kernel/floor.ko" probe="$variant"
}

peer_stop()
{
	cat /sys/module/floor/parameters/events > "$dir/events"
	rmmod floor
}

# The probes keep no events; an empty probe does not even count.
peer_count()
{
	echo "events=$(cat "$1/events")"
}
