// SPDX-License-Identifier: GPL-2.0-only
/*
 * The set of tasks that a filter's rules select, as bits over the PID space.
 */
#include "record/filter.h"

#include <linux/cgroup.h>
#include <linux/find.h>
#include <linux/glob.h>
#include <linux/pid.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include <schedtape/event.h>

#include "base/memory.h"
#include "record/task_info.h"

static_assert(PID_MAX_LIMIT <= 1U << STAPE_PID_BITS);

s8 *stape_filter_ids;
struct stape_filter_lock stape_filter_locks[STAPE_FILTER_LOCKS] = {
	[0 ... STAPE_FILTER_LOCKS - 1] = { __RAW_SPIN_LOCK_UNLOCKED(stape_filter_locks) },
};

/* The numbers in use, and the filters that have them.  Read under RCU. */
static unsigned long stape_filters_used;
static struct stape_filter *stape_filters[STAPE_FILTER_NR_MULTI];

static_assert(STAPE_FILTER_NR_MULTI <= BITS_PER_LONG);

/**
 * stape_filter_alloc_ids() - make the array of ids, before probes are attached
 *
 * All users share it, so no memory cgroup is charged.  It takes 4 MB, so as with memory that a
 * request decides, nothing is logged if there is too little.
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM.
 */
int stape_filter_alloc_ids(void)
{
	stape_filter_ids = __vmalloc(PID_MAX_LIMIT * sizeof(*stape_filter_ids),
				     STAPE_GFP_LARGE & ~__GFP_ACCOUNT);
	if (!stape_filter_ids)
		return -ENOMEM;
	stape_filter_ids[0] = STAPE_FILTER_IDLE;
	return 0;
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
	return stape_memory_alloc(BITS_TO_LONGS(PID_MAX_LIMIT), sizeof(long), NUMA_NO_NODE);
}

/**
 * stape_filter_alloc_rules() - make rules that select nothing
 * @nr_cgroups: how many cgroups there is room for
 * @nr_patterns: how many patterns there is room for
 *
 * Context: may sleep.
 * Return: the rules, which the caller owns until they become a filter's; NULL: no memory.
 */
struct stape_filter_rules *stape_filter_alloc_rules(u32 nr_cgroups, u32 nr_patterns)
{
	struct stape_filter_rules *rules;

	rules = kzalloc(struct_size(rules, cgroups, nr_cgroups) + nr_patterns * STAPE_PATTERN_LEN,
			GFP_KERNEL_ACCOUNT);
	if (!rules)
		return NULL;
	rules->nr_cgroups = nr_cgroups;
	rules->nr_patterns = nr_patterns;
	rules->patterns = (void *)&rules->cgroups[nr_cgroups];
	return rules;
}

/**
 * stape_filter_init() - make a filter that has neither rules nor bits yet
 * @filter: zeroed
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM.
 */
int stape_filter_init(struct stape_filter *filter)
{
	struct stape_filter_rules *none = stape_filter_alloc_rules(0, 0);

	if (!none)
		return -ENOMEM;
	RCU_INIT_POINTER(filter->rules, none);
	raw_spin_lock_init(&filter->lock);
	filter->owner = get_pid(task_tgid(current));
	return 0;
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
 * stape_filter_free_cgroup() - free a cgroup of rules
 * @entry: no probe uses it
 *
 * Context: any.
 */
void stape_filter_free_cgroup(struct stape_filter_cgroup *entry)
{
	cgroup_put(rcu_dereference_protected(entry->cgroup, true));
	kfree(entry);
}

/**
 * stape_filter_destroy() - free a filter
 * @filter: made by stape_filter_init(); it has no member, and no probe uses it any more
 *
 * Context: may sleep.
 */
void stape_filter_destroy(struct stape_filter *filter)
{
	struct stape_filter_rules *rules = stape_filter_own_rules(filter);
	u32 i;

	put_pid(filter->owner);
	for (i = 0; i < rules->nr_cgroups; i++)
		stape_filter_free_cgroup(rules->cgroups[i]);
	kfree(rules);
	stape_filter_free_bits(filter);
}

/**
 * stape_filter_publish() - give a filter an id, and let the ids of PIDs depend on the filter
 * @filter: without members
 * @slow: its id is slow
 *
 * There are numbers for as many sessions as may have rings.
 *
 * Context: one caller at a time.
 */
void stape_filter_publish(struct stape_filter *filter, bool slow)
{
	u32 nr = find_next_zero_bit(&stape_filters_used, STAPE_FILTER_NR_MULTI, 1);

	WRITE_ONCE(filter->closed, false);
	filter->id = nr + (slow ? STAPE_FILTER_SLOW : 0);
	WRITE_ONCE(stape_filters[nr], filter);
	/* Filter before id; pairs with the address dependency in stape_filter_update_id(). */
	smp_mb__before_atomic();
	set_bit(nr, &stape_filters_used);
}

/**
 * stape_filter_withdraw() - undo stape_filter_publish()
 * @filter: without members; who looks at ids uses it until an RCU grace period is over
 *
 * Context: one caller at a time.
 */
void stape_filter_withdraw(struct stape_filter *filter)
{
	WRITE_ONCE(stape_filters[stape_filter_nr(filter->id)], NULL);
	clear_bit(stape_filter_nr(filter->id), &stape_filters_used);
}

/* Returns whether a PID is one of the leavers.  Under the PID's lock. */
static bool stape_filter_is_leaver(const struct stape_filter *filter, u32 pid)
{
	u32 i;

	if (likely(!READ_ONCE(filter->nr_leavers)))
		return false;
	/* Other entries may change meanwhile, but not to @pid or from it. */
	for (i = 0; i < STAPE_FILTER_LEAVERS_MAX; i++)
		if (READ_ONCE(filter->leavers[i]) == pid)
			return true;
	return false;
}

/**
 * stape_filter_update_id() - update the id of a PID after a change of its bits
 * @pid: the PID
 *
 * The id of a leaver is STAPE_FILTER_MULTI: stape_filter_note() has set it.  If @pid has another
 * id, it is no leaver, so the arrays of leavers need no search.
 *
 * Context: under the PID's stape_filter_lock().
 */
void stape_filter_update_id(u32 pid)
{
	bool may_be_leaver = READ_ONCE(stape_filter_ids[pid]) == STAPE_FILTER_MULTI;
	unsigned long used = READ_ONCE(stape_filters_used);
	struct stape_filter *filter;
	s8 id = 0;

	/* Usually there is one: for_each_set_bit() would look for it twice. */
	for (; used; used &= used - 1) {
		/* Interrupts are off, which makes this an RCU reader. */
		filter = READ_ONCE(stape_filters[__ffs(used)]);
		if (!filter)
			continue;
		if (may_be_leaver && stape_filter_is_leaver(filter, pid))
			id = STAPE_FILTER_MULTI;
		else if (test_bit(pid, filter->members))
			id = id ? STAPE_FILTER_MULTI : filter->id;
	}
	WRITE_ONCE(stape_filter_ids[pid], id);
}

/**
 * stape_filter_get_leavers() - get the leavers, before all CPUs are resynced
 * @filter: a session's
 * @pids: returned: STAPE_FILTER_LEAVERS_MAX PIDs, or 0
 *
 * Each of them was removed from @members, or added, before this returns, so the resync sees that on
 * all CPUs.
 *
 * Context: any.
 */
void stape_filter_get_leavers(struct stape_filter *filter, u32 *pids)
{
	raw_spin_lock_irq(&filter->lock);
	memcpy(pids, filter->leavers, sizeof(filter->leavers));
	raw_spin_unlock_irq(&filter->lock);
}

/* Clears an entry of the leavers, if it still has this PID.  Under the PID's lock. */
static void stape_filter_forget_leaver(struct stape_filter *filter, u32 i, u32 pid)
{
	raw_spin_lock(&filter->lock);
	if (filter->leavers[i] == pid) {
		WRITE_ONCE(filter->leavers[i], 0);
		WRITE_ONCE(filter->nr_leavers, filter->nr_leavers - 1);
	}
	raw_spin_unlock(&filter->lock);
}

/**
 * stape_filter_drop_leavers() - forget leavers, after all CPUs have been resynced
 * @filter: a session's
 * @pids: what stape_filter_get_leavers() returned before the resync
 *
 * Context: may sleep.
 */
void stape_filter_drop_leavers(struct stape_filter *filter, const u32 *pids)
{
	u32 i;

	for (i = 0; i < STAPE_FILTER_LEAVERS_MAX; i++) {
		if (!pids[i])
			continue;
		raw_spin_lock_irq(stape_filter_lock(pids[i]));
		stape_filter_forget_leaver(filter, i, pids[i]);
		stape_filter_update_id(pids[i]);
		raw_spin_unlock_irq(stape_filter_lock(pids[i]));
	}
}

/**
 * stape_filter_clear() - clear all bits until the next stape_filter_publish()
 * @filter: of a session that probes are about to lose
 *
 * Context: may sleep.
 */
void stape_filter_clear(struct stape_filter *filter)
{
	u32 leavers[STAPE_FILTER_LEAVERS_MAX], pid = 0;
	u32 i;

	WRITE_ONCE(filter->closed, true);
	/*
	 * A CPU that has not seen this still holds a lock.  It has inserted its task when the lock
	 * can be taken here.
	 */
	for (i = 0; i < STAPE_FILTER_LOCKS; i++) {
		raw_spin_lock_irq(&stape_filter_locks[i].lock);
		raw_spin_unlock_irq(&stape_filter_locks[i].lock);
	}
	while ((pid = stape_filter_next(filter, pid)) < PID_MAX_LIMIT) {
		raw_spin_lock_irq(stape_filter_lock(pid));
		stape_filter_remove(filter, pid);
		raw_spin_unlock_irq(stape_filter_lock(pid));
		cond_resched();
	}
	stape_filter_get_leavers(filter, leavers);
	stape_filter_drop_leavers(filter, leavers);
}

/**
 * stape_filter_insert() - make a task a member
 * @filter: a session's; nothing happens if it is closed
 * @pid: the task's PID
 *
 * Context: under the PID's stape_filter_lock().
 */
void stape_filter_insert(struct stape_filter *filter, u32 pid)
{
	if (!READ_ONCE(filter->closed) && !test_bit(pid, filter->members))
		stape_filter_add_member(filter, pid);
}

/**
 * stape_filter_remove() - remove a task from the members
 * @filter: a session's
 * @pid: the task's PID; nothing happens if it is no member
 *
 * Context: under the PID's stape_filter_lock().
 */
void stape_filter_remove(struct stape_filter *filter, u32 pid)
{
	if (test_bit(pid, filter->members))
		stape_filter_drop_member(filter, pid);
}

/* Makes a PID one of the leavers, and lets the update of its id look at them.  Under both locks. */
static void stape_filter_note(struct stape_filter *filter, u32 pid)
{
	u32 i;

	for (i = 0; i < STAPE_FILTER_LEAVERS_MAX; i++) {
		if (filter->leavers[i])
			continue;
		WRITE_ONCE(filter->leavers[i], pid);
		WRITE_ONCE(filter->nr_leavers, filter->nr_leavers + 1);
		break;
	}
	WRITE_ONCE(stape_filter_ids[pid], STAPE_FILTER_MULTI);
}

/**
 * stape_filter_leave() - remove a live task from the members
 * @filter: a session's
 * @pid: the task's PID
 *
 * As long as ring->curr of a CPU may name the task, a switch away from it must be recorded.
 * Otherwise a task that enters later, or comes back, would be taken for it.
 *
 * Context: under the PID's stape_filter_lock().
 */
void stape_filter_leave(struct stape_filter *filter, u32 pid)
{
	raw_spin_lock(&filter->lock);
	stape_filter_note(filter, pid);
	/* Under the lock, as stape_filter_get_leavers() promises. */
	stape_filter_remove(filter, pid);
	raw_spin_unlock(&filter->lock);
}

/**
 * stape_filter_enter() - make a task a member that another CPU may run
 * @filter: a session's; nothing happens if it is closed
 * @pid: the task's PID
 *
 * As long as ring->curr of that CPU does not name the task, a switch from it to another member must
 * tell that the CPU was not idle, which the usual way to write it does not.  The caller has the
 * session resynced.
 *
 * Context: under the PID's stape_filter_lock().
 */
void stape_filter_enter(struct stape_filter *filter, u32 pid)
{
	if (READ_ONCE(filter->closed))
		return;
	raw_spin_lock(&filter->lock);
	stape_filter_note(filter, pid);
	/* As in stape_filter_leave(). */
	stape_filter_insert(filter, pid);
	raw_spin_unlock(&filter->lock);
}

/**
 * stape_filter_note_name() - note the name that a task is about to get
 * @task: the task
 * @pid: its PID
 * @comm: the name, TASK_COMM_LEN bytes
 *
 * The tracepoint task_rename comes before the kernel stores the name, and since Linux 6.14 no lock
 * is held from there to the store.  So task->comm may still be the old name when the rename probe
 * has checked the task.  Therefore the probe first notes the new name, under the lock of the task's
 * PID.  Each check holds that lock, and takes the name from stape_filter_name().  A check that had
 * the lock before is followed by the probe's.  A check that gets it later finds the noted name.
 *
 * The note stays until another task of the same lock gets a name.  Then task->comm counts again.
 * It may be the old name if another CPU does all that between the tracepoint and the store.  Two
 * tasks that rename one thread at once may store their names in another order than they have noted
 * them.
 *
 * Context: under the PID's stape_filter_lock().
 */
void stape_filter_note_name(const struct task_struct *task, u32 pid, const char *comm)
{
	struct stape_filter_lock *lock = &stape_filter_locks[pid % STAPE_FILTER_LOCKS];

	lock->renamed = task;
	lock->start_time = task->start_time;
	memcpy(lock->comm, comm, sizeof(lock->comm));
}

/**
 * stape_filter_name() - get the name that a task has, or is about to get
 * @task: the task
 * @pid: its PID
 *
 * Context: under the PID's stape_filter_lock().
 * Return: TASK_COMM_LEN bytes, which may change and may lack their end.
 */
const char *stape_filter_name(const struct task_struct *task, u32 pid)
{
	const struct stape_filter_lock *lock = &stape_filter_locks[pid % STAPE_FILTER_LOCKS];

	return lock->renamed == task && lock->start_time == task->start_time ? lock->comm :
									       task->comm;
}

/**
 * stape_filter_in_cgroup() - check whether a task is in one of the rules' cgroups
 * @rules: a filter's
 * @task: the task
 *
 * Context: any.
 */
bool stape_filter_in_cgroup(const struct stape_filter_rules *rules, struct task_struct *task)
{
	struct cgroup *cgroup;
	bool found = false;
	u32 i;

	if (!rules->nr_cgroups)
		return false;
	rcu_read_lock();
	cgroup = task_dfl_cgroup(task);
	for (i = 0; i < rules->nr_cgroups && !found; i++)
		found = cgroup_is_descendant(cgroup,
					     rcu_dereference(rules->cgroups[i]->cgroup));
	rcu_read_unlock();
	return found;
}

/**
 * stape_filter_follow() - let a new cgroup take the place of the removed one that had its path
 * @filter: a session's
 * @cgroup: the new cgroup, which nobody can find yet
 * @path: its path
 *
 * No task has to be checked again: the new cgroup has none, and those in the removed one are about
 * to end.
 *
 * Context: RCU reader, under the kernel's cgroup_mutex: one caller at a time.
 */
void stape_filter_follow(struct stape_filter *filter, struct cgroup *cgroup, const char *path)
{
	const struct stape_filter_rules *rules = stape_filter_rules(filter);
	struct stape_filter_cgroup *entry;
	struct cgroup *old;
	u32 i;

	for (i = 0; i < rules->nr_cgroups; i++) {
		entry = rules->cgroups[i];
		old = rcu_dereference(entry->cgroup);
		/* Hierarchies of version 1 use the same tracepoint. */
		if (old->root != cgroup->root || strcmp(entry->path, path))
			continue;
		cgroup_get(cgroup);
		rcu_assign_pointer(entry->cgroup, cgroup);
		cgroup_put(old);	/* its memory is freed after a grace period, too */
	}
}

/**
 * stape_filter_name_matches() - check whether a pattern matches a name
 * @pattern: the pattern
 * @comm: the name, which may change meanwhile
 *
 * Context: any.
 */
bool stape_filter_name_matches(const char *pattern, const char *comm)
{
	char name[TASK_COMM_LEN];

	/* A name that changes meanwhile may be a mixture, and lack its end. */
	data_race(memcpy(name, comm, sizeof(name)));
	name[TASK_COMM_LEN - 1] = 0;
	return glob_match(pattern, name);
}

/**
 * stape_filter_excludes() - check whether one of the patterns leaves a name out
 * @rules: a filter's
 * @comm: the name; if it is not noted, it may change: see stape_filter_note_name()
 *
 * Context: any.
 */
bool stape_filter_excludes(const struct stape_filter_rules *rules, const char *comm)
{
	u32 i;

	for (i = 0; i < rules->nr_patterns; i++)
		if (stape_filter_name_matches(rules->patterns[i], comm))
			return true;
	return false;
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
 * stape_filter_add_moved() - leave the threads of a process to be checked from process context
 * @filter: a session's
 * @tgid: the process
 *
 * Context: any without the runqueue lock.
 */
void stape_filter_add_moved(struct stape_filter *filter, u32 tgid)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&filter->lock, flags);
	__set_bit(tgid % STAPE_FILTER_MOVED_BITS, filter->moved);
	raw_spin_unlock_irqrestore(&filter->lock, flags);
}

/**
 * stape_filter_take_moved() - take what stape_filter_add_moved() has left
 * @filter: a session's
 * @moved: returned: STAPE_FILTER_MOVED_BITS bits
 *
 * Context: any.
 */
void stape_filter_take_moved(struct stape_filter *filter, unsigned long *moved)
{
	raw_spin_lock_irq(&filter->lock);
	bitmap_copy(moved, filter->moved, STAPE_FILTER_MOVED_BITS);
	bitmap_zero(filter->moved, STAPE_FILTER_MOVED_BITS);
	raw_spin_unlock_irq(&filter->lock);
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
