#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Description: the module builds without a warning for configurations, compilers and machines that
# no kernel of Debian has. Its headers are the kernel's source after "make modules_prepare".

set -u
. "$(dirname "$(realpath "$0")")/lib.sh"

# Not every defconfig has tracepoints.
tracepoints=(FTRACE=y ENABLE_DEFAULT_TRACERS=y)
small=(64BIT=y MODULES=y CGROUPS=y NET=y "${tracepoints[@]}")

# in_root WORD...: see in-root. The release of the newest kernel has compilers for all series.
in_root()
{
	"$top/selftests/qemu/in-root" "$suite" "$@"
}

install_tools()
{
	local tool words=()

	for tool in module bc bison ccache clang flex lld llvm python3; do
		words+=(--install "$tool")
	done
	in_root "${words[@]}" -- true
}

# kmake WORD...: calls the kernel's make. It takes ARCH and LLVM from the environment; a calling
# make's settings must not apply to it.
kmake()
{
	in_root -- env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL \
		make -s -C "$source" O="$T/headers" -j "$(nproc)" "$@"
}

# configure TARGET [OPTION=VALUE...]: make's TARGET, and then these options
configure()
{
	local target=$1 option

	shift
	kmake "$target" || return
	printf '%s\n' "${@/#/CONFIG_}" >> "$T/headers/.config"
	kmake olddefconfig || return
	# kconfig silently drops what the kernel cannot have.
	for option; do
		same "${option%=*}=$("$source/scripts/config" --file "$T/headers/.config" \
			--state "${option%=*}")" "$option" || return
	done
}

# compile: any warning is a failure, except modpost's about symbols: only a whole kernel has a list
# of them
compile()
{
	local said

	make -s -C "$top" dkms-source DESTDIR="$T/module" &&
	touch "$T/headers/Module.symvers" || return
	said=$(kmake M="$T/module/usr/src/schedtape-$version/kmod" W=1 KCFLAGS=-Werror \
		KBUILD_MODPOST_WARN=1 modules 2>&1) || { echo "$said"; return 1; }
	! grep -i warning <<< "$said" | grep -v 'modpost: .*\(undefined!\|unresolved symbol\)'
}

# builds SERIES TARGET [OPTION=VALUE...]: for a kernel of that configuration
builds()
{
	local source

	source=$("$top/selftests/qemu/fetch" source "$1") || return
	rm -rf "$T/headers" && mkdir "$T/headers" &&
	configure "${@:2}" && kmake modules_prepare && compile
}

make_folder
echo "TAP version 13"
if [ "$(id -u)" != 0 ]; then
	skip "configurations" "only root can install the compilers"
	finish
fi
suite=$(< "$("$top/selftests/qemu/fetch" kernel "$(tested_series | tail -n 1)")/suite") || exit
use_ccache
check "the compilers are there" install_tools || finish
check "7.3: defconfig" builds 7.3 defconfig
check "7.3: PREEMPT_RT" builds 7.3 defconfig EXPERT=y PREEMPT_RT=y
check "7.3: no SMP" builds 7.3 defconfig SMP=n
check "7.3: no kprobes" builds 7.3 defconfig KPROBES=n
check "7.3: no high-resolution timers" builds 7.3 defconfig HIGH_RES_TIMERS=n
check "7.3: small" builds 7.3 tinyconfig "${small[@]}"
check "6.1: small" builds 6.1 tinyconfig "${small[@]}"
LLVM=1 check "7.3: clang with LTO, kCFI and IBT" builds 7.3 defconfig LTO_CLANG_THIN=y CFI=y \
	X86_KERNEL_IBT=y
LLVM=1 check "6.1: clang with LTO, kCFI and IBT" builds 6.1 defconfig LTO_CLANG_THIN=y \
	CFI_CLANG=y X86_KERNEL_IBT=y
for machine in arm64 riscv; do
	ARCH=$machine LLVM=1 check "7.3: $machine" builds 7.3 defconfig "${tracepoints[@]}" KPROBES=y
done
ARCH=s390 LLVM=1 check "7.3: s390" builds 7.3 defconfig KPROBES=y
finish
