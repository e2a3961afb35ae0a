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

#include "base/registry.h"
#include "record/active.h"
#include "record/members.h"
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

/* A walk over threads calls this for each of them.  Returns whether it has changed anything. */
typedef bool (*stape_rules_visit)(struct stape_active *active, struct task_struct *thread,
				  bool seed);

/* Makes a task a seed, or no seed.  Returns whether this has changed anything. */
static bool stape_rules_seed(struct stape_active *active, struct task_struct *task, bool seed)
{
	struct stape_filter *filter = &active->filter;
	unsigned long flags;
	u32 pid = stape_filter_lock_task(task, &flags);
	bool before;

	before = test_bit(pid, filter->seeds);
	stape_filter_set_seed(filter, pid, seed);
	/* The task's exit probe may have read the bit before; pairs with do_exit()'s barrier. */
	smp_mb();
	if (stape_task_is_exiting(task, pid))
		stape_filter_set_seed(filter, pid, false);
	seed = test_bit(pid, filter->seeds);
	stape_members_update_locked(active, task, pid);
	raw_spin_unlock_irqrestore(stape_filter_lock(pid), flags);
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

/*
 * Visits the threads of a process once.  @any: set if a visit has returned true.  Returns false if
 * not all threads have been visited.
 */
static bool stape_rules_visit_threads(struct stape_active *active, struct task_struct *task,
				      stape_rules_visit visit, bool seed, bool *any)
{
	struct task_struct *thread;
	bool all = true;
	int n = 0;

	rcu_read_lock();
	for_each_thread(task, thread) {
		*any |= visit(active, thread, seed);
		all = ++n % STAPE_RULES_BATCH || stape_rules_pause_walk(thread);
		if (!all)
			break;
	}
	rcu_read_unlock();
	return all;
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
	bool all, again, changed;

	changed = stape_rules_seed(active, task, seed);
	do {
		again = false;
		smp_mb();	/* bits before the list; pairs with stape_members_fork() */
		all = stape_rules_visit_threads(active, task, stape_rules_seed, seed, &again);
		again |= !all;
		changed |= again;
		cond_resched();
	} while (again && !stape_filter_own_rules(&active->filter)->flags.no_inherit &&
		 !stape_rules_interrupted());
	return changed;
}

static bool stape_rules_is_seed(struct stape_active *active, struct task_struct *thread, bool seed)
{
	return test_bit(thread->pid, active->filter.seeds);
}

/* Returns whether a process, or one of its threads, is a seed. */
static bool stape_rules_has_seeds(struct stape_active *active, struct task_struct *task)
{
	bool any = stape_rules_is_seed(active, task, true);

	stape_rules_visit_threads(active, task, stape_rules_is_seed, true, &any);
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
		return stape_rules_has_seeds(active, task) ? 0 : -ESRCH;
	return stape_rules_is_seed(active, task, true) ? 0 : -ESRCH;
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

/**
 * stape_rules_update_all() - check all tasks after changes of rules
 * @active: a session's
 *
 * They are checked in the order of their PIDs.  The fork probe checks tasks that are forked
 * meanwhile.  A thread that takes over its leader's PID in execve() may be missed.  It gets a name
 * then, and the rename probe checks it.  A check that still uses older rules has the lock of its
 * task's PID: the check that follows here waits for it.
 *
 * Context: under the session's lock; may sleep.
 */
void stape_rules_update_all(struct stape_active *active)
{
	struct task_struct *task;
	struct pid *pid;
	int nr = 1, n = 0;

	smp_mb();	/* rules before the tasks; pairs with stape_members_fork() */
	rcu_read_lock();
	while ((pid = find_ge_pid(nr, &init_pid_ns))) {
		nr = pid_nr(pid) + 1;
		task = pid_task(pid, PIDTYPE_PID);
		if (task)
			stape_members_update(active, task, 0, NULL);
		if (++n % STAPE_RULES_BATCH == 0) {
			rcu_read_unlock();
			cond_resched();
			rcu_read_lock();
		}
	}
	rcu_read_unlock();
}

/* The leader has been checked when the process was moved. */
static bool stape_rules_check_moved(struct stape_active *active, struct task_struct *thread,
				    bool seed)
{
	return thread != thread->group_leader &&
	       stape_members_update(active, thread, STAPE_EV_TASK, NULL);
}

/* Returns the next process of a bit, with a reference, or NULL.  @nr: the lowest TGID to try. */
static struct task_struct *stape_rules_next_moved(u32 bit, u32 *nr)
{
	struct task_struct *leader = NULL;
	struct pid *pid;

	rcu_read_lock();
	while (!leader && (pid = find_ge_pid(*nr, &init_pid_ns))) {
		*nr = pid_nr(pid);
		if (*nr % STAPE_FILTER_MOVED_BITS == bit)
			leader = pid_task(pid, PIDTYPE_TGID);
		/* Go on at the next number of this bit. */
		*nr += STAPE_FILTER_MOVED_BITS - (*nr - bit) % STAPE_FILTER_MOVED_BITS;
	}
	if (leader)
		get_task_struct(leader);
	rcu_read_unlock();
	return leader;
}

/**
 * stape_rules_update_moved() - check the threads of moved processes, as probes have asked
 * @active: a session's
 *
 * The fork probe checks threads that are made meanwhile.  A thread that takes over its leader's PID
 * gets a name, and the rename probe checks it.
 *
 * Context: may sleep.
 */
void stape_rules_update_moved(struct stape_active *active)
{
	DECLARE_BITMAP(moved, STAPE_FILTER_MOVED_BITS);
	struct task_struct *leader;
	bool any = false;
	u32 bit, nr;

	stape_filter_take_moved(&active->filter, moved);
	for_each_set_bit(bit, moved, STAPE_FILTER_MOVED_BITS) {
		nr = bit;
		while ((leader = stape_rules_next_moved(bit, &nr))) {
			while (!stape_rules_visit_threads(active, leader, stape_rules_check_moved,
							  false, &any) &&
			       !stape_rules_interrupted())
				cond_resched();
			put_task_struct(leader);
		}
		cond_resched();
	}
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
