# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154,SC2034 # logs and top are the caller's
# gate.sh - the part of "check" that every change has to pass.  Sourced, after steps.sh, guests.sh,
# kernels.sh and programs.sh; its functions run in the folder selftests. "check" tells the results.
#
# No result may depend on how fast this machine is. So most guests count instructions; and at most as
# many CPUs of guests are busy as a machine with two has: two chains run side by side, with one each,
# and the guest with two CPUs runs alone.

# counted NAME KERNEL SHIFT PROGRAM...: a step in a guest in which an instruction takes 2^SHIFT ns
counted()
{
	guest_run "$1" qemu/vm --memory --mem 3072 --kernel "$2" --icount --shift "$3" -- \
		"SCHEDTAPE_EXACT=1 SCHEDTAPE_KO=/schedtape/build/kmod/$2/schedtape.ko ./run ${*:4}"
}

# counted_guest KERNEL: the programs that the table gives to the kernel
counted_guest()
{
	# shellcheck disable=SC2046 # programs
	counted "guest $1" "$1" 4 $(programs_of "$1")
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

build_gate_modules()
{
	tested_series | xargs -P 2 -I{} make -s -j 1 -C "$top" module KERNEL={}
}

# What runs here mostly computes.
run_computations()
{
	step_run "unit" make -s -C unit run
	step_run "spec" host/test_netlink_spec.py
	step_run "reports" host/test_kernel_log.sh
	step_run "guests" host/test_guests.sh
	step_run "style" ./style --changed checkpatch tidy shell man layers licences
	step_run "fuzz" make -s -C fuzz run RUNS="${FUZZ_RUNS:-1000}" FUZZFLAGS=-seed=1
	exact_guest
}

run_counted_guests()
{
	counted_guest 6.1
	counted_guest 7.3
}

part_gate()
{
	local name beside

	untold=(unit spec reports guests style fuzz "guest "{6.1,7.3,"6.12 exact","6.12 two CPUs"})
	for name in $(tested_series); do
		qemu/fetch kernel "$name"
	done > /dev/null 2>&1 &
	step "table" check_table
	step "build" make -s -j 2 -C "$top" all python && step "build tests" make -s -j 2 || return
	wait
	step "build modules" build_gate_modules || return
	run_counted_guests &
	beside=$!
	run_computations
	wait "$beside"
	two_cpus
}
