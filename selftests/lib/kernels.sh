# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154 # top is of lib.sh
# kernels.sh - which kernels the module is tested on.  Sourced, after qemu/suites.sh.

# tested_series: a line each, oldest first: dkms.conf is the one place that names them
tested_series()
{
	sed -n 's/^BUILD_EXCLUSIVE_KERNEL="^(\(.*\))\\\."$/\1/p' "$top/dkms.conf" |
	tr '|' '\n' | sed 's/[^0-9.]//g'
}

# is_tested NAME: of one of these series
is_tested()
{
	tested_series | grep -qxF "${1%%-*}"
}

# own_series: those that come from this machine's own release, whose module can be built
# here with its compiler
own_series()
{
	local series

	for series in $(tested_series); do
		[ "$(cat "$("$top/selftests/qemu/fetch" kernel "$series")/suite")" != \
			"$(host_suite)" ] || echo "$series"
	done
}
