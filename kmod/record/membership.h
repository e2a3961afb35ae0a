/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _STAPE_MEMBERSHIP_H
#define _STAPE_MEMBERSHIP_H

#include <linux/types.h>

struct stape_active;
struct task_struct;

bool stape_membership_update_locked(struct stape_active *active, struct task_struct *task,
				    u32 pid, const char *comm);
void stape_membership_enter_new(struct stape_active *active, struct task_struct *task,
				const char *comm);
void stape_membership_moved(struct stape_active *active, struct task_struct *task);
bool stape_membership_update(struct stape_active *active, struct task_struct *task,
			     const char *comm);

#endif /* _STAPE_MEMBERSHIP_H */
