// SPDX-License-Identifier: GPL-2.0-only
/*
 * The set of tasks that a filter's rules make, as bits over the PID space.
 */
#include "record/filter_internal.h"

#include <linux/cgroup.h>
#include <linux/glob.h>
#include <linux/rcupdate.h>
#include <linux/sched/task.h>
#include <schedtape/event.h>

#include "record/probe_task.h"
#include "record/session.h"

static_assert(PID_MAX_LIMIT <= 1U << STAPE_PID_BITS);

u8 stape_filter_slots[PID_MAX_LIMIT];
DEFINE_RAW_SPINLOCK(stape_filter_lock);

/* Those that may have bits; under the lock. */
static LIST_HEAD(stape_filters);

/**
 * stape_filter_clear() - take all bits away, for good
 * @filter: of a session that ends
 *
 * Context: may sleep.
 */
void stape_filter_clear(struct stape_filter *filter)
{
	u32 pid = 0;

	raw_spin_lock_irq(&stape_filter_lock);
	filter->closed = true;
	raw_spin_unlock_irq(&stape_filter_lock);
	/* In steps: a filter may have a million tasks. */
	while ((pid = stape_filter_next(filter, pid)) < PID_MAX_LIMIT) {
		raw_spin_lock_irq(&stape_filter_lock);
		stape_filter_remove(filter, pid);
		raw_spin_unlock_irq(&stape_filter_lock);
		cond_resched();
	}
	stape_filter_forget_left(filter, STAPE_FILTER_LEFT_MAX);
	raw_spin_lock_irq(&stape_filter_lock);
	list_del_init(&filter->list);
	raw_spin_unlock_irq(&stape_filter_lock);
}

static bool stape_filter_has_left(const struct stape_filter *filter, u32 pid)
{
	u32 i;

	for (i = 0; i < filter->nr_left; i++)
		if (filter->left[i] == pid)
			return true;
	return false;
}

/* Says who has @pid, after a change. */
static void stape_filter_settle(u32 pid)
{
	struct stape_filter *filter;
	u8 slot = 0;

	list_for_each_entry(filter, &stape_filters, list)
		if (test_bit(pid, filter->members))
			slot = slot ? STAPE_FILTER_SHARED : filter->slot;
		else if (stape_filter_has_left(filter, pid))
			slot = STAPE_FILTER_SHARED;
	WRITE_ONCE(stape_filter_slots[pid], slot);
}

/**
 * stape_filter_left() - before the CPUs are asked whom they run
 * @filter: a session's
 *
 * Whoever is counted has no bit any more that a CPU could see when it is asked.
 *
 * Context: under stape_sessions_lock.
 * Return: how many have left, for stape_filter_forget_left().
 */
u32 stape_filter_left(const struct stape_filter *filter)
{
	u32 n;

	raw_spin_lock_irq(&stape_filter_lock);
	n = filter->nr_left;
	raw_spin_unlock_irq(&stape_filter_lock);
	return n;
}

/**
 * stape_filter_forget_left() - the CPUs have been asked whom they run
 * @filter: a session's
 * @n: of stape_filter_left() before that
 *
 * Context: under stape_sessions_lock.
 */
void stape_filter_forget_left(struct stape_filter *filter, u32 n)
{
	u32 pids[STAPE_FILTER_LEFT_MAX], i;

	raw_spin_lock_irq(&stape_filter_lock);
	n = min(n, filter->nr_left);
	memcpy(pids, filter->left, n * sizeof(*pids));
	filter->nr_left -= n;
	memmove(filter->left, filter->left + n, filter->nr_left * sizeof(*pids));
	for (i = 0; i < n; i++)
		stape_filter_settle(pids[i]);
	raw_spin_unlock_irq(&stape_filter_lock);
}

void stape_filter_insert(struct stape_filter *filter, u32 pid)
{
	if (filter->closed || test_bit(pid, filter->members))
		return;
	if (list_empty(&filter->list))
		list_add(&filter->list, &stape_filters);
	set_bit(pid, filter->members);
	stape_filter_settle(pid);
	WRITE_ONCE(filter->tasks, filter->tasks + 1);
}

void stape_filter_remove(struct stape_filter *filter, u32 pid)
{
	if (!test_bit(pid, filter->members))
		return;
	clear_bit(pid, filter->members);
	WRITE_ONCE(filter->tasks, filter->tasks - 1);
	stape_filter_settle(pid);
}

/* Return: whether this has changed anything. */
bool stape_filter_set_named(struct stape_filter *filter, u32 pid, bool named)
{
	if (named == test_bit(pid, filter->named))
		return false;
	if (named)
		set_bit(pid, filter->named);
	else
		clear_bit(pid, filter->named);
	WRITE_ONCE(filter->nr_named, filter->nr_named + (named ? 1 : -1));
	return true;
}

static bool stape_filter_in_cgroup(const struct stape_filter *filter, struct task_struct *task)
{
	struct cgroup *cgroup;
	bool found = false;
	u32 i;

	if (!filter->nr_cgroups)
		return false;
	rcu_read_lock();
	cgroup = task_dfl_cgroup(task);
	for (i = 0; i < filter->nr_cgroups && !found; i++)
		found = cgroup_is_descendant(cgroup, filter->cgroups[i]);
	rcu_read_unlock();
	return found;
}

/* What the rules say of a task. */
bool stape_filter_wants(const struct stape_filter *filter, struct task_struct *task,
			const char *comm)
{
	char name[TASK_COMM_LEN];
	u32 i;

	if (filter->closed)
		return false;
	if (stape_task_flags(task) & PF_KTHREAD && !filter->flags.kthreads)
		return false;
	/* The recorder would record that it records. */
	if (task_tgid(task) == filter->owner)
		return false;
	if (!filter->flags.all && !test_bit(task->pid, filter->named) &&
	    !stape_filter_in_cgroup(filter, task))
		return false;
	if (!filter->nr_patterns)
		return true;
	/* Without its lock the name may change: see stape_filter_judge_probe(). */
	data_race(memcpy(name, comm, sizeof(name)));
	name[TASK_COMM_LEN - 1] = 0;	/* not always, while it does */
	for (i = 0; i < filter->nr_patterns; i++)
		if (glob_match(filter->patterns[i], name))
			return false;
	return true;
}

/**
 * stape_filter_judge() - bring a live task's bit up to date, and the stream with it
 * @filter: a session's
 * @task: the task
 * @comm: its name, or what it will be called
 *
 * What enters is described before any other event of it, what leaves after all
 * of them.
 *
 * Context: under stape_filter_lock.
 * Return: whether the bit has changed.
 */
bool stape_filter_judge(struct stape_filter *filter, struct task_struct *task, const char *comm)
{
	struct stape_session *session = container_of(filter, struct stape_session, filter);
	bool wanted = stape_filter_wants(filter, task, comm);
	struct stape_life_seen told;

	if (wanted == stape_filter_has(filter, task))
		return false;
	/*
	 * Who is named no longer because it exits, is recorded until its last switch; and
	 * nobody enters on the way there, when its exit may be over.
	 */
	if (wanted ? stape_task_flags(task) & PF_EXITING : stape_filter_exiting(task))
		return false;
	if (!wanted) {
		/*
		 * As long as a CPU may be thought to run it, no switch from it is to go
		 * unseen: who enters, or comes back, would be taken for it.  For current
		 * the caller refreshes this CPU before current can be preempted.
		 */
		if (task != current && filter->nr_left < STAPE_FILTER_LEFT_MAX)
			filter->left[filter->nr_left++] = task->pid;
		stape_filter_remove(filter, task->pid);
		/* By its old name if a rename probe judges, by its new one after the store. */
		stape_life_describe(session, task, task->comm, STAPE_TASK_LEAVES);
		return true;
	}
	if (READ_ONCE(task->__state) == TASK_DEAD)
		return false;
	stape_life_enter(session, task, comm, &told);
	stape_filter_insert(filter, task->pid);
	/*
	 * What came before the bit nobody has told: a change of it, which pairs with
	 * stape_life_prio(); and if that was its last switch-out nobody would clear the bit,
	 * which pairs with the full barrier between the store of TASK_DEAD and the switch
	 * probe's look at the slot.
	 */
	smp_mb();
	stape_life_correct(session, task, comm, &told);
	if (READ_ONCE(task->__state) == TASK_DEAD)
		stape_filter_remove(filter, task->pid);
	return true;
}

/**
 * stape_filter_judge_probe() - the same in a probe
 * @filter: a session's
 * @task: the task
 * @comm: its name, or what it will be called
 *
 * No lock keeps a name that it has: where names matter, all are to be judged once more.
 *
 * Context: any that has no runqueue lock.
 * Return: whether the bit has changed.
 */
bool stape_filter_judge_probe(struct stape_filter *filter, struct task_struct *task,
			      const char *comm)
{
	unsigned long flags;
	bool changed;

	raw_spin_lock_irqsave(&stape_filter_lock, flags);
	changed = stape_filter_judge(filter, task, comm);
	raw_spin_unlock_irqrestore(&stape_filter_lock, flags);
	return changed;
}

/**
 * stape_filter_judge_one() - the same for a task as it is
 * @filter: a session's
 * @task: the task
 *
 * Up to Linux 6.13 its lock keeps its name: the rename probe runs before the name is there,
 * and is not to be followed by a judgement of the old one.  Newer kernels store the name
 * without that lock, and name.c has the task judged again after the store, if the kernel lets
 * the module probe that function.
 *
 * Context: process, no probe; may spin, or on PREEMPT_RT sleep, on @task's
 * alloc_lock.
 * Return: whether the bit has changed.
 */
bool stape_filter_judge_one(struct stape_filter *filter, struct task_struct *task)
{
	bool changed;

	task_lock(task);
	changed = stape_filter_judge_probe(filter, task, task->comm);
	task_unlock(task);
	return changed;
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
	unsigned long bits;

	/* Each word is loaded once, because others set and clear bits of it meanwhile. */
	while (pid < PID_MAX_LIMIT) {
		bits = READ_ONCE(filter->members[BIT_WORD(pid)]) & BITMAP_FIRST_WORD_MASK(pid);
		pid = round_down(pid, BITS_PER_LONG);
		if (bits)
			return pid + __ffs(bits);
		pid += BITS_PER_LONG;
	}
	return PID_MAX_LIMIT;
}
