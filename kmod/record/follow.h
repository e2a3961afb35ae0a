/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _STAPE_FOLLOW_H
#define _STAPE_FOLLOW_H

#include <linux/types.h>

struct cgroup;
struct stape_active;
struct task_struct;

/* Called by probes. */
bool stape_follow_update(struct stape_active *active, struct task_struct *task, const char *comm);
void stape_follow_fork(struct stape_active *active, struct task_struct *parent,
		       struct task_struct *child);
bool stape_follow_exec(struct stape_active *active, struct task_struct *task, u32 old_pid);
void stape_follow_move(struct stape_active *active, struct cgroup *cgroup,
		       struct task_struct *task, bool process);
void stape_follow_exit(struct stape_active *active, struct task_struct *task);
void stape_follow_exit_paused(struct stape_active *active, struct task_struct *task);
void stape_follow_dead(struct stape_active *active, const struct task_struct *task, u32 pid);

#endif /* _STAPE_FOLLOW_H */
