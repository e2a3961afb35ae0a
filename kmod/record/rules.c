// SPDX-License-Identifier: GPL-2.0-only
/*
 * Changes of a filter's rules.  After a change each task that it may concern is checked
 * against the rules.
 */
#include "record/rules.h"

#include <linux/cgroup.h>
#include <linux/err.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>

#include "base/stop_all.h"
#include "record/active.h"
#include "record/membership.h"
#include "record/task_info.h"

/* Tasks that are checked within one RCU read-side section. */
#define STAPE_RULES_BATCH	1024

/* Room for the path of a cgroup; the tracepoint cgroup_mkdir cuts longer ones. */
#define STAPE_RULES_PATH	1024

/**
 * stape_rules_interrupted() - check whether a request has to end before it is complete
 *
 * Context: process context.
 * Return: 0; -EINTR: its sender is being killed; -EPERM: an administrator stops everything.
 */
int stape_rules_interrupted(void)
{
	if (fatal_signal_pending(current))
		return -EINTR;
	return stape_stop_all_is_set() ? -EPERM : 0;
}

/*
 * Checks a task by its present name.  The rename probe runs before the new name is stored, and
 * no check by the old name may come after the rename probe's.  Up to Linux 6.13 task_lock()
 * ensures that.  Newer kernels store the name without that lock, and probe_name.c checks the
 * task again after the store, if the kernel lets the module probe that function.  On PREEMPT_RT
 * task_lock() may sleep.  Returns whether the task has entered or left.
 */
static bool stape_rules_update(struct stape_active *active, struct task_struct *task)
{
	bool changed;

	task_lock(task);
	changed = stape_membership_update(active, task, task->comm);
	task_unlock(task);
	return changed;
}

/* Makes a task a seed, or no seed.  Returns whether this has changed anything. */
static bool stape_rules_seed(struct stape_active *active, struct task_struct *task, bool seed)
{
	struct stape_filter *filter = &active->filter;
	u32 pid = READ_ONCE(task->pid);
	unsigned long flags;
	bool before;

	task_lock(task);	/* as in stape_rules_update() */
	raw_spin_lock_irqsave(stape_filter_lock(pid), flags);
	before = test_bit(pid, filter->seeds);
	stape_filter_set_seed(filter, pid, seed);
	/* The task's exit probe may have read the bit before; pairs with do_exit()'s barrier. */
	smp_mb();
	if (stape_task_is_exiting(task, pid))
		stape_filter_set_seed(filter, pid, false);
	seed = test_bit(pid, filter->seeds);
	stape_membership_update_locked(active, task, pid, task->comm);
	raw_spin_unlock_irqrestore(stape_filter_lock(pid), flags);
	task_unlock(task);
	return seed != before;
}

/*
 * Leaves the RCU section that a walk over threads is in.  Returns whether the walk can, and may, go
 * on.
 */
static bool stape_rules_pause_walk(struct task_struct *thread)
{
	bool alive;

	get_task_struct(thread);
	rcu_read_unlock();
	cond_resched();
	rcu_read_lock();
	/* A thread that has ended meanwhile is in no list any more. */
	alive = pid_alive(thread);
	put_task_struct(thread);
	return alive && !stape_rules_interrupted();
}

/* Walks over the threads of a process once.  Returns whether another walk has to follow. */
static bool stape_rules_seed_threads(struct stape_active *active, struct task_struct *task,
				     bool seed, bool *changed)
{
	struct task_struct *thread;
	bool again = false;
	int n = 0;

	rcu_read_lock();
	for_each_thread(task, thread) {
		again |= stape_rules_seed(active, thread, seed);
		if (++n % STAPE_RULES_BATCH == 0 && !stape_rules_pause_walk(thread)) {
			again = true;
			break;
		}
	}
	rcu_read_unlock();
	*changed |= again;
	return again;
}

/*
 * Makes all threads of a process seeds, or no seeds.  A thread that is being created is either
 * seen by this walk, or its fork probe sees its parent's bit.  So the walk is repeated until it
 * finds no new thread.  If children do not inherit, there may always be a new thread, and the
 * walk is done once.  An interrupted request leaves some threads as they were.  Returns whether
 * this has changed anything.
 */
static bool stape_rules_seed_process(struct stape_active *active, struct task_struct *task,
				     bool seed)
{
	bool again, changed;

	changed = stape_rules_seed(active, task, seed);
	do {
		smp_mb();	/* bits before the list; pairs with stape_follow_fork() */
		again = stape_rules_seed_threads(active, task, seed, &changed);
		cond_resched();
	} while (again && !stape_filter_own_rules(&active->filter)->flags.no_inherit &&
		 !stape_rules_interrupted());
	return changed;
}

/* Returns whether a process, or one of its threads, is a seed. */
static bool stape_rules_has_seeds(const unsigned long *seeds, struct task_struct *task)
{
	bool any = test_bit(task->pid, seeds);
	struct task_struct *thread;
	int n = 0;

	rcu_read_lock();
	for_each_thread(task, thread) {
		any |= test_bit(thread->pid, seeds);
		if (any || (++n % STAPE_RULES_BATCH == 0 && !stape_rules_pause_walk(thread)))
			break;
	}
	rcu_read_unlock();
	return any;
}

/**
 * stape_rules_add_task() - make a task, or all threads of a process, seeds
 * @active: a session's
 * @task: the caller holds a reference
 * @process: all threads of its process, not @task alone
 *
 * Context: may sleep.
 * Return: 0; -ESRCH: the task, or all threads of the process, have ended; or the error of
 * stape_rules_interrupted(): some threads may be seeds.
 */
int stape_rules_add_task(struct stape_active *active, struct task_struct *task, bool process)
{
	const unsigned long *seeds = active->filter.seeds;
	int ret;

	if (!process && stape_task_flags(task) & PF_EXITING)
		return -ESRCH;
	if (process)
		stape_rules_seed_process(active, task, true);
	else
		stape_rules_seed(active, task, true);
	ret = stape_rules_interrupted();
	if (ret)
		return ret;
	if (process)
		return stape_rules_has_seeds(seeds, task) ? 0 : -ESRCH;
	return test_bit(task->pid, seeds) ? 0 : -ESRCH;
}

/**
 * stape_rules_del_task() - undo stape_rules_add_task()
 * @active: a session's
 * @task: the caller holds a reference
 * @process: all threads of its process, not @task alone
 *
 * Context: may sleep.
 * Return: 0; -ENOENT: it was no seed; or the error of stape_rules_interrupted().
 */
int stape_rules_del_task(struct stape_active *active, struct task_struct *task, bool process)
{
	bool changed = process ? stape_rules_seed_process(active, task, false) :
				 stape_rules_seed(active, task, false);

	int ret = stape_rules_interrupted();

	return ret || changed ? ret : -ENOENT;
}

static bool stape_rules_is_moved(const struct stape_filter_rescan *rescan,
				 struct task_struct *task)
{
	u32 i;

	for (i = 0; i < rescan->nr_moved; i++)
		if (task_tgid(task) == rescan->moved[i])
			return true;
	return rescan->all_moved;
}

static void stape_rules_rescan_one(struct stape_active *active,
				   const struct stape_filter_rescan *rescan,
				   struct task_struct *task)
{
	bool moved = stape_rules_is_moved(rescan, task);

	if (!moved && !rescan->all)
		return;
	/* A task that enters or leaves is described with its cgroup. */
	if (!stape_rules_update(active, task) && moved)
		stape_membership_moved(active, task);
}

/*
 * Checks tasks again, in the order of their PIDs.  The fork probe checks tasks that are forked
 * meanwhile.  A thread that takes over its leader's PID in execve() may be missed.  It gets a
 * name then, and the rename probe checks it.
 */
static void stape_rules_walk(struct stape_active *active,
			     const struct stape_filter_rescan *rescan)
{
	struct task_struct *task;
	struct pid *pid;
	int nr = 1, n = 0;

	/* Rules before the tasks; pairs with stape_follow_fork() and stape_name_stored(). */
	smp_mb();
	rcu_read_lock();
	while ((pid = find_ge_pid(nr, &init_pid_ns))) {
		nr = pid_nr(pid) + 1;
		task = pid_task(pid, PIDTYPE_PID);
		if (task)
			stape_rules_rescan_one(active, rescan, task);
		if (++n % STAPE_RULES_BATCH == 0) {
			rcu_read_unlock();
			cond_resched();
			rcu_read_lock();
		}
	}
	rcu_read_unlock();
}

/**
 * stape_rules_update_all() - check all tasks after changes of rules
 * @active: a session's
 *
 * A check that still uses older rules has the lock of its task's PID: the check that follows here
 * waits for it.
 *
 * Context: under the session's lock; may sleep.
 */
void stape_rules_update_all(struct stape_active *active)
{
	const struct stape_filter_rescan all = { .all = true };

	stape_rules_walk(active, &all);
}

/* Copies rules, with room for so many cgroups.  Returns NULL if there is no memory. */
static struct stape_filter_rules *stape_rules_copy(const struct stape_filter_rules *old,
						   u32 nr_cgroups)
{
	struct stape_filter_rules *rules = stape_filter_alloc_rules(nr_cgroups, old->nr_patterns);

	if (!rules)
		return NULL;
	rules->flags = old->flags;
	memcpy(rules->patterns, old->patterns, old->nr_patterns * sizeof(*old->patterns));
	memcpy(rules->cgroups, old->cgroups,
	       min(nr_cgroups, old->nr_cgroups) * sizeof(*old->cgroups));
	return rules;
}

/* Puts new rules in the place of the old ones.  stape_rules_update_all() has to follow. */
static void stape_rules_replace(struct stape_active *active, struct stape_filter_rules *rules)
{
	struct stape_filter *filter = &active->filter;
	struct stape_filter_rules *old = stape_filter_own_rules(filter);

	rcu_assign_pointer(filter->rules, rules);
	WRITE_ONCE(filter->matches_any, rules->flags.all || rules->nr_cgroups);
	kfree_rcu(old, rcu);
}

static u32 stape_rules_find_cgroup(const struct stape_filter_rules *rules, u64 id)
{
	u32 i;

	rcu_read_lock();
	for (i = 0; i < rules->nr_cgroups; i++)
		if (cgroup_id(rcu_dereference(rules->cgroups[i]->cgroup)) == id)
			break;
	rcu_read_unlock();
	return i;
}

/* Finds a cgroup, and its path if it is to be followed.  Returns an ERR_PTR() if that fails. */
static struct stape_filter_cgroup *stape_rules_get_cgroup(u64 id, bool follow)
{
	struct stape_filter_cgroup *entry;
	struct cgroup *cgroup;
	int n;

	entry = kzalloc(struct_size(entry, path, follow ? STAPE_RULES_PATH : 1),
			GFP_KERNEL_ACCOUNT);
	if (!entry)
		return ERR_PTR(-ENOMEM);
	cgroup = cgroup_get_from_id(id);
	if (IS_ERR_OR_NULL(cgroup)) {
		kfree(entry);
		return ERR_PTR(-ENOENT);
	}
	RCU_INIT_POINTER(entry->cgroup, cgroup);
	n = follow ? cgroup_path(cgroup, entry->path, STAPE_RULES_PATH) : 0;
	if (n >= 0 && n < STAPE_RULES_PATH - 1)
		return entry;
	stape_filter_free_cgroup(entry);
	return ERR_PTR(-ENAMETOOLONG);
}

static void stape_rules_free_cgroup(struct rcu_head *rcu)
{
	stape_filter_free_cgroup(container_of(rcu, struct stape_filter_cgroup, rcu));
}

/*
 * Frees a cgroup that is in the rules no more, a grace period later: before that, a probe may still
 * give it another cgroup.
 */
static void stape_rules_put_cgroup(struct stape_filter_cgroup *entry)
{
	call_rcu(&entry->rcu, stape_rules_free_cgroup);
}

static bool stape_rules_is_removed(const struct stape_filter_cgroup *entry)
{
	bool removed;

	rcu_read_lock();
	removed = !(READ_ONCE(rcu_dereference(entry->cgroup)->self.flags) & CSS_ONLINE);
	rcu_read_unlock();
	return removed;
}

/**
 * stape_rules_add_cgroup() - select the tasks of a cgroup and of its descendants
 * @active: a session's
 * @id: of a cgroup of the unified hierarchy
 * @follow: later also those of a cgroup that has its path then
 *
 * The caller changes any number of cgroups, and then calls stape_rules_update_all().
 *
 * Context: under the session's lock; may sleep.
 * Return: 0; -ENOENT: no such cgroup; -E2BIG: too many; -ENAMETOOLONG: its path is too long to be
 * followed; -ENOMEM.
 */
int stape_rules_add_cgroup(struct stape_active *active, u64 id, bool follow)
{
	struct stape_filter_rules *rules, *old = stape_filter_own_rules(&active->filter);
	u32 at = stape_rules_find_cgroup(old, id), n = old->nr_cgroups;
	struct stape_filter_cgroup *entry, *before = NULL;
	int ret;

	if (at < n)
		before = old->cgroups[at];
	if (before && (!follow || *before->path))
		return 0;
	if (at == STAPE_FILTER_CGROUPS_MAX)
		return -E2BIG;
	entry = stape_rules_get_cgroup(id, follow);
	if (IS_ERR(entry))
		return PTR_ERR(entry);
	rules = stape_rules_copy(old, max(n, at + 1));
	if (!rules) {
		stape_filter_free_cgroup(entry);
		return -ENOMEM;
	}
	rules->cgroups[at] = entry;
	stape_rules_replace(active, rules);
	if (before)
		stape_rules_put_cgroup(before);
	/*
	 * If it is gone, one of the same path may have been made before the probe saw the rule.
	 * The rule before the flags; pairs with the barrier of stape_probe_mkdir().
	 */
	smp_mb();
	if (!stape_rules_is_removed(entry))
		return 0;
	/* If the rule is not found, another cgroup has just taken the place. */
	ret = stape_rules_del_cgroup(active, id);
	return ret == -ENOENT ? 0 : ret ?: -ENOENT;
}

/**
 * stape_rules_del_cgroup() - undo stape_rules_add_cgroup()
 * @active: a session's
 * @id: of a cgroup that was added, or that has taken its place
 *
 * stape_rules_update_all() has to follow, as for stape_rules_add_cgroup().
 *
 * Context: under the session's lock; may sleep.
 * Return: 0; -ENOENT: it was not added; -ENOMEM.
 */
int stape_rules_del_cgroup(struct stape_active *active, u64 id)
{
	struct stape_filter_rules *rules, *old = stape_filter_own_rules(&active->filter);
	u32 at = stape_rules_find_cgroup(old, id), last = old->nr_cgroups - 1;
	struct stape_filter_cgroup *entry;

	if (at == old->nr_cgroups)
		return -ENOENT;
	rules = stape_rules_copy(old, last);
	if (!rules)
		return -ENOMEM;
	entry = old->cgroups[at];
	if (at < last)
		rules->cgroups[at] = old->cgroups[last];
	stape_rules_replace(active, rules);
	stape_rules_put_cgroup(entry);
	return 0;
}

/**
 * stape_rules_set() - replace flags and patterns
 * @active: a session's
 * @flags: the new flags
 * @patterns: the new patterns, which are copied; may be NULL
 * @nr_patterns: entries of @patterns
 *
 * Context: under the session's lock; may sleep.
 * Return: 0 or -ENOMEM.
 */
int stape_rules_set(struct stape_active *active, const struct stape_filter_flags *flags,
		    char (*patterns)[STAPE_PATTERN_LEN], u32 nr_patterns)
{
	struct stape_filter_rules *rules, *old = stape_filter_own_rules(&active->filter);

	rules = stape_filter_alloc_rules(old->nr_cgroups, nr_patterns);
	if (!rules)
		return -ENOMEM;
	rules->flags = *flags;
	if (nr_patterns)
		memcpy(rules->patterns, patterns, nr_patterns * sizeof(*patterns));
	memcpy(rules->cgroups, old->cgroups, old->nr_cgroups * sizeof(*old->cgroups));
	stape_rules_replace(active, rules);
	stape_rules_update_all(active);
	return 0;
}

/**
 * stape_rules_rescan() - check tasks again for which a probe has asked
 * @active: a session's
 *
 * Context: may sleep.
 */
void stape_rules_rescan(struct stape_active *active)
{
	struct stape_filter_rescan rescan;
	u32 i;

	if (!stape_filter_take_rescan(&active->filter, &rescan))
		return;
	stape_rules_walk(active, &rescan);
	for (i = 0; i < rescan.nr_moved; i++)
		put_pid(rescan.moved[i]);
}
