# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# avoid-patching.sh - keep an emulated kernel's code as it is.  Sourced.
#
# QEMU may miss that the kernel patches an instruction which another
# CPU is just about to execute, and that CPU is lost: before 8.1 often, and 10.0 still does
# so with Linux 7.3 (test_unload, two CPUs).  Hooking a tracepoint does
# so, and the tests hook them hundreds of times.  With two other users of each
# that stay as long as the guest does, the kernel's code remains as it is.

tracing=/sys/kernel/tracing

# While the users come there is only one CPU.  Returns 1 if there is nothing to fear.
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
			 task/task_rename cgroup/cgroup_attach_task irq/softirq_{raise,entry} &&
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

# Probes of a return are put into these.
hold_functions()
{
	local function

	for function in __sched_setscheduler set_user_nice sched_setaffinity __set_task_comm; do
		echo "r:held/$function $function" >> $tracing/kprobe_events &&
		echo 1 > $tracing/instances/held1/events/held/$function/enable
	done
}

# A limit of CPU time for a cgroup, too, is code that is patched for the first.
hold_cpu_limits()
{
	echo +cpu > /sys/fs/cgroup/cgroup.subtree_control &&
		mkdir -p /sys/fs/cgroup/held &&
		echo 100000 > /sys/fs/cgroup/held/cpu.max
}
