// SPDX-License-Identifier: GPL-2.0-only
/*
 * Changes of policy, nice value, priority and deadline.  Linux has no tracepoint for
 * them but that of priority inheritance, so the two functions that all of them
 * go through are probed.
 */
#include "record/retprobe.h"

#include <linux/sched.h>
#include <linux/string.h>
#include <schedtape/event.h>

#include "record/probe_task.h"
#include "record/task_info.h"

#ifdef STAPE_HOOKS

/**
 * struct stape_prio_before - what a task had when the function was entered
 * @task: the task, which the function's caller keeps
 * @policy: SCHED_*
 * @rt_priority: of a real-time policy
 * @static_prio: made of its nice value
 * @dl: of SCHED_DEADLINE
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

	stape_hook_begin();
	before->task = task;
	before->policy = READ_ONCE(task->policy);
	before->rt_priority = READ_ONCE(task->rt_priority);
	before->static_prio = READ_ONCE(task->static_prio);
	stape_task_dl_words(task, before->policy, before->dl);
	return 0;
}

/* With the same policy as before. */
static bool stape_prio_other_deadline(const struct stape_prio_before *before)
{
	u64 dl[STAPE_DL_WORDS];
	u32 n = stape_task_dl_words(before->task, before->policy, dl);

	return n && memcmp(before->dl, dl, sizeof(dl));
}

static int stape_prio_return(struct kretprobe_instance *instance, struct pt_regs *regs)
{
	struct stape_prio_before *before = (void *)instance->data;
	struct task_struct *task = before->task;

	if (before->policy != READ_ONCE(task->policy) ||
	    before->rt_priority != READ_ONCE(task->rt_priority) ||
	    before->static_prio != READ_ONCE(task->static_prio) ||
	    stape_prio_other_deadline(before))
		stape_life_prio(task);
	stape_hook_end();
	return 0;
}

const struct stape_hook stape_prio_hook = {
	.enter = stape_prio_enter,
	.leave = stape_prio_return,
	.size = sizeof(struct stape_prio_before),
};

#endif /* STAPE_HOOKS */
