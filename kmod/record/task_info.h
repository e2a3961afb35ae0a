/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _STAPE_TASK_H
#define _STAPE_TASK_H

#include <linux/sched.h>
#include <linux/types.h>

struct sk_buff;
struct stape_filter;

u32 stape_task_state(unsigned int state);
u64 stape_task_cgroup(struct task_struct *task);
int stape_task_fill(struct sk_buff *skb, const struct stape_filter *filter,
		    struct task_struct *task);
u64 stape_task_prio_word(const struct task_struct *task, unsigned int policy, int prio,
			 bool boosted);
u32 stape_task_dl_words(const struct task_struct *task, unsigned int policy, u64 *words);
u32 stape_task_affinity(const struct task_struct *task, u64 *words);
u32 stape_task_words(const struct stape_filter *filter, struct task_struct *task,
		     const char *comm, u64 *words);

/* PF_* */
static inline unsigned int stape_task_flags(const struct task_struct *task)
{
	/* A task changes its own, with plain stores and no lock. */
	return data_race(READ_ONCE(task->flags));
}

#endif /* _STAPE_TASK_H */
