#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Description: the Debian packages: lintian finds nothing, and they are installed, with DKMS
# building the module for every supported kernel of this machine's release, then used in guests of
# GUESTS (the newest of these) and purged in the last of them, which takes the longest. An emulated
# guest would take minutes to build the module, so they are installed in a machine that is like
# this one, and the guests use that.

set -u
. "$(dirname "$(realpath "$0")")/lib.sh"
KERNELS=$(own_series)
read -ra guests <<< "${GUESTS:-${KERNELS##*$'\n'}}"

same_version()
{
	echo "debian/changelog has $1, include/schedtape/version.h $version"
	[ "$1" = "$version" ]
}

# The project has no mail address. The lintian of each release expects the policy of its time. It
# reads machine code as text, and finds spelling errors in that.
run_lintian()
{
	lintian --allow-root --fail-on error,warning,info,pedantic \
		--suppress-tags bogus-mail-host,bogus-mail-host-in-debian-changelog \
		--suppress-tags out-of-date-standards-version,newer-standards-version \
		--suppress-tags spelling-error-in-binary \
		--display-info --pedantic "$build"/deb/*.changes
}

is_conffile()
{
	dpkg-deb -I "$build"/deb/schedtape-dkms_*.deb conffiles | tee "$T/conffiles"
	grep -qx /etc/modprobe.d/schedtape-dkms.conf "$T/conffiles"
}

install_packages()
{
	DEBIAN_FRONTEND=noninteractive dpkg -i "$build"/deb/{schedtape,libschedtape-dev}_*.deb \
		"$build"/deb/libschedtape{,-client}0_*.deb "$build"/deb/schedtape-dkms_*.deb \
		"$build"/deb/python3-schedtape_*.deb
}

built_for()
{
	local release

	[ $# -gt 0 ] || return
	for release; do
		dkms status -m schedtape -v "$version" -k "$release" | grep ': installed' &&
		[ -e "$(dkms_module "$release")" ] || return
	done
}

# Scripts, and programs in Python, find the package python3-schedtape. Without it the error names it.
# Debian's Python may not be the first one in PATH.
python_works()
{
	local PATH=/usr/bin:/bin said

	unset PYTHONPATH
	cd / && "$build/selftests/tapes/ext_tape" "$T/tape" &&
	same "$(python3 -c 'import schedtape, sys
with schedtape.open(sys.argv[1]) as tape:
    print(len(tape.tasks()), sum(1 for _ in tape))' "$T/tape")" "2 70" &&
	schedtape script -i "$T/tape" -s event-counts | grep ' 30 .*sched:sched_switch' &&
	mv /usr/lib/python3/dist-packages/schedtape /tmp/schedtape-moved.$$ || return
	said=$(schedtape script -i "$T/tape" -s event-counts 2>&1)
	mv /tmp/schedtape-moved.$$ /usr/lib/python3/dist-packages/schedtape
	echo "$said"
	[ "$(wc -l <<< "$said")" = 1 ] && grep -q 'install the package python3-schedtape' <<< "$said"
}

# Programs for libschedtape and libschedtape-client: package-guest runs them.
programs_build()
{
	# shellcheck disable=SC2046 # words
	gcc -Wall -Wextra -Werror -o "$T/kinds" /usr/share/doc/libschedtape-dev/examples/kinds.c \
		$(pkg-config --cflags --libs libschedtape) &&
	gcc -Wall -Wextra -Werror -o "$T/switches" \
		/usr/share/doc/libschedtape-dev/examples/switches.c \
		$(pkg-config --cflags --libs libschedtape libschedtape-client) &&
	gcc -Wall -Wextra -Werror -o "$T/client" "$top/selftests/host/library/client.c" \
		$(pkg-config --cflags --libs libschedtape-client)
}

# A program that reads tapes needs the package of one library only.
right_depends()
{
	mkdir -p "$T/depends/debian" &&
	printf '%s\n' 'Source: kinds' '' 'Package: kinds' 'Architecture: any' > \
		"$T/depends/debian/control" &&
	(cd "$T/depends" && dpkg-shlibdeps -O "$T/kinds" > out) || return
	cat "$T/depends/out"
	grep -q 'libschedtape0 (>= 0.1.0)' "$T/depends/out" &&
		! grep -qE 'libnl|client' "$T/depends/out"
}

# use_in KERNEL [purge]: the guest has one CPU, because the emulator may lose one of several when code
# is patched, see lib/avoid-patching.sh.
use_in()
{
	guest_part "$1: the guest" timeout 1220 "$top/selftests/qemu/vm" --kernel "$1" --cpus 1 \
		--no-module --timeout 1200 -- \
		"$top/selftests/host/package-guest" "$T" "$number" "${@:2}"
}

make_folder
export -f install_packages built_for programs_build right_depends python_works same
echo "TAP version 13"
check "the packages have the version of the headers" \
	same_version "$(dpkg-parsechangelog -l "$top/debian/changelog" -S Version)"
check "make deb" env DEB_BUILD_OPTIONS=nocheck make -s -C "$top" deb
check "lintian" run_lintian
check "the kernel's limits are in a file that upgrades keep" is_conffile
if can_isolate; then
	releases=$(for k in $KERNELS; do cat "$("$top/selftests/qemu/fetch" kernel "$k")/release"; done)
	check "install" isolated install_packages
	# shellcheck disable=SC2086 # words
	check "DKMS has built the module for every kernel" isolated built_for $releases
	check "programs build with the installed packages" isolated programs_build
	check "Python and scripts find python3-schedtape" isolated python_works
	check "dpkg-shlibdeps: the example needs the package libschedtape0 only" isolated right_depends
	for kernel in "${guests[@]::${#guests[@]} - 1}"; do
		use_in "$kernel"
	done
	use_in "${guests[-1]}" purge
else
	skip "install" "needs root, and overlays"
fi
finish
