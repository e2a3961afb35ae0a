/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which tasks a session records: the rules, and a bit for each PID.  The bits are updated
 * whenever a rule changes or a task changes what a rule looks at (fork, exec, rename, cgroup).
 * So a probe tests one bit, whatever the rules are.
 *
 * The filter has only the rules and the bits.  membership.c decides and writes events.
 */
#ifndef _STAPE_FILTER_H
#define _STAPE_FILTER_H

#include <linux/bitops.h>
#include <linux/list.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/threads.h>
#include <schedtape/netlink.h>

struct cgroup;

/*
 * Each filter that has members has an id below this.  Id 0 stands for no filter.  The last id
 * stands for several filters, and for all filters that found no free id.
 */
#define STAPE_FILTER_IDS		32
#define STAPE_FILTER_MULTI		(STAPE_FILTER_IDS - 1)

#define STAPE_FILTER_CGROUPS_MAX	256
#define STAPE_FILTER_PATTERNS_MAX	32
#define STAPE_FILTER_LEAVERS_MAX	64
#define STAPE_FILTER_MOVED_MAX		16

/* The size of a filter's bits: members and seeds. */
#define STAPE_FILTER_BYTES		(2 * BITS_TO_LONGS(PID_MAX_LIMIT) * sizeof(long))

/**
 * struct stape_filter_flags - flags of the netlink command filter-set
 * @all: every user task
 * @kthreads: kernel threads are not left out
 * @no_inherit: a child of a seed does not become a seed
 */
struct stape_filter_flags {
	bool all;
	bool kthreads;
	bool no_inherit;
};

/**
 * struct stape_filter_rescan - tasks that must be checked against the rules again, later
 * @all: all tasks
 * @moved: processes whose threads were moved to another cgroup, referenced
 * @nr_moved: entries of @moved
 * @all_moved: more processes than @moved has room for: any of them
 */
struct stape_filter_rescan {
	bool all;
	bool all_moved;
	u32 nr_moved;
	struct pid *moved[STAPE_FILTER_MOVED_MAX];
};

/**
 * struct stape_filter - rules, and the set of tasks that they select
 * @list: entry in the list of all filters that have bits
 * @id: its number among them; set before the first bit
 * @members: a bit for every PID of the initial namespace: is it recorded?  NULL if the session
 *	has no rings yet
 * @nr_members: bits set in @members
 * @leavers: PIDs removed from @members that some CPU's ring->curr may still name.  Their id
 *	stays STAPE_FILTER_MULTI until the next resync of all CPUs, so that the switch away from
 *	them is recorded.  If the array is full, the id is cleared at once and the resync repairs
 *	ring->curr
 * @nr_leavers: entries of @leavers
 * @seeds: PIDs that were added, and those of their descendants, until they exit
 * @nr_seeds: bits set in @seeds
 * @flags: of filter-set
 * @closed: its session has ended: nothing becomes a member any more
 * @rescan: what probes have left to be checked from process context
 * @owner: the recorder's process, which is never recorded.  Not its PID, which may belong to
 *	another process later
 * @cgroups: added cgroups, referenced
 * @nr_cgroups: entries of @cgroups
 * @patterns: names of tasks that are left out
 * @nr_patterns: entries of @patterns
 *
 * All fields are changed under stape_filter_lock.  The bits, @nr_members, and whether there are
 * rules (@flags.all, @nr_cgroups, @nr_patterns) are read without it.
 */
struct stape_filter {
	struct list_head list;
	u8 id;
	unsigned long *members;
	unsigned int nr_members;
	u32 leavers[STAPE_FILTER_LEAVERS_MAX];
	u32 nr_leavers;
	unsigned long *seeds;
	unsigned int nr_seeds;
	struct stape_filter_flags flags;
	bool closed;
	struct stape_filter_rescan rescan;
	struct pid *owner;
	struct cgroup **cgroups;
	u32 nr_cgroups;
	char (*patterns)[STAPE_PATTERN_LEN];
	u32 nr_patterns;
};

/*
 * The id of the filter that has a task, by the task's PID.  The array exists while probes are
 * attached; they get it as their data, which costs no load of a pointer.
 */
extern u8 *stape_filter_ids;

/*
 * Held while rules or bits are changed, and while a task is checked against the rules.  So if
 * two CPUs check a task at a time, the later one sees all that the earlier one has seen.  It is
 * the innermost lock: probes take it under the runqueue lock.
 */
extern raw_spinlock_t stape_filter_lock;

int stape_filter_alloc_ids(void);
void stape_filter_free_ids(void);
void stape_filter_init(struct stape_filter *filter);
int stape_filter_alloc(struct stape_filter *filter);
void stape_filter_free_bits(struct stape_filter *filter);
void stape_filter_destroy(struct stape_filter *filter);
void stape_filter_clear(struct stape_filter *filter);
u32 stape_filter_count_leavers(const struct stape_filter *filter);
void stape_filter_settle_leavers(struct stape_filter *filter, u32 n);
u32 stape_filter_parent(const struct stape_filter *filter, const struct task_struct *task);
void stape_filter_ask_rescan(struct stape_filter *filter, struct pid *moved);
bool stape_filter_take_rescan(struct stape_filter *filter, struct stape_filter_rescan *rescan);
u32 stape_filter_next(const struct stape_filter *filter, u32 pid);

/* Under stape_filter_lock. */
void stape_filter_insert(struct stape_filter *filter, u32 pid);
void stape_filter_remove(struct stape_filter *filter, u32 pid);
bool stape_filter_set_seed(struct stape_filter *filter, u32 pid, bool seed);
bool stape_filter_match(const struct stape_filter *filter, struct task_struct *task,
			const char *comm);

/**
 * stape_filter_has() - check whether a task is recorded
 * @filter: a session's
 * @task: any task; an idle task (PID 0) is never recorded
 *
 * This is one load and one test, whatever the rules are.
 *
 * Context: any.
 */
static __always_inline bool stape_filter_has(const struct stape_filter *filter,
					     const struct task_struct *task)
{
	return test_bit(task->pid, filter->members);
}

/*
 * Returns the id of the filter that has a task: 0, a filter's, or STAPE_FILTER_MULTI.
 * @ids: stape_filter_ids
 */
static __always_inline unsigned long stape_filter_id(const u8 *ids, u32 pid)
{
	return READ_ONCE(ids[pid]);
}

/* Returns true if a rule may select a task that is neither a seed nor a seed's descendant. */
static inline bool stape_filter_is_open(const struct stape_filter *filter)
{
	return READ_ONCE(filter->flags.all) || READ_ONCE(filter->nr_cgroups);
}

/*
 * Returns true if the filter has no member and will get none.  A seed that a pattern leaves out
 * may still become a member.
 */
static inline bool stape_filter_is_over(const struct stape_filter *filter)
{
	return !stape_filter_is_open(filter) && !READ_ONCE(filter->nr_members) &&
	       !READ_ONCE(filter->nr_seeds);
}

/* Returns true if a rule may select the PID's task, or a bit is set, perhaps by an older task. */
static inline bool stape_filter_may_match(const struct stape_filter *filter, u32 pid)
{
	return stape_filter_is_open(filter) || test_bit(pid, filter->seeds) ||
	       test_bit(pid, filter->members);
}

#endif /* _STAPE_FILTER_H */
