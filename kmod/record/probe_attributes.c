// SPDX-License-Identifier: GPL-2.0-only
/*
 * Changes of a task's attributes: policy, nice value, priority, deadline, slice, clamps, affinity
 * and autogroup.  Linux has a tracepoint for priority inheritance only, so the functions that make
 * the other changes are probed.
 */
#include "record/probes.h"

#include <linux/pid.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/string.h>
#include <schedtape/event.h>

#include "record/encode.h"
#include "record/filter.h"
#include "record/members.h"
#include "record/task_info.h"
#include "record/watch.h"

/* sched_pi_setprio comes before the change, under the runqueue lock. */
void stape_probe_boost(void *data, struct task_struct *task, struct task_struct *waiter)
{
	int prio = waiter ? min(READ_ONCE(waiter->prio), task->normal_prio) : task->normal_prio;
	struct stape_active *active;

	if (!stape_filter_id(stape_filter_ids, task->pid))
		return;
	for_each_active(active)
		if (stape_filter_has(&active->filter, task))
			stape_encode_lent(active, task, prio);
}

#ifdef STAPE_RETPROBES

/* Calls @write for each session that records @task, after a change of it.  For RCU readers. */
static void stape_attribute_changed(struct task_struct *task,
				    void (*write)(struct stape_active *active,
						  struct task_struct *task))
{
	struct stape_active *active;

	/* The change comes before the load of the id; pairs with stape_members_enter(). */
	smp_mb();
	if (!stape_filter_id(stape_filter_ids, task->pid))
		return;
	for_each_active(active)
		if (stape_filter_has(&active->filter, task))
			write(active, task);
}

/* -- policy, nice value, priority, deadline, slice, clamps ------------------- */

/**
 * struct stape_prio_before - a task's attributes when the function was entered
 * @task: the task, which the function's caller keeps alive
 * @policy: SCHED_*
 * @rt_priority: of a real-time policy
 * @static_prio: made of its nice value
 * @dl: words of stape_task_dl_words()
 */
struct stape_prio_before {
	struct task_struct *task;
	unsigned int policy;
	unsigned int rt_priority;
	int static_prio;
	u64 dl[STAPE_DL_WORDS];
};

static int stape_prio_enter(struct kretprobe_instance *instance, struct pt_regs *regs)
{
	struct stape_prio_before *before = (void *)instance->data;
	struct task_struct *task = (void *)stape_first_argument(regs);

	stape_retprobe_begin();
	before->task = task;
	before->policy = READ_ONCE(task->policy);
	before->rt_priority = READ_ONCE(task->rt_priority);
	before->static_prio = READ_ONCE(task->static_prio);
	stape_task_dl_words(task, before->policy, before->dl);
	return 0;
}

/* Returns whether the deadline, slice or clamps have changed, if the policy has not. */
static bool stape_prio_other_words(const struct stape_prio_before *before)
{
	u64 dl[STAPE_DL_WORDS];

	stape_task_dl_words(before->task, before->policy, dl);
	return memcmp(before->dl, dl, sizeof(dl));
}

static void stape_prio_write(struct stape_active *active, struct task_struct *task)
{
	/* Not the nice value that a player gives itself in a rendezvous: it is not its own. */
	if (task != current || !stape_watch_is_niced(task, NULL))
		stape_encode_prio(active, task);
}

static int stape_prio_leave(struct kretprobe_instance *instance, struct pt_regs *regs)
{
	struct stape_prio_before *before = (void *)instance->data;
	struct task_struct *task = before->task;

	if (before->policy != READ_ONCE(task->policy) ||
	    before->rt_priority != READ_ONCE(task->rt_priority) ||
	    before->static_prio != READ_ONCE(task->static_prio) ||
	    stape_prio_other_words(before))
		stape_attribute_changed(task, stape_prio_write);
	stape_retprobe_end();
	return 0;
}

const struct stape_retprobe_ops stape_prio_ops = {
	.enter = stape_prio_enter,
	.leave = stape_prio_leave,
	.size = sizeof(struct stape_prio_before),
};

/* -- affinity ---------------------------------------------------------------- */

/*
 * Changes that the kernel makes by itself, as for a cpuset, do not go through the probed function
 * and are not recorded.
 */

/**
 * struct stape_affinity_call - a call of sched_setaffinity()
 * @pid: the task, in the caller's namespace; 0: the caller
 */
struct stape_affinity_call {
	pid_t pid;
};

static int stape_affinity_enter(struct kretprobe_instance *instance, struct pt_regs *regs)
{
	struct stape_affinity_call *call = (void *)instance->data;

	stape_retprobe_begin();
	call->pid = stape_first_argument(regs);
	return 0;
}

static void stape_affinity_write(struct stape_active *active, struct task_struct *task)
{
	u64 affinity[STAPE_AFFINITY_WORDS + 1];

	stape_encode_affinity(active, task, affinity);
}

static void stape_affinity_find(pid_t pid)
{
	struct task_struct *task;

	rcu_read_lock();
	/* If the PID is another task's by now, that task's affinity is written, without harm. */
	task = pid ? pid_task(find_vpid(pid), PIDTYPE_PID) : current;
	if (task)
		stape_attribute_changed(task, stape_affinity_write);
	rcu_read_unlock();
}

static int stape_affinity_leave(struct kretprobe_instance *instance, struct pt_regs *regs)
{
	struct stape_affinity_call *call = (void *)instance->data;

	if (!regs_return_value(regs))
		stape_affinity_find(call->pid);
	stape_retprobe_end();
	return 0;
}

const struct stape_retprobe_ops stape_affinity_ops = {
	.enter = stape_affinity_enter,
	.leave = stape_affinity_leave,
	.size = sizeof(struct stape_affinity_call),
};

/* -- autogroup --------------------------------------------------------------- */

/* setsid() makes an autogroup, and puts the threads of the calling process there. */

/**
 * struct stape_group_call - a call of sched_autogroup_create_attach()
 * @grouped: the caller was in an autogroup before
 */
struct stape_group_call {
	bool grouped;
};

static int stape_group_enter(struct kretprobe_instance *instance, struct pt_regs *regs)
{
	struct stape_group_call *call = (void *)instance->data;

	stape_retprobe_begin();
	call->grouped = stape_in_autogroup(current);
	return 0;
}

static void stape_group_write(struct stape_active *active, struct task_struct *task)
{
	unsigned long flags;
	u32 pid;

	pid = stape_filter_lock_task(task, &flags);
	/*
	 * The kernel takes tasks that exit out of their autogroups.  That is not worth an event.
	 * If the task is getting another name, the event has the name that the stream has, too.
	 */
	if (test_bit(pid, active->filter.members) && !(stape_task_flags(task) & PF_EXITING))
		stape_encode_task(active, task, stape_filter_name(task, pid), STAPE_TASK_REGROUPED);
	raw_spin_unlock_irqrestore(stape_filter_lock(pid), flags);
}

/*
 * Preemption is off here, and a process may have any number of threads.  So the others are
 * described later, from process context, as after a move.  Current may fork before that, and a
 * reader takes its child to be in the same autogroup.  For RCU readers.
 */
static void stape_group_changed_all(void)
{
	struct stape_active *active;

	stape_attribute_changed(current, stape_group_write);
	if (thread_group_empty(current))
		return;
	if (!thread_group_leader(current))
		stape_attribute_changed(current->group_leader, stape_group_write);
	for_each_active(active)
		if (atomic_read(&active->filter.nr_members))
			stape_active_moved(active, current->tgid);
}

/* The kernel calls the function only for setsid(), for the process of current. */
static int stape_group_leave(struct kretprobe_instance *instance, struct pt_regs *regs)
{
	struct stape_group_call *call = (void *)instance->data;

	/*
	 * It has no effect if the task's cgroup has a weight.  If autogroups have been switched
	 * off, it takes the threads out of the one that they are still in.
	 */
	if (call->grouped || stape_in_autogroup(current))
		stape_group_changed_all();
	stape_retprobe_end();
	return 0;
}

const struct stape_retprobe_ops stape_group_ops = {
	.enter = stape_group_enter,
	.leave = stape_group_leave,
	.size = sizeof(struct stape_group_call),
};

#endif /* STAPE_RETPROBES */
