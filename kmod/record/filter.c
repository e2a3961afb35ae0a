// SPDX-License-Identifier: GPL-2.0-only
/*
 * The set of tasks that a filter's rules select, as bits over the PID space.
 */
#include "record/filter.h"

#include <linux/cgroup.h>
#include <linux/glob.h>
#include <linux/pid.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include <schedtape/event.h>

#include "base/memory.h"
#include "record/task_info.h"

static_assert(PID_MAX_LIMIT <= 1U << STAPE_PID_BITS);

u8 *stape_filter_ids;
DEFINE_RAW_SPINLOCK(stape_filter_lock);

/* The filters that may have bits.  Protected by stape_filter_lock. */
static LIST_HEAD(stape_filters);

/**
 * stape_filter_alloc_ids() - make the array of ids, before probes are attached
 *
 * All users share it, so no memory cgroup is charged.
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM.
 */
int stape_filter_alloc_ids(void)
{
	stape_filter_ids = vzalloc(PID_MAX_LIMIT * sizeof(*stape_filter_ids));
	return stape_filter_ids ? 0 : -ENOMEM;
}

/**
 * stape_filter_free_ids() - undo stape_filter_alloc_ids()
 *
 * Context: may sleep; no probe runs any more, and no filter has members.
 */
void stape_filter_free_ids(void)
{
	vfree(stape_filter_ids);
	stape_filter_ids = NULL;
}

static unsigned long *stape_filter_bitmap(void)
{
	return stape_memory_alloc(BITS_TO_LONGS(PID_MAX_LIMIT), sizeof(long));
}

/**
 * stape_filter_init() - make a filter that has no bits yet
 * @filter: zeroed
 *
 * Context: any.
 */
void stape_filter_init(struct stape_filter *filter)
{
	filter->owner = get_pid(task_tgid(current));
	INIT_LIST_HEAD(&filter->list);
}

/**
 * stape_filter_alloc() - give a filter its bits, STAPE_FILTER_BYTES
 * @filter: made by stape_filter_init(); may be called again if this fails
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM.
 */
int stape_filter_alloc(struct stape_filter *filter)
{
	filter->members = stape_filter_bitmap();
	filter->seeds = stape_filter_bitmap();
	if (filter->members && filter->seeds)
		return 0;
	stape_filter_free_bits(filter);
	return -ENOMEM;
}

/**
 * stape_filter_free_bits() - undo stape_filter_alloc()
 * @filter: no probe uses it
 *
 * Context: may sleep.
 */
void stape_filter_free_bits(struct stape_filter *filter)
{
	stape_memory_free(filter->members);
	stape_memory_free(filter->seeds);
	filter->members = NULL;
	filter->seeds = NULL;
}

/**
 * stape_filter_destroy() - free a filter
 * @filter: made by stape_filter_init(); no probe uses it any more
 *
 * Context: may sleep.
 */
void stape_filter_destroy(struct stape_filter *filter)
{
	u32 i;

	if (filter->members)
		stape_filter_clear(filter);
	for (i = 0; i < filter->rescan.nr_moved; i++)
		put_pid(filter->rescan.moved[i]);
	put_pid(filter->owner);
	for (i = 0; i < filter->nr_cgroups; i++)
		cgroup_put(filter->cgroups[i]);
	kfree(filter->cgroups);
	kfree(filter->patterns);
	stape_filter_free_bits(filter);
}

/**
 * stape_filter_clear() - clear all bits, for good
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
	/* In steps, because a filter may have a million members. */
	while ((pid = stape_filter_next(filter, pid)) < PID_MAX_LIMIT) {
		raw_spin_lock_irq(&stape_filter_lock);
		stape_filter_remove(filter, pid);
		raw_spin_unlock_irq(&stape_filter_lock);
		cond_resched();
	}
	stape_filter_settle_leavers(filter, STAPE_FILTER_LEAVERS_MAX);
	raw_spin_lock_irq(&stape_filter_lock);
	list_del_init(&filter->list);
	raw_spin_unlock_irq(&stape_filter_lock);
}

static bool stape_filter_is_leaver(const struct stape_filter *filter, u32 pid)
{
	u32 i;

	for (i = 0; i < filter->nr_leavers; i++)
		if (filter->leavers[i] == pid)
			return true;
	return false;
}

/* Updates the id of @pid after a change of its bits. */
static void stape_filter_settle(u32 pid)
{
	struct stape_filter *filter;
	u8 id = 0;

	list_for_each_entry(filter, &stape_filters, list)
		if (test_bit(pid, filter->members))
			id = id ? STAPE_FILTER_MULTI : filter->id;
		else if (stape_filter_is_leaver(filter, pid))
			id = STAPE_FILTER_MULTI;
	WRITE_ONCE(stape_filter_ids[pid], id);
}

/**
 * stape_filter_count_leavers() - count the leavers, before all CPUs are resynced
 * @filter: a session's
 *
 * Each PID that is counted was removed from @members before this returns, so the resync
 * cannot see its bit on any CPU.
 *
 * Context: under the session's lock.
 * Return: a number for stape_filter_settle_leavers().
 */
u32 stape_filter_count_leavers(const struct stape_filter *filter)
{
	u32 n;

	raw_spin_lock_irq(&stape_filter_lock);
	n = filter->nr_leavers;
	raw_spin_unlock_irq(&stape_filter_lock);
	return n;
}

/**
 * stape_filter_settle_leavers() - forget leavers, after all CPUs have been resynced
 * @filter: a session's
 * @n: what stape_filter_count_leavers() returned before the resync
 *
 * Context: under the session's lock.
 */
void stape_filter_settle_leavers(struct stape_filter *filter, u32 n)
{
	u32 pids[STAPE_FILTER_LEAVERS_MAX], i;

	raw_spin_lock_irq(&stape_filter_lock);
	n = min(n, filter->nr_leavers);
	memcpy(pids, filter->leavers, n * sizeof(*pids));
	filter->nr_leavers -= n;
	memmove(filter->leavers, filter->leavers + n, filter->nr_leavers * sizeof(*pids));
	for (i = 0; i < n; i++)
		stape_filter_settle(pids[i]);
	raw_spin_unlock_irq(&stape_filter_lock);
}

/**
 * stape_filter_insert() - make a task a member
 * @filter: a session's; nothing happens if it is closed
 * @pid: the task's PID
 *
 * Context: under stape_filter_lock.
 */
void stape_filter_insert(struct stape_filter *filter, u32 pid)
{
	if (filter->closed || test_bit(pid, filter->members))
		return;
	if (list_empty(&filter->list))
		list_add(&filter->list, &stape_filters);
	set_bit(pid, filter->members);
	stape_filter_settle(pid);
	WRITE_ONCE(filter->nr_members, filter->nr_members + 1);
}

/**
 * stape_filter_remove() - remove a task from the members
 * @filter: a session's
 * @pid: the task's PID; nothing happens if it is no member
 *
 * Context: under stape_filter_lock.
 */
void stape_filter_remove(struct stape_filter *filter, u32 pid)
{
	if (!test_bit(pid, filter->members))
		return;
	clear_bit(pid, filter->members);
	WRITE_ONCE(filter->nr_members, filter->nr_members - 1);
	stape_filter_settle(pid);
}

/**
 * stape_filter_set_seed() - make a task a seed, or no seed
 * @filter: a session's
 * @pid: the task's PID
 * @seed: true: a seed; false: no seed
 *
 * Context: under stape_filter_lock.
 * Return: whether this has changed anything.
 */
bool stape_filter_set_seed(struct stape_filter *filter, u32 pid, bool seed)
{
	if (seed == test_bit(pid, filter->seeds))
		return false;
	if (seed)
		set_bit(pid, filter->seeds);
	else
		clear_bit(pid, filter->seeds);
	WRITE_ONCE(filter->nr_seeds, filter->nr_seeds + (seed ? 1 : -1));
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

/**
 * stape_filter_match() - check whether the rules select a task
 * @filter: a session's
 * @task: the task
 * @comm: its name, or the name that it is about to get
 *
 * Context: under stape_filter_lock.
 */
bool stape_filter_match(const struct stape_filter *filter, struct task_struct *task,
			const char *comm)
{
	char name[TASK_COMM_LEN];
	u32 i;

	if (filter->closed)
		return false;
	if (stape_task_flags(task) & PF_KTHREAD && !filter->flags.kthreads)
		return false;
	/* Never the recorder, because it would record its own work. */
	if (task_tgid(task) == filter->owner)
		return false;
	if (!filter->flags.all && !test_bit(task->pid, filter->seeds) &&
	    !stape_filter_in_cgroup(filter, task))
		return false;
	if (!filter->nr_patterns)
		return true;
	/* Without the task's lock the name may change: see stape_membership_update(). */
	data_race(memcpy(name, comm, sizeof(name)));
	name[TASK_COMM_LEN - 1] = 0;	/* a name that changes may lack its end */
	for (i = 0; i < filter->nr_patterns; i++)
		if (glob_match(filter->patterns[i], name))
			return false;
	return true;
}

/**
 * stape_filter_parent() - get the TGID of a task's parent
 * @filter: a session's
 * @task: the task
 *
 * Context: any; @task must be alive or be current.
 * Return: the TGID; 0 if the parent is not recorded, because a tape must not identify it then.
 */
u32 stape_filter_parent(const struct stape_filter *filter, const struct task_struct *task)
{
	struct task_struct *parent;
	u32 tgid;

	rcu_read_lock();
	parent = rcu_dereference(task->real_parent);
	tgid = stape_filter_has(filter, parent) ? task_tgid_nr(parent) : 0;
	rcu_read_unlock();
	return tgid;
}

/**
 * stape_filter_ask_rescan() - leave tasks to be checked from process context
 * @filter: a session's
 * @moved: a process whose threads were moved to another cgroup; NULL: all tasks must be checked
 *
 * Context: any without the runqueue lock; the caller calls stape_active_resync_soon().
 */
void stape_filter_ask_rescan(struct stape_filter *filter, struct pid *moved)
{
	struct stape_filter_rescan *rescan = &filter->rescan;
	unsigned long flags;
	u32 i;

	raw_spin_lock_irqsave(&stape_filter_lock, flags);
	for (i = 0; i < rescan->nr_moved; i++)
		if (rescan->moved[i] == moved)
			break;
	if (!moved)
		rescan->all = true;
	else if (filter->closed || i == STAPE_FILTER_MOVED_MAX)
		rescan->all_moved = true;
	else if (i == rescan->nr_moved)
		rescan->moved[rescan->nr_moved++] = get_pid(moved);
	raw_spin_unlock_irqrestore(&stape_filter_lock, flags);
}

/**
 * stape_filter_take_rescan() - take what stape_filter_ask_rescan() has left
 * @filter: a session's
 * @rescan: returned; the caller drops the references
 *
 * Context: any.
 * Return: whether there is anything to be checked.
 */
bool stape_filter_take_rescan(struct stape_filter *filter, struct stape_filter_rescan *rescan)
{
	raw_spin_lock_irq(&stape_filter_lock);
	*rescan = filter->rescan;
	memset(&filter->rescan, 0, sizeof(filter->rescan));
	raw_spin_unlock_irq(&stape_filter_lock);
	return rescan->all || rescan->all_moved || rescan->nr_moved;
}

/**
 * stape_filter_next() - find the next member
 * @filter: a session's
 * @pid: where to begin
 *
 * Context: any.
 * Return: the lowest PID of a member that is not below @pid, or PID_MAX_LIMIT.
 */
u32 stape_filter_next(const struct stape_filter *filter, u32 pid)
{
	unsigned long bits;

	/* Each word is loaded once, because other CPUs set and clear bits of it meanwhile. */
	while (pid < PID_MAX_LIMIT) {
		bits = READ_ONCE(filter->members[BIT_WORD(pid)]) & BITMAP_FIRST_WORD_MASK(pid);
		pid = round_down(pid, BITS_PER_LONG);
		if (bits)
			return pid + __ffs(bits);
		pid += BITS_PER_LONG;
	}
	return PID_MAX_LIMIT;
}
