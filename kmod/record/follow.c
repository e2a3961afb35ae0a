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
#include "record/waits.h"

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

/*
 * Checks a child by its name.  If its parent is no member, it enters by itself.  Returns whether it
 * becomes a member because of its parent.
 */
static noinline bool stape_follow_fork_by_name(struct stape_active *active, bool inherits,
					       struct task_struct *child)
{
	char comm[TASK_COMM_LEN];

	/* Threads may rename each other, also in a fork: see probe_name.c. */
	data_race(strscpy_pad(comm, child->comm, sizeof(comm)));
	if (!stape_filter_match(&active->filter, child, child->pid, comm))
		return false;
	if (!inherits)
		stape_membership_enter_new(active, child, comm);
	return inherits;
}

/* Under the lock of the child's PID. */
static __always_inline void stape_follow_fork_locked(struct stape_active *active,
						     struct task_struct *parent,
						     struct task_struct *child, u32 pid)
{
	struct stape_filter *filter = &active->filter;
	const struct stape_filter_rules *rules = stape_filter_rules(filter);
	bool inherits = stape_filter_has(filter, parent);

	/* The last task with this PID may be dead, and may still be a member. */
	if (unlikely(test_bit(pid, filter->members)))
		stape_filter_drop_member(filter, pid);
	stape_filter_set_seed(filter, pid,
			      test_bit(parent->pid, filter->seeds) && !rules->flags.no_inherit);
	if (likely(inherits && !rules->nr_patterns))
		inherits = stape_filter_match(filter, child, pid, child->comm);
	else
		inherits = stape_follow_fork_by_name(active, inherits, child);
	if (!inherits)
		return;
	stape_encode_fork(active, parent, child);
	stape_filter_add_member(filter, pid);
	smp_mb__after_atomic();	/* as in stape_membership_enter(); after the count of members */
	stape_encode_forked(active, parent, child);
}

static __always_inline void stape_follow_fork_one(struct stape_active *active,
						  struct task_struct *parent,
						  struct task_struct *child, u32 pid)
{
	raw_spinlock_t *lock = stape_filter_lock(pid);
	unsigned long flags;

	if (!stape_filter_may_match(&active->filter, parent->pid) &&
	    !stape_filter_may_match(&active->filter, pid))
		return;
	local_irq_save(flags);
	raw_spin_lock(lock);
	stape_follow_fork_locked(active, parent, child, pid);
	raw_spin_unlock(lock);
	local_irq_restore(flags);
}

/**
 * stape_follow_fork() - make a child a member if its parent is one, or check it
 * @parent: the task that forked
 * @child: the new task, not woken yet
 *
 * The fork is written before any CPU can write that the child leaves.
 *
 * Context: the fork probe.
 */
void stape_follow_fork(struct task_struct *parent, struct task_struct *child)
{
	struct stape_active *active;

	preempt_disable();	/* makes this an RCU reader */
	/*
	 * The child is linked before this reads bits and rules; pairs with the barriers in
	 * stape_rules_seed_process() and stape_rules_walk(), which come before they walk.
	 */
	smp_mb();
	for_each_active(active)
		stape_follow_fork_one(active, parent, child, child->pid);
	preempt_enable();
}

/*
 * Returns the task that has a PID, or NULL.  Under rcu_read_lock(): callers have interrupts off, so
 * they are readers anyhow, but pid_task() asks lockdep for the lock.
 */
static struct task_struct *stape_follow_user(u32 pid)
{
	return pid_task(find_pid_ns(pid, &init_pid_ns), PIDTYPE_PID);
}

static bool stape_follow_unused(u32 pid)
{
	bool unused;

	rcu_read_lock();
	unused = !stape_follow_user(pid);
	rcu_read_unlock();
	return unused;
}

/* Clears the bits of a PID, unless a new task has it: stape_follow_fork() has set its bits. */
static void stape_follow_forget(struct stape_filter *filter, u32 pid)
{
	unsigned long flags;

	raw_spin_lock_irqsave(stape_filter_lock(pid), flags);
	if (stape_follow_unused(pid)) {
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
		if (test_bit(old_pid, filter->members)) {
			stape_waits_enter(active->waits, task->pid);
			stape_filter_insert(filter, task->pid);
			stape_waits_entered(active->waits, task->pid);
		} else if (!had && test_bit(task->pid, filter->seeds)) {
			/* The leader's end may have cleared the bit in @members. */
			stape_membership_update_locked(active, task, task->pid, task->comm);
		}
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
	if (process && stape_follow_has_many_threads(task)) {
		stape_active_rescan_soon(active, task_tgid(task));
		return;
	}
	stape_follow_move_one(active, task);
	if (process)
		for_each_thread(task, thread)
			if (thread != task)
				stape_follow_move_one(active, thread);
	/* Names were read without their locks: check again, see stape_membership_update(). */
	if (stape_filter_rules(filter)->nr_patterns)
		stape_active_rescan_soon(active, NULL);
}

/*
 * Removes a leader that has ended before its last thread.  Returns whether it has.
 *
 * Two sides may remove such a leader: its own tick, stape_dead_work(), and the exit of the last
 * thread, which is here.  Each changes something, has a full barrier, and then checks what the
 * other one changes.  The tick comes after @on_cpu has changed and checks signal->live.  The exit
 * comes after signal->live has changed and checks @on_cpu.  So at least one of them removes the
 * leader.  Pairs with the barrier in stape_dead_work().
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
	rcu_read_lock();
	leader = stape_follow_user(pid);
	gone = !leader || (READ_ONCE(leader->__state) == TASK_DEAD && !stape_on_cpu(leader));
	rcu_read_unlock();
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
 * stape_follow_exit_any() - stape_follow_exit() for any task
 * @active: a session's
 * @task: the task
 *
 * The last thread also clears the bits of a leader that has ended before.
 *
 * Context: the exit probe.
 */
void stape_follow_exit_any(struct stape_active *active, struct task_struct *task)
{
	struct stape_filter *filter = &active->filter;
	bool changed = false;

	if (!stape_task_leads_threads(task))
		changed = stape_follow_unseed(filter, task->pid);
	if (task->tgid != task->pid && !atomic_read(&task->signal->live)) {
		changed |= stape_follow_unseed(filter, task->tgid);
		changed |= stape_follow_reap_leader(filter, task->tgid);
	}
	if (changed)
		stape_follow_wake_if_over(active);
}

/**
 * stape_follow_wake_if_over() - wake a session's readers if it has no task any more
 * @active: a session's
 *
 * Context: any.
 */
void stape_follow_wake_if_over(struct stape_active *active)
{
	if (stape_filter_is_over(&active->filter))
		stape_wake_queue(&active->waiter.wake);
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
		stape_wake_queue(&active->waiter.wake);
}

/**
 * enum stape_follow_end - what a task that has switched out for the last time leaves behind
 * @STAPE_FOLLOW_OTHERS: its PID belongs to another task
 * @STAPE_FOLLOW_LEADER: it leads threads that still run: stape_follow_exit() of the last one
 *	removes it
 * @STAPE_FOLLOW_GONE: nobody has its PID, or will take it over
 */
enum stape_follow_end {
	STAPE_FOLLOW_OTHERS,
	STAPE_FOLLOW_LEADER,
	STAPE_FOLLOW_GONE,
};

/* Looks who has the PID.  Under its lock. */
static noinline enum stape_follow_end stape_follow_look_up(const struct task_struct *task, u32 pid)
{
	enum stape_follow_end end = STAPE_FOLLOW_GONE;
	struct task_struct *user;

	rcu_read_lock();
	user = stape_follow_user(pid);
	if (user && (user != task || READ_ONCE(user->__state) != TASK_DEAD))
		end = STAPE_FOLLOW_OTHERS;
	else if (user && stape_task_leads_threads(user))
		end = STAPE_FOLLOW_LEADER;
	rcu_read_unlock();
	return end;
}

/* Removes a member.  Under the lock of its PID. */
static __always_inline void stape_follow_remove(struct stape_active *active, u32 pid,
						enum stape_follow_end end)
{
	struct stape_filter *filter = &active->filter;

	if (!test_bit(pid, filter->members))
		return;
	stape_encode_ended(active, pid);
	if (end == STAPE_FOLLOW_GONE)
		stape_filter_drop_member(filter, pid);
	if (!atomic_read(&filter->nr_members))
		stape_wake_queue(&active->waiter.wake);
}

/* The lock is held for all sessions: no fork with this PID comes in between. */
static __always_inline void stape_follow_dead_one(const struct stape_dead_task *dead)
{
	raw_spinlock_t *lock = stape_filter_lock(dead->pid);
	enum stape_follow_end end = STAPE_FOLLOW_GONE;
	struct stape_active *active;

	raw_spin_lock(lock);
	if (unlikely(*stape_filter_use(dead->pid) != dead->uses))
		end = stape_follow_look_up(dead->task, dead->pid);
	if (likely(end != STAPE_FOLLOW_OTHERS))
		for_each_active(active)
			stape_follow_remove(active, dead->pid, end);
	raw_spin_unlock(lock);
}

/**
 * stape_follow_dead() - remove tasks from all filters after their last switches
 * @dead: the tasks
 * @nr: how many
 *
 * Readers of a session are woken if it has no member any more.
 *
 * Context: interrupts off, which makes this an RCU reader, on the CPU of the last switches.
 */
void stape_follow_dead(const struct stape_dead_task *dead, u32 nr)
{
	const struct stape_dead_task *end = dead + nr;

	for (; dead < end; dead++)
		stape_follow_dead_one(dead);
}
