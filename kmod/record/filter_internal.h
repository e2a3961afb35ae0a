/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The filter's inside: filter_set.c has the bits and judges tasks, filter.c
 * changes the rules, filter_follow.c looks after tasks as they change.
 */
#ifndef _STAPE_FILTER_INTERNAL_H
#define _STAPE_FILTER_INTERNAL_H

#include <linux/sched/signal.h>
#include <linux/spinlock.h>

#include "record/filter.h"
#include "record/task_info.h"

/*
 * Whoever changes rules or bits holds it, and judges by what a task is at that
 * moment: so of two that judge a task at a time, the later one has seen all
 * that the earlier one has.  Innermost: probes take it under the runqueue lock.
 */
extern raw_spinlock_t stape_filter_lock;

/* All of these under it. */
void stape_filter_insert(struct stape_filter *filter, u32 pid);
void stape_filter_remove(struct stape_filter *filter, u32 pid);
bool stape_filter_set_named(struct stape_filter *filter, u32 pid, bool named);
bool stape_filter_wants(const struct stape_filter *filter, struct task_struct *task,
			const char *comm);
bool stape_filter_judge(struct stape_filter *filter, struct task_struct *task, const char *comm);

/* These take it. */
bool stape_filter_judge_probe(struct stape_filter *filter, struct task_struct *task,
			      const char *comm);
bool stape_filter_judge_one(struct stape_filter *filter, struct task_struct *task);

/*
 * Others of its thread group go on.  One of them may take over the leader's PID
 * in an execve() long before the exec probe tells: the bits have to stay.  Those who
 * have ended and are still looked at by a tracer do not count.
 */
static inline bool stape_filter_survived(struct task_struct *leader)
{
	/* Its signal to its parent, which tells, is another's in an execve(). */
	return data_race(thread_group_leader(leader)) && atomic_read(&leader->signal->live);
}

/*
 * It is about to end, and no other task will have its PID.  Before its last switch it may
 * still sleep, because since Linux 6.16 the exit probe comes before exit_mm().
 */
static inline bool stape_filter_exiting(struct task_struct *task)
{
	return stape_task_flags(task) & PF_EXITING && !stape_filter_survived(task);
}

#endif /* _STAPE_FILTER_INTERNAL_H */
