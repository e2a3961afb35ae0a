/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _STAPE_FOLLOW_H
#define _STAPE_FOLLOW_H

#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/types.h>

#include "record/active.h"
#include "record/filter.h"
#include "record/task_info.h"

struct cgroup;

/**
 * enum stape_end - how far a task has ended
 * @STAPE_END_EXIT: it exits; if it is a member, it stays one until its last switch
 * @STAPE_END_PAUSE: it exits in a pause, and leaves now.  Its last switch may come after the pause,
 *	when the kernel no longer lists the task, and the reader could not find out its name
 * @STAPE_END_SWITCHED: it has switched out for the last time, on this CPU
 */
enum stape_end {
	STAPE_END_EXIT,
	STAPE_END_PAUSE,
	STAPE_END_SWITCHED,
};

/* Called by probes. */
void stape_follow_update(struct stape_active *active, struct task_struct *task, u32 type,
			 const char *comm);
void stape_follow_rename(struct task_struct *task, const char *comm);
void stape_follow_fork(struct task_struct *parent, struct task_struct *child);
bool stape_follow_exec(struct stape_active *active, struct task_struct *task, u32 old_pid);
void stape_follow_move(struct stape_active *active, struct cgroup *cgroup,
		       struct task_struct *task, bool process);
void stape_follow_end(struct stape_active *active, const struct task_struct *task, u32 pid,
		      enum stape_end how);

#endif /* _STAPE_FOLLOW_H */
