#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Description: DKMS builds the module, signs it, installs it and removes it, from the tree that
# "make install" makes. It does so for the newest kernel of this machine's release, because
# test_package.sh lets DKMS build it for all of them. When dpkg installs a kernel for which the module
# does not build, the kernel is installed all the same, and a line says why there is no module.

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

# kernel_package [FILE EDIT]: makes a package of a kernel that this machine claims to run. Its headers
# are those of $series, with FILE changed by sed. When dpkg installs it, DKMS is called as by
# Debian's kernels.
kernel_package()
{
	local prefix kdir root=$T/package

	prefix=$("$top/selftests/qemu/fetch" kernel "$series") || return
	rm -rf "$T/headers" "$root"
	mkdir -p "$T/headers" "$root/DEBIAN" "$root/usr/lib/modules/$release" &&
	cp -rs "$prefix/usr/src" "$T/headers/" || return
	kdir=$T/headers/src/$(basename "$(readlink "$prefix/kdir")")
	if [ $# = 2 ]; then
		cp --remove-destination "$(realpath "$kdir/$1")" "$kdir/$1" &&
		sed -i "$2" "$kdir/$1" && ! cmp -s "$kdir/$1" "$prefix/kdir/$1" || return
	fi
	ln -s "$kdir" "$root/usr/lib/modules/$release/build"
	: > "$root/usr/lib/modules/$release/modules.dep"
	printf '%s\n' 'Package: linux-image-made-up' 'Version: 1' 'Architecture: all' \
		'Maintainer: nobody <nobody@localhost>' 'Description: made up' > "$root/DEBIAN/control"
	printf '#!/bin/sh\nexec run-parts --regex "^dkms$" --arg=%s /etc/kernel/postinst.d\n' \
		"$release" > "$root/DEBIAN/postinst"
	chmod 755 "$root/DEBIAN/postinst"
	dpkg-deb -b "$root" "$T/kernel.deb"
}

# excludes TEXT: the kernel is installed without the module, for that reason
excludes()
{
	local said why

	said=$(dpkg -i "$T/kernel.deb" 2>&1) || { echo "$said"; return 1; }
	why=$("$build/schedtape" status 2>&1)
	printf '%s\n' "$said" "$why"
	[ "$(grep -c '^schedtape: excluded: ' <<< "$said")" = 1 ] &&
	grep "^schedtape: excluded: .*$1" <<< "$said" &&
	grep "the module does not build for the kernel $release: .*$1" <<< "$why" &&
	[ -z "$(dkms_module "$release")" ] && dpkg -P linux-image-made-up
}

# A command for that kernel fails with DKMS's number for an excluded one.
says_excluded()
{
	dpkg --unpack "$T/kernel.deb" && dkms build -m schedtape -v "$version" -k "$release"
	[ $? = 77 ] && dpkg -P linux-image-made-up
}

# The kernel is installed with the module. Its series is not tested.
builds_untested()
{
	dpkg -i "$T/kernel.deb" && [ -n "$(dkms_module "$release")" ] &&
	grep "^schedtape: Linux 6.77 is not tested: " \
		"/var/lib/dkms/schedtape/$version/$release/$(uname -m)/log/make.log" &&
	run_dkms uninstall -k "$release" && dkms remove -m schedtape -v "$version" -k "$release" &&
	dpkg -P linux-image-made-up
}

# common FILE: prints the path of a file of the headers that all flavours share, for kernel_package
common()
{
	local headers

	headers=$(echo "$("$top/selftests/qemu/fetch" kernel "$series")"/usr/src/*-common)
	echo "../${headers##*/}/$1"
}

# kernels_by_dpkg NAME: what happens when kernels are installed, with DKMS NAME
kernels_by_dpkg()
{
	check "$1: a kernel without an option" kernel_package include/config/auto.conf /CONFIG_CGROUPS=/d &&
		check "$1: it is installed, and excluded" isolated excludes \
			"this kernel is built without CONFIG_CGROUPS, which the module needs"
	check "$1: \"dkms build\" excludes it" isolated says_excluded
	check "$1: a kernel without a tracepoint" kernel_package \
		"$(common include/trace/events/sched.h)" s/sched_pi_setprio/sched_pi_prio/ &&
		check "$1: it is installed, and excluded" isolated excludes \
			check_trace_callback_type_sched_pi_setprio
	check "$1: a kernel with broken headers" kernel_package \
		"$(common include/linux/tracepoint.h)" '1i#error Broken' &&
		check "$1: it is installed, and excluded" isolated excludes \
			"these kernel headers cannot be used: .*Broken"
}

untested_kernel()
{
	check "a kernel of another series" kernel_package "$(common Makefile)" \
		's/^PATCHLEVEL = .*/PATCHLEVEL = 77/' &&
		check "it is installed, with the module" isolated builds_untested
}

# The DKMS of Debian 13 replaces that of this machine.
newer_dkms()
{
	local package

	package=$("$top/selftests/qemu/fetch" package dkms trixie) &&
	cp -a "$package/usr" "$package/etc" / && dkms --version
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
release=$(uname -r)
export release
export -f run_dkms right_module is_gone same knows_nothing excludes says_excluded builds_untested newer_dkms
echo "TAP version 13"
check "dkms.conf has the version of the headers" same_version
if can_isolate; then
	series=$(own_series | tail -n 1)
	KERNELS=$series
	check "make dkms-source" isolated make -s -C "$top" dkms-source
	check "add" isolated run_dkms add
	one_kernel "$series"
	kernels_by_dpkg "$(dkms --version)"
	if [ "$(host_suite)" = bookworm ]; then
		check "DKMS of Debian 13" isolated newer_dkms && kernels_by_dpkg "DKMS of Debian 13"
	fi
	untested_kernel
	check "remove" isolated run_dkms remove --all
	check "DKMS knows nothing of it any more" isolated knows_nothing
else
	skip "DKMS" "needs root, and overlays"
fi
finish
