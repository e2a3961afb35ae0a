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
 * struct stape_dead_task - a task that has switched out for the last time
 * @task: it may have been freed, and is only compared
 * @pid: its PID, which may belong to another task if its parent has reaped it
 * @uses: of stape_follow_last_use()
 */
struct stape_dead_task {
	const struct task_struct *task;
	u32 pid;
	u32 uses;
};

/*
 * Returns true if a process has too many threads to check, or describe, all of them in one section
 * with interrupts or preemption off.
 */
static inline bool stape_follow_has_many_threads(struct task_struct *process)
{
	/* No lock keeps threads from starting: a few more do no harm. */
	return data_race(get_nr_threads(process)) > 16;
}

/* Called by probes. */
bool stape_follow_update(struct stape_active *active, struct task_struct *task, const char *comm);
void stape_follow_fork(struct task_struct *parent, struct task_struct *child);
bool stape_follow_exec(struct stape_active *active, struct task_struct *task, u32 old_pid);
void stape_follow_move(struct stape_active *active, struct cgroup *cgroup,
		       struct task_struct *task, bool process);
void stape_follow_exit_any(struct stape_active *active, struct task_struct *task);
void stape_follow_exit_paused(struct stape_active *active, struct task_struct *task);
void stape_follow_wake_if_over(struct stape_active *active);
void stape_follow_dead(const struct stape_dead_task *dead, u32 nr);

/**
 * stape_follow_exit() - remove a task that ends from the seeds
 * @active: a session's; its readers are woken if it has no task any more
 * @task: the task, after its process has stopped counting it
 * @member: whether the probe has found it to be a member
 *
 * It stays a member until stape_follow_dead().
 *
 * A member that ends does not leave, and nothing lets it enter again, whether it is a seed or not.
 * So the bit of the usual task, a process with one thread, is cleared without a lock.  If the task
 * is no member, somebody may be about to let it enter, and stape_follow_exit_any() waits for the
 * lock: the filter must not look empty until then.
 *
 * Context: the exit probe.
 */
static __always_inline void stape_follow_exit(struct stape_active *active,
					      struct task_struct *task, bool member)
{
	struct stape_filter *filter = &active->filter;

	if (unlikely(!member || task->tgid != task->pid || stape_task_leads_threads(task)))
		stape_follow_exit_any(active, task);
	else if (stape_filter_set_seed(filter, task->pid, false) &&
		 unlikely(!atomic_read(&filter->nr_members)))
		stape_follow_wake_if_over(active);	/* it was removed, because of a pause */
}

/**
 * stape_follow_last_use() - get the stamp of a task's PID
 * @task: the task, which switches out for the last time
 *
 * The stamp counts the tasks that have become members with this PID.  If it has not changed at the
 * tick, the bits still belong to @task, and may be cleared without a look-up.  It is read before
 * pid_alive(), because another task gets the PID only after the kernel has released @task.  If a
 * thread of the process still runs, it may take over the PID in an execve().
 *
 * Context: interrupts off; any lock may be held.
 * Return: the stamp; or one that the PID does not have at the tick, so that it is looked up.
 */
static __always_inline u32 stape_follow_last_use(const struct task_struct *task)
{
	u32 uses = READ_ONCE(*stape_filter_use(task->pid));

	smp_rmb();	/* see above; pairs with the kernel's locks of PIDs */
	if (unlikely(!pid_alive(task) || atomic_read(&task->signal->live)))
		uses--;
	return uses;
}

#endif /* _STAPE_FOLLOW_H */
