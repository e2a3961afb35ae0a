// SPDX-License-Identifier: GPL-2.0-only
/*
 * Switches the probes on for the first user and off after the last.  There is one probe per
 * tracepoint, however many sessions record.  Probes run in the scheduler, under its locks: they
 * allocate nothing, print nothing, and wake nothing.  They take no lock but raw spinlocks that
 * are held for a bounded time: those of PIDs and filters (filter.h), of lists of dead tasks
 * (members.c), of descriptions (descriptions.h), of stocks of leaves (waits.h), and of parked
 * players (rendezvous.c).  The exit probe may wait for another CPU's last switch of a task.
 *
 * Under the runqueue lock the usual switch and wake-up take none of them.  The exceptions are:
 *
 *   io_uring starts a worker: the lock of its PID, and that of the descriptions
 *   many tasks have ended before an interrupt removed them: the same, see stape_members_add_dead()
 *   a task begins to wait, in a session with triggers that has no leaf for its PID yet: the lock
 *     of the stock of leaves
 *   a player sleeps for which another one has parked: that of the parked player
 *
 * Every probe is an RCU reader, because sessions, rings and players are freed after a
 * grace period.  Linux 6.12 switches preemption off around a probe.  Linux 7.3 takes SRCU
 * (srcu_fast) instead, and a grace period of RCU does not wait for that.  So a probe
 * relies on its tracepoint's own context, calls rcu_read_lock(), or switches preemption off:
 *
 *   sched_switch, sched_waking and sched_wakeup of another task, sched_wakeup_new,
 *   sched_migrate_task, sched_pi_setprio, softirq_raise: the kernel has interrupts off
 *   sched_waking and sched_wakeup of the current task: try_to_wake_up() has preemption off
 *   softirq_entry: bottom halves are off, but on PREEMPT_RT with preemption on; the probe
 *   uses nothing that is freed
 *   sched_process_exec, task_rename: can be preempted; they take RCU
 *   sched_process_fork, _exit: can be preempted; they switch preemption off
 *   cgroup_attach_task, cgroup_mkdir: the kernel holds a spinlock, which on PREEMPT_RT leaves
 *   preemption on; they take RCU
 *
 * Handlers of return probes (retprobe.h) run with preemption off on all kernels.  Those of
 * throttling run under the runqueue lock.
 */
#include <trace/events/cgroup.h>
#include <trace/events/irq.h>
#include <trace/events/sched.h>
#include <trace/events/task.h>

#include "record/attach.h"

#include <linux/mutex.h>
#include <linux/tracepoint.h>
#include <schedtape/netlink.h>

#include "record/cfs.h"
#include "record/filter.h"
#include "record/members.h"
#include "record/probes.h"
#include "record/task_info.h"

/* -- tracepoints ------------------------------------------------------------- */

/* Tracepoints that are not exported are found by their names. */
static struct stape_tracepoint {
	const char *name;
	void *probe;
	struct tracepoint *tp;
} stape_tracepoints[] = {
	{ "sched_switch", stape_probe_switch },
	{ "sched_waking", stape_probe_waking },
	{ "sched_wakeup", stape_probe_wakeup },
	{ "sched_wakeup_new", stape_probe_wakeup_new },
	{ "sched_migrate_task", stape_probe_migrate },
	{ "sched_process_fork", stape_members_fork },
	{ "sched_process_exit", stape_members_exit },
	{ "sched_process_exec", stape_probe_exec },
	{ "sched_pi_setprio", stape_probe_boost },
	{ "task_rename", stape_probe_rename },
	{ "cgroup_attach_task", stape_probe_cgroup },
	{ "cgroup_mkdir", stape_probe_mkdir },
	{ "softirq_raise", stape_softirq_raise },
	{ "softirq_entry", stape_softirq_entry },
};

/* A probe whose prototype is not its tracepoint's does not compile. */
static void __maybe_unused stape_attach_check_prototypes(void)
{
	check_trace_callback_type_sched_switch(stape_probe_switch);
	check_trace_callback_type_sched_waking(stape_probe_waking);
	check_trace_callback_type_sched_wakeup(stape_probe_wakeup);
	check_trace_callback_type_sched_wakeup_new(stape_probe_wakeup_new);
	check_trace_callback_type_sched_migrate_task(stape_probe_migrate);
	check_trace_callback_type_sched_process_fork(stape_members_fork);
	check_trace_callback_type_sched_process_exit(stape_members_exit);
	check_trace_callback_type_sched_process_exec(stape_probe_exec);
	check_trace_callback_type_sched_pi_setprio(stape_probe_boost);
	check_trace_callback_type_task_rename(stape_probe_rename);
	check_trace_callback_type_cgroup_attach_task(stape_probe_cgroup);
	check_trace_callback_type_cgroup_mkdir(stape_probe_mkdir);
	check_trace_callback_type_softirq_raise(stape_softirq_raise);
	check_trace_callback_type_softirq_entry(stape_softirq_entry);
}

static void stape_attach_find(struct tracepoint *tp, void *data)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(stape_tracepoints); i++)
		if (!strcmp(tp->name, stape_tracepoints[i].name))
			stape_tracepoints[i].tp = tp;
}

static int __init stape_attach_find_tracepoints(void)
{
	int i, ret = 0;

	for_each_kernel_tracepoint(stape_attach_find, NULL);
	for (i = 0; i < ARRAY_SIZE(stape_tracepoints); i++) {
		if (!stape_tracepoints[i].tp) {
			pr_err("this kernel has no tracepoint %s\n", stape_tracepoints[i].name);
			ret = -ENOENT;
		}
	}
	return ret;
}

/**
 * stape_attach_tracepoint() - find one of the tracepoints that the module uses
 * @name: of the tracepoint
 *
 * Context: module init, after stape_attach_init().
 * Return: the tracepoint, or NULL.
 */
struct tracepoint __init *stape_attach_tracepoint(const char *name)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(stape_tracepoints); i++)
		if (!strcmp(name, stape_tracepoints[i].name))
			return stape_tracepoints[i].tp;
	return NULL;
}

/* -- return probes ------------------------------------------------------------ */

#ifdef STAPE_RETPROBES
static struct stape_retprobe stape_retprobes[] = {
	{ "__sched_setscheduler", &stape_prio_ops,
	  "changes of policy and priority are not recorded" },
	{ "set_user_nice", &stape_prio_ops, "changes of nice value are not recorded" },
	{ "sched_setaffinity", &stape_affinity_ops, "changes of affinity are not recorded" },
#ifdef CONFIG_SCHED_AUTOGROUP
	{ "sched_autogroup_create_attach", &stape_group_ops, "new autogroups are not recorded" },
#endif
	{ "throttle_cfs_rq", &stape_throttle_ops, "throttling of cgroups is not recorded" },
	{ "unthrottle_cfs_rq", &stape_unthrottle_ops, "the end of throttling is not recorded" },
};

/**
 * stape_attach_throttling() - tell whether throttling of cgroups is recorded
 *
 * The result is valid only after stape_attach_try().
 *
 * Context: any.
 * Return: enum stape_throttling.
 */
u32 stape_attach_throttling(void)
{
	int i;

	if (!stape_cfs_is_known())
		return STAPE_THROTTLING_NONE;
	for (i = 0; i < ARRAY_SIZE(stape_retprobes); i++)
		if (stape_retprobes[i].ops->usable == stape_cfs_is_known &&
		    READ_ONCE(stape_retprobes[i].refused))
			return STAPE_THROTTLING_NONE;
	return STAPE_COMPAT_THROTTLING;
}

static int stape_attach_retprobes(void)
{
	return stape_retprobe_register(stape_retprobes, ARRAY_SIZE(stape_retprobes));
}

static void stape_detach_retprobes(void)
{
	stape_retprobe_unregister(stape_retprobes, ARRAY_SIZE(stape_retprobes));
}

/**
 * stape_attach_missing() - list the functions that cannot be probed, and what else is missing
 * @text: to be filled: a line for each
 * @size: of @text
 *
 * Context: any.
 * Return: length of @text.
 */
size_t stape_attach_missing(char *text, size_t size)
{
	size_t n = stape_retprobe_missing(stape_retprobes, ARRAY_SIZE(stape_retprobes), text, size);

#ifdef STAPE_CFS_QUOTAS
	if (!stape_cfs_is_known())
		n += scnprintf(text + n, size - n,
			       "a struct cfs_rq as it is known: throttling of cgroups is not recorded\n");
#endif
	return n;
}

/**
 * stape_attach_missed_calls() - count what return probes have missed since the module was loaded
 *
 * Context: any but interrupts.
 */
u64 stape_attach_missed_calls(void)
{
	return stape_retprobe_missed(stape_retprobes, ARRAY_SIZE(stape_retprobes));
}
#else
static int stape_attach_retprobes(void)
{
	return 0;
}

static void stape_detach_retprobes(void)
{
}

u64 stape_attach_missed_calls(void)
{
	return 0;
}

u32 stape_attach_throttling(void)
{
	return STAPE_THROTTLING_NONE;
}

size_t stape_attach_missing(char *text, size_t size)
{
	return scnprintf(text, size,
			 "return probes: changes of policy, priority, nice value and affinity and throttling of cgroups are not recorded\n");
}
#endif /* STAPE_RETPROBES */

/**
 * stape_attach_init() - find the tracepoints, and what return probes need
 *
 * Context: may sleep.
 * Return: 0; -ENOENT if this kernel lacks a tracepoint; -ENOMEM.
 */
int __init stape_attach_init(void)
{
	int ret;

	stape_task_init();
	stape_members_init();
	ret = stape_attach_find_tracepoints();
	if (ret)
		return ret;
	return stape_cfs_init();
}

/**
 * stape_attach_exit() - undo stape_attach_init()
 *
 * Context: may sleep.
 */
void stape_attach_exit(void)
{
	stape_cfs_exit();
}

/**
 * stape_attach_try() - try which functions this kernel lets the module probe
 *
 * The result of stape_attach_missing() is valid only after this.
 *
 * Context: module init; may sleep.
 */
void __init stape_attach_try(void)
{
	if (!stape_attach_retprobes())
		stape_detach_retprobes();
}

/* -- users ------------------------------------------------------------------- */

static void stape_attach_unregister(int n)
{
	while (n--)
		tracepoint_probe_unregister(stape_tracepoints[n].tp, stape_tracepoints[n].probe,
					    stape_filter_ids);
	/*
	 * No probe runs after this, so the module may be unloaded.  On recent kernels this
	 * waits for SRCU and not for RCU.  Code that frees memory that probes use waits for RCU
	 * as well.
	 */
	tracepoint_synchronize_unregister();
	stape_members_sync();
	stape_filter_free_ids();
}

/* Protects the number of users and the registration.  The innermost of all mutexes. */
static DEFINE_MUTEX(stape_attach_lock);
static unsigned int stape_attach_users;

static int stape_attach_register(void)
{
	int i, ret;

	ret = stape_filter_alloc_ids();
	if (ret)
		return ret;
	for (i = 0; i < ARRAY_SIZE(stape_tracepoints); i++) {
		ret = tracepoint_probe_register(stape_tracepoints[i].tp,
						stape_tracepoints[i].probe, stape_filter_ids);
		if (ret) {
			stape_attach_unregister(i);
			return ret;
		}
	}
	ret = stape_attach_retprobes();
	if (ret)
		stape_attach_unregister(i);
	return ret;
}

/**
 * stape_attach_get() - switch the probes on, for the first user
 *
 * Context: may sleep.
 * Return: 0 or -errno.
 */
int stape_attach_get(void)
{
	int ret = 0;

	mutex_lock(&stape_attach_lock);
	if (!stape_attach_users)
		ret = stape_attach_register();
	if (!ret)
		stape_attach_users++;
	mutex_unlock(&stape_attach_lock);
	return ret;
}

/**
 * stape_attach_put() - switch the probes off, for the last user
 *
 * Context: may sleep.
 */
void stape_attach_put(void)
{
	mutex_lock(&stape_attach_lock);
	if (!--stape_attach_users) {
		stape_detach_retprobes();
		stape_attach_unregister(ARRAY_SIZE(stape_tracepoints));
	}
	mutex_unlock(&stape_attach_lock);
}
