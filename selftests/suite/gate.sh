# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154,SC2034 # logs and top are the caller's
# gate.sh - the part of "check" that every change has to pass.  Sourced, after steps.sh, guests.sh,
# kernels.sh and programs.sh; its functions run in the folder selftests. "check" tells the results.
#
# No result may depend on how fast this machine is. So most guests count instructions; and at most as
# many CPUs of guests are busy as a machine with two has: two jobs run side by side, with one each,
# and the guest with two CPUs runs alone.

# counted_command KERNEL SHIFT PROGRAM...: sets command. It runs the programs in a guest in which an
# instruction takes 2^SHIFT ns.
counted_command()
{
	command=(qemu/vm --memory --mem 3072 --kernel "$1" --icount --shift "$2" --
		"SCHEDTAPE_EXACT=1 SCHEDTAPE_KO=/schedtape/build/kmod/$1/schedtape.ko ./run ${*:3}")
}

# counted NAME KERNEL SHIFT PROGRAM...: a step in such a guest
counted()
{
	local command

	counted_command "${@:2}"
	guest_run "$1" "${command[@]}"
}

# counted_guest KERNEL: the programs that the table gives to the kernel
counted_guest()
{
	# shellcheck disable=SC2046 # programs
	SCHEDTAPE_HOLD=1 counted "guest $1" "$1" 4 $(programs_of "$1")
}

# shellcheck disable=SC2046 # programs
exact_guest()
{
	counted "guest 6.12 exact" 6.12 0 $(programs_of exact)
}

two_cpus()
{
	guest_run "guest 6.12 two CPUs" qemu/vm --kernel 6.12 --cpus 2 -- \
		"$(one 6.12) $(programs_of two | xargs)"
}

# build_module KERNEL
build_module()
{
	JOBS=1 step_run "module $1" make -s -C "$top" module KERNEL="$1"
}

# Each of these jobs uses one CPU. Long ones are first, so that the last two end at about the same
# time; "unit" and "fuzz", which wait for each other, are not neighbours.
gate_jobs=(job_7.3 job_6.1 job_unit job_6.12 job_style job_fuzz job_small)

job_7.3()
{
	build_module 7.3
	counted_guest 7.3
}

job_6.1()
{
	build_module 6.1
	counted_guest 6.1
}

job_6.12()
{
	build_module 6.12
	exact_guest
	step_run "repeats" host/test_repeats.sh
}

job_unit()
{
	step_run "unit" make -s -C unit run
}

job_style()
{
	step_run "style" ./style --changed checkpatch tidy shell man layers licences barriers recipes
}

job_fuzz()
{
	step_run "fuzz" make -s -C fuzz run RUNS="${FUZZ_RUNS:-1000}" FUZZFLAGS=-seed=1
}

job_small()
{
	step_run "spec" host/test_netlink_spec.py
	step_run "export" host/test_export.py
	step_run "reports" host/test_kernel_log.sh
	step_run "guests" host/test_guests.sh
	step_run "command lines" host/test_command_lines.sh
}

# two_at_a_time JOB...: runs each of the jobs
two_at_a_time()
{
	local job

	for job; do
		while [ "$(jobs -rp | wc -l)" -ge 2 ]; do
			wait -n
		done
		"$job" &
	done
	wait
}

# fetch_needed: gets what the gate needs from elsewhere
fetch_needed()
{
	local kernel

	for kernel in $(tested_series); do
		fetch_one kernel "$kernel" && fetch_one_root "$kernel"
	done
	fetch_one qemu
	fetch_one selftests
}

fetch_one()
{
	qemu/fetch "$@" > /dev/null || { echo "not ok fetch $*"; return 1; }
}

# fetch_one_root KERNEL: the system in which its module is built, if it is not this one
fetch_one_root()
{
	local suite

	suite=$(< "$build/kernels/$1/suite")
	[ "$suite" = "$(host_suite)" ] || fetch_one root "$suite"
}

part_gate()
{
	local beside built=''

	untold=("module "{6.1,6.12,7.3} unit spec reports guests "command lines" style fuzz repeats
		"guest "{6.1,7.3,"6.12 exact","6.12 two CPUs"})
	step "table" check_table
	step_run "fetch" fetch_needed &
	beside=$!
	step "build" make -s -j 2 -C "$top" all python && step "build tests" make -s -j 2 && built=1
	wait "$beside"
	results "fetch"
	# Nothing else is worth a line then.
	! grep -q '^not ok' "$logs/fetch.log" || { untold=(); return; }
	[ -n "$built" ] || return
	two_at_a_time "${gate_jobs[@]}"
	two_cpus
}
