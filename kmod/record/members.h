/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _STAPE_MEMBERS_H
#define _STAPE_MEMBERS_H

#include <linux/types.h>

struct cgroup;
struct stape_active;
struct task_struct;

/**
 * enum stape_end - how far a task has ended
 * @STAPE_END_EXIT: all its threads exit by now; or a thread of it has taken over its PID
 * @STAPE_END_PAUSE: it exits in a pause, and leaves now.  Its last switch may come after the pause,
 *	when the kernel no longer lists the task, and the reader could not find out its name
 * @STAPE_END_GONE: all its threads exit by now, and it has switched out for the last time
 * @STAPE_END_SWITCHED: it has switched out for the last time; its threads may still run
 * @STAPE_END_UNSEEN: the same, on a CPU that the session leaves out
 *
 * The order matters: from @STAPE_END_SWITCHED on the task has switched out.
 */
enum stape_end {
	STAPE_END_EXIT,
	STAPE_END_PAUSE,
	STAPE_END_GONE,
	STAPE_END_SWITCHED,
	STAPE_END_UNSEEN,
};

bool stape_members_update_locked(struct stape_active *active, struct task_struct *task, u32 pid);
bool stape_members_update(struct stape_active *active, struct task_struct *task, u32 type,
			  const char *comm);

/* Called by probes. */
void stape_members_check(struct stape_active *active, struct task_struct *task, u32 type,
			 const char *comm);
void stape_members_rename(struct task_struct *task, const char *comm);
void stape_members_fork(void *data, struct task_struct *parent, struct task_struct *child);
bool stape_members_exec(struct stape_active *active, struct task_struct *task, u32 old_pid);
void stape_members_move(struct stape_active *active, struct cgroup *cgroup,
			struct task_struct *task, bool process);
void stape_members_exit(STAPE_EXIT_PROTO);
void stape_members_end(struct stape_active *active, const struct task_struct *task, u32 pid,
		       enum stape_end how);
void stape_members_add_dead(const struct task_struct *task);

void stape_members_init(void);
void stape_members_sync(void);

#endif /* _STAPE_MEMBERS_H */
