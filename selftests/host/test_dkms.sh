#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Description: DKMS builds the module, signs it, installs it and removes it, from the tree that
# "make install" makes. It does so for the newest kernel of this machine's release, because
# test_package.sh lets DKMS build it for all of them.

set -u
. "$(dirname "$(realpath "$0")")/lib.sh"

same_version()
{
	local configured

	configured=$(sed -n 's/^PACKAGE_VERSION="\(.*\)"/\1/p' "$top/dkms.conf")
	echo "dkms.conf has version $configured, include/schedtape/version.h $version"
	[ -n "$version" ] && [ "$configured" = "$version" ]
}

# If a DKMS command fails, the reason is in a file.
run_dkms()
{
	dkms "$1" -m schedtape -v "$version" "${@:2}" && return
	cat "/var/lib/dkms/schedtape/$version/build/make.log"
	return 1
}

right_module()
{
	local ko magic

	ko=$(dkms_module "$1")
	magic=$(modinfo -F vermagic "$ko")
	echo "installed: $ko, for $magic, signed by: $(modinfo -F signer "$ko")"
	[ "${magic%% *}" = "$1" ] && [ "$(modinfo -F version "$ko")" = "$version" ] &&
	[ "$(modinfo -F signer "$ko")" = "DKMS module signing key" ] &&
	[ "$(modprobe -S "$1" --resolve-alias char-major-10-246)" = schedtape ]
}

is_gone()
{
	echo "left: $(dkms_module "$1")"
	[ -z "$(dkms_module "$1")" ]
}

knows_nothing()
{
	same "$(dkms status -m schedtape)" ""
}

# passes_over OPTION VERSION: a fake kernel that lacks OPTION; status 77 means "not for this one"
passes_over()
{
	local option

	mkdir -p "$T/bare"
	for option in $NEEDS; do
		[ "$option" = "$1" ] || echo "CONFIG_$option=y"
	done > "$T/bare/.config"
	dkms build -m schedtape -v "$version" -k "$2-bare" --kernelsourcedir "$T/bare"
	[ $? = 77 ]
}

one_kernel()
{
	local release

	release=$(< "$("$top/selftests/qemu/fetch" kernel "$1")/release")
	check "$1: build" isolated run_dkms build -k "$release" &&
	check "$1: install" isolated run_dkms install -k "$release" || return
	check "$1: the module is for $release, and signed" isolated right_module "$release"
	check "$1: uninstall" isolated run_dkms uninstall -k "$release"
	check "$1: the module is gone" isolated is_gone "$release"
}

make_folder
export NEEDS='CGROUPS NET TRACEPOINTS'
export -f run_dkms right_module is_gone same knows_nothing passes_over
echo "TAP version 13"
check "dkms.conf has the version of the headers" same_version
if can_isolate; then
	KERNELS=$(own_series | tail -n 1)
	check "make dkms-source" isolated make -s -C "$top" dkms-source
	check "add" isolated run_dkms add
	one_kernel "$KERNELS"
	for option in $NEEDS; do
		check "a kernel without $option is passed over" isolated passes_over "$option" 6.1.0
	done
	# Series between the tested ones or after them are not built.
	for series in 6.6.30 6.15.9 7.2.9 7.4.1; do
		check "$series is passed over" isolated passes_over '' "$series"
	done
	check "remove" isolated run_dkms remove --all
	check "DKMS knows nothing of it any more" isolated knows_nothing
else
	skip "DKMS" "needs root, and overlays"
fi
finish
