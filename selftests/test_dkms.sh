#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Description: DKMS builds the module for every supported kernel, installs it
# and removes it, from the tree that "make install" makes, in folders of its own.

set -u
top=$(realpath "$(dirname "$(realpath "$0")")/..")
kernels=(6.1 6.12)
PATH=$PATH:/usr/sbin:/sbin
number=0 failed=0

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
	[ ! -e "$T/dkms/schedtape/$version/build/make.log" ] ||
		sed 's/^/# /' "$T/dkms/schedtape/$version/build/make.log"
	echo "not ok $number $1"
	failed=1
	return 1
}

skip()
{
	number=$((number + 1))
	echo "ok $number $1 # SKIP $2"
}

isolated()
{
	dkms "$@" -m schedtape -v "$version" --dkmstree "$T/dkms" \
		--sourcetree "$T/root/usr/src" --installtree "$T/modules"
}

same_version()
{
	local configured

	configured=$(sed -n 's/^PACKAGE_VERSION="\(.*\)"/\1/p' "$top/dkms.conf")
	echo "dkms.conf has version $configured, include/schedtape/version.h $version"
	[ -n "$version" ] && [ "$configured" = "$version" ]
}

# The module of the kernel $1, wherever and however packed.
installed()
{
	find "$T/modules/$1" -name 'schedtape.ko*'
}

right_module()
{
	local ko magic

	ko=$(installed "$1")
	echo "installed: $ko"
	magic=$(modinfo -F vermagic "$ko")
	echo "vermagic: $magic"
	[ "${magic%% *}" = "$1" ] && [ "$(modinfo -F version "$ko")" = "$version" ]
}

is_gone()
{
	echo "left: $(installed "$1")"
	[ -z "$(installed "$1")" ]
}

one_kernel()
{
	local prefix release kernel=$1

	if ! prefix=$("$top/selftests/qemu/fetch" kernel "$kernel"); then
		skip "$kernel: build" "no package has its headers"
		return
	fi
	release=$(< "$prefix/release")
	check "$kernel: build" isolated build -k "$release" \
		--kernelsourcedir "$prefix/kdir" || return
	mkdir -p "$T/modules/$release"
	check "$kernel: install" isolated install -k "$release" \
		--kernelsourcedir "$prefix/kdir" --no-depmod || return
	check "$kernel: the module is for $release" right_module "$release"
	check "$kernel: uninstall" isolated uninstall -k "$release" --no-depmod
	check "$kernel: the module is gone" is_gone "$release"
}

version=$(sed -n 's/^#define SCHEDTAPE_VERSION.*"\(.*\)"/\1/p' "$top/include/schedtape/version.h")
T=$(mktemp -d) || exit 1
trap 'rm -rf "$T"' EXIT
mkdir "$T/dkms" "$T/modules"

echo "TAP version 13"
if [ -e /run/vm ]; then
	skip "dkms" "nothing here needs a guest"
	echo "1..1"
	exit 0
fi
check "dkms.conf has the version of the headers" same_version
if command -v dkms > /dev/null && [ "$(id -u)" = 0 ]; then
	check "make dkms-source" make -s -C "$top" dkms-source DESTDIR="$T/root"
	check "add" isolated add
	for kernel in "${kernels[@]}"; do
		one_kernel "$kernel"
	done
	check "remove" isolated remove --all --no-depmod
else
	skip "build" "needs dkms, and root"
fi
echo "1..$number"
exit $failed
