# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154 # top and build are of lib.sh
# debug-kernels.sh - tests on debug kernels, and the notes of their results. Sourced, after
# qemu/lib.sh, qemu/suites.sh, steps.sh, guests.sh and results.sh.

# The kernels to run when work on the module is finished. 6.1-debug and 6.1-kcsan are optional.
# shellcheck disable=SC2034 # for those who source this
debug_kernels=(6.12-debug 7.3-debug 7.3-kcsan)

# Of the tests of commands only these run on debug kernels, where a test takes ten times as long.
# They load, kill, replay and fail in ways that no program does by itself, and one needs a debug
# kernel. The module's work in the other tests is covered by the programs (test_*.c) and fuzzers.
debug_commands=(test_load_cycles.sh test_record_kill.sh test_replay.sh test_replay_cgroups.sh
		test_replay_kill.sh test_scx.sh test_record_threads.sh test_record_trouble.sh
		test_lock_holds.sh)

# not_debugged_commands: prints the other tests of commands
not_debugged_commands()
{
	local test

	for test in "$top"/selftests/{cli,module}{,/*}/test_*.sh; do
		test=${test##*/}
		[[ " ${debug_commands[*]} " = *" $test "* ]] || printf '%s ' "$test"
	done
}

# Tests whether guests can run debug kernels here: see find_emulator of qemu/vm.
debug_host()
{
	[ "$(host_suite)" = bookworm ]
}

# The guest's command line, to which tests are added. The limits are long, because the detectors
# are slow and the kernels are emulated.
debug_run()
{
	printf 'SCHEDTAPE_TIMEOUT=1500 SCHEDTAPE_SLOW=10 FUZZ_INPUTS=%q SCHEDTAPE_KO=%q %q' \
		"${FUZZ_INPUTS:-3000}" "$build/kmod/$1/schedtape.ko" "$top/selftests/run"
}

# debug_guest STEP KERNEL CPUS [TEST...]
debug_guest()
{
	guest_run "$1" "$top/selftests/qemu/vm" --kernel "$2" --cpus "$3" --mem 3072 -- \
		"$(debug_run "$2") ${*:4}"
}

# debug_tests NAME KERNEL CPUS [TEST...]: one step
debug_tests()
{
	debug_guest "$1 $2 $3" "${@:2}"
	results "$1 $2 $3"
}

# debug_shares GUESTS NAME KERNEL CPUS [TEST...]: one step for each of GUESTS guests, which run at
# the same time
debug_shares()
{
	local n without

	without=$(not_debugged_commands)
	for ((n = 1; n <= $1; n++)); do
		SCHEDTAPE_WITHOUT=$without SCHEDTAPE_SHARE=$n/$1 debug_guest "$2 $3 $4 $n" "${@:3}" &
	done
	wait
	for ((n = 1; n <= $1; n++)); do
		results "$2 $3 $4 $n"
	done
}

# planted KERNEL: does the kernel report bugs, and are the reports found? By the tests' judge, and
# by the guest's.
planted()
{
	local module=$build/planted/$1 status

	mkdir -p "$module" && ln -sf "$top"/selftests/planted/* "$module/" &&
	"$top/selftests/qemu/build-module" "$1" "$module" || return
	timeout 1860 "$top/selftests/qemu/vm" --kernel "$1" --no-module --timeout 1800 \
		--append kasan_multi_shot -- \
		"$top/selftests/planted/run $module/planted.ko ${1##*-}" 2> "$module/stderr"
	status=$?
	if [ $status = 120 ] && grep -q "the guest's kernel reported" "$module/stderr"; then
		echo "ok - the guest's console was judged"
	else
		cat "$module/stderr"
		echo "not ok - the guest's console was judged: status $status"
		return 1
	fi
	[ "${1##*-}" = kcsan ] || {
		alone "$1" interrupted 'inconsistent lock state' &&
		alone "$1" out_of_object 'usercopy: Kernel memory exposure attempt' &&
		alone "$1" stack_end 'corrupted stack end detected' &&
		alone "$1" stack_guard 'stack guard page was hit'
	}
}

# alone KERNEL BUG PATTERN: a bug that ends its task, the guest, or the detector
alone()
{
	local module=$build/planted/$1

	timeout 360 "$top/selftests/qemu/vm" --kernel "$1" --no-module --timeout 300 -- \
		insmod "$module/planted.ko" bug="$2" 2> "$module/stderr"
	if grep -A 50 "the guest's kernel reported" "$module/stderr" | grep -q "$3"; then
		echo "ok - planted: $2: $3"
	else
		cat "$module/stderr"
		echo "not ok - planted: $2: $3"
		return 1
	fi
}

# note_debug KERNEL CPUS HASH PASSED FAILED SKIPPED
note_debug()
{
	note_result "$1-$2" "${@:3}" "$(< "$build/kernels/$1/release")" "$(< "$build/kernels/$1/key")"
}

# The key that KERNEL would have now. It depends on the kernel's source, which is too large to
# download for this: without the source nothing is printed.
current_key()
{
	[ -e "$build/kernels/source-${1%-*}/package" ] || return
	"$top/selftests/qemu/kernel-build" --key "$1"
}

# debug_note KERNEL CPUS: prints the note for the current module and, if its key is known, the
# current kernel: numbers, day, release
debug_note()
{
	note_of "$1-$2" "$(current_key "$1")"
}

# noted_run KERNEL CPUS: prints the noted results in place of another run
noted_run()
{
	local release p f s day

	read -r p f s day release < <(debug_note "$1" "$2") || return
	echo "# noted: $release, on $day: $p passed, $f failed, $s skipped; not run again"
	[ "$f" = 0 ]
}

# results_of LOG PROGRAM...: prints how many passed, failed, and were skipped
results_of()
{
	program_results "$1" | awk -v wanted=" ${*:2} " '
		index(wanted, " " $1 " ") { n[$2]++ }
		END { print n["passed"] + 0, n["failed"] + 0, n["skipped"] + 0 }'
}

# programs_to_repeat KERNEL CPUS LOG: prints the programs in LOG that failed; none if the note is
# out of date, or has failures that are not theirs.
programs_to_repeat()
{
	local failures

	read -r _ failures _ < <(debug_note "$1" "$2") || return
	program_results "$3" | awk -v failures="$failures" '
		$2 == "failed" && !found[$1]++ { programs = programs $1 "\n" }
		$2 == "failed" { n++ }
		END { if (n == failures) printf "%s", programs }'
}

# note_again KERNEL CPUS OLD NEW PROGRAM...: the programs passed in the log NEW. Notes their
# results in place of those in the log OLD.
note_again()
{
	local p s old_p old_s new_p new_s

	read -r p _ s _ < <(debug_note "$1" "$2") || return
	read -r old_p _ old_s < <(results_of "$3" "${@:5}")
	read -r new_p _ new_s < <(results_of "$4" "${@:5}")
	note_debug "$1" "$2" "$(hash_for "$1-$2")" $((p - old_p + new_p)) 0 $((s - old_s + new_s))
}
