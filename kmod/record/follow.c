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
 * stape_follow_update() - check a task against the rules, or write what has changed of it
 * @active: a session's
 * @task: any task
 * @type: as of stape_membership_update()
 * @comm: as of stape_membership_update()
 *
 * If current leaves, ring->curr of its CPU names it until the resync, and a switch away from
 * it in between would not be written.  So preemption is off from the check to the resync.
 * Other CPUs may run @task or threads of current's process.  They are resynced later, because a
 * probe must not wait for other CPUs.
 *
 * Context: any without the runqueue lock.
 */
void stape_follow_update(struct stape_active *active, struct task_struct *task, u32 type,
			 const char *comm)
{
	preempt_disable();
	if (stape_membership_update(active, task, type, comm)) {
		stape_encode_resync_current(active);
		if (task != current || !thread_group_empty(current))
			stape_active_resync_soon(active);
	}
	preempt_enable();
}

/**
 * stape_follow_rename() - check a task by the name that it is about to get
 * @task: the task
 * @comm: the name, TASK_COMM_LEN bytes
 *
 * Context: the rename probe.
 */
void stape_follow_rename(struct task_struct *task, const char *comm)
{
	u32 pid = READ_ONCE(task->pid);
	struct stape_active *active;
	unsigned long flags;

	/* For sessions that are not in the list yet. */
	raw_spin_lock_irqsave(stape_filter_lock(pid), flags);
	stape_filter_note_name(task, pid, comm);
	raw_spin_unlock_irqrestore(stape_filter_lock(pid), flags);
	for_each_active(active)
		stape_follow_update(active, task, STAPE_EV_RENAME, comm);
}

/* Under the lock of the child's PID. */
static __always_inline void stape_follow_fork_locked(struct stape_active *active,
						     struct task_struct *parent,
						     struct task_struct *child, u32 pid)
{
	struct stape_filter *filter = &active->filter;
	const struct stape_filter_rules *rules = stape_filter_rules(filter);

	/* The last task with this PID may be dead, and may still be a member. */
	if (unlikely(test_bit(pid, filter->members)))
		stape_filter_drop_member(filter, pid);
	stape_filter_set_seed(filter, pid,
			      test_bit(parent->pid, filter->seeds) && !rules->flags.no_inherit);
	if (!stape_filter_match(filter, child, pid))
		return;
	if (unlikely(!stape_filter_has(filter, parent))) {
		stape_membership_enter(active, child, pid, true);
		return;
	}
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
	 * stape_rules_seed_process() and stape_rules_update_all(), which come before they walk.
	 */
	smp_mb();
	for_each_active(active)
		stape_follow_fork_one(active, parent, child, child->pid);
	preempt_enable();
}

/* Under the PID's lock.  @gone: the task is no member any more. */
static void stape_follow_clear(struct stape_active *active, u32 pid, bool gone)
{
	struct stape_filter *filter = &active->filter;
	bool changed = stape_filter_set_seed(filter, pid, false);

	if (gone && test_bit(pid, filter->members)) {
		stape_filter_drop_member(filter, pid);
		changed = true;
	}
	if (changed && stape_filter_is_over(filter))
		stape_wake_queue(&active->waiter.wake);
}

/**
 * stape_follow_end() - clear the bits of a task that ends
 * @active: a session's; its readers are woken if it has no task any more
 * @task: the task; it may have been freed, and is only compared
 * @pid: its PID, which may belong to another task by now
 * @how: how far it has ended
 *
 * This is called at a tick after the task's last switch; when it exits, if it is no member, or in a
 * pause; and for a leader when its last thread exits, because the bits of a leader stay while its
 * threads run.  Each call comes after a change that the others look at: of the task's @on_cpu, or of
 * signal->live.  The PID's lock orders them, so the last one clears what is left.
 *
 * Context: interrupts off, no runqueue lock, but see dead.c.
 */
void stape_follow_end(struct stape_active *active, const struct task_struct *task, u32 pid,
		      enum stape_end how)
{
	struct stape_filter *filter = &active->filter;
	const struct task_struct *user;
	bool dead;

	if (!test_bit(pid, filter->seeds) && !test_bit(pid, filter->members))
		return;
	raw_spin_lock(stape_filter_lock(pid));
	rcu_read_lock();	/* interrupts are off, but pid_task() asks lockdep for it */
	user = pid_task(find_pid_ns(pid, &init_pid_ns), PIDTYPE_PID);
	dead = !user || READ_ONCE(user->__state) == TASK_DEAD;
	/* Another task has the PID, perhaps at the same address.  Its fork has set the bits. */
	if (user && (user != task || (how == STAPE_END_SWITCHED && !dead)))
		goto out;
	if (how == STAPE_END_SWITCHED && test_bit(pid, filter->members))
		stape_encode_ended(active, pid);
	if (!user || !stape_task_leads_threads(user, pid))
		stape_follow_clear(active, pid, how != STAPE_END_EXIT ||
				   (dead && !(user && stape_on_cpu(user))));
out:
	rcu_read_unlock();
	raw_spin_unlock(stape_filter_lock(pid));
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
			stape_membership_update_locked(active, task, task->pid);
		}
	}
	raw_spin_unlock_irqrestore(stape_filter_lock(task->pid), flags);
	/* After that, because the filter must not look empty in between. */
	if (old_pid != task->pid)
		stape_follow_end(active, NULL, old_pid, STAPE_END_EXIT);
	return had;
}

/**
 * stape_follow_move() - follow a task, or a process, to another cgroup
 * @active: a session's
 * @cgroup: to which it was moved; hierarchies of version 1 use the same tracepoint
 * @task: the task, or the leader of the process
 * @process: all threads of its process were moved
 *
 * Interrupts are off here, and a process may have any number of threads.  So the others are checked
 * later, from process context: they enter or leave up to a tick after the move.
 *
 * Context: RCU reader, under a spinlock of the kernel's.
 */
void stape_follow_move(struct stape_active *active, struct cgroup *cgroup,
		       struct task_struct *task, bool process)
{
	struct stape_filter *filter = &active->filter;

	if (cgroup != task_dfl_cgroup(task) ||
	    (!stape_filter_rules(filter)->nr_cgroups && !atomic_read(&filter->nr_members)))
		return;
	stape_follow_update(active, task, STAPE_EV_TASK, NULL);
	if (process && !thread_group_empty(task))
		stape_active_moved(active, task->tgid);
}
