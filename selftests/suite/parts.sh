# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154,SC2034 # logs, top and build are the caller's
# parts.sh - what "check" runs beside the gate, in parts of at most half an hour.  Sourced, after
# gate.sh; its functions run in the folder selftests.

few=(test_lifecycle test_events test_hotplug test_replay_engine test_replay_waits)
rt=(test_lifecycle test_replay_engine test_prio_inheritance test_unload test_wakers_and_forks
    test_filter_cgroups test_affinity test_prio test_sessions test_softirq test_events test_hotplug
    test_streams test_replay_waits)
debug_kernel=6.12-debug
debug=(test_lifecycle test_filter test_loss test_streams test_replay_engine)

# parts: prints the names of all parts, in the order in which "all" runs them
parts()
{
	local kernel

	echo gate
	for kernel in $(tested_series); do
		printf '%s\n' "$kernel"-{1,2,3} "$kernel-counted"
	done
	printf '%s\n' rt generic odd newest machines builds packages host style fuzz debug
}

# Debian's kernels have sched_ext from 7.3 on. Without these schedulers test_scx.sh skips the
# tests that need them.
build_schedulers()
{
	[[ ! $1 =~ ^([7-9]|[1-9][0-9]+)\. ]] || scx/build
}

# Without them test_replay_servers.sh and test_tutorial.sh skip their tests.
fetch_servers()
{
	qemu/fetch servers > /dev/null
}

# Without what part_built has built, programs of a guest skip tests.
part_built()
{
	local kernel

	step "build" make -s -j "$(nproc)" -C "$top" all python &&
	step "build tests" make -s -j "$(nproc)" || return
	for kernel; do
		step "module $kernel" make -s -j "$(nproc)" -C "$top" module KERNEL="$kernel" || return
	done
}

# guest_of NAME KERNEL [TEST...]: a step in a guest with two CPUs
guest_of()
{
	guest_later "$1" qemu/vm --kernel "$2" --cpus 2 -- "$(one "$2") ${*:3}"
}

# part_kernel KERNEL SHARE: a third of all programs, with two CPUs
part_kernel()
{
	part_built "$1" || return
	step "build schedulers" build_schedulers "$1"
	step "servers" fetch_servers
	SCHEDTAPE_SHARE=$2/3 guest_of "guest $1 $2" "$1"
}

# part_counted KERNEL: all programs of the gate for one CPU, twice; those of its exact guest; and those
# that compare with perf stat, which is not in the small root of the others
part_counted()
{
	part_built "$1" || return
	step "guests $1 counted" host/test_repeats.sh "$1" all
	# shellcheck disable=SC2046 # programs
	counted "guest $1 exact" "$1" 0 $(programs_of exact)
	untold=("guest $1 exact")
	guest_later "guest $1 perf" qemu/vm --mem 3072 --kernel "$1" --icount --shift 4 -- \
		"SCHEDTAPE_EXACT=1 $(one "$1") test_stat.sh"
}

part_rt()
{
	local kernel

	for kernel in $(tested_series); do
		part_built "$kernel-rt" && guest_of "guest $kernel-rt" "$kernel-rt" "${rt[@]}"
	done
}

# Builds -generic have the sources and nearly the configuration of the others: one is enough.
part_generic()
{
	part_built 6.12-generic && guest_of "guest 6.12-generic" 6.12-generic "${few[@]}"
}

# altered COMMAND KERNEL NAME HEADER FILES [CFLAG...]: a guest with that module, see altered-module
altered()
{
	step "module $3" qemu/altered-module "${@:2}" || return
	guest_later "$3 $2" qemu/vm --kernel "$2" --cpus 1 --no-module -- \
		"insmod $build/kmod/altered-$2/$3.ko && $1 && rmmod schedtape"
}

# Modules for what no kernel of Debian and no guest has: a kernel without return probes; another
# version than the program's, as after an upgrade; a CPU that reads its clocks late, which crashed
# when another one had just done so.
run_altered()
{
	altered "SCHEDTAPE_WIRE=older ./run test_versions.sh" "$1" older-wire other_wire.h \
		"device netlink" -DSTAPE_OTHER_WIRE=1
	altered "SCHEDTAPE_WIRE=newer ./run test_versions.sh" "$1" newer-wire other_wire.h \
		"device netlink" -DSTAPE_OTHER_WIRE=99
	altered "$build/schedtape record -q -a -o /tmp/tape -- sleep 3" "$1" late-clock \
		late_clock.h clock
	KFLAGS=CONFIG_KRETPROBES= altered "SCHEDTAPE_LACKS=probes ./run test_missing_features.sh" \
		"$1" lacks-probes without_probes.h \
		"probe_attributes probe_throttle attach encode members retprobe"
}

# Tests modules whose self-test is made to fail, see lib/planted_selftest.h.
run_planted()
{
	local planted

	for planted in 1 2 3; do
		step "module selftest-$planted" qemu/altered-module "$1" selftest-$planted \
			planted_selftest.h selftest -DSTAPE_PLANTED=$planted || return
	done
	guest_later "selftest $1" qemu/vm --kernel "$1" --cpus 1 -- \
		"SCHEDTAPE_PLANTED=$build/kmod/altered-$1 $(one "$1") test_selftest.sh"
}

part_odd()
{
	local kernel

	mapfile -t kernels < <(tested_series)
	part_built "${kernels[@]}" || return
	for kernel in "${kernels[@]}"; do
		guest_later "lockdown $kernel" qemu/vm --kernel "$kernel" --cpus 1 -- \
			"$(one "$kernel") lockdown"
	done
	guest_later "nodes $kernel" qemu/vm --kernel "$kernel" --cpus 2 --nodes 2 -- \
		"$(one "$kernel") test_numa"
	guest_later "lacks $kernel" qemu/vm --kernel "$kernel" --cpus 1 --append highres=off -- \
		"$(one "$kernel") test_missing_features.sh"
	run_altered "${kernels[0]}"
	run_planted "${kernels[0]}"
}

# A failure on a kernel that is newer than the tested ones is a skipped result.
part_newest()
{
	local kernels missing untried series

	choose_kernels
	for series in "${missing[@]}"; do
		step "$series" leave_out "$series" "is offered by no release of Debian any more"
	done
	if [ -z "$untried" ]; then
		step "newest" echo "ok 1 newest # SKIP the newest series is a tested one"
	elif part_built; then
		step "newest" try_untried "${few[@]}"
	fi
}

# on_host NAME...: steps that are tests in host/
on_host()
{
	local name

	for name; do
		step "$name" timeout 2400 "host/test_$name.sh"
	done
}

part_machines()
{
	part_built && on_host sections suspend many_cpus vmcore
}

part_builds()
{
	part_built && on_host kbuild configurations kselftest
}

part_packages()
{
	part_built && on_host package service dkms install
}

part_host()
{
	local name

	part_built || return
	on_host library completion kernel_log results guests cache
	for name in netlink_spec pager page python reading scripts export; do
		step "$name" "host/test_$name.py"
	done
}

part_style()
{
	part_built && step "style" ./style
}

part_fuzz()
{
	part_built || return
	step "fuzz" make -s -j "$(nproc)" -C fuzz run RUNS="${FUZZ_RUNS:-10000}"
	guest_later "fuzz guest" fuzz/guest --inputs "${FUZZ_INPUTS:-10000}"
}

# Reports what debug kernels found when they last ran.
part_debug()
{
	local kernel

	for kernel in "${debug_kernels[@]}"; do
		if debug_note "$kernel" 2 > /dev/null; then
			step "noted $kernel" noted_run "$kernel" 2
		else
			echo "    $kernel: not run since the module or the kernel changed"
		fi
	done
	if debug_note $debug_kernel 2 > /dev/null; then
		return
	elif ! debug_host; then
		not_debugged "programs of a guest with a debug kernel crash under this QEMU"
	elif [ ! -e "$build/kernels/$debug_kernel/key" ]; then
		not_debugged "no debug kernel is here, and to build one takes long"
	else
		step "kernel $debug_kernel" qemu/kernel-build $debug_kernel &&
		step "module $debug_kernel" make -s -C "$top" module KERNEL=$debug_kernel &&
		debug_tests "guest" $debug_kernel 2 "${debug[@]}"
	fi
}

# not_debugged WHY: reports a skipped result
not_debugged()
{
	step "debug" echo \
		"ok 1 debug # SKIP $1: make check-debug, and commit selftests/suite/check.result"
}

