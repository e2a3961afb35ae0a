# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154 # top and build are of lib.sh, logs is the caller's
# kernels.sh - the kernels on which the module is tested, and attempts on newer kernels. Sourced,
# after qemu/suites.sh; try_untried also needs guests.sh.

# tested_series: prints a line for each, oldest first
tested_series()
{
	grep '^[0-9]' "$top/kmod/tested-series"
}

# is_tested NAME: tests whether NAME is of one of these series
is_tested()
{
	tested_series | grep -qxF "${1%%-*}"
}

# own_series: prints the series of this machine's own release, for which its compiler can build
# the module
own_series()
{
	local series

	for series in $(tested_series); do
		[ "$(cat "$("$top/selftests/qemu/fetch" kernel "$series")/suite")" != \
			"$(host_suite)" ] || echo "$series"
	done
}

# choose_kernels: sets kernels; untried, the newest series if the module is to be tried on it as
# well; and missing, the series that no release offers any more. Runs in the folder selftests.
choose_kernels()
{
	local series newest

	kernels=() missing=() untried=
	newest=$(qemu/fetch newest) || exit
	for series in ${KERNELS:-$(tested_series)}; do
		[ "$series" != newest ] || series=$newest
		qemu/fetch offers "$series" && kernels+=("$series") || missing+=("$series")
	done
	[ -n "${KERNELS-}" ] || is_tested "$newest" || untried=$newest
}

# one KERNEL: prints the beginning of the command line of a guest's tests
one()
{
	echo "SCHEDTAPE_KO=$build/kmod/$1/schedtape.ko ./run"
}

# try_untried TEST...: tries the module on $untried. A failure on a kernel that is newer than the
# tested ones is a skipped result.
try_untried()
{
	local log=$logs/guest-$untried.log

	if ! make -s -C "$top" module KERNEL="$untried" > "$log" 2>&1; then
		leave_out "$untried" "is newer than what was tested, and the module does not build: see $log"
	elif ! guest "$log" qemu/vm --kernel "$untried" --cpus 2 -- "$(one "$untried") $*" > /dev/null; then
		leave_out "$untried" "is newer than what was tested, and tests fail: see $log"
	else
		echo "ok 1 $untried, which is newer than what was tested, passes a few tests"
	fi
}

# leave_out KERNEL WHY: prints one skipped result
leave_out()
{
	echo "ok 1 $1 # SKIP it $2"
	echo "# untried: $1 $2"
}
