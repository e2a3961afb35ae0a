#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Description: the noted results of a part, or a debug kernel, are valid for the sources and the
# kernel that they were made with, and for no others.

set -u
. "$(dirname "$(realpath "$0")")/lib.sh"
make_folder
top=$T build=$T/build
. "$(dirname "$(realpath "$0")")/../suite/guests.sh"
. "$(dirname "$(realpath "$0")")/../suite/results.sh"
. "$(dirname "$(realpath "$0")")/../suite/debug-kernels.sh"

mkdir -p "$T"/{kmod,include/schedtape,selftests/{qemu,suite},user,build/kernels/6.12-{debug,kcsan}}
echo 'int x;' > "$T/kmod/main.c"
echo '#define X' > "$T/include/schedtape/event.h"
echo '# a' > "$noted"
kernel_build=$T/selftests/qemu/kernel-build
for kernel in 6.12-debug 6.12-kcsan; do
	echo 6.12.117 > "$T/build/kernels/$kernel/release"
	echo 0123456789abcdef > "$T/build/kernels/$kernel/key"
done

# Each run replaces the noted results of its kernel.
notes()
{
	local hash

	hash=$(hash_for 6.12-debug-2)
	note_debug 6.12-debug 2 "$hash" 1 2 3 && note_debug 6.12-kcsan 2 "$hash" 7 8 9 &&
	note_debug 6.12-debug 1 "$hash" 390 0 15 && note_debug 6.12-debug 2 "$hash" 400 0 5 ||
		return
	same "$(cut -d ' ' -f 1,3- "$noted" | sort)" "#
6.12-debug-1 390 0 15 $(date -u +%F) 6.12.117 0123456789abcdef
6.12-debug-2 400 0 5 $(date -u +%F) 6.12.117 0123456789abcdef
6.12-kcsan-2 7 8 9 $(date -u +%F) 6.12.117 0123456789abcdef"
}

holds()
{
	same "$(noted_run 6.12-debug 2)" \
		"# noted: 6.12.117, on $(date -u +%F): 400 passed, 0 failed, 5 skipped; not run again"
}

had_failures()
{
	! noted_run 6.12-kcsan 2
}

not_run()
{
	! debug_note 6.1-debug 2 && ! noted_run 6.1-debug 2 && ! noted_run 6.12-kcsan 1
}

# changed FILE TEXT: no noted result is valid after this change
changed()
{
	local old

	old=$(cat "$1" 2> /dev/null)
	echo "$2" > "$1"
	! debug_note 6.12-debug 2 || return
	if [ -n "$old" ]; then echo "$old" > "$1"; else rm "$1"; fi
	debug_note 6.12-debug 2
}

# key KEY COMMAND...: runs COMMAND with KEY as the kernel's current key
key()
{
	mkdir -p "$T/build/kernels/source-6.12" && : > "$T/build/kernels/source-6.12/package" &&
	printf '#!/bin/sh\n[ "$*" = "--key 6.12-debug" ] && echo %s\n' "$1" > "$kernel_build" &&
	chmod +x "$kernel_build" && "${@:2}"
}

without_source()
{
	key fedcba9876543210 not debug_note 6.12-debug 2 && rm -r "$T/build/kernels/source-6.12" &&
	debug_note 6.12-debug 2
}

# The results belong to the sources at the build, hours before they are noted.
changed_meanwhile()
{
	local hash old

	hash=$(hash_for 6.12-debug-2) old=$(< "$noted")
	echo 'int z;' > "$T/kmod/main.c"
	note_debug 6.12-debug 2 "$hash" 400 0 5
	! debug_note 6.12-debug 2 || return
	echo 'int x;' > "$T/kmod/main.c"
	same "$(sort "$noted")" "$(sort <<< "$old")"
}

not()
{
	! "$@"
}

elsewhere()
{
	echo '# another' >> "$T/selftests/qemu/lib.sh" && debug_note 6.12-debug 2
}

# Two programs of three have failed, and pass the next time.
repeated()
{
	local old=$T/guest.log new=$T/again.log

	printf '%s\n' '# test_a' 'ok 1 x' 'not ok 2 y' '# test_b.sh' 'ok 1 z' '# test_c' \
		'ok 1 a # SKIP b' 'not ok test_c: took more than 1 s' 'ok memory leaks: none' > "$old"
	printf '%s\n' '# test_a' 'ok 1 x' 'ok 2 y' '# test_c' 'ok 1 a # SKIP b' 'ok 2 c' \
		'ok memory leaks: none' > "$new"
	note_debug 6.12-debug 2 "$(hash_for 6.12-debug-2)" 30 3 5
	same "$(programs_to_repeat 6.12-debug 2 "$old")" '' || return
	note_debug 6.12-debug 2 "$(hash_for 6.12-debug-2)" 30 2 5
	same "$(programs_to_repeat 6.12-debug 2 "$old")" $'test_a\ntest_c' &&
		note_again 6.12-debug 2 "$old" "$new" test_a test_c &&
		same "$(debug_note 6.12-debug 2)" "32 0 5 $(date -u +%F) 6.12.117" &&
		same "$(programs_to_repeat 6.12-debug 2 "$old")" ''
}

# parts_apart: a part is out of date only when what it depends on changes
parts_apart()
{
	echo 'int main;' > "$T/user/main.c"
	note_result rt "$(hash_for rt)" 5 0 1 && note_result generic "$(hash_for generic)" 5 1 0 &&
	same "$(tell_outdated rt generic fuzz)" \
		"not run since a change, or failed: generic fuzz (make check PART=...)" &&
	echo 'int other;' > "$T/user/main.c" && debug_note 6.12-debug 2 &&
	same "$(tell_outdated rt)" "not run since a change, or failed: rt (make check PART=...)"
}

check "a run is noted, in place of the last one" notes
check "the note holds for the module that was run" holds
check "... as a failure, if there were failures" had_failures
check "... and for no other kernel or number of CPUs" not_run
check "nothing holds when the module changes" changed "$T/kmod/main.c" 'int y;'
check "... or gets a file" changed "$T/kmod/other.c" ''
check "... or an interface of it changes" changed "$T/include/schedtape/event.h" '#define Y'
check "... or had changed before it was noted" changed_meanwhile
check "... or the kernel's configuration does" key 0123456789abcdee not debug_note 6.12-debug 2
check "with the same it holds" key 0123456789abcdef debug_note 6.12-debug 2
check "where the kernel's source is not there, its configuration is not known" without_source
check "tests that failed and pass now replace their noted results" repeated
check "a part is out of date when something that it depends on has changed" parts_apart
check "a change outside the module does not matter" elsewhere
finish
