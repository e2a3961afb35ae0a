#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Description: make install and make uninstall: into a folder, and into a machine that is like
# this one; the installed files work, and all of them are removed again.

set -u
. "$(dirname "$(realpath "$0")")/lib.sh"

run_make()
{
	make -s -C "$top" "$@"
}

# Tests that the folder has exactly the files listed on standard input.
has_files()
{
	diff <(sort) <(cd "$1" && find . -not -type d | cut -c 2- | grep -v '/usr/src/' | sort)
}

installed_files()
{
	local prefix=$1 page library

	printf '%s\n' /usr/lib/udev/rules.d/60-schedtape.rules \
		/usr/lib/sysusers.d/schedtape.conf /usr/lib/systemd/system/schedtape@.service \
		"$prefix"/bin/schedtape "$prefix"/libexec/schedtape/player \
		"$prefix"/share/bash-completion/completions/schedtape \
		"$prefix"/share/zsh/site-functions/_schedtape \
		"$prefix"/share/fish/vendor_completions.d/schedtape.fish \
		"$prefix"/share/doc/schedtape/examples/{cgroups,delays,distance,fields,kinds}.c \
		"$prefix"/share/doc/schedtape/examples/{latency,live,part,wakers}.c \
		"$prefix"/share/doc/schedtape/examples/{slow.bpf,slow,switches}.c \
		"$prefix"/include/schedtape{,-decode,-page,-tape,-timeline}.h \
		"$prefix"/include/schedtape/{client,device,dump,event,netlink,version}.h
	for library in libschedtape libschedtape-client; do
		printf '%s\n' "$prefix/lib"/{"$library".{a,so,so.0,so.0."${version#*.}"},pkgconfig/"$library.pc"}
	done
	for page in "$top"/Documentation/man/*.[1-8] "$build"/man/*; do
		echo "$prefix/share/man/man${page##*.}/${page##*/}"
	done
}

in_folder()
{
	run_make install DESTDIR="$T/root" PREFIX=/opt/tape &&
	has_files "$T/root" < <(installed_files /opt/tape)
}

# The module builds from the installed source only. Where DKMS can run it builds from that, too.
source_builds()
{
	local release

	release=$(< "$build/kernels/6.12/release")
	cp -r "$T/root/usr/src/schedtape-$version" "$T/source" &&
	make -s -C "$T/source/kmod" KDIR="$build/kernels/6.12/kdir" &&
	[ "$(modinfo -F vermagic "$T/source/kmod/schedtape.ko" | cut -d ' ' -f 1)" = "$release" ]
}

folder_empty()
{
	run_make uninstall DESTDIR="$T/root" PREFIX=/opt/tape &&
	[ -z "$(find "$T/root" -not -type d)" ] && [ ! -e "$T/root/opt/tape/include/schedtape" ]
}

# Builds with pkg-config, as other programs do.
example_builds()
{
	# shellcheck disable=SC2046 # words
	gcc -Wall -Wextra -Werror -o "$T/kinds" /usr/local/share/doc/schedtape/examples/kinds.c \
		$(pkg-config --cflags --libs libschedtape) &&
	[ "$(pkg-config --modversion libschedtape)" = "$version" ]
}

# Finds its library without help.
example_runs()
{
	"$T/kinds" "$top/README.rst" 2>&1 | grep -q '^kinds: .*README.rst' &&
	"$T/kinds" 2>&1 | grep -q '^Usage'
}

# Installed by DKMS or without it, the module is found by its names.
module_found()
{
	[ "$(modprobe -S "$1" --resolve-alias char-major-10-246)" = schedtape ] &&
	grep '^schedtape schedtape c10:246$' "/usr/lib/modules/$1/modules.devname"
}

live_install()
{
	run_make install KVER="$1" "${@:2}" && getent group schedtape > /dev/null &&
	/usr/local/bin/schedtape --version && ldconfig -p | grep libschedtape-client.so.0 && module_found "$1"
}

# No file of this name is left.
live_gone()
{
	local left

	run_make uninstall KVER="$1" "${@:2}" || return
	ldconfig -p | grep schedtape && return 1
	left=$(find /usr/local /usr/lib/udev /usr/lib/sysusers.d /usr/lib/systemd /usr/lib/modules /usr/src \
		/var/lib/dkms -name '*schedtape*')
	echo "left: $left"
	[ -z "$left" ] && ! module_found "$1"
}

make_folder
export -f run_make example_builds example_runs module_found live_install live_gone
echo "TAP version 13"
check "into a folder: the files of the list, and no others" in_folder
can_isolate || check "the module's sources are complete" source_builds
check "uninstall: nothing is left in the folder" folder_empty
if can_isolate; then
	KERNELS=6.12
	release=$(< "$build/kernels/6.12/release")
	check "with DKMS: program, module and its aliases" isolated live_install "$release"
	check "the example builds with the installed library" isolated example_builds
	check "the example runs" isolated example_runs
	check "with DKMS: uninstall leaves nothing" isolated live_gone "$release"
	check "without DKMS: the same" isolated live_install "$release" DKMS=
	check "without DKMS: uninstall leaves nothing" isolated live_gone "$release" DKMS=
else
	skip "install" "needs root, and overlays"
fi
finish
