// SPDX-License-Identifier: GPL-2.0-only
/*
 * What forks, ends, execs, renames and moves between cgroups do to a filter's
 * set: called by probes.
 */
#include "record/filter_internal.h"

#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include <linux/string.h>

#include "record/probe_task.h"
#include "record/session.h"

/* A rule could take in who has this PID, or it has a bit, perhaps of an earlier task. */
static bool stape_filter_concerns(const struct stape_filter *filter, u32 pid)
{
	return stape_filter_is_open(filter) || test_bit(pid, filter->named) ||
	       test_bit(pid, filter->members);
}

/**
 * stape_filter_fork() - judge a child, which may inherit
 * @filter: a session's
 * @parent: the task that forked
 * @child: the new task, not woken yet
 *
 * Its fork is written before anybody can say that it leaves.
 *
 * Context: the fork probe.
 */
void stape_filter_fork(struct stape_filter *filter, struct task_struct *parent,
		       struct task_struct *child)
{
	struct stape_session *session = container_of(filter, struct stape_session, filter);
	char comm[TASK_COMM_LEN];
	unsigned long flags;

	/* The child is linked before this looks; pairs with those before walks of lists. */
	smp_mb();
	if (!stape_filter_concerns(filter, parent->pid) &&
	    !stape_filter_concerns(filter, child->pid))
		return;
	raw_spin_lock_irqsave(&stape_filter_lock, flags);
	/* Threads may name each other, also while they are being forked: see name.c. */
	data_race(strscpy_pad(comm, child->comm, sizeof(comm)));
	/* The PID's last user may be dead and still wait for its last switch. */
	stape_filter_remove(filter, child->pid);
	stape_filter_set_named(filter, child->pid, !filter->flags.no_inherit &&
			       test_bit(parent->pid, filter->named));
	if (stape_filter_has(filter, parent) && stape_filter_wants(filter, child, comm)) {
		stape_life_describe_fork(session, parent, child);
		stape_filter_insert(filter, child->pid);
		smp_mb();	/* as in stape_filter_judge() */
		stape_life_forked(session, parent, child);
	} else {
		stape_filter_judge(filter, child, comm);
	}
	raw_spin_unlock_irqrestore(&stape_filter_lock, flags);
}

/**
 * stape_filter_exit() - follow a task no longer
 * @filter: a session's
 * @task: the task, past the point where its process counts it
 *
 * Who is recorded stays so until stape_filter_dead(), which does not hear of others.
 *
 * Context: the exit probe.
 * Return: true if nobody is left.
 */
bool stape_filter_exit(struct stape_filter *filter, struct task_struct *task)
{
	bool changed = false;
	unsigned long flags;

	if (!test_bit(task->pid, filter->named) && !test_bit(task->tgid, filter->named))
		return false;
	raw_spin_lock_irqsave(&stape_filter_lock, flags);
	if (!stape_filter_survived(task))
		changed = stape_filter_set_named(filter, task->pid, false);
	/* The last one: also of a leader that has gone before. */
	if (!atomic_read(&task->signal->live))
		changed |= stape_filter_set_named(filter, task->tgid, false);
	changed &= stape_filter_is_over(filter);
	raw_spin_unlock_irqrestore(&stape_filter_lock, flags);
	return changed;
}

/**
 * stape_filter_forget() - forget a task that ends, before its last switch
 * @filter: a session's
 * @task: current; a leader who leaves threads behind stays
 *
 * Nobody who exits enters again.
 *
 * Context: the exit probe, interrupts off.
 * Return: true if the set has become empty by it.
 */
bool stape_filter_forget(struct stape_filter *filter, struct task_struct *task)
{
	bool empty;

	raw_spin_lock(&stape_filter_lock);
	if (!stape_filter_survived(task))
		stape_filter_remove(filter, task->pid);
	empty = !filter->tasks;
	raw_spin_unlock(&stape_filter_lock);
	return empty;
}

/* The last thread behind a dead leader has gone: so goes the leader's bit. */
static void stape_filter_bury(struct stape_filter *filter, u32 pid)
{
	struct task_struct *leader = pid_task(find_pid_ns(pid, &init_pid_ns), PIDTYPE_PID);

	/* Under no lock: who has not ended yet has its own last switch before it. */
	if (!leader || (data_race(leader->exit_state) && !stape_filter_survived(leader)))
		stape_filter_remove(filter, pid);
}

/**
 * stape_filter_dead() - forget a task that switches out for the last time
 * @filter: a session's
 * @task: the task, or a thread behind whom its leader may have to be forgotten;
 *	its PID may belong to another task already, if its parent has been quick
 *
 * Context: the switch probe.
 * Return: true if the set has become empty by it.
 */
bool stape_filter_dead(struct stape_filter *filter, struct task_struct *task)
{
	struct task_struct *user;
	bool empty;

	if (!stape_filter_has(filter, task) && !test_bit(task->tgid, filter->members))
		return false;
	raw_spin_lock(&stape_filter_lock);	/* interrupts are off */
	rcu_read_lock();
	user = pid_task(find_pid_ns(task->pid, &init_pid_ns), PIDTYPE_PID);
	if (!user || (user == task && !stape_filter_survived(task)))
		stape_filter_remove(filter, task->pid);
	if (task->tgid != task->pid)
		stape_filter_bury(filter, task->tgid);
	rcu_read_unlock();
	empty = !filter->tasks;
	raw_spin_unlock(&stape_filter_lock);
	return empty;
}

/**
 * stape_filter_exec() - follow a task through execve()
 * @filter: a session's
 * @task: the task
 * @old_pid: its PID before: a thread takes over its leader's
 *
 * Context: the exec probe.
 * Return: whether the task was recorded before.
 */
bool stape_filter_exec(struct stape_filter *filter, struct task_struct *task, u32 old_pid)
{
	unsigned long flags;
	bool had;

	if (!stape_filter_concerns(filter, old_pid) && !stape_filter_concerns(filter, task->pid))
		return false;
	raw_spin_lock_irqsave(&stape_filter_lock, flags);
	had = test_bit(old_pid, filter->members) || stape_filter_has(filter, task);
	if (old_pid != task->pid && test_bit(old_pid, filter->named)) {
		stape_filter_set_named(filter, task->pid, true);
		stape_filter_set_named(filter, old_pid, false);
		/* The leader may have taken the other bit with it, on its last switch. */
		if (!had)
			stape_filter_judge(filter, task, task->comm);
	}
	if (old_pid != task->pid && test_bit(old_pid, filter->members)) {
		/* In this order: the set is not to look empty in between. */
		stape_filter_insert(filter, task->pid);
		stape_filter_remove(filter, old_pid);
	}
	raw_spin_unlock_irqrestore(&stape_filter_lock, flags);
	return had;
}

/**
 * stape_filter_rename() - a task has, or gets, another name
 * @filter: a session's
 * @task: any task
 * @comm: what it will be called
 *
 * Context: any that has no runqueue lock.
 * Return: whether it has entered or left.
 */
bool stape_filter_rename(struct stape_filter *filter, struct task_struct *task, const char *comm)
{
	return stape_filter_concerns(filter, task->pid) &&
	       stape_filter_judge_probe(filter, task, comm);
}

/**
 * stape_filter_move() - a task has another cgroup
 * @filter: a session's
 * @task: the task
 * @process: all of its threads have
 *
 * Context: RCU reader, under a spinlock of the kernel's.
 * Return: whether any has entered or left.
 */
bool stape_filter_move(struct stape_filter *filter, struct task_struct *task, bool process)
{
	struct task_struct *thread;
	bool changed;

	if (!READ_ONCE(filter->nr_cgroups))
		return false;
	changed = stape_filter_judge_probe(filter, task, task->comm);
	if (process)
		for_each_thread(task, thread)
			changed |= stape_filter_judge_probe(filter, thread, thread->comm);
	/* Judged without the lock on its name, see stape_filter_judge_one(): once more, then. */
	if (READ_ONCE(filter->nr_patterns))
		WRITE_ONCE(filter->stale, true);
	return changed;
}
