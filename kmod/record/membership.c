// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which tasks are members of a filter: checks a task against the rules, updates its bit, and
 * writes that it enters or leaves.
 */
#include "record/membership.h"

#include <linux/kernel.h>
#include <linux/sched.h>
#include <linux/string.h>

#include "record/encode.h"
#include "record/task_info.h"
#include "record/waits.h"

/* For current the caller resyncs this CPU before current can be preempted. */
static void stape_membership_leave(struct stape_active *active, struct task_struct *task,
				   u32 pid)
{
	struct stape_filter *filter = &active->filter;

	if (task == current)
		stape_filter_remove(filter, pid);
	else
		stape_filter_leave(filter, pid);
	/* In the rename probe this is the old name. */
	stape_encode_task(active, task, task->comm, STAPE_TASK_LEAVES);
}

/*
 * Returns true if another CPU runs a task, or is about to: the kernel sets @on_cpu after the switch
 * probe.  A task that only waits for a CPU takes the slow way, too, until the resync.
 */
static bool stape_membership_may_run(const struct task_struct *task)
{
	return task != current && (stape_on_cpu(task) || READ_ONCE(task->on_rq));
}

/**
 * stape_membership_enter() - let a task enter
 * @active: a session's
 * @task: the task: the rules select it, and it is no member
 * @pid: its PID
 * @is_new: no CPU can run it yet.  If it is not, the caller has the session resynced
 *
 * Context: under the stape_filter_lock() of the PID.  When an io_uring worker starts, the runqueue
 * lock is held, and the worker is queued, but no CPU can run it yet.
 */
void stape_membership_enter(struct stape_active *active, struct task_struct *task, u32 pid,
			    bool is_new)
{
	const char *comm = stape_filter_name(task, pid);
	struct stape_attributes written;

	stape_waits_enter(active->waits, pid);
	stape_encode_enter(active, task, comm, &written);
	/* As late as possible, because it may be woken while it is described. */
	if (!is_new && unlikely(stape_membership_may_run(task)))
		stape_filter_enter(&active->filter, pid);
	else
		stape_filter_insert(&active->filter, pid);
	/*
	 * Read the task again after setting the bit.  (1) A change that was made before the bit
	 * was visible was not written: write it.  Pairs with stape_attribute_changed().  (2) If the
	 * task did its last switch-out before the bit was visible, the switch probe has not seen it:
	 * clear the task's bits.  Pairs with the full barrier between the store of TASK_DEAD and the
	 * switch probe's load of the id.
	 */
	smp_mb();
	stape_waits_entered(active->waits, pid);
	stape_encode_changes(active, task, comm, &written);
	if (READ_ONCE(task->__state) == TASK_DEAD) {
		stape_filter_remove(&active->filter, pid);
		if (!stape_task_leads_threads(task, pid))
			stape_filter_set_seed(&active->filter, pid, false);
	}
}

/**
 * stape_membership_update_locked() - update a live task's bit, and write what has changed
 * @active: a session's
 * @task: the task
 * @pid: its PID.  The caller holds the PID's lock.  During an execve() @task->pid may change, so
 *	this does not read it
 *
 * A task that enters is described before its other events, a task that leaves is described
 * after them.  If the bit of another task than current has changed, the caller has the session
 * resynced: the task's id may be STAPE_FILTER_MULTI until then.
 *
 * Context: under the stape_filter_lock() of the PID.
 * Return: whether the bit has changed.
 */
bool stape_membership_update_locked(struct stape_active *active, struct task_struct *task, u32 pid)
{
	bool match = stape_filter_match(&active->filter, task, pid);

	if (match == test_bit(pid, active->filter.members))
		return false;
	if (match) {
		/* Its exit probe may have run already, so nothing would remove it. */
		if (stape_task_flags(task) & PF_EXITING || READ_ONCE(task->__state) == TASK_DEAD)
			return false;
		stape_membership_enter(active, task, pid, false);
	} else {
		/* It is a member until its last switch. */
		if (stape_task_is_exiting(task, pid))
			return false;
		stape_membership_leave(active, task, pid);
	}
	return true;
}

/* Writes what has changed of a member. */
static void stape_membership_encode(struct stape_active *active, struct task_struct *task, u32 pid,
				    u32 type, const char *comm)
{
	u64 name[STAPE_COMM_LEN / sizeof(u64)];

	if (type == STAPE_EV_TASK) {
		stape_encode_task(active, task, stape_filter_name(task, pid), STAPE_TASK_MOVES);
	} else if (type == STAPE_EV_RENAME) {
		memcpy(name, comm, sizeof(name));
		stape_encode_payload(active, type, task, name, ARRAY_SIZE(name));
	}
}

/**
 * stape_membership_update() - take the PID's lock, and update a live task's bit
 * @active: a session's
 * @task: the task
 * @type: what is written if the task is a member and stays one.  STAPE_EV_TASK: it was moved to
 *	another cgroup or autogroup; STAPE_EV_RENAME: it gets another name; 0: nothing
 * @comm: of STAPE_EV_RENAME: the name, TASK_COMM_LEN bytes
 *
 * A task that enters or leaves is described with its name and its cgroup.
 *
 * Context: any without the runqueue lock.
 * Return: whether the bit has changed.
 */
bool stape_membership_update(struct stape_active *active, struct task_struct *task, u32 type,
			     const char *comm)
{
	u32 pid = READ_ONCE(task->pid);
	unsigned long flags;
	bool changed;

	raw_spin_lock_irqsave(stape_filter_lock(pid), flags);
	if (type == STAPE_EV_RENAME)
		stape_filter_note_name(task, pid, comm);
	changed = stape_filter_may_match(&active->filter, pid) &&
		  stape_membership_update_locked(active, task, pid);
	if (!changed && test_bit(pid, active->filter.members))
		stape_membership_encode(active, task, pid, type, comm);
	raw_spin_unlock_irqrestore(stape_filter_lock(pid), flags);
	return changed;
}
