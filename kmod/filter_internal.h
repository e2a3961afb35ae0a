/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The filter's inside: filter_set.c has the bits and judges tasks, filter.c
 * changes the rules, filter_follow.c looks after tasks as they change.
 */
#ifndef _STAPE_FILTER_INTERNAL_H
#define _STAPE_FILTER_INTERNAL_H

#include <linux/spinlock.h>

#include "filter.h"

/*
 * Whoever changes rules or bits holds it, and judges by what a task is at that
 * moment: so of two that judge a task at a time, the later one has seen all
 * that the earlier one has.  Innermost: probes take it under the runqueue lock.
 */
extern raw_spinlock_t stape_filter_lock;

/* All of these under it. */
void stape_filter_insert(struct stape_filter *filter, u32 pid);
void stape_filter_remove(struct stape_filter *filter, u32 pid);
bool stape_filter_wants(const struct stape_filter *filter, struct task_struct *task,
			const char *comm);
bool stape_filter_judge(struct stape_filter *filter, struct task_struct *task, const char *comm);

/* These take it. */
bool stape_filter_judge_probe(struct stape_filter *filter, struct task_struct *task,
			      const char *comm);
bool stape_filter_judge_one(struct stape_filter *filter, struct task_struct *task);

#endif /* _STAPE_FILTER_INTERNAL_H */
