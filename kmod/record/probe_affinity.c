// SPDX-License-Identifier: GPL-2.0-only
/*
 * Changes of affinity, for which Linux has no tracepoint.  Changes that the kernel makes by
 * itself, as for a cpuset, do not go through the probed function and are not recorded.
 */
#include "record/probes.h"

#include <linux/pid.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>

#include "record/encode.h"

#ifdef STAPE_RETPROBES

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

/* Writes a task's new affinity to all sessions that record it.  For RCU readers. */
static void stape_affinity_changed(struct task_struct *task)
{
	u64 affinity[STAPE_AFFINITY_WORDS + 1];
	struct stape_active *active;

	/* The change comes before the load of the id; pairs with stape_membership_enter(). */
	smp_mb();
	if (!stape_filter_id(stape_filter_ids, task->pid))
		return;
	for_each_active(active)
		if (stape_filter_has(&active->filter, task))
			stape_encode_affinity(active, task, affinity);
}

static void stape_affinity_find(pid_t pid)
{
	struct task_struct *task;

	rcu_read_lock();
	/* If the PID is another task's by now, that task's affinity is written, without harm. */
	task = pid ? pid_task(find_vpid(pid), PIDTYPE_PID) : current;
	if (task)
		stape_affinity_changed(task);
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

#endif /* STAPE_RETPROBES */
