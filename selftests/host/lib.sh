# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# lib.sh - what tests share that run outside of a guest, as a part of them may
# inside: TAP results, a folder that goes with them, and commands that change this
# machine's files only for themselves.  Sourced.

top=$(realpath "$(dirname "$(realpath "${BASH_SOURCE[0]}")")/../..")
build=$(realpath -m "${SCHEDTAPE_BUILD:-$top/build}")
version=$(sed -n 's/^#define SCHEDTAPE_VERSION.*"\(.*\)"/\1/p' \
	"$top/include/schedtape/version.h")
PATH=$PATH:/usr/sbin:/sbin
number=0 failed=0

. "$top/selftests/qemu/suites.sh"
. "$top/selftests/suite/kernels.sh"

# A test with a folder of its own says "make_folder" first.
make_folder()
{
	mkdir -p "$build" && T=$(mktemp -d -p "$build" test.XXXXXX) || exit 1
	trap 'rm -rf "$T"' EXIT
}

# check NAME COMMAND...: shows what a command says only if it fails.
check()
{
	local log

	number=$((number + 1))
	if log=$("${@:2}" 2>&1 < /dev/null); then
		echo "ok $number $1"
		return
	fi
	printf '%s\n' "$log" | sed 's/^/# /'
	echo "not ok $number $1"
	failed=1
	return 1
}

# same IS EXPECTED: for a command of check
same()
{
	[ "$1" = "$2" ] || { printf '%s\n' "expected: $2" "is: $1"; return 1; }
}

skip()
{
	number=$((number + 1))
	echo "ok $number $1 # SKIP $2"
}

finish()
{
	echo "1..$number"
	exit $failed
}

# layer DIR NAME: what is written into DIR from now on lies in $T/layers/NAME.
layer()
{
	mkdir -p "$T/layers/$2" "$T/work/$2" &&
	mount -t overlay -o "lowerdir=$1,upperdir=$T/layers/$2,workdir=$T/work/$2" layer \
		"${3-$1}"
}

# Kernels as their packages would have installed them, from what was unpacked.
layer_kernels()
{
	local kernel prefix release

	for kernel in $KERNELS; do
		prefix=$("$top/selftests/qemu/fetch" kernel "$kernel") || return
		release=$(< "$prefix/release")
		ln -sfn "$(realpath "$prefix/kdir")" "/usr/src/linux-headers-$release" &&
		mkdir -p "/usr/lib/modules/$release" &&
		layer "$prefix/lib/modules/$release" "modules/$release" \
			"/usr/lib/modules/$release" || return
	done
}

inside()
{
	layer /usr usr && layer /etc etc && layer /var var && layer_kernels || exit 125
	"$@"
}

# isolated COMMAND...: in a machine that is like this one, but has the kernels
# $KERNELS, and keeps what former commands left in $T/layers.  Functions have to
# be exported.
isolated()
{
	export T KERNELS top build version
	export -f layer layer_kernels inside
	# shellcheck disable=SC2016 # the inner shell expands it
	unshare -m bash -c 'inside "$@"' - "$@"
}

# can_isolate: may this user mount, and does this machine have overlays?
can_isolate()
{
	[ "$(id -u)" = 0 ] && (KERNELS='' && isolated true) 2> /dev/null
}

# The module that DKMS installed for a release, wherever and however packed.
dkms_module()
{
	find "/usr/lib/modules/$1/updates" -name 'schedtape.ko*' 2> /dev/null
}
export -f dkms_module
