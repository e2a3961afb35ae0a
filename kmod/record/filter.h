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
#include <schedtape/netlink.h>

struct cgroup;

/*
 * The one filter that has a task is known by a number below that, 0: none has it.
 * The last number stands for several, and for all filters that found no number.
 */
#define STAPE_FILTER_SLOTS		32
#define STAPE_FILTER_SHARED		(STAPE_FILTER_SLOTS - 1)

#define STAPE_FILTER_CGROUPS_MAX	256
#define STAPE_FILTER_PATTERNS_MAX	32
#define STAPE_FILTER_LEFT_MAX		64

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
 * @slot: its number among them; set before the first bit
 * @members: a bit for every PID of the initial namespace: is it recorded?
 * @tasks: bits set in @members
 * @left: PIDs that have left since the CPUs were last asked whom they run: switches from
 *	them are still looked at; no longer of those for whom there is no room
 * @nr_left: how many
 * @named: PIDs that were added, and what they forked, unless they have exited
 * @nr_named: bits set in @named
 * @flags: of filter-set
 * @closed: its session has ended: it takes nobody any more
 * @stale: all tasks are to be judged again, see stape_filter_move()
 * @owner: the recorder's process, which is never recorded; its PID may be another's one day
 * @cgroups: added ones, referenced
 * @nr_cgroups: how many
 * @patterns: names of tasks that are left out
 * @nr_patterns: how many
 *
 * Changed under stape_filter_lock.  Read without: the bits, whether there are any, and
 * whether there are rules (@flags.all, @nr_cgroups, @nr_patterns); and @stale is also set
 * without.
 */
struct stape_filter {
	struct list_head list;
	u8 slot;
	unsigned long *members;
	unsigned int tasks;
	u32 left[STAPE_FILTER_LEFT_MAX];
	u32 nr_left;
	unsigned long *named;
	unsigned int nr_named;
	struct stape_filter_flags flags;
	bool closed;
	bool stale;
	struct pid *owner;
	struct cgroup **cgroups;
	u32 nr_cgroups;
	char (*patterns)[STAPE_PATTERN_LEN];
	u32 nr_patterns;
};

/* By PID, the filter that has it: most tasks are in none, and hardly one in two. */
extern u8 stape_filter_slots[PID_MAX_LIMIT];

int stape_filter_init(struct stape_filter *filter);
void stape_filter_destroy(struct stape_filter *filter);
void stape_filter_clear(struct stape_filter *filter);
int stape_filter_add(struct stape_filter *filter, struct task_struct *task, bool process);
void stape_filter_del(struct stape_filter *filter, struct task_struct *task, bool process);
int stape_filter_add_cgroup(struct stape_filter *filter, u64 id);
int stape_filter_del_cgroup(struct stape_filter *filter, u64 id);
void stape_filter_set(struct stape_filter *filter, const struct stape_filter_flags *flags,
		      char (*patterns)[STAPE_PATTERN_LEN], u32 nr_patterns);
void stape_filter_freshen(struct stape_filter *filter);
u32 stape_filter_left(const struct stape_filter *filter);
void stape_filter_forget_left(struct stape_filter *filter, u32 n);

/* From probes. */
void stape_filter_fork(struct stape_filter *filter, struct task_struct *parent,
		       struct task_struct *child);
bool stape_filter_exit(struct stape_filter *filter, struct task_struct *task);
bool stape_filter_forget(struct stape_filter *filter, struct task_struct *task);
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

/* The filter that has a task: 0, a filter's slot, or STAPE_FILTER_SHARED. */
static __always_inline unsigned long stape_filter_slot(u32 pid)
{
	return READ_ONCE(stape_filter_slots[pid]);
}

/* Tasks may come into the filter though neither they nor their parents were named. */
static inline bool stape_filter_is_open(const struct stape_filter *filter)
{
	return READ_ONCE(filter->flags.all) || READ_ONCE(filter->nr_cgroups);
}

/* Nobody is in it, nor will be: also not who is named, but left out by its name. */
static inline bool stape_filter_is_over(const struct stape_filter *filter)
{
	return !stape_filter_is_open(filter) && !READ_ONCE(filter->tasks) &&
	       !READ_ONCE(filter->nr_named);
}

#endif /* _STAPE_FILTER_H */
