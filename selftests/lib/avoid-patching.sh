# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# avoid-patching.sh - keep the code of an emulated kernel unpatched.  Sourced.
#
# When the kernel patches an instruction that another CPU is about to execute, QEMU may miss
# the change, and that CPU hangs: often before QEMU 8.1, and QEMU 10.0 still does so with
# Linux 7.3 (test_unload, two CPUs).  The kernel patches its code for the first user of a
# tracepoint, and the tests hook tracepoints hundreds of times.  So this file gives each hook
# two users of its own until the guest ends; then no test is a first or last user.

tracing=/sys/kernel/tracing

# Leaves one CPU online while the users are added. Returns 1 if this kernel needs no care.
hold_begin()
{
	grep -q 'QEMU TCG' /proc/cpuinfo && [ "$(nproc)" != 1 ] || return
	hold_switch_cpus 0
}

hold_end()
{
	hold_switch_cpus 1
}

hold_switch_cpus()
{
	local cpu

	for cpu in /sys/devices/system/cpu/cpu[1-9]*/online; do
		echo "$1" > "$cpu"
	done
}

hold_code()
{
	hold_begin || return 0
	hold_kernel
	hold_end
}

hold_kernel()
{
	hold_tracepoints sched/sched_{switch,waking,wakeup,wakeup_new,migrate_task} \
			 sched/sched_{process_fork,process_exit,process_exec,pi_setprio} \
			 task/task_rename cgroup/cgroup_{attach_task,mkdir} irq/softirq_{raise,entry} &&
		hold_functions
	hold_cpu_limits
}

# hold_tracepoints EVENT...
hold_tracepoints()
{
	local i event

	for i in 1 2; do
		mkdir -p $tracing/instances/held$i || return
		echo 0 > $tracing/instances/held$i/tracing_on
		for event; do
			echo 1 > $tracing/instances/held$i/events/"$event"/enable
		done
	done
}

# The module puts return probes into these functions.
hold_functions()
{
	local function

	mkdir -p $tracing/instances/held1 && echo 0 > $tracing/instances/held1/tracing_on || return
	for function in sched_autogroup_create_attach __sched_setscheduler set_user_nice \
		sched_setaffinity throttle_cfs_rq unthrottle_cfs_rq; do
		echo "r:held/$function $function" >> $tracing/kprobe_events &&
		echo 1 > $tracing/instances/held1/events/held/$function/enable
	done
}

# The first cgroup with a limit of CPU time makes the kernel patch code, too.
hold_cpu_limits()
{
	echo +cpu > /sys/fs/cgroup/cgroup.subtree_control &&
		mkdir -p /sys/fs/cgroup/held &&
		echo 100000 > /sys/fs/cgroup/held/cpu.max
}
