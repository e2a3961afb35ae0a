#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Description: a guest crashes while two sessions record, and QEMU dumps its memory: recover makes
# tapes of both from the dump, in each format, with all events until the crash. A session that had
# ended has none.
#
# On the kernel KERNEL.

set -u
. "$(dirname "$(realpath "$0")")/lib.sh"
kernel=${KERNEL:-$("$top/selftests/qemu/fetch" default)}
program=$build/schedtape

# The module of the guest's kernel through which QEMU gets to know that kernel.
fetch_module()
{
	local prefix file

	prefix=$("$top/selftests/qemu/fetch" kernel "$kernel") || return
	file=$(find "$prefix/" -name 'qemu_fw_cfg.ko*' | head -n 1)
	case $file in
	*.xz) xz -dc "$file" > "$T/qemu_fw_cfg.ko" ;;
	?*) cp "$file" "$T/qemu_fw_cfg.ko" ;;
	*) echo "the kernel has no qemu_fw_cfg"; return 1 ;;
	esac
}

run_guest()
{
	SCHEDTAPE_PROGRAM=$program exec "$top/selftests/qemu/vm" --kernel "$kernel" --mem 384 \
		--timeout 300 --append panic=0 --monitor "$T/monitor" --console "$T/console" \
		--rw "$T/out" --file "$program" --file "$T/qemu_fw_cfg.ko" \
		--file "$top/selftests/host/vmcore-guest" -- \
		"$top/selftests/host/vmcore-guest" "$T/out" "$T/qemu_fw_cfg.ko"
}

# crash COMMAND...: the monitor does these when the guest has crashed
crash()
{
	local pid tries=1500

	run_guest > "$T/vm.log" 2>&1 &
	pid=$!
	until grep -aqs 'end Kernel panic' "$T/console"; do
		if ! kill -0 "$pid" 2> /dev/null || [ $((tries--)) = 0 ]; then
			echo "the guest has ended, or takes too long"
			cat "$T/vm.log"
			kill "$pid" 2> /dev/null
			return 1
		fi
		sleep 0.2
	done
	"$top/selftests/qemu/monitor" "$T/monitor" "$@" quit | grep -a 'rror:'
	wait "$pid"
	[ -s "$T/elf" ]
}

# makedumpfile knows neither that QEMU's section headers come before the program headers, nor the
# wrong size of its ELF header.
mend_elf()
{
	/usr/bin/python3 - "$1" <<-'END'
		import struct, sys
		with open(sys.argv[1], "r+b") as file:
		    header = bytearray(file.read(64))
		    begin, = struct.unpack_from("<Q", header, 32)
		    n, = struct.unpack_from("<H", header, 56)
		    file.seek(begin)
		    programs = file.read(56 * n)
		    struct.pack_into("<QQ", header, 32, 64, 0)
		    struct.pack_into("<HHHHHH", header, 52, 64, 56, n, 64, 0, 0)
		    file.seek(0)
		    file.write(header + programs)
	END
}

filter_dump()
{
	cp --sparse=always "$T/elf" "$T/mended" && chmod u+w "$T/mended" && mend_elf "$T/mended" ||
		return
	if ! makedumpfile -c -d 31 "$T/mended" "$T/filtered" > "$T/makedumpfile.log" 2>&1; then
		tail -n 5 "$T/makedumpfile.log"
		return 1
	fi
	rm "$T/mended"
}

recover()
{
	"$program" recover --vmcore "$@"
}

# same_tapes DUMP
same_tapes()
{
	recover "$1" -o "$T/other" && cmp "$T/other.$first" "$T/tape.$first" &&
		cmp "$T/other.$second" "$T/tape.$second"
}

found_both()
{
	recover "$T/elf" -o "$T/tape" --json > "$T/json" || return
	cat "$T/json"
	jq -e '.sessions | length == 2 and all(.missing_page_count == 0 and .lost == 0) and
	       (.[0].whole | not) and .[0].cpu_count == 2 and .[0].events > 1000 and .[1].events > 0' \
		"$T/json" > /dev/null
}

# log_time TEXT: the first time, s, at which the kernel's log has TEXT, by CLOCK_MONOTONIC
log_time()
{
	tr -d '\r' < "$T/console" | awk -v text="$1" '
		match($0, /^\[ *[0-9.]+\]/) { time = substr($0, 2, RLENGTH - 2) + 0 }
		/\] ktime/ { ktime = $NF / 1000 }
		/\] cpu_clk/ { other = $NF / 1000 }
		index($0, text) { printf "%.6f\n", time + ktime - other; exit }'
}

# The last switch of a CPU is to the task that crashed the machine, soon before the kernel says so: in
# the emulator, on a busy host, a shell takes long for its last command.
until_the_crash()
{
	local crash last cpu

	crash=$(log_time "sysrq: Trigger a crash")
	last=$("$program" script -i "$T/tape.$first" | grep '==> crasher:' | tail -n 1)
	printf '%s\n' "crash: $crash" "last: $last"
	"$program" script -i "$T/tape.$first" | tail -n 5
	[[ $last =~ \[[0-9]+\] ]] && cpu=${BASH_REMATCH[0]} || return
	same "$("$program" script -i "$T/tape.$first" | grep -F "$cpu" | grep ' switch: ' |
		tail -n 1)" "$last" || return
	awk -v crash="$crash" -v last="$last" 'BEGIN {
		split(last, words)
		for (i in words) if (words[i] ~ /^[0-9]+\.[0-9]+:$/) time = words[i] + 0
		exit !(time && crash - time > -0.001 && crash - time < 0.5)
	}'
}

reads()
{
	"$program" info -i "$T/tape.$first" | grep 'complete, by crash' &&
		"$program" report -i "$T/tape.$first" | grep crasher &&
		"$program" timehist -i "$T/tape.$second" &&
		"$program" replay --engine=user --speed 20 -i "$T/tape.$second"
}

one_session()
{
	recover "$T/elf" --session "$second" -o "$T/one" && cmp "$T/one" "$T/tape.$second"
}

# refused TEXT OPTION...
refused()
{
	local said

	said=$(recover "${@:2}" 2>&1 > "$T/written") && return 1
	echo "$said"
	[[ $said = *"$1"* ]]
}

"$top/selftests/qemu/setup" tests
make_folder
mkdir "$T/out"
echo "TAP version 13"
check "build" make -s -C "$top" all
if check "the kernel's module" fetch_module &&
   check "a guest crashes" crash "dump-guest-memory $T/elf" "dump-guest-memory -z -R $T/z" \
	"dump-guest-memory -z $T/flattened"; then
	check "recover finds both sessions, and not the one that has ended" found_both
	read -r first second <<< "$(jq -r '[.sessions[].session] | join(" ")' "$T/json")"
	check "the tape goes on until the crash" until_the_crash
	check "reports and a replay read it" reads
	check "one of the sessions" one_session
	# QEMU before 9.0 makes only flattened dumps.
	[ -s "$T/z" ] || makedumpfile -R "$T/z" < "$T/flattened" > /dev/null 2>&1
	check "a compressed dump has the same" same_tapes "$T/z"
	check "a dump without free, cached and user pages has the same" filter_dump &&
		check "recover reads that" same_tapes "$T/filtered"
	check "a flattened dump" refused "a flattened dump is not supported" "$T/flattened"
	check "a session that was not there" refused "no session 99" "$T/elf" --session 99
	check "several sessions to standard output" refused "name one of them with --session" "$T/elf" -o -
fi
check "no dump" refused "cannot be read as a dump" "$program"
finish
