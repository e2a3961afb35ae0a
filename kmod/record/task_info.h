/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _STAPE_TASK_INFO_H
#define _STAPE_TASK_INFO_H

#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/types.h>
#include <schedtape/event.h>

u32 stape_task_state(unsigned int state);
u64 stape_task_cgroup(struct task_struct *task);
int stape_task_nice(const struct task_struct *task);
u64 stape_task_prio_word(const struct task_struct *task, unsigned int policy, int prio,
			 bool boosted);
u32 stape_task_dl_words(const struct task_struct *task, unsigned int policy, u64 *words);
u32 stape_task_affinity(const struct task_struct *task, u64 *words);
void stape_task_init(void);
u64 stape_task_shared(struct task_struct *task);
u32 stape_task_words(struct task_struct *task, u64 ppid, const char *comm, u64 *words, u64 *shared);

/* Room for the words of a description. */
#define STAPE_TASK_ROOM	(STAPE_TASK_WORDS + STAPE_DL_WORDS + 1)

/*
 * Returns the task that has a PID of the initial PID namespace, or NULL.  For RCU readers:
 * interrupts that are off are enough, while pid_task() wants rcu_read_lock() as well.
 */
static inline struct task_struct *stape_task_find(u32 pid)
{
	struct pid *entry = find_pid_ns(pid, &init_pid_ns);
	struct hlist_node *first = NULL;

	if (entry)
		first = rcu_dereference_check(hlist_first_rcu(&entry->tasks[PIDTYPE_PID]),
					      rcu_read_lock_any_held());
	return hlist_entry_safe(first, struct task_struct, pid_links[PIDTYPE_PID]);
}

/* Returns PF_* flags. */
static inline unsigned int stape_task_flags(const struct task_struct *task)
{
	/* A task changes its own flags, with plain stores and no lock. */
	return data_race(READ_ONCE(task->flags));
}

/*
 * Returns true if the task with a PID is a leader and other threads of its group have not ended.
 * One of them may take over the leader's PID in an execve() long before the exec probe runs, so the
 * bits of that PID have to stay.  Dead threads that a tracer has not reaped do not count.
 */
static inline bool stape_task_leads_threads(const struct task_struct *task, u32 pid)
{
	/* In that execve() the two swap their PIDs, but not the TGID. */
	return task->tgid == pid && atomic_read(&task->signal->live);
}

/*
 * Returns true if the task is about to end and no other thread will take over its PID.  Before
 * its last switch it may still sleep, because since Linux 6.16 the exit probe comes before
 * exit_mm().
 */
static inline bool stape_task_is_exiting(const struct task_struct *task, u32 pid)
{
	return stape_task_flags(task) & PF_EXITING && !stape_task_leads_threads(task, pid);
}

#endif /* _STAPE_TASK_INFO_H */
