#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Usage: test_repeats.sh [KERNEL PROGRAM...]
#
# Description: a guest that counts instructions does the same each time: what the programs (a few,
# unless they are named) and the kernel (6.12) print is equal, line by line, but for numbers. These
# differ: QEMU's two threads may each run a timer that is due, and see times that are some hundred
# instructions apart.

set -u
. "$(dirname "$(realpath "$0")")/lib.sh"
. "$top/selftests/suite/programs.sh"
. "$top/selftests/suite/gate.sh"
cd "$top/selftests" || exit 1
make_folder
[ $# -gt 1 ] || set -- 6.12 test_throttle test_overwrite test_spikes.sh
if [ "$2" = all ]; then
	mapfile -t all < <(one_cpu)
	set -- "$1" "${all[@]}"
fi

# once N: a guest, with its output and its kernel's
once()
{
	"${command[0]}" --timeout 1800 --console "$T/console$1" "${command[@]:1}" > "$T/out$1" 2>&1
}

# twice KERNEL PROGRAM...: two guests. They run side by side if they take long.
twice()
{
	local command status

	counted_command "$1" 4 "${@:2}"
	once 1 &
	[ $# -gt 4 ] || wait $!
	once 2
	status=$?
	wait
	! grep '^not ok\|^vm: ' "$T"/out[12] && return "$status"
}

# equal NAME: compares the two files
equal()
{
	sed -Ei 's/[0-9]+/N/g; s/ +/ /g' "$T/$1"[12]
	diff "$T/$1"[12] | head -n 20
	return "${PIPESTATUS[0]}"
}

check "two guests run, and nothing fails in them" twice "$@"
check "the programs print the same, but for numbers" equal out
check "the kernel prints the same, but for numbers" equal console
finish
