/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _STAPE_LIFE_H
#define _STAPE_LIFE_H

#include <linux/types.h>
#include <schedtape/event.h>

struct cgroup;
struct linux_binprm;
struct stape_session;
struct task_struct;

/**
 * struct stape_life_seen - what of a task may change at any time
 * @prio: policy, nice value and real-time priority as in a PRIO's word, and nothing else
 * @dl: of SCHED_DEADLINE, else 0
 * @affinity: of stape_task_affinity(), and then 0
 * @cgroup: id of its cgroup
 */
struct stape_life_seen {
	u64 prio;
	u64 dl[STAPE_DL_WORDS];
	u64 affinity[STAPE_AFFINITY_WORDS + 1];
	u64 cgroup;
};

void stape_life_enter(struct stape_session *session, struct task_struct *task, const char *comm,
		      struct stape_life_seen *told);
void stape_life_correct(struct stape_session *session, struct task_struct *task,
			const char *comm, const struct stape_life_seen *known);
void stape_life_describe(struct stape_session *session, struct task_struct *task,
			 const char *comm, u32 why);
void stape_life_describe_fork(struct stape_session *session, struct task_struct *parent,
			      struct task_struct *child);
void stape_life_forked(struct stape_session *session, struct task_struct *parent,
		       struct task_struct *child);

/* Probes. */
void stape_life_fork(void *data, struct task_struct *parent, struct task_struct *child);
void stape_life_exec(void *data, struct task_struct *task, pid_t old_pid,
		     struct linux_binprm *bprm);
void stape_life_exit(STAPE_EXIT_PROTO);
void stape_life_rename(void *data, struct task_struct *task, const char *comm);
void stape_life_move(void *data, struct cgroup *cgroup, const char *path,
		     struct task_struct *task, bool process);
void stape_life_boost(void *data, struct task_struct *task, struct task_struct *waiter);

/* Called when a task's policy or priority may have changed. */
void stape_life_prio(struct task_struct *task);
/* The same for its affinity. */
void stape_life_affinity(struct task_struct *task);
/* Called before its name is stored, and when that has been done. */
unsigned int stape_life_count_entries(void);
void stape_life_named(struct task_struct *task, unsigned int entries);

#endif /* _STAPE_LIFE_H */
