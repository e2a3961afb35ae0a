// SPDX-License-Identifier: GPL-2.0-only
/*
 * Changes of policy, nice value, priority, deadline, slice and clamps.  Linux has a tracepoint for
 * priority inheritance only.  So the two functions that all other changes go through are probed.
 */
#include "record/probes.h"

#include <linux/sched.h>
#include <linux/string.h>
#include <schedtape/event.h>

#include "record/encode.h"
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

/*
 * Writes a change of the task's policy, nice value, priority, slice or clamps to all sessions that
 * record it.  For RCU readers.
 */
static void stape_prio_changed(struct task_struct *task)
{
	struct stape_active *active;

	/* Not the nice value that a player gives itself in a rendezvous: it is not its own. */
	if (task == current && stape_watch_is_niced(task, NULL))
		return;
	/* The change comes before the load of the id; pairs with stape_membership_enter(). */
	smp_mb();
	if (!stape_filter_id(stape_filter_ids, task->pid))
		return;
	for_each_active(active)
		if (stape_filter_has(&active->filter, task))
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
		stape_prio_changed(task);
	stape_retprobe_end();
	return 0;
}

const struct stape_retprobe_ops stape_prio_ops = {
	.enter = stape_prio_enter,
	.leave = stape_prio_leave,
	.size = sizeof(struct stape_prio_before),
};

#endif /* STAPE_RETPROBES */
