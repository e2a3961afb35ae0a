#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Description: the module builds with the newest headers that packages offer, and without a
# warning for other machines, one of them big-endian. It builds for every series from 6.1 on: for one
# that is not tested with a line that says so, and where a kernel lacks something with an error
# that names it.

set -u
. "$(dirname "$(realpath "$0")")/lib.sh"

new=(6.1.0 6.1.176 6.2.1 6.6.30 6.10.3 6.12.117 6.15.9 6.16.0 6.120.1 7.0.0 7.3.4 7.30.1 8.0.1 17.3.2)
old=(5.15.160 6.0.19 4.19.1)
# The output of "uname -m" on another machine, a kernel for it, its byte order.
others=(aarch64 6.12-arm64 LSB s390x 6.1-s390x MSB)

# refuses VERSION: compat.h refuses it, with a reason
refuses()
{
	local a b c header

	IFS=. read -r a b c <<< "$1"
	# The other headers that it includes are empty.
	while read -r header; do
		mkdir -p "$T/${header%/*}" && : > "$T/$header" || return
	done < <(sed -n 's/^#include <\(.*\)>$/\1/p' "$top/kmod/compat.h")
	cat > "$T/linux/version.h" <<-END || return
		#define KERNEL_VERSION(a, b, c) (((a) << 16) + ((b) << 8) + (c))
		#define LINUX_VERSION_CODE KERNEL_VERSION($a, $b, $((c < 255 ? c : 255)))
	END
	gcc -E -I "$T" -DCONFIG_64BIT -include "$top/kmod/compat.h" -x c /dev/null \
		-o /dev/null > "$T/said" 2>&1
	cat "$T/said"
	[ -s "$T/said" ]
}

range()
{
	local v

	for v in "${new[@]}"; do
		! refuses "$v" || { echo "compat.h refuses $v"; return 1; }
	done
	for v in "${old[@]}"; do
		refuses "$v" | grep 'error: #error "schedtape needs Linux' ||
			{ echo "compat.h does not refuse $v"; return 1; }
	done
}

# Builds in a folder of its own, because others may be using the module.
module()
{
	make -s -C "$top" module "$@" KMOD="$build/kmod/test"
}

# build_as KFLAGS: builds as if for another kernel, and prints Kbuild's messages. One file is
# enough for these, and saves most of the time.
build_as()
{
	rm -f "$build/kmod/test/main.o" "$build/kmod/test/schedtape.ko"
	module KERNEL=6.12 KFLAGS="schedtape-y=main.o KBUILD_MODPOST_WARN=1 $found $1" 2>&1 |
		tee "$T/said" | grep '^schedtape: \|\*\*\* schedtape: '
}

# remember: sets found to what Kbuild found out about the kernel by compiling some files. The kernel is
# always 6.12, so the answers of one build are right for the others.
found=''
remember()
{
	local answers

	answers=$(grep -o -- '-DSTAPE_HAS_[A-Z_]*' "$build/kmod/test/.main.o.cmd" | sort -u |
		paste -sd ' ')
	[ -n "$answers" ] && found="found=${answers// /\\ }"
}

# says KFLAGS [TEXT]: it builds, and prints that line, or nothing
says()
{
	local said

	said=$(build_as "$1")
	cat "$T/said"
	[ "$said" = "${2:+schedtape: $2}" ] && [ -e "$build/kmod/test/schedtape.ko" ]
}

# stops KFLAGS TEXT: it does not build, and prints the reason in one line
stops()
{
	local said

	said=$(build_as "$1")
	cat "$T/said"
	[[ $said = *"*** schedtape: $2.  Stop." && $said != *$'\n'* ]]
}

untested()
{
	says "VERSION=$1 PATCHLEVEL=$2" \
		"Linux $1.$2 is not tested: this version is tested on $(tested_series | paste -sd , | sed 's/,/, /g')"
}

# Makes headers of the kernel, one of which begins with another line.
changed_header()
{
	local include

	include=$(dirname "$(find "$("$top/selftests/qemu/fetch" kernel 6.12)"/usr/src/*-common \
		-path '*/include/trace/events/sched.h' -print -quit)") || return
	mkdir -p "$T/changed/trace/events" &&
	sed "$1" "$include/sched.h" > "$T/changed/trace/events/sched.h" &&
	! cmp -s "$include/sched.h" "$T/changed/trace/events/sched.h"
}

# misfit EDIT TRACEPOINT: headers with that change of sched.h end in an error that names the tracepoint
misfit()
{
	changed_header "$1" || return
	! module KERNEL=6.12 KFLAGS="schedtape-y=record/attach.o $found NOSTDINC_FLAGS=-nostdinc\ -I$T/changed" \
		> "$T/said" 2>&1 && cat "$T/said" && grep "error: .*check_trace_callback_type_$2" "$T/said"
}

no_headers()
{
	local said

	said=$(make -s -C "$top/kmod" KDIR="$T/none" 2>&1)
	echo "$said"
	[[ $said = "schedtape: there are no kernel headers in $T/none: install linux-headers-$(uname -r), or "* ]]
}

# Makes fake programs for host-module: uname prints the release in the file "running", and insmod
# saves its argument. The headers have a Makefile that copies the module of 6.12, which other
# checks have built.
# shellcheck disable=SC2016 # sh and make expand it
fake_machine()
{
	mkdir -p "$T/bin" "$T/headers" &&
	printf '#!/bin/sh\ncat "%s/running"\n' "$T" > "$T/bin/uname" &&
	printf '#!/bin/sh\necho "$1" > "%s/inserted"\n' "$T" > "$T/bin/insmod" &&
	chmod +x "$T"/bin/* &&
	printf 'modules:\n\tcp %s/kmod/test/schedtape.ko $(M)/\n' "$build" > "$T/headers/Makefile"
}

# host_module RELEASE: makes host-module on a machine with that release; prints its output
host_module()
{
	rm -f "$T/inserted"
	echo "$1" > "$T/running"
	PATH=$T/bin:$PATH make -s -C "$top" host-module BUILD="$T/build" KDIR="$T/headers" 2>&1
}

# No module may be inserted into a kernel for which it was not built.
other_release()
{
	local built said

	fake_machine && built=$(< "$("$top/selftests/qemu/fetch" kernel 6.12)/release") || return
	said=$(host_module 6.12.0-other) && return 1
	echo "$said"
	grep -xF "schedtape: the headers are those of $built, but this machine runs 6.12.0-other: install linux-headers-6.12.0-other" <<< "$said" &&
	[ ! -e "$T/inserted" ] || return
	said=$(host_module "$built") || { echo "$said"; return 1; }
	[ -e /sys/module/schedtape ] || grep -x "$T/build/kmod/host/schedtape.ko" "$T/inserted"
}

# A kernel whose headers do not compile must not be reported as an old one.
broken_headers()
{
	local said

	said=$(module KERNEL=6.12 KFLAGS="KCFLAGS=-include\ $T/missing.h" 2>&1)
	echo "$said"
	grep -q 'schedtape: these kernel headers cannot be used: .*missing.h' <<< "$said"
}

# cross KERNEL ORDER: builds in the kernel's own folder, so that later runs need not compile
# again. A warning is an error, because later runs would not show it.
cross()
{
	local said

	said=$(make -s -j "$(nproc)" -C "$top" module KERNEL="$1" \
		KFLAGS="W=1 KCFLAGS=-Werror" 2>&1) || { echo "$said"; return 1; }
	echo "$said"
	! grep -qi warning <<< "$said" &&
	file "$build/kmod/$1/schedtape.ko" | grep "ELF 64-bit $2"
}

build_newest()
{
	make -s -C "$top" module KERNEL="$newest"
}

make_folder
echo "TAP version 13"
check "compat.h refuses kernels before 6.1, and no later one" range
check "headers that cannot be used are called so" broken_headers
check "headers that are missing are asked for" no_headers
check "a tested series builds" says "VERSION=6 PATCHLEVEL=1"
remember
for series in $(tested_series); do
	check "nothing is said of Linux $series" says "VERSION=${series%.*} PATCHLEVEL=${series#*.}"
done
for series in 6.2 6.13 6.30 7.2 7.4 8.0; do
	check "Linux $series is called untested, and built for" untested "${series%.*}" "${series#*.}"
done
check "an error names a tracepoint with another prototype" misfit \
	'/^TRACE_EVENT(sched_migrate_task/,/TP_ARGS/s/int dest_cpu)/long dest_cpu)/' sched_migrate_task
check "an error names a tracepoint that is missing" misfit \
	's/sched_pi_setprio/sched_pi_prio/' sched_pi_setprio
for option in CGROUPS NET TRACEPOINTS 64BIT; do
	check "a kernel without $option is refused" stops "CONFIG_$option=" \
		"this kernel is built without CONFIG_$option, which the module needs"
done
check "without KRETPROBES something is not recorded" says CONFIG_KRETPROBES= \
	"without CONFIG_KRETPROBES changes of policy, priority, nice value and affinity and throttling of cgroups are not recorded"
check "without HIGH_RES_TIMERS replays get worse" says CONFIG_HIGH_RES_TIMERS= \
	"without CONFIG_HIGH_RES_TIMERS the timers of a replay are late by up to a tick"
check "host-module refuses headers of another release than the running one" other_release
newest=$("$top/selftests/qemu/fetch" newest)
check "there are newest headers" test -n "$newest"
# What Debian offers today is no reason to fail.
if is_tested "$newest" || build_newest > "$T/newest" 2>&1; then
	check "the newest headers: $newest" build_newest
else
	sed 's/^/# /' "$T/newest"
	skip "the module does not build for $newest, which is newer than what was tested"
fi
for ((i = 0; i < ${#others[@]}; i += 3)); do
	check "${others[i]}: ${others[i + 1]}" cross "${others[@]:i + 1:2}"
done
finish
