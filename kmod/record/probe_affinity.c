// SPDX-License-Identifier: GPL-2.0-only
/*
 * Changes of affinity: Linux has no tracepoint for them.  What the kernel does to
 * them by itself, as for a cpuset, goes other ways, and is not told.
 */
#include "record/retprobe.h"

#include <linux/pid.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>

#include "record/probe_task.h"

#ifdef STAPE_HOOKS

/**
 * struct stape_affinity_call - a call of sched_setaffinity()
 * @pid: whose it is to change, in the caller's namespace; 0: the caller's
 */
struct stape_affinity_call {
	pid_t pid;
};

static int stape_affinity_enter(struct kretprobe_instance *instance, struct pt_regs *regs)
{
	struct stape_affinity_call *call = (void *)instance->data;

	stape_hook_begin();
	call->pid = stape_first_argument(regs);
	return 0;
}

static void stape_affinity_tell(pid_t pid)
{
	struct task_struct *task;

	rcu_read_lock();
	/* The PID may be another's by now, who has an affinity as well. */
	task = pid ? pid_task(find_vpid(pid), PIDTYPE_PID) : current;
	if (task)
		stape_life_affinity(task);
	rcu_read_unlock();
}

static int stape_affinity_return(struct kretprobe_instance *instance, struct pt_regs *regs)
{
	struct stape_affinity_call *call = (void *)instance->data;

	if (!regs_return_value(regs))
		stape_affinity_tell(call->pid);
	stape_hook_end();
	return 0;
}

const struct stape_hook stape_affinity_hook = {
	.enter = stape_affinity_enter,
	.leave = stape_affinity_return,
	.size = sizeof(struct stape_affinity_call),
};

#endif /* STAPE_HOOKS */
