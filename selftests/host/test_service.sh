#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Description: a machine with Debian 13's systemd as its init, and the package schedtape: the unit
# schedtape@.service starts a recorder at the boot, which reports to systemd; when it hangs or is
# killed, it is started again, and its tapes stay. On the kernel KERNEL.

set -u
. "$(dirname "$(realpath "$0")")/lib.sh"
kernel=${KERNEL:-$("$top/selftests/qemu/fetch" default)}

# test_package.sh may have made them just before.
make_packages()
{
	local deb

	deb=$(echo "$build"/deb/schedtape_*.deb)
	if [ ! -e "$deb" ] ||
		[ -n "$(find "$top"/{Makefile,debian,include,user} -newer "$deb" -print -quit)" ]; then
		DEB_BUILD_OPTIONS=nocheck make -s -C "$top" deb
	fi
}

# mount_system: mounts a Debian 13 on $system. Changes to its files go to the test's folder.
mount_system()
{
	layer "$root" system "$system" && mount -t proc proc "$system/proc"
}

# The recorder is a flight recorder, and does not wait for two minutes until systemd misses it.
install_system()
{
	local release=$1 etc=$system/etc

	cp "$build"/deb/schedtape_*.deb "$system/root/" &&
	DEBIAN_FRONTEND=noninteractive chroot "$system" sh -c 'apt-get install -y \
		--no-install-recommends systemd-sysv /root/schedtape_*.deb' &&
	install -D "$build/kmod/$kernel/schedtape.ko" "$system/lib/modules/$release/schedtape.ko" &&
	depmod -b "$system" "$release" &&
	mkdir -p "$etc/schedtape" "$etc/systemd/system/schedtape@.service.d" &&
	echo 'RECORD_OPTIONS=-a -M 1M --switch-output' > "$etc/schedtape/web.conf" &&
	printf '%s\n' '[Service]' WatchdogSec=20s RestartSec=100ms > \
		"$etc/systemd/system/schedtape@.service.d/test.conf" &&
	chroot "$system" systemctl enable schedtape@web
}

# One CPU, as in test_package.sh.
boot()
{
	exec "$top/selftests/qemu/vm" --kernel "$kernel" --cpus 1 --no-module --timeout 500 \
		--init "$system" --append "systemd.getty_auto=0 systemd.show_status=0" -- \
		"$top/selftests/host/service-guest" "$number"
}

# in_mounts COMMAND...: runs a function with $system mounted, which only it sees
in_mounts()
{
	unshare -m bash -c 'mount_system && "$@"' - "$@"
}

make_folder
system=$T/system
mkdir "$system"
echo "TAP version 13"
if ! can_isolate; then
	skip "a machine with systemd" "needs root, and overlays"
	finish
fi
root=$("$top/selftests/qemu/fetch" root trixie) || exit
export T top build root system kernel number
export -f layer mount_system install_system boot
if check "the package" make_packages &&
   check "the module" make -s -C "$top" module KERNEL="$kernel" &&
   check "Debian 13 with systemd and the package" in_mounts install_system \
	"$(< "$("$top/selftests/qemu/fetch" kernel "$kernel")/release")"; then
	guest_part "the guest" in_mounts boot
fi
finish
