# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154 # logs is the caller's
# guests.sh - steps that run in guests.  Sourced, after steps.sh.

. "$(dirname "$(realpath "${BASH_SOURCE[0]}")")/../lib/kernel-log.sh"
guest_limit=1200

# The line that "run" prints before what a program does.
program_begins='^# (test|fuzz)_[a-z_.]+$'

# whole_programs LOG: prints the log without the programs that "# again" found incomplete
whole_programs()
{
	awk -v begins="$program_begins" '
		/^# again: / { print; half = ""; next }
		$0 ~ begins { printf "%s", half; half = "" }
		{ half = half $0 "\n" }
		END { printf "%s", half }' "$1"
}

# guest LOG COMMAND...: runs a guest, by vm or a command with the same options, for $guest_limit
# seconds. If the emulator fails, starts another one with the tests that have not run. LOG gets
# all output; the output of complete programs is printed.
guest()
{
	local console tries=3 status ran=''

	console=$(mktemp) || return
	: > "$1"
	while :; do
		SCHEDTAPE_RAN=$ran timeout $((guest_limit + 60)) "$2" --timeout "$guest_limit" \
			--console "$console" "${@:3}" >> "$1" 2>&1
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
	return $status
}

# guest_run NAME COMMAND...: a step whose results are counted later, by results
guest_run()
{
	step_run "$1" guest "$logs/${1// /-}.log.all" "${@:2}"
}

guest_step()
{
	guest_run "$@"
	results "$1"
}
