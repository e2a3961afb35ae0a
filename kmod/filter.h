/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which tasks a session records.  Rules say which; what a probe asks is only a
 * bit, which is kept up to date whenever a rule, or what it looks at, changes:
 * at forks, execs, renames, moves between cgroups.  So the question costs the
 * same whatever the rules are.
 */
#ifndef _STAPE_FILTER_H
#define _STAPE_FILTER_H

#include <linux/bitops.h>
#include <linux/list.h>
#include <linux/sched.h>
#include <linux/threads.h>

struct cgroup;

#define STAPE_FILTER_CGROUPS_MAX	256
#define STAPE_FILTER_PATTERNS_MAX	32
#define STAPE_FILTER_PATTERN_LEN	64

/**
 * struct stape_filter_flags - what filter-set may say
 * @all: every user task
 * @kthreads: kernel threads are not left out
 * @no_inherit: children of @named tasks are not named
 */
struct stape_filter_flags {
	bool all;
	bool kthreads;
	bool no_inherit;
};

/**
 * struct stape_filter - rules, and the set that they make
 * @list: of all filters that have bits
 * @members: a bit for every PID of the initial namespace: is it recorded?
 * @tasks: bits set in @members
 * @named: PIDs that were added, and what they forked
 * @flags: of filter-set
 * @closed: its session has ended: it takes nobody any more
 * @owner: TGID of the recorder, which is never recorded
 * @cgroups: added ones, referenced
 * @nr_cgroups: how many
 * @patterns: names of tasks that are left out
 * @nr_patterns: how many
 *
 * Changed under stape_filter_lock; read by probes without.
 */
struct stape_filter {
	struct list_head list;
	unsigned long *members;
	unsigned int tasks;
	unsigned long *named;
	struct stape_filter_flags flags;
	bool closed;
	u32 owner;
	struct cgroup **cgroups;
	u32 nr_cgroups;
	char (*patterns)[STAPE_FILTER_PATTERN_LEN];
	u32 nr_patterns;
};

/* The union of all filters' members: most tasks are in none. */
extern unsigned long stape_filter_any[BITS_TO_LONGS(PID_MAX_LIMIT)];

int stape_filter_init(struct stape_filter *filter);
void stape_filter_destroy(struct stape_filter *filter);
void stape_filter_clear(struct stape_filter *filter);
int stape_filter_add(struct stape_filter *filter, struct task_struct *task, bool process);
void stape_filter_del(struct stape_filter *filter, struct task_struct *task, bool process);
int stape_filter_add_cgroup(struct stape_filter *filter, u64 id);
int stape_filter_del_cgroup(struct stape_filter *filter, u64 id);
void stape_filter_set(struct stape_filter *filter, const struct stape_filter_flags *flags,
		      char (*patterns)[STAPE_FILTER_PATTERN_LEN], u32 nr_patterns);

/* From probes. */
bool stape_filter_fork(struct stape_filter *filter, struct task_struct *parent,
		       struct task_struct *child);
bool stape_filter_dead(struct stape_filter *filter, struct task_struct *task);
bool stape_filter_exec(struct stape_filter *filter, struct task_struct *task, u32 old_pid);
bool stape_filter_rename(struct stape_filter *filter, struct task_struct *task, const char *comm);
bool stape_filter_move(struct stape_filter *filter, struct task_struct *task, bool process);

u32 stape_filter_next(const struct stape_filter *filter, u32 pid);

/**
 * stape_filter_has() - is a task recorded?
 * @filter: a session's
 * @task: any task; the idle tasks (PID 0) never are
 *
 * One load and one test, whatever the rules.
 *
 * Context: any.
 */
static __always_inline bool stape_filter_has(const struct stape_filter *filter,
					     const struct task_struct *task)
{
	return test_bit(task->pid, filter->members);
}

/* The same for any session. */
static __always_inline bool stape_filter_any_has(u32 pid)
{
	return test_bit(pid, stape_filter_any);
}

/* Tasks may come into an empty filter though nobody adds them. */
static inline bool stape_filter_is_open(const struct stape_filter *filter)
{
	return READ_ONCE(filter->flags.all) || READ_ONCE(filter->nr_cgroups) ||
	       READ_ONCE(filter->nr_patterns);
}

#endif /* _STAPE_FILTER_H */
