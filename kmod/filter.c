// SPDX-License-Identifier: GPL-2.0-only
/*
 * The filter: a bitmap over the PID space.  Forked tasks inherit in the fork
 * probe; a bit goes at its task's last switch-out, because a task still runs,
 * and wakes others, long after sched_process_exit.
 */
#include "filter.h"

#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include <linux/threads.h>
#include <linux/vmalloc.h>
#include <schedtape/event.h>

static_assert(PID_MAX_LIMIT <= 1U << STAPE_PID_BITS);

/**
 * stape_filter_init() - make an empty filter
 * @filter: zeroed
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM.
 */
int stape_filter_init(struct stape_filter *filter)
{
	filter->pids = __vmalloc(BITS_TO_LONGS(PID_MAX_LIMIT) * sizeof(long),
				 GFP_KERNEL_ACCOUNT | __GFP_ZERO);
	return filter->pids ? 0 : -ENOMEM;
}

/**
 * stape_filter_destroy() - free a filter
 * @filter: made by stape_filter_init(), no probe uses it any more
 *
 * Context: may sleep.
 */
void stape_filter_destroy(struct stape_filter *filter)
{
	vfree(filter->pids);
}

static bool stape_filter_set(struct stape_filter *filter, u32 pid)
{
	if (test_and_set_bit(pid, filter->pids))
		return false;
	atomic_inc(&filter->tasks);
	return true;
}

static bool stape_filter_clear(struct stape_filter *filter, u32 pid)
{
	if (!test_and_clear_bit(pid, filter->pids))
		return false;
	atomic_dec(&filter->tasks);
	return true;
}

static bool stape_filter_add_thread(struct stape_filter *filter, struct task_struct *task)
{
	bool added;

	if (READ_ONCE(task->__state) == TASK_DEAD)
		return false;
	added = stape_filter_set(filter, task->pid);
	/*
	 * Its last switch-out may have come before the bit: then nobody would
	 * clear it.  The set is a full barrier, and so is what stands between
	 * the store of TASK_DEAD and the switch probe's look at the bit.
	 */
	if (added && READ_ONCE(task->__state) == TASK_DEAD)
		stape_filter_clear(filter, task->pid);
	return added;
}

/**
 * stape_filter_add() - take in all threads of a process
 * @filter: a session's
 * @task: any thread of it; the caller holds a reference
 *
 * A thread that is being created is either seen here, or its parent's bit is
 * seen by the fork probe: both sides have a full barrier between their store
 * and their look.  So the walk is repeated until it finds nobody new.
 *
 * Context: may sleep.
 * Return: 0, or -ESRCH if all of it has ended.
 */
int stape_filter_add(struct stape_filter *filter, struct task_struct *task)
{
	struct task_struct *thread;
	bool again, any = false;

	do {
		again = stape_filter_add_thread(filter, task);
		rcu_read_lock();
		for_each_thread(task, thread)
			again |= stape_filter_add_thread(filter, thread);
		rcu_read_unlock();
		any |= again;
		cond_resched();
	} while (again);
	return any || stape_filter_has(filter, task) ? 0 : -ESRCH;
}

/**
 * stape_filter_del() - let go of all threads of a process
 * @filter: a session's
 * @task: any thread of it; the caller holds a reference
 *
 * Context: may sleep.
 */
void stape_filter_del(struct stape_filter *filter, struct task_struct *task)
{
	struct task_struct *thread;
	bool again;

	/* As stape_filter_add(): a fork may have seen its parent's bit. */
	do {
		again = stape_filter_clear(filter, task->pid);
		rcu_read_lock();
		for_each_thread(task, thread)
			again |= stape_filter_clear(filter, thread->pid);
		rcu_read_unlock();
		cond_resched();
	} while (again);
}

/**
 * stape_filter_fork() - let a child inherit its parent's membership
 * @filter: a session's
 * @parent: the task that forked
 * @child: the new task, not woken yet
 *
 * Context: the fork probe.
 * Return: whether the child is recorded.
 */
bool stape_filter_fork(struct stape_filter *filter, struct task_struct *parent,
		       struct task_struct *child)
{
	smp_mb();	/* the child is linked before this looks; see stape_filter_add() */
	if (stape_filter_has(filter, parent)) {
		stape_filter_set(filter, child->pid);
		return true;
	}
	/* The PID's last user may be dead and still wait for its last switch. */
	stape_filter_clear(filter, child->pid);
	return false;
}

/*
 * Others of its thread group go on.  One of them may take over the leader's PID
 * in an execve() long before the exec probe tells: the bit has to stay.
 */
static bool stape_filter_survived(struct task_struct *leader)
{
	return thread_group_leader(leader) && !thread_group_empty(leader);
}

/* The last thread behind a dead leader has gone: so goes the leader's bit. */
static void stape_filter_bury(struct stape_filter *filter, u32 pid)
{
	struct task_struct *leader = pid_task(find_pid_ns(pid, &init_pid_ns), PIDTYPE_PID);

	if (!leader || (leader->exit_state && !stape_filter_survived(leader)))
		stape_filter_clear(filter, pid);
}

/**
 * stape_filter_dead() - forget a task that switches out for the last time
 * @filter: a session's
 * @task: the task; its PID may belong to another task already, if its parent
 *	has been quick
 *
 * Context: the switch probe.
 * Return: true if the set has become empty by it.
 */
bool stape_filter_dead(struct stape_filter *filter, struct task_struct *task)
{
	struct task_struct *user;

	if (!stape_filter_has(filter, task))
		return false;
	rcu_read_lock();
	user = pid_task(find_pid_ns(task->pid, &init_pid_ns), PIDTYPE_PID);
	if (!user || (user == task && !stape_filter_survived(task)))
		stape_filter_clear(filter, task->pid);
	if (task->tgid != task->pid)
		stape_filter_bury(filter, task->tgid);
	rcu_read_unlock();
	return !atomic_read(&filter->tasks);
}

/**
 * stape_filter_exec() - follow a task through execve()
 * @filter: a session's
 * @task: the task
 * @old_pid: its PID before: a thread takes over its leader's
 *
 * Context: the exec probe.
 * Return: whether the task is recorded.
 */
bool stape_filter_exec(struct stape_filter *filter, struct task_struct *task, u32 old_pid)
{
	if (old_pid != task->pid && test_bit(old_pid, filter->pids)) {
		/* In this order: the set is not to look empty in between. */
		stape_filter_set(filter, task->pid);
		stape_filter_clear(filter, old_pid);
	}
	return stape_filter_has(filter, task);
}

/**
 * stape_filter_next() - walk the set
 * @filter: a session's
 * @pid: where to begin
 *
 * Context: any.
 * Return: the first PID in the set that is not below @pid, or PID_MAX_LIMIT.
 */
u32 stape_filter_next(const struct stape_filter *filter, u32 pid)
{
	return find_next_bit(filter->pids, PID_MAX_LIMIT, pid);
}
