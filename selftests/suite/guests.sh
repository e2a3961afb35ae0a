# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154 # logs is the caller's
# guests.sh - steps that run in guests.  Sourced, after steps.sh.

. "$(dirname "$(realpath "${BASH_SOURCE[0]}")")/../lib/kernel-log.sh"
# Only a guest that hangs takes that long.
guest_limit=2400

# The line that "run" prints before what a program does.
program_begins='^# (test_[a-z_.]+|fuzz_[a-z_]+|lockdown)$'

# whole_programs LOG: prints the log without the programs that "# again" found incomplete
whole_programs()
{
	awk -v begins="$program_begins" '
		/^# again: / { print; half = ""; next }
		$0 ~ begins { printf "%s", half; half = "" }
		{ half = half $0 "\n" }
		END { printf "%s", half }' "$1"
}

# program_results LOG: prints a line "PROGRAM passed|failed|skipped" for each result; leaks belong
# to no program
program_results()
{
	awk -v begins="$program_begins" '$0 ~ begins { program = $2 }
		/^(ok|not ok) .*memory leaks/ { next }
		/^ok .*# SKIP/ { print program, "skipped"; next }
		/^ok / { print program, "passed" }
		/^not ok / { print program, "failed" }' "$1"
}

# without_end LOG: prints, as failed results, the programs of which "run" has told a plan but no end
without_end()
{
	awk -v begins="$program_begins" '
		/^# plan: / { for (i = 3; i <= NF; i++) end[$i] = "did not run"; next }
		$0 ~ begins && $2 in end { end[$2] = "did not end" }
		/^# [^ ]+: [0-9]+ s, CPU / { delete end[substr($2, 1, length($2) - 1)] }
		END { for (i in end) printf "# %s\nnot ok %s: %s\n", i, i, end[i] }' "$1"
}

# guest LOG COMMAND...: runs a guest, by vm or a command with the same options, for $guest_limit
# seconds. If the emulator fails, starts another one with the tests that have not run. LOG gets
# all output; the output of complete programs is printed, and which programs did not end.
guest()
{
	local console tries=3 status ran=''

	console=$(mktemp) || return
	: > "$1"
	while :; do
		# In the foreground it stays in this script's process group, and ends with it.
		SCHEDTAPE_RAN=$ran timeout --foreground $((guest_limit + 60)) \
			"$2" --timeout "$guest_limit" --console "$console" "${@:3}" >> "$1" 2>&1
		status=$?
		tries=$((tries - 1))
		if [ $status -lt 120 ] || [ $tries = 0 ] || ! emulator_stuck "$console"; then
			break
		fi
		echo "# again: the emulator was stuck in a patched instruction" >> "$1"
		ran=$(whole_programs "$1" | sed -nE "/$program_begins/ s/^# //p" | tr '\n' ' ')
	done
	rm -f "$console"
	whole_programs "$1"
	without_end "$1"
	return $status
}

# guest_run NAME COMMAND...: a step whose results are counted later, by results. A guest that counts
# instructions does the same again: it gets no second try.
guest_run()
{
	local log=$logs/${1// /-} name

	[[ " $* " = *" --icount "* ]] || {
		for name in "${!SCHEDTAPE_@}"; do
			printf 'export %s=%q\n' "$name" "${!name}"
		done
		printf 'command=('
		printf ' %q' "${@:2}"
		echo ')'
	} > "$log.command"
	step_run "$1" guest "$log.log.all" "${@:2}"
}

guest_step()
{
	guest_run "$@"
	results "$1"
}

# may_repeat LOG: tests whether what failed in a guest may be chance. What its kernel reported is
# not, unless the report says only that this machine was busy.
may_repeat()
{
	! grep -q '^vm: the module cannot be unloaded' "$1" && only_stalls < "$1"
}

# passed_alone LOG PROGRAM: prints the log with that result in place of the program's failures
passed_alone()
{
	awk -v begins="$program_begins" -v program="$2" '$0 ~ begins { current = $2 }
		current == program && /^not ok/ && !/memory leaks/ {
			first = first ? first : $0
			$0 = "# was " $0
		}
		{ print }
		END { printf "# unstable: %s: %s; it passed alone\n", program, first
			printf "ok - %s, alone\n", program }' "$1"
}

# repeat LOG PROGRAM: runs a program that failed in a guest once more, in a fresh one. If it passes,
# LOG has that result.
repeat()
{
	local log=${1%.log}.$2.log new

	# shellcheck source=/dev/null disable=SC2154 # the file sets command, and variables for it
	if (. "${1%.log}.command" && SCHEDTAPE_ONLY=$2 guest "$log.all" "${command[@]}") \
		> "$log" 2>&1 < /dev/null; then
		new=$(passed_alone "$1" "$2")
		cp "$1" "$1.first"
		printf '%s\n' "$new" > "$1"
	else
		echo "# again: $2 failed alone as well: see $log" >> "$1"
	fi
}

# guest_later NAME COMMAND...: runs a guest, and adds the step to "untold", so that "tell" counts its
# results
guest_later()
{
	untold+=("$1")
	guest_run "$@"
}

# repeat_failed: runs each program that failed in a guest of the steps in "untold" once more. Not if
# there are more than six: that is no chance. Nothing else may run.
repeat_failed()
{
	local name log program again=() times

	for name in "${untold[@]}"; do
		log=$logs/${name// /-}.log
		if [ ! -e "${log%.log}.command" ] || [ ! -e "$log.status" ] || ! may_repeat "$log"; then
			continue
		fi
		while read -r program; do
			again+=("$log $program")
		done < <(program_results "$log" | sed -n 's/ failed$//p' | sort -u)
	done
	[ ${#again[@]} -le 6 ] || return 0
	for program in "${again[@]}"; do
		log=${program% *}
		repeat "$log" "${program##* }"
		grep -q '^not ok' "$log" || {
			read -r _ times < "$log.status" && echo "0 $times" > "$log.status"
		}
	done
}
