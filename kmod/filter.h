/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _STAPE_FILTER_H
#define _STAPE_FILTER_H

#include <linux/atomic.h>
#include <linux/bitops.h>
#include <linux/sched.h>

/**
 * struct stape_filter - which tasks a session records
 * @pids: a bit for every PID of the initial namespace
 * @tasks: bits set
 */
struct stape_filter {
	unsigned long *pids;
	atomic_t tasks;
};

int stape_filter_init(struct stape_filter *filter);
void stape_filter_destroy(struct stape_filter *filter);
int stape_filter_add(struct stape_filter *filter, struct task_struct *task);
void stape_filter_del(struct stape_filter *filter, struct task_struct *task);
bool stape_filter_fork(struct stape_filter *filter, struct task_struct *parent,
		       struct task_struct *child);
bool stape_filter_dead(struct stape_filter *filter, struct task_struct *task);
bool stape_filter_exec(struct stape_filter *filter, struct task_struct *task, u32 old_pid);
u32 stape_filter_next(const struct stape_filter *filter, u32 pid);

/**
 * stape_filter_has() - is a task recorded?
 * @filter: a session's
 * @task: any task; the idle tasks (PID 0) never are
 *
 * One load and one test, whatever the size of the set.
 *
 * Context: any.
 */
static __always_inline bool stape_filter_has(const struct stape_filter *filter,
					     const struct task_struct *task)
{
	return test_bit(task->pid, filter->pids);
}

#endif /* _STAPE_FILTER_H */
