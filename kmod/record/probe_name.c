// SPDX-License-Identifier: GPL-2.0-only
/*
 * Changes of a task's name, once the name is stored.  The tracepoint task_rename comes
 * before that, and since Linux 6.14 no lock is held from there to the store: whoever judges
 * the task in between by the name that it has judges by the old one.  So the task is judged
 * once more when the function that stores the name returns.
 *
 * But for the rename probe's, which goes by the name that comes, every judgement reads the
 * name under stape_filter_lock.  After the last store comes a judgement from here, which reads
 * what was stored last, and those after it read the same.
 *
 * An execve() need not go through the function's entry, because the compiler may have put
 * the function into its caller; the exec probe judges the task after it.
 */
#include "record/retprobe.h"

#include <linux/sched.h>

#include "record/probe_task.h"

#ifdef STAPE_HOOKS

/**
 * struct stape_name_call - a call of __set_task_comm()
 * @task: the task, which the function's caller keeps
 * @entries: see stape_life_named()
 */
struct stape_name_call {
	struct task_struct *task;
	unsigned int entries;
};

static int stape_name_enter(struct kretprobe_instance *instance, struct pt_regs *regs)
{
	struct stape_name_call *call = (void *)instance->data;

	call->task = (void *)stape_first_argument(regs);
	call->entries = stape_life_count_entries();
	return 0;
}

static int stape_name_return(struct kretprobe_instance *instance, struct pt_regs *regs)
{
	struct stape_name_call *call = (void *)instance->data;

	stape_life_named(call->task, call->entries);
	return 0;
}

const struct stape_hook stape_name_hook = {
	.enter = stape_name_enter,
	.leave = stape_name_return,
	.size = sizeof(struct stape_name_call),
};

#endif /* STAPE_HOOKS */
