/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _STAPE_DEAD_H
#define _STAPE_DEAD_H

struct task_struct;

void stape_dead_init(void);
void stape_dead_add(const struct task_struct *task);
void stape_dead_sync(void);

#endif /* _STAPE_DEAD_H */
