# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154 # what they do not set, guest-runs does
#
# Nothing records: all others are compared with this. With the variant cgroup=N the load is so
# many cgroups below the top, as with schedtape.

peer_start()
{
	case $variant in
	cgroup=*) enter_cgroup "${variant#*=}" ;;
	esac
}

peer_stop()
{
	:
}

peer_count()
{
	:
}
