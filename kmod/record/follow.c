// SPDX-License-Identifier: GPL-2.0-only
/*
 * Follows tasks as they fork, execute, move between cgroups, get other names and end: keeps a
 * filter's bits up to date.  Called by probes.
 */
#include "record/follow.h"

#include <linux/cgroup.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include <linux/string.h>

#include "record/encode.h"
#include "record/membership.h"
#include "record/task_info.h"

/* Threads that are checked in one section with interrupts off. */
#define STAPE_FOLLOW_THREADS_MAX	16

/**
 * stape_follow_update() - check a task by a name against the rules
 * @active: a session's
 * @task: any task
 * @comm: its name, or the name that it is about to get
 *
 * If current leaves, ring->curr of its CPU names it until the resync, and a switch away from
 * it in between would not be written.  So preemption is off from the check to the resync.
 * Other CPUs may run @task or threads of current's process.  They are resynced later, because a
 * probe must not wait for other CPUs.
 *
 * Context: any without the runqueue lock.
 * Return: whether it has entered or left.
 */
bool stape_follow_update(struct stape_active *active, struct task_struct *task, const char *comm)
{
	bool changed;

	preempt_disable();
	changed = stape_filter_may_match(&active->filter, task->pid) &&
		  stape_membership_update(active, task, comm);
	if (changed) {
		stape_encode_resync_current(active);
		if (task != current || !thread_group_empty(current))
			stape_active_resync_soon(active);
	}
	preempt_enable();
	return changed;
}

/**
 * stape_follow_fork() - make a child a member if its parent is one, or check it
 * @active: a session's
 * @parent: the task that forked
 * @child: the new task, not woken yet
 *
 * The fork is written before any CPU can write that the child leaves.
 *
 * Context: the fork probe.
 */
void stape_follow_fork(struct stape_active *active, struct task_struct *parent,
		       struct task_struct *child)
{
	struct stape_filter *filter = &active->filter;
	char comm[TASK_COMM_LEN];
	unsigned long flags;

	/* The child is linked before this reads bits; pairs with the barriers before list walks. */
	smp_mb();
	if (!stape_filter_may_match(filter, parent->pid) &&
	    !stape_filter_may_match(filter, child->pid))
		return;
	raw_spin_lock_irqsave(&stape_filter_lock, flags);
	/* Threads may rename each other, also while they are being forked: see probe_name.c. */
	data_race(strscpy_pad(comm, child->comm, sizeof(comm)));
	/* The last task with this PID may be dead, and its last switch may be still to come. */
	stape_filter_remove(filter, child->pid);
	stape_filter_set_seed(filter, child->pid, !filter->flags.no_inherit &&
			      test_bit(parent->pid, filter->seeds));
	if (stape_filter_has(filter, parent) && stape_filter_match(filter, child, comm)) {
		stape_encode_fork(active, parent, child);
		stape_filter_insert(filter, child->pid);
		smp_mb();	/* as in stape_membership_enter() */
		stape_encode_forked(active, parent, child);
	} else {
		stape_membership_update_locked(active, child, comm);
	}
	raw_spin_unlock_irqrestore(&stape_filter_lock, flags);
}

/**
 * stape_follow_exec() - follow a task through execve()
 * @active: a session's
 * @task: the task
 * @old_pid: its PID before; a thread takes over its leader's PID
 *
 * Context: the exec probe.
 * Return: whether the task was recorded before.
 */
bool stape_follow_exec(struct stape_active *active, struct task_struct *task, u32 old_pid)
{
	struct stape_filter *filter = &active->filter;
	unsigned long flags;
	bool had;

	if (!stape_filter_may_match(filter, old_pid) && !stape_filter_may_match(filter, task->pid))
		return false;
	raw_spin_lock_irqsave(&stape_filter_lock, flags);
	had = test_bit(old_pid, filter->members) || stape_filter_has(filter, task);
	if (old_pid != task->pid && test_bit(old_pid, filter->seeds)) {
		stape_filter_set_seed(filter, task->pid, true);
		stape_filter_set_seed(filter, old_pid, false);
		/* The leader's last switch may have cleared the bit in @members. */
		if (!had)
			stape_membership_update_locked(active, task, task->comm);
	}
	if (old_pid != task->pid && test_bit(old_pid, filter->members)) {
		/* In this order, because @members must not look empty in between. */
		stape_filter_insert(filter, task->pid);
		stape_filter_remove(filter, old_pid);
	}
	raw_spin_unlock_irqrestore(&stape_filter_lock, flags);
	return had;
}

static void stape_follow_move_one(struct stape_active *active, struct task_struct *task)
{
	/* A task that enters or leaves is described with its cgroup. */
	if (!READ_ONCE(active->filter.nr_cgroups) ||
	    !stape_follow_update(active, task, task->comm))
		stape_membership_moved(active, task);
}

/**
 * stape_follow_move() - follow a task, or a process, to another cgroup
 * @active: a session's
 * @cgroup: to which it was moved; hierarchies of version 1 use the same tracepoint
 * @task: the task
 * @process: all threads of its process were moved
 *
 * Interrupts are off here, and a process may have any number of threads.  If it has many, they
 * are checked later, from process context: they enter or leave up to a tick after the move.
 *
 * Context: RCU reader, under a spinlock of the kernel's.
 */
void stape_follow_move(struct stape_active *active, struct cgroup *cgroup,
		       struct task_struct *task, bool process)
{
	struct stape_filter *filter = &active->filter;
	struct task_struct *thread;

	if (cgroup != task_dfl_cgroup(task) ||
	    (!READ_ONCE(filter->nr_cgroups) && !READ_ONCE(filter->nr_members)))
		return;
	/* No lock keeps threads from starting: a few more do no harm. */
	if (process && data_race(get_nr_threads(task)) > STAPE_FOLLOW_THREADS_MAX) {
		stape_filter_ask_rescan(filter, task_tgid(task));
		stape_active_resync_soon(active);
		return;
	}
	stape_follow_move_one(active, task);
	if (process)
		for_each_thread(task, thread)
			if (thread != task)
				stape_follow_move_one(active, thread);
	/* Names were read without their locks: check again, see stape_membership_update(). */
	if (READ_ONCE(filter->nr_patterns)) {
		stape_filter_ask_rescan(filter, NULL);
		stape_active_resync_soon(active);
	}
}

/**
 * stape_follow_exit() - remove a task that ends from the seeds
 * @active: a session's; its readers are woken if it has no task any more
 * @task: the task, after its process has stopped counting it
 *
 * It stays a member until stape_follow_dead(), which is called for members only.
 *
 * Context: the exit probe.
 */
void stape_follow_exit(struct stape_active *active, struct task_struct *task)
{
	struct stape_filter *filter = &active->filter;
	bool changed = false;
	unsigned long flags;

	if (!test_bit(task->pid, filter->seeds) && !test_bit(task->tgid, filter->seeds))
		return;
	raw_spin_lock_irqsave(&stape_filter_lock, flags);
	if (!stape_task_leads_threads(task))
		changed = stape_filter_set_seed(filter, task->pid, false);
	/* The last thread also clears the bit of a leader that has ended before. */
	if (!atomic_read(&task->signal->live))
		changed |= stape_filter_set_seed(filter, task->tgid, false);
	changed &= stape_filter_is_over(filter);
	raw_spin_unlock_irqrestore(&stape_filter_lock, flags);
	if (changed)
		irq_work_queue(&active->wake);
}

/**
 * stape_follow_exit_paused() - remove a task that ends in a pause from the members
 * @active: a session's; its readers are woken if it has no member any more
 * @task: current; a leader that leaves threads behind stays a member
 *
 * Its last switch-out may come after the pause, when the kernel no longer lists the task, and
 * the reader could not find out its name.  A task that exits never enters again.
 *
 * Context: the exit probe, interrupts off.
 */
void stape_follow_exit_paused(struct stape_active *active, struct task_struct *task)
{
	struct stape_filter *filter = &active->filter;
	bool empty;

	raw_spin_lock(&stape_filter_lock);
	if (!stape_task_leads_threads(task))
		stape_filter_remove(filter, task->pid);
	empty = !filter->nr_members;
	raw_spin_unlock(&stape_filter_lock);
	if (empty)
		irq_work_queue(&active->wake);
}

/* Clears the bit of a leader that ended before, when its last thread has ended. */
static void stape_follow_reap_leader(struct stape_filter *filter, u32 pid)
{
	struct task_struct *leader = pid_task(find_pid_ns(pid, &init_pid_ns), PIDTYPE_PID);

	/* No lock is held: a leader that has not ended yet clears its bit at its last switch. */
	if (!leader || (data_race(leader->exit_state) && !stape_task_leads_threads(leader)))
		stape_filter_remove(filter, pid);
}

/**
 * stape_follow_dead() - remove a task from the members when it switches out for the last time
 * @active: a session's; its readers are woken if it has no member any more
 * @task: the task, or a thread whose leader's bit may have to be cleared.  If its parent has
 *	already reaped it, its PID may belong to another task
 *
 * Context: the switch probe.
 */
void stape_follow_dead(struct stape_active *active, struct task_struct *task)
{
	struct stape_filter *filter = &active->filter;
	struct task_struct *user;
	bool empty;

	if (!stape_filter_has(filter, task) && !test_bit(task->tgid, filter->members))
		return;
	raw_spin_lock(&stape_filter_lock);	/* interrupts are off */
	rcu_read_lock();
	user = pid_task(find_pid_ns(task->pid, &init_pid_ns), PIDTYPE_PID);
	if (!user || (user == task && !stape_task_leads_threads(task)))
		stape_filter_remove(filter, task->pid);
	if (task->tgid != task->pid)
		stape_follow_reap_leader(filter, task->tgid);
	rcu_read_unlock();
	empty = !filter->nr_members;
	raw_spin_unlock(&stape_filter_lock);
	if (empty)
		irq_work_queue(&active->wake);
}
