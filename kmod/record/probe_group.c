// SPDX-License-Identifier: GPL-2.0-only
/*
 * New autogroups, for which Linux has no tracepoint.  setsid() makes one, and puts the threads of
 * the calling process there.
 */
#include "record/probes.h"

#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <schedtape/event.h>

#include "record/encode.h"
#include "record/follow.h"
#include "record/task_info.h"

#ifdef STAPE_RETPROBES

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

/* Describes a task again, in all sessions that record it.  For RCU readers. */
static void stape_group_changed(struct task_struct *task)
{
	struct stape_active *active;

	/* The kernel takes tasks that exit out of their autogroups.  That is not worth an event. */
	if (!stape_filter_id(stape_filter_ids, task->pid) || stape_task_flags(task) & PF_EXITING)
		return;
	for_each_active(active)
		if (stape_filter_has(&active->filter, task))
			stape_encode_task(active, task, task->comm, STAPE_TASK_REGROUPED);
}

/* Lets this process be described again from process context, as after a move of its threads. */
static void stape_group_changed_later(void)
{
	struct stape_active *active;

	for_each_active(active)
		if (atomic_read(&active->filter.nr_members))
			stape_active_rescan_soon(active, task_tgid(current));
}

/* Preemption is off here, and a process may have any number of threads.  For RCU readers. */
static void stape_group_changed_all(void)
{
	struct task_struct *thread;

	if (stape_follow_has_many_threads(current)) {
		/*
		 * Current first, because it may fork before that, and a reader takes its child to
		 * be in the same autogroup.
		 */
		stape_group_changed(current);
		stape_group_changed_later();
		return;
	}
	for_each_thread(current, thread)
		stape_group_changed(thread);
}

/* The kernel calls the function only for setsid(), for the process of current. */
static int stape_group_leave(struct kretprobe_instance *instance, struct pt_regs *regs)
{
	struct stape_group_call *call = (void *)instance->data;

	/* The change comes before the load of the id; pairs with stape_membership_enter(). */
	smp_mb();
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
