/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _STAPE_MEMBERSHIP_H
#define _STAPE_MEMBERSHIP_H

#include <linux/types.h>

struct stape_active;
struct task_struct;

bool stape_membership_update_locked(struct stape_active *active, struct task_struct *task, u32 pid);
void stape_membership_enter(struct stape_active *active, struct task_struct *task, u32 pid,
			    bool is_new);
bool stape_membership_update(struct stape_active *active, struct task_struct *task, u32 type,
			     const char *comm);

#endif /* _STAPE_MEMBERSHIP_H */
