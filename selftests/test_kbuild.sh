#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Description: the module builds with the newest headers that packages offer, and
# without a warning for other machines, one of them big-endian. It says clearly why it
# does not build where it cannot: outside the range of kernels that it knows, which DKMS
# has to know as well, as the machines, and with headers that cannot be used.

set -u
. "$(dirname "$(realpath "$0")")/lib/host.sh"

known=(6.1.0 6.1.176 6.6.30 6.12.117 6.15.9)
unknown=(5.15.160 6.0.19 6.16.0 6.20.1 7.0.0 10.1.0)
# What "uname -m" says on another machine, a kernel for it, the order of its bytes.
others=(aarch64 6.12-arm64 LSB s390x 6.1-s390x MSB)

# refuses VERSION: the compiler stops, with words
refuses()
{
	local a b c

	IFS=. read -r a b c <<< "$1"
	mkdir -p "$T/linux" &&
	cat > "$T/linux/version.h" <<-END || return
		#define KERNEL_VERSION(a, b, c) (((a) << 16) + ((b) << 8) + (c))
		#define LINUX_VERSION_CODE KERNEL_VERSION($a, $b, $((c < 255 ? c : 255)))
	END
	: > "$T/linux/hrtimer.h"
	: > "$T/linux/mm.h"
	gcc -E -I "$T" -include "$top/kmod/compat.h" -x c /dev/null -o /dev/null 2>&1 |
		grep -E 'error: #error "(schedtape needs|this version of schedtape knows) Linux'
}

dkms_excludes()
{
	local pattern

	pattern=$(sed -n 's/^BUILD_EXCLUSIVE_KERNEL="\(.*\)"/\1/p' "$top/dkms.conf")
	[ -n "$pattern" ] && ! grep -qE "$pattern" <<< "$1-1-cloud-amd64"
}

range()
{
	local v

	for v in "${known[@]}"; do
		if refuses "$v" || dkms_excludes "$v"; then
			echo "$v is refused"
			return 1
		fi
	done
	for v in "${unknown[@]}"; do
		if ! refuses "$v" || ! dkms_excludes "$v"; then
			echo "$v is not refused"
			return 1
		fi
	done
}

# In a folder of its own: others may be using the module.
module()
{
	make -s -C "$top" module "$@" KMOD="$build/kmod/test"
}

# A kernel whose headers do not compile is not taken for an old one.
broken_headers()
{
	local said

	said=$(module KERNEL=6.12 KFLAGS="KCFLAGS=-include\ $T/missing.h" 2>&1)
	echo "$said"
	grep -q 'schedtape: these kernel headers cannot be used: .*missing.h' <<< "$said"
}

# cross KERNEL ORDER: in the kernel's own folder, for what is there need not be compiled
# again. A warning is an error, so that it is not forgotten then.
cross()
{
	local said

	said=$(make -s -j "$(nproc)" -C "$top" module KERNEL="$1" \
		KFLAGS="W=1 KCFLAGS=-Werror" 2>&1) || { echo "$said"; return 1; }
	echo "$said"
	! grep -qi warning <<< "$said" &&
	file "$build/kmod/$1/schedtape.ko" | grep "ELF 64-bit $2"
}

dkms_machines()
{
	local i machines=x86_64

	for ((i = 0; i < ${#others[@]}; i += 3)); do
		machines+="|${others[i]}"
	done
	echo "compiled for $machines"
	grep "^BUILD_EXCLUSIVE_ARCH=" "$top/dkms.conf"
	grep -qxF "BUILD_EXCLUSIVE_ARCH=\"$machines\"" "$top/dkms.conf"
}

make_folder
echo "TAP version 13"
check "the range of kernels is the same for the compiler and DKMS" range
check "headers that cannot be used are called so" broken_headers
newest=$("$top/selftests/qemu/fetch" newest) &&
	check "the newest headers: $newest" module KERNEL="$newest"
check "there are newest headers" test -n "$newest"
check "the machines are the same for this test and DKMS" dkms_machines
for ((i = 0; i < ${#others[@]}; i += 3)); do
	check "${others[i]}: ${others[i + 1]}" cross "${others[@]:i + 1:2}"
done
finish
