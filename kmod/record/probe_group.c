// SPDX-License-Identifier: GPL-2.0-only
/*
 * New autogroups, for which Linux has no tracepoint.  setsid() makes one, and puts the threads of
 * the calling process there.
 */
#include "record/probe_group.h"

#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <schedtape/event.h>

#include "record/encode.h"
#include "record/task_info.h"

#ifdef STAPE_RETPROBES

/**
 * struct stape_group_call - a call of sched_autogroup_create_attach()
 * @leader: of the calling process
 */
struct stape_group_call {
	struct task_struct *leader;
};

static int stape_group_enter(struct kretprobe_instance *instance, struct pt_regs *regs)
{
	struct stape_group_call *call = (void *)instance->data;

	stape_retprobe_begin();
	call->leader = (void *)stape_first_argument(regs);
	return 0;
}

/* Describes a task again, in all sessions that record it.  For RCU readers. */
static void stape_group_changed(struct task_struct *task)
{
	struct stape_active *active;

	if (!stape_filter_id(stape_filter_ids, task->pid))
		return;
	for_each_active(active)
		if (stape_filter_has(&active->filter, task))
			stape_encode_task(active, task, task->comm, STAPE_TASK_REGROUPED);
}

static int stape_group_leave(struct kretprobe_instance *instance, struct pt_regs *regs)
{
	struct stape_group_call *call = (void *)instance->data;
	struct task_struct *thread;

	/* The change comes before the load of the id; pairs with stape_membership_enter(). */
	smp_mb();
	rcu_read_lock();
	/* It may have no effect: autogroups are switched off, or the task's cgroup has a weight. */
	if (stape_in_autogroup(current))
		for_each_thread(call->leader, thread)
			stape_group_changed(thread);
	rcu_read_unlock();
	stape_retprobe_end();
	return 0;
}

const struct stape_retprobe_ops stape_group_ops = {
	.enter = stape_group_enter,
	.leave = stape_group_leave,
	.size = sizeof(struct stape_group_call),
};

#endif /* STAPE_RETPROBES */
