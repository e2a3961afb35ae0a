#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Description: the libraries as programs outside this project see them: public names, headers for
# C and C++, shared and static linking, options of older and newer programs, the ABI.
#
# Usage: test_library.sh [--abi]
#
# --abi prints the ABI as user/lib/abi has it, and tests nothing.

set -u
. "$(dirname "$(realpath "$0")")/lib.sh"
libraries=(libschedtape libschedtape-client)
warnings=(-Wall -Wextra -Werror)

install_them()
{
	make -s -C "$top" install-user DESTDIR="$T/root" PREFIX=/usr
}

# pkg WORD...: asks pkg-config about the installed libraries.
pkg()
{
	PKG_CONFIG_PATH=$lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$T/root pkg-config "$@"
}

# Prints the names in a library's list.
listed()
{
	sed -n 's/^\t\t\([a-z0-9_]*\);$/\1/p' "$top/user/lib/$1.map" | sort
}

# declared HEADER: prints the functions that HEADER declares, as the compiler lists them
declared()
{
	gcc -xc -fsyntax-only -I"$include" -aux-info /dev/stdout - <<< "#include <$1>" |
		sed -n "s,^/\* $include/schedtape.*:NC \*/ extern .*[ *]\(schedtape_[a-z0-9_]*\) (.*,\1,p" |
		sort
}

# The shared library exports the names in the list, and its version.
exports_listed()
{
	diff <(listed "$1") <(nm -D --defined-only "$lib/$1.so" | awk '$2 != "A" { print $3 }' |
		sed 's/@@LIBSCHEDTAPE\(_CLIENT\)\?_0$//' | sort)
}

archive_listed()
{
	diff <(listed "$1") <(nm -g --defined-only "$lib/$1.a" | awk 'NF == 3 { print $3 }' | sort)
}

# Checks that the headers declare exactly the functions in the lists.
lists_declared()
{
	diff <(listed libschedtape) <(declared schedtape.h) &&
	diff <(for l in "${libraries[@]}"; do listed "$l"; done | sort) \
		<(declared schedtape/client.h)
}

has_soname()
{
	local file=$lib/$1.so.0.${version#*.}

	same "$(readelf -d "$file" | sed -n 's/.*(SONAME).*\[\(.*\)\]/\1/p')" "$1.so.0" &&
	[ "$(readlink "$lib/$1.so.0")" = "${file##*/}" ] && [ "$(readlink "$lib/$1.so")" = "$1.so.0" ]
}

# needs FILE LIBRARY...: checks that FILE, a program or a shared library, is linked with exactly
# these libraries. The C and C++ run-time libraries do not count.
needs()
{
	same "$(readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(lib[a-z0-9-]*\)\.so.*/\1/p' |
		grep -vxE 'libc|libm|libstdc|libgcc_s' | sort | xargs)" "${*:2}"
}

# Checks that no public header uses json-c, libnl, libtraceevent, zstd or xxhash, because a program
# may be linked with another version of them.
own_types()
{
	! grep -nE 'json_|json-c|<json|\bnl_|\bnla_|netlink/|zstd\.h|xxhash|\btep_|event-parse' \
		"$include"/schedtape*.h "$include"/schedtape/client.h
}

# Each header by itself.
headers_compile()
{
	local header ret=0

	for header in "$include"/schedtape*.h "$include"/schedtape/*.h; do
		echo "#include <${header#"$include/"}>" |
			"$@" "${warnings[@]}" -I"$include" -fsyntax-only - || ret=1
	done
	return "$ret"
}

# build NAME LIBRARIES COMMAND...: compiles $T/NAME with pkg-config's flags for LIBRARIES
build()
{
	local static=

	[[ " $* " != *" -static "* ]] || static=--static
	# shellcheck disable=SC2046,SC2086 # words
	"${@:3}" "${warnings[@]}" -o "$T/$1" $(pkg --cflags $2) $(pkg $static --libs $2)
}

run()
{
	LD_LIBRARY_PATH=$lib "$T/$1" "${@:2}"
}

write_tape()
{
	build ext_tape libschedtape gcc "$top/selftests/tapes/ext_tape.c" &&
	run ext_tape "$T/tape"
}

runs_cpp()
{
	same "$(run "$1" "$T/own.tape" "$T/tape")" "{\"arch\":\"c++\"} 1 seven 7 2000
one two: 2 tasks, 70 events"
}

describe_abi()
{
	"$folder/abi.py" "$include" "$lib"/libschedtape{,-client}.so
}

same_abi()
{
	describe_abi > "$T/abi" && diff -u "$top/user/lib/abi" "$T/abi" && return
	echo "The ABI has changed. Documentation/abi.rst says what may. If this may, put it into"
	echo "user/lib/abi, by: selftests/host/test_library.sh --abi > user/lib/abi"
	return 1
}

# Changes of a member, after which its struct is as large as before, of an enum, a constant and a
# parameter.
abi_changes_seen()
{
	local old=$include change

	include=$T/changed
	for change in 's/^\tuint32_t old_pid;/\tuint16_t old_pid;/' \
		's/STAPE_STATE_PARKED = 6/STAPE_STATE_PARKED = 9/' \
		's/STAPE_SWITCH_NEXT_SHIFT\t4/STAPE_SWITCH_NEXT_SHIFT\t5/' \
		's/schedtape_tape_bytes(const/schedtape_tape_bytes(/'; do
		rm -rf "$include" && cp -r "$old" "$include" &&
		find "$include" -name '*.h' -exec sed -i "$change" {} + &&
		! diff -r "$old" "$include" > "$T/log" && ! same_abi > "$T/log" &&
		grep -qE '^[-+][^-+]' "$T/log" && continue
		echo "not seen: $change"
		include=$old
		return 1
	done
	include=$old
}

# is_example NAME LIBRARIES COMPILER...: an example is short, and is written for C and C++
is_example()
{
	local file=$top/Documentation/examples/$1.c lines

	lines=$(wc -l < "$file") && echo "$lines lines" && [ "$lines" -le 40 ] &&
		build "$1" "$2" "${@:3}" "$file"
}

# In each round of this tape, one and then two wait for 20 us after their wake-ups.
runs_kinds()
{
	diff - <(run kinds "$T/tape") <<< $'switch\t30\nwaking\t20\nwakeup\t20'
}

runs_delays()
{
	diff - <(run delays "$T/tape") <<< $'one\t10\t20\tat 1020\ntwo\t11\t20\tat 2040'
}

runs_wakers()
{
	same "$(run wakers "$T/tape")" $'one\t10\t10'
}

runs_cgroups()
{
	diff - <(run cgroups "$T/tape") <<< $'0\t10200\n7\t10000'
}

# events_of TAPE: prints what each CPU has from 5.5 to 5.6 s
events_of()
{
	"$build/schedtape" script --time 5.5,5.6 "$1" | grep -v ' lost: '
}

# The copy of a part has all events of that time, and no others. The copy of a truncated tape is a
# complete tape of what is left.
runs_part()
{
	"$build/selftests/tapes/load_tape" "$T/load" 600000 &&
	same "$(run part "$T/load" "$T/copy" 5.5 5.6 | grep -c damaged)" 0 &&
	diff <(events_of "$T/load") <(events_of "$T/copy") &&
	[ "$(events_of "$T/copy" | wc -l)" -gt 10000 ] &&
	"$build/schedtape" info --json "$T/copy" > "$T/log" &&
	[ "$(awk -F: '/^  "(events|lost)"/ { n += $2 } END { print n }' "$T/log")" = \
	  "$("$build/schedtape" info --json "$T/load" | awk -F: '/^  "events"/ { print +$2 }')" ] &&
	[ "$(awk -F: '/^  "events"/ { print +$2 }' "$T/log")" -lt 300000 ] &&
	run ext_tape "$T/longer" 3 && head -c -1000 "$T/longer" > "$T/cut" &&
	run part "$T/cut" "$T/copy" | grep 'damaged: .*ends' &&
	same "$(run part "$T/copy" "$T/copied" | grep -c damaged)" 0 &&
	diff <(run kinds "$T/cut") <(run kinds "$T/copy") && run kinds "$T/copy" | grep switch
}

# Prints a tape, but the rest of it only when something was printed of the first part.
feed_live()
{
	# It says after two thirds how far it has come.
	head -c 200000 "$T/load"
	for _ in {1..600}; do
		[ ! -s "$T/live.out" ] || break
		sleep 0.1
	done
	[ -s "$T/live.out" ] && tail -c +200001 "$T/load"
}

runs_live()
{
	"$build/selftests/tapes/load_tape" "$T/load" 40000 live && rm -f "$T/live.out" &&
	feed_live | run live 100 > "$T/live.out" &&
	run live 100 < "$T/load" | diff "$T/live.out" - &&
	! run live 2> "$T/log" && grep usage "$T/log" && ! run live 1 < /dev/null
}

# The numbers of this tape begin with those of all kinds of fields.
runs_fields()
{
	build points_tape libschedtape gcc "$top/selftests/tapes/points_tape.c" &&
	run points_tape "$T/points" 3 &&
	diff - <(run fields "$T/points" | head -n 10) <<- END
		test:all vec=1
		test:all low=-2
		test:all class=200
		test:all flags=9223372036854775813
		irq:irq_handler_exit irq=-4
		irq:irq_handler_exit ret=0
		irq:irq_handler_entry irq=9
		irq:irq_handler_exit irq=9
		irq:irq_handler_exit ret=1
		irq:irq_handler_entry irq=9
	END
}

runs_latency()
{
	same "$(run latency "$T/tape")" $'below 32.768 us\t20'
}

# A tape of three times as many rounds has more wake-ups, but bursts and sleeps of the same lengths.
runs_distance()
{
	run ext_tape "$T/longer" 3 &&
	diff - <(run distance "$T/tape" "$T/longer") <<- END
		2 of 2 tasks
		10 of 10 wake-ups
		bursts differ by 0.000, sleeps by 0.000, delays by 0.000
	END
}

# Without the module, it says what to do.
runs_switches()
{
	run switches 2>&1 | grep -E '^(switches: the module is not loaded: .*|[0-9]+ switches)$'
}

# Each says what is wrong with its tape.
fails()
{
	! run "$1" "$T/none" "$T/none" 2> "$T/log" && ! run "$1" "$T/none" 2>> "$T/log" &&
		grep -i usage "$T/log" && grep "none: No such file" "$T/log"
}

# The example program of the manual page prints each pair of tasks that woke each other, and how
# often. In this tape the task "one" wakes the task "two" in each of ten rounds.
runs_manual()
{
	sed -e '1,/^\.Bd -literal/d; /^\.Ed/,$d' -e 's/\\en/\\n/' \
		"$top/Documentation/man/libschedtape.3" > "$T/manual.c" &&
	build manual libschedtape gcc "$T/manual.c" &&
	same "$(run manual "$T/tape")" "one two 10"
}

shared_without_libnl()
{
	local libs

	libs=$(LD_LIBRARY_PATH=$lib ldd "$T/$1") || return
	echo "$libs"
	grep -q "libschedtape.so.0 => $lib" <<< "$libs" && ! grep -q 'libnl' <<< "$libs"
}

runs_client()
{
	run "$1" | grep -E '^(version|no client:|no info:) '
}

other_versions()
{
	build sizes libschedtape gcc "$folder/sizes.c" &&
	diff - <(run sizes "$T/sizes.tape" "$T/copy.tape") <<- END
		newer: 0 0
		newer end: 0 -7
		newer options: -7
		no size: -22
		older: 0 0
		CPUs: 0
		size: 1
		newer ops: 0 -7
		newer copy: 0 -7
		older copy: 0
	END
}

make_folder
lib=$T/root/usr/lib include=$T/root/usr/include folder=$top/selftests/host/library
if [ "${1-}" = --abi ]; then
	install_them && describe_abi
	exit
fi
echo "TAP version 13"
check "into a folder" install_them
for l in "${libraries[@]}"; do
	check "$l: the shared library exports its list of names" exports_listed "$l"
	check "$l: the static library exports its list of names" archive_listed "$l"
	check "$l: SONAME and links" has_soname "$l"
done
check "the lists have the names that the headers declare" lists_declared
if [ "$(getconf LONG_BIT)" = 64 ]; then
	check "functions, structs, enums and constants are those of user/lib/abi" same_abi
	check "that test sees changes" abi_changes_seen
else
	skip "user/lib/abi" "describes 64-bit machines"
fi
check "libschedtape needs no libnl" needs "$lib/libschedtape.so" libjson-c libtraceevent libxxhash \
	libzstd
check "libschedtape-client needs libnl only" needs "$lib/libschedtape-client.so" \
	libnl-3 libnl-genl-3
check "headers have no types of json-c and libnl" own_types
for standard in c99 c11 gnu17; do
	check "headers compile as $standard" headers_compile gcc -xc -std="$standard"
done
for standard in c++11 c++17 c++20; do
	check "headers compile as $standard" headers_compile g++ -xc++ -std="$standard"
done
check "a program writes a tape" write_tape
for example in kinds delays latency wakers cgroups part live fields distance switches; do
	needed=libschedtape
	[ $example != switches ] || needed+=" libschedtape-client"
	check "$example.c: C++17, at most 40 lines" is_example $example "$needed" g++ -std=c++17
	check "$example: runs, from C++" runs_$example
	check "$example.c: C11" is_example $example "$needed" gcc -std=c11
	check "$example: runs, from C" runs_$example
	[[ $example = @(live|switches) ]] || check "$example: says what is wrong" fails $example
done
check "the program in libschedtape(3) reads the tape" runs_manual
check "kinds is linked without libnl" shared_without_libnl kinds
check "the C++ program links, shared" build cpp libschedtape g++ -std=c++11 "$folder/tape.cpp"
check "the C++ program writes and reads tapes, shared" runs_cpp cpp
check "the C++ program links, static" build cpp-static libschedtape g++ -std=c++11 -static \
	"$folder/tape.cpp"
check "the C++ program writes and reads tapes, static" runs_cpp cpp-static
check "the client links, shared" build client libschedtape-client gcc "$folder/client.c"
check "the client runs, shared" runs_client client
check "the client needs libschedtape-client only" needs "$T/client" libschedtape-client
check "the client links, static" build client-static libschedtape-client gcc -static \
	"$folder/client.c"
check "the client runs, static" runs_client client-static
check "both static libraries link into one program" build both \
	"libschedtape libschedtape-client" gcc -static "$folder/client.c"
check "options of older and newer programs" other_versions
finish
