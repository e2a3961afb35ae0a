# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# lib.sh - shared by tests that run outside of a guest (some of them also inside): TAP results, a
# temporary folder, and commands whose changes to this machine's files only they see. Sourced.

top=$(realpath "$(dirname "$(realpath "${BASH_SOURCE[0]}")")/../..")
build=$(realpath -m "${SCHEDTAPE_BUILD:-$top/build}")
version=$(sed -n 's/^#define SCHEDTAPE_VERSION.*"\(.*\)"/\1/p' \
	"$top/include/schedtape/version.h")
PATH=$PATH:/usr/sbin:/sbin
number=0 failed=0

. "$top/selftests/qemu/cache.sh"
. "$top/selftests/qemu/suites.sh"
. "$top/selftests/suite/kernels.sh"

# A test that needs a folder of its own calls make_folder first.
make_folder()
{
	mkdir -p "$build" && T=$(mktemp -d -p "$build" test.XXXXXX) || exit 1
	trap 'rm -rf "$T"' EXIT
}

# check NAME COMMAND...: prints COMMAND's output only if it fails.
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

# same IS EXPECTED: compares, for a command of check
same()
{
	[ "$1" = "$2" ] || { printf '%s\n' "expected: $2" "is: $1"; return 1; }
}

skip()
{
	number=$((number + 1))
	echo "ok $number $1 # SKIP $2"
}

# guest_part NAME COMMAND...: runs a guest that prints results, from number $number + 1 on.
# They are results of this test. If the exit status is not that of a test, NAME fails, too.
guest_part()
{
	"${@:2}" > "$T/log"
	case $? in
	0) ;;
	1) failed=1 ;;
	*) check "$1" false ;;
	esac
	cat "$T/log"
	number=$((number + $(grep -cE '^(not )?ok ' "$T/log")))
}

finish()
{
	echo "1..$number"
	exit $failed
}

# layer DIR NAME: from now on, changes below DIR are written to $T/layers/NAME.
layer()
{
	mkdir -p "$T/layers/$2" "$T/work/$2" &&
	mount -t overlay -o "lowerdir=$1,upperdir=$T/layers/$2,workdir=$T/work/$2" layer \
		"${3-$1}"
}

# Installs kernels as their packages would, from the unpacked packages.
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

# Several tests let DKMS build the same module in the same folder. If there is ccache, only the
# first one compiles it.
inside()
{
	use_ccache
	layer /usr usr && layer /etc etc && layer /var var && layer_kernels || exit 125
	"$@"
}

# isolated COMMAND...: runs in a machine that is like this one, but has the kernels $KERNELS, and
# has the changes of earlier commands from $T/layers. Functions have to be exported.
isolated()
{
	export T KERNELS top build cache version
	export -f layer layer_kernels inside use_ccache
	# shellcheck disable=SC2016 # the inner shell expands it
	unshare -m bash -c 'inside "$@"' - "$@"
}

# can_isolate: tests whether this user may mount, and this machine has overlays
can_isolate()
{
	[ "$(id -u)" = 0 ] && (KERNELS='' && isolated true) 2> /dev/null
}

# Prints the module that DKMS installed for a release, wherever and however packed.
dkms_module()
{
	find "/usr/lib/modules/$1/updates" -name 'schedtape.ko*' 2> /dev/null
}
export -f dkms_module
