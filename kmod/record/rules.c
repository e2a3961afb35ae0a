// SPDX-License-Identifier: GPL-2.0-only
/*
 * The filter's rules, and how they are changed.
 */
#include "record/filter_internal.h"

#include <linux/cgroup.h>
#include <linux/err.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>

#include "base/memory.h"

/* Tasks judged within one RCU reader's section. */
#define STAPE_FILTER_BATCH	1024

/*
 * Who ends while a walk rests on him has it begin anew.  After so many it rests no more:
 * nobody is to keep it going for ever.
 */
#define STAPE_FILTER_LOST_MAX	4

static unsigned long *stape_filter_bitmap(void)
{
	return stape_memory_alloc(BITS_TO_LONGS(PID_MAX_LIMIT), sizeof(long));
}

/**
 * stape_filter_init() - make an empty filter
 * @filter: zeroed
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM.
 */
int stape_filter_init(struct stape_filter *filter)
{
	filter->members = stape_filter_bitmap();
	filter->named = stape_filter_bitmap();
	if (!filter->members || !filter->named) {
		stape_memory_free(filter->members);
		stape_memory_free(filter->named);
		return -ENOMEM;
	}
	filter->owner = get_pid(task_tgid(current));
	INIT_LIST_HEAD(&filter->list);
	return 0;
}

/**
 * stape_filter_destroy() - free a filter
 * @filter: made by stape_filter_init(), no probe uses it any more
 *
 * Context: may sleep.
 */
void stape_filter_destroy(struct stape_filter *filter)
{
	u32 i;

	stape_filter_clear(filter);
	put_pid(filter->owner);
	for (i = 0; i < filter->nr_cgroups; i++)
		cgroup_put(filter->cgroups[i]);
	kfree(filter->cgroups);
	kfree(filter->patterns);
	stape_memory_free(filter->members);
	stape_memory_free(filter->named);
}

/* Return: whether this has changed anything. */
static bool stape_filter_name(struct stape_filter *filter, struct task_struct *task, bool named)
{
	unsigned long flags;
	bool before;

	task_lock(task);	/* as stape_filter_judge_one() */
	raw_spin_lock_irqsave(&stape_filter_lock, flags);
	before = test_bit(task->pid, filter->named);
	stape_filter_set_named(filter, task->pid, named);
	/* Its exit probe may have looked at the bit before; pairs with do_exit()'s barrier. */
	smp_mb();
	if (stape_filter_exiting(task))
		stape_filter_set_named(filter, task->pid, false);
	named = test_bit(task->pid, filter->named);
	stape_filter_judge(filter, task, task->comm);
	raw_spin_unlock_irqrestore(&stape_filter_lock, flags);
	task_unlock(task);
	return named != before;
}

/*
 * A thread that is being created is either seen here, or its parent's bit is
 * seen by the fork probe.  So the walk is repeated until it finds nobody new;
 * but not if children do not inherit, because then there may always be some.
 */
static void stape_filter_name_process(struct stape_filter *filter, struct task_struct *task,
				      bool named)
{
	struct task_struct *thread;
	bool again;

	do {
		again = stape_filter_name(filter, task, named);
		smp_mb();	/* bits before the list; pairs with that of stape_filter_fork() */
		rcu_read_lock();
		for_each_thread(task, thread)
			again |= stape_filter_name(filter, thread, named);
		rcu_read_unlock();
		cond_resched();
	} while (again && !filter->flags.no_inherit && !fatal_signal_pending(current));
}

/**
 * stape_filter_add() - name a task, or all threads of a process
 * @filter: a session's
 * @task: the caller holds a reference
 * @process: not @task alone
 *
 * Context: may sleep.
 * Return: 0, or -ESRCH if all of it has ended.
 */
int stape_filter_add(struct stape_filter *filter, struct task_struct *task, bool process)
{
	struct task_struct *thread;
	bool any;

	if (!process && stape_task_flags(task) & PF_EXITING)
		return -ESRCH;
	if (process)
		stape_filter_name_process(filter, task, true);
	else
		stape_filter_name(filter, task, true);

	any = test_bit(task->pid, filter->named);
	rcu_read_lock();
	if (process)
		for_each_thread(task, thread)
			any |= test_bit(thread->pid, filter->named);
	rcu_read_unlock();
	return any ? 0 : -ESRCH;
}

/**
 * stape_filter_del() - name a task, or all threads of a process, no longer
 * @filter: a session's
 * @task: the caller holds a reference
 * @process: not @task alone
 *
 * Context: may sleep.
 */
void stape_filter_del(struct stape_filter *filter, struct task_struct *task, bool process)
{
	if (process)
		stape_filter_name_process(filter, task, false);
	else
		stape_filter_name(filter, task, false);
}

/* Lets others have the CPU.  Return: the walk may go on from @task. */
static bool stape_filter_rest(struct task_struct *task)
{
	bool alive;

	get_task_struct(task);
	rcu_read_unlock();
	cond_resched();
	rcu_read_lock();
	/* A leader whose place a thread takes in execve() is out of the list before it ends. */
	alive = pid_alive(task) && data_race(thread_group_leader(task));
	put_task_struct(task);
	return alive;
}

/* A rule has changed: all tasks are judged anew.  Those that are forked now are, too. */
static void stape_filter_judge_all(struct stape_filter *filter)
{
	struct task_struct *process, *thread;
	int n = 0, lost = 0;

	smp_mb();	/* rules before the list; pairs with that of stape_filter_fork() */
	rcu_read_lock();
again:
	for_each_process(process) {
		for_each_thread(process, thread) {
			stape_filter_judge_one(filter, thread);
			n++;
		}
		if (n < STAPE_FILTER_BATCH || lost == STAPE_FILTER_LOST_MAX)
			continue;
		n = 0;
		if (!stape_filter_rest(process)) {
			lost++;
			goto again;
		}
	}
	rcu_read_unlock();
}

static u32 stape_filter_find_cgroup(const struct stape_filter *filter, u64 id)
{
	u32 i;

	for (i = 0; i < filter->nr_cgroups; i++)
		if (cgroup_id(filter->cgroups[i]) == id)
			break;
	return i;
}

/**
 * stape_filter_add_cgroup() - take in the tasks of a cgroup and those below it
 * @filter: a session's
 * @id: of a cgroup of the unified hierarchy
 *
 * Context: under stape_sessions_lock; may sleep.
 * Return: 0; -ENOENT: no such cgroup; -E2BIG: too many; -ENOMEM.
 */
int stape_filter_add_cgroup(struct stape_filter *filter, u64 id)
{
	struct cgroup **cgroups, **old = filter->cgroups, *cgroup;
	u32 n = filter->nr_cgroups;

	if (stape_filter_find_cgroup(filter, id) < n)
		return 0;
	if (n == STAPE_FILTER_CGROUPS_MAX)
		return -E2BIG;
	cgroup = cgroup_get_from_id(id);
	if (IS_ERR_OR_NULL(cgroup))
		return -ENOENT;
	cgroups = kmalloc_array(n + 1, sizeof(*cgroups), GFP_KERNEL_ACCOUNT);
	if (!cgroups) {
		cgroup_put(cgroup);
		return -ENOMEM;
	}
	if (n)
		memcpy(cgroups, old, n * sizeof(*cgroups));
	cgroups[n] = cgroup;
	raw_spin_lock_irq(&stape_filter_lock);
	filter->cgroups = cgroups;
	WRITE_ONCE(filter->nr_cgroups, n + 1);
	raw_spin_unlock_irq(&stape_filter_lock);
	kfree(old);
	stape_filter_judge_all(filter);
	return 0;
}

/**
 * stape_filter_del_cgroup() - take back stape_filter_add_cgroup()
 * @filter: a session's
 * @id: of a cgroup that was added
 *
 * Context: under stape_sessions_lock; may sleep.
 * Return: 0, or -ENOENT if it was not added.
 */
int stape_filter_del_cgroup(struct stape_filter *filter, u64 id)
{
	u32 at = stape_filter_find_cgroup(filter, id);
	struct cgroup *cgroup;

	if (at == filter->nr_cgroups)
		return -ENOENT;
	cgroup = filter->cgroups[at];
	raw_spin_lock_irq(&stape_filter_lock);
	WRITE_ONCE(filter->nr_cgroups, filter->nr_cgroups - 1);
	filter->cgroups[at] = filter->cgroups[filter->nr_cgroups];
	raw_spin_unlock_irq(&stape_filter_lock);
	cgroup_put(cgroup);
	stape_filter_judge_all(filter);
	return 0;
}

/**
 * stape_filter_set() - replace flags and patterns
 * @filter: a session's
 * @flags: the new ones
 * @patterns: kmalloc()ed, becomes the filter's; may be NULL
 * @nr_patterns: how many
 *
 * Context: under stape_sessions_lock; may sleep.
 */
void stape_filter_set(struct stape_filter *filter, const struct stape_filter_flags *flags,
		      char (*patterns)[STAPE_PATTERN_LEN], u32 nr_patterns)
{
	char (*old)[STAPE_PATTERN_LEN] = filter->patterns;

	raw_spin_lock_irq(&stape_filter_lock);
	WRITE_ONCE(filter->flags.all, flags->all);
	filter->flags.kthreads = flags->kthreads;
	filter->flags.no_inherit = flags->no_inherit;
	filter->patterns = patterns;
	WRITE_ONCE(filter->nr_patterns, nr_patterns);
	raw_spin_unlock_irq(&stape_filter_lock);
	kfree(old);
	stape_filter_judge_all(filter);
}

/**
 * stape_filter_freshen() - judge all tasks again, if that is due
 * @filter: a session's
 *
 * Context: may sleep.
 */
void stape_filter_freshen(struct stape_filter *filter)
{
	if (!READ_ONCE(filter->stale))
		return;
	WRITE_ONCE(filter->stale, false);
	stape_filter_judge_all(filter);
}
