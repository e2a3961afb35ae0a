# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154 # logs is the caller's
# steps.sh - count the results of many tests, step by step, with the logs in the folder $logs.
# Sourced, after qemu/lib.sh.

passed=0 failed=0 skipped=0 failures='' unstable='' untold=()

# of_kernel LINES LOG: prints the first lines of the report of a guest's kernel, if there is one
of_kernel()
{
	grep -A "$1" '^vm: the guest.s kernel reported:' "$2"
}

# last_words LOG: prints that, or the end of the log
last_words()
{
	of_kernel 40 "$1" || tail -n 25 "$1"
}

# add NAME LOG STATUS SECONDS CPU: counts the TAP results in LOG, and prints one line. A step with
# a non-zero exit status counts as failed even if all results are "ok".
add()
{
	local p f s

	s=$(grep -cE '^ok .*# SKIP' "$2")
	p=$(($(grep -c '^ok ' "$2") - s))
	f=$(grep -c '^not ok' "$2")
	[ "$3" = 0 ] || [ "$f" -gt 0 ] || f=1
	[ "$3" != 0 ] || [ $((p + f + s)) -gt 0 ] || p=1
	printf '%-24s %4d passed, %d failed, %d skipped  (%d s, CPU %d s)\n' \
		"$1" "$p" "$f" "$s" "$4" "$5"
	passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
	# Prints the numbers of fuzzers' inputs, noted results, repetitions, kernels that were left
	# out, with the reason, and what was taken because nothing newer could be fetched.
	sed -nE 's/^# (fuzzed|noted|again|untried|cached): /    /p' "$2"
	unstable+=$(sed -n "s/^# unstable: /unstable: $1: /p" "$2" && echo .)
	unstable=${unstable%.}
	[ "$f" -gt 0 ] || return 0
	# Programs print the reason before a failed result, scripts after it.
	awk '/^ok/ { n = shown = 0; next }
		/^not ok/ { for (i = n > 12 ? n - 12 : 0; i < n; i++) print before[i]
			print; n = 0; shown = 20; next }
		/^#/ && shown-- > 0 { print; next }
		{ before[n++] = $0; shown = 0 }' "$2" | sed 's/^/    /'
	[ "$3" -lt 2 ] || last_words "$2" | sed 's/^/    /'
	echo "    all of it: $2"
	failures+=$(grep -m 10 '^not ok' "$2" || { echo "exit status $3" && of_kernel 6 "$2"; })
	failures+=$'\n'"    in $1"$'\n'
}

# timed LOG COMMAND...: sets status, and also seconds and cpu: how long COMMAND took, and how much
# of that it and its children were on a CPU. A step that mostly waits may run beside others.
timed()
{
	local begun=$SECONDS TIMEFORMAT=%0U+%0S

	{ time "${@:2}" > "$1" 2>&1 < /dev/null; } 2> "$1.times"
	status=$?
	seconds=$((SECONDS - begun)) cpu=$(($(< "$1.times")))
	rm "$1.times"
}

# step NAME COMMAND...: runs COMMAND, and counts its results.
step()
{
	local log=$logs/${1// /-}.log status seconds cpu

	timed "$log" "${@:2}"
	add "$1" "$log" "$status" "$seconds" "$cpu"
	return "$status"
}

# step_run NAME COMMAND...: runs a step whose results are counted later, by results
step_run()
{
	local log=$logs/${1// /-}.log status seconds cpu

	timed "$log" "${@:2}"
	echo "$status $seconds $cpu" > "$log.status"
}

# results NAME: counts the results of a step, also if it did not run or end.
results()
{
	local log=$logs/${1// /-}.log status=1 seconds=0 cpu=0

	if [ -e "$log.status" ]; then
		read -r status seconds cpu < "$log.status"
	elif [ -e "$log" ]; then
		echo "not ok $1: did not end" >> "$log"
	else
		echo "not ok $1: did not run" > "$log"
	fi
	add "$1" "$log" "$status" "$seconds" "$cpu"
}

# tell: counts the results of the steps in "untold"
tell()
{
	local name

	for name in "${untold[@]}"; do
		results "$name"
	done
	untold=()
}

# summary: prints once more what has failed, because a long output may be cut in its middle, which
# programs passed only when they ran again, and the last line; its status is the exit status
summary()
{
	[ -z "$failures" ] || printf 'failed:\n%s' "$failures"
	[ -z "$unstable" ] || printf '%s' "$unstable"
	echo "$SECONDS s; logs are in $logs"
	echo "$passed passed, $failed failed, $skipped skipped"
	[ $failed = 0 ] && [ $passed -gt 0 ]
}
