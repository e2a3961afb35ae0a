/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _STAPE_TASK_H
#define _STAPE_TASK_H

struct sk_buff;
struct task_struct;

int stape_task_fill(struct sk_buff *skb, struct task_struct *task);

#endif /* _STAPE_TASK_H */
