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
	const struct stape_filter_rules *rules;
	char comm[TASK_COMM_LEN] = "";
	unsigned long flags;
	bool inherits;

	/* The child is linked before this reads bits; pairs with the barriers before list walks. */
	smp_mb();
	if (!stape_filter_may_match(filter, parent->pid) &&
	    !stape_filter_may_match(filter, child->pid))
		return;
	raw_spin_lock_irqsave(stape_filter_lock(child->pid), flags);
	rules = stape_filter_rules(filter);
	inherits = stape_filter_has(filter, parent);
	if (rules->nr_patterns || !inherits)
		/* Threads may rename each other, also in a fork: see probe_name.c. */
		data_race(strscpy_pad(comm, child->comm, sizeof(comm)));
	/* The last task with this PID may be dead, and may still be a member. */
	stape_filter_remove(filter, child->pid);
	stape_filter_set_seed(filter, child->pid,
			      test_bit(parent->pid, filter->seeds) && !rules->flags.no_inherit);
	if (inherits && stape_filter_match(filter, child, child->pid, comm)) {
		stape_encode_fork(active, parent, child);
		stape_filter_insert(filter, child->pid);
		smp_mb();	/* as in stape_membership_enter() */
		stape_encode_forked(active, parent, child);
	} else {
		stape_membership_update_locked(active, child, child->pid, comm);
	}
	raw_spin_unlock_irqrestore(stape_filter_lock(child->pid), flags);
}

/* Clears the bits of a PID, unless a new task has it: stape_follow_fork() has set its bits. */
static void stape_follow_forget(struct stape_filter *filter, u32 pid)
{
	unsigned long flags;

	raw_spin_lock_irqsave(stape_filter_lock(pid), flags);
	if (!pid_task(find_pid_ns(pid, &init_pid_ns), PIDTYPE_PID)) {
		stape_filter_set_seed(filter, pid, false);
		stape_filter_remove(filter, pid);
	}
	raw_spin_unlock_irqrestore(stape_filter_lock(pid), flags);
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
	raw_spin_lock_irqsave(stape_filter_lock(task->pid), flags);
	had = test_bit(old_pid, filter->members) || stape_filter_has(filter, task);
	if (old_pid != task->pid) {
		if (test_bit(old_pid, filter->seeds))
			stape_filter_set_seed(filter, task->pid, true);
		if (test_bit(old_pid, filter->members))
			stape_filter_insert(filter, task->pid);
		/* The leader's end may have cleared the bit in @members. */
		else if (!had && test_bit(task->pid, filter->seeds))
			stape_membership_update_locked(active, task, task->pid, task->comm);
	}
	raw_spin_unlock_irqrestore(stape_filter_lock(task->pid), flags);
	/* After that, because the filter must not look empty in between. */
	if (old_pid != task->pid)
		stape_follow_forget(filter, old_pid);
	return had;
}

static void stape_follow_move_one(struct stape_active *active, struct task_struct *task)
{
	/* A task that enters or leaves is described with its cgroup. */
	if (!stape_filter_rules(&active->filter)->nr_cgroups ||
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
	    (!stape_filter_rules(filter)->nr_cgroups && !atomic_read(&filter->nr_members)))
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
	if (stape_filter_rules(filter)->nr_patterns) {
		stape_filter_ask_rescan(filter, NULL);
		stape_active_resync_soon(active);
	}
}

/*
 * Removes a leader that has ended before its last thread.  Returns whether it has.  A leader that
 * has not switched out for the last time finds no thread then, and removes itself: this reads
 * @on_cpu after the kernel has stopped counting the last thread, and the other way round; pairs
 * with smp_mb() in stape_dead_work().
 */
static bool stape_follow_reap_leader(struct stape_filter *filter, u32 pid)
{
	struct task_struct *leader;
	unsigned long flags;
	bool gone;

	if (!test_bit(pid, filter->members))
		return false;
	smp_mb();	/* see above */
	raw_spin_lock_irqsave(stape_filter_lock(pid), flags);
	leader = pid_task(find_pid_ns(pid, &init_pid_ns), PIDTYPE_PID);
	gone = !leader || (READ_ONCE(leader->__state) == TASK_DEAD && !stape_on_cpu(leader));
	if (gone)
		stape_filter_remove(filter, pid);
	raw_spin_unlock_irqrestore(stape_filter_lock(pid), flags);
	return gone;
}

/* Makes a task no seed.  Returns whether it was one. */
static bool stape_follow_unseed(struct stape_filter *filter, u32 pid)
{
	unsigned long flags;
	bool changed;

	if (!test_bit(pid, filter->seeds))
		return false;
	raw_spin_lock_irqsave(stape_filter_lock(pid), flags);
	changed = stape_filter_set_seed(filter, pid, false);
	raw_spin_unlock_irqrestore(stape_filter_lock(pid), flags);
	return changed;
}

/**
 * stape_follow_exit() - remove a task that ends from the seeds
 * @active: a session's; its readers are woken if it has no task any more
 * @task: the task, after its process has stopped counting it
 *
 * It stays a member until stape_follow_dead().  The last thread also clears the bits of a leader
 * that has ended before.
 *
 * Context: the exit probe.
 */
void stape_follow_exit(struct stape_active *active, struct task_struct *task)
{
	struct stape_filter *filter = &active->filter;
	bool changed = false;

	if (!stape_task_leads_threads(task))
		changed = stape_follow_unseed(filter, task->pid);
	if (task->tgid != task->pid && !atomic_read(&task->signal->live)) {
		changed |= stape_follow_unseed(filter, task->tgid);
		changed |= stape_follow_reap_leader(filter, task->tgid);
	}
	if (changed && stape_filter_is_over(filter))
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

	if (stape_task_leads_threads(task))
		return;
	raw_spin_lock(stape_filter_lock(task->pid));
	stape_filter_remove(filter, task->pid);
	raw_spin_unlock(stape_filter_lock(task->pid));
	if (!atomic_read(&filter->nr_members))
		irq_work_queue(&active->wake);
}

/**
 * stape_follow_dead() - remove a task from the members after its last switch
 * @active: a session's; its readers are woken if it has no member any more
 * @task: the task; it may have been freed, and is only compared
 * @pid: its PID, which may belong to another task if its parent has reaped it
 *
 * A leader stays a member while its threads run; stape_follow_exit() of the last one removes it.
 *
 * Context: interrupts off, no runqueue lock, on the CPU of the last switch; RCU reader.
 */
void stape_follow_dead(struct stape_active *active, const struct task_struct *task, u32 pid)
{
	struct stape_filter *filter = &active->filter;
	struct task_struct *user;

	if (!test_bit(pid, filter->members))
		return;
	raw_spin_lock(stape_filter_lock(pid));
	user = pid_task(find_pid_ns(pid, &init_pid_ns), PIDTYPE_PID);
	if (!user || (user == task && READ_ONCE(user->__state) == TASK_DEAD)) {
		stape_encode_ended(active, pid);
		if (!user || !stape_task_leads_threads(user))
			stape_filter_remove(filter, pid);
	}
	raw_spin_unlock(stape_filter_lock(pid));
	if (!atomic_read(&filter->nr_members))
		irq_work_queue(&active->wake);
}
