/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which tasks a session records: the rules, and a bit for each PID.  The bits are updated
 * whenever a rule changes or a task changes what a rule looks at (fork, exec, rename, cgroup).
 * So a probe tests one bit, whatever the rules are.
 *
 * The filter has only the rules and the bits.  members.c decides and writes events.
 */
#ifndef _STAPE_FILTER_H
#define _STAPE_FILTER_H

#include <linux/atomic.h>
#include <linux/bitops.h>
#include <linux/cache.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/spinlock.h>
#include <linux/threads.h>
#include <schedtape/netlink.h>

#include "record/task_info.h"

struct cgroup;

/*
 * Each filter that has members has a number below this.  0 stands for no filter, the last number
 * for several filters.
 */
#define STAPE_FILTER_NUMBERS		32
#define STAPE_FILTER_NR_MULTI		(STAPE_FILTER_NUMBERS - 1)

/*
 * The id of a PID is the number of the filter that has it.  Added to that is STAPE_FILTER_SLOW, if
 * the usual way to write an event does not do: for several filters, and if the session's clock is
 * CLOCK_MONOTONIC.  So one test of the sign finds both.
 */
#define STAPE_FILTER_SLOW		S8_MIN
#define STAPE_FILTER_MULTI		(STAPE_FILTER_SLOW + STAPE_FILTER_NR_MULTI)
/* The id of PID 0, which the idle tasks have.  Only the switch probe meets them. */
#define STAPE_FILTER_IDLE		STAPE_FILTER_SLOW

#define STAPE_FILTER_CGROUPS_MAX	256
#define STAPE_FILTER_PATTERNS_MAX	32
#define STAPE_FILTER_LEAVERS_MAX	64
/* A power of two. */
#define STAPE_FILTER_MOVED_BITS		4096

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
 * struct stape_filter_cgroup - a cgroup that the rules select, with its descendants
 * @rcu: frees it, when it is in the rules no more
 * @cgroup: referenced, perhaps removed.  Changed by the probe of cgroup_mkdir; read under RCU
 * @path: of a cgroup that is followed: one that is made there takes the place of @cgroup.  "": it
 *	is not followed
 */
struct stape_filter_cgroup {
	struct rcu_head rcu;
	struct cgroup __rcu *cgroup;
	char path[];
};

/**
 * struct stape_filter_rules - which tasks a filter selects; a change replaces all of it
 * @rcu: frees it
 * @flags: of filter-set
 * @nr_cgroups: entries of @cgroups
 * @nr_patterns: entries of @patterns
 * @patterns: names of tasks that are left out, in the same memory
 * @cgroups: added cgroups, which belong to the filter: the next rules have the same
 */
struct stape_filter_rules {
	struct rcu_head rcu;
	struct stape_filter_flags flags;
	u32 nr_cgroups;
	u32 nr_patterns;
	char (*patterns)[STAPE_PATTERN_LEN];
	struct stape_filter_cgroup *cgroups[];
};

/**
 * struct stape_filter - rules, and the set of tasks that they select
 * @id: the id of its members, by which it is known among the filters of all sessions; set before
 *	the first bit
 * @members: a bit for every PID of the initial namespace: is it recorded?  NULL if the session
 *	has no rings yet
 * @nr_members: bits set in @members
 * @leavers: PIDs removed from @members that some CPU's ring->curr may still name, and PIDs added
 *	that it may not name yet, or 0.  Their id stays STAPE_FILTER_MULTI until the next resync
 *	of all CPUs, so that the switch away from them is recorded, with idle time.  Only
 *	STAPE_FILTER_LEAVERS_MAX (64) are noted, for the session, not for each CPU.  The id of any
 *	more is right at once, and the resync repairs ring->curr
 * @nr_leavers: entries of @leavers that are not 0
 * @seeds: PIDs that were added, and those of their descendants, until they exit
 * @nr_seeds: bits set in @seeds
 * @closed: its session is being taken away from probes, or has been: nothing becomes a member
 * @lock: protects @moved, and changes of @leavers; the innermost of all locks
 * @moved: bits of processes whose threads are to be checked.  A probe sets the bit of a process,
 *	because it has no time to check many threads.  stape_rules_update_moved() clears the bit and
 *	checks the threads, in process context.  TGIDs that differ by a multiple of
 *	STAPE_FILTER_MOVED_BITS (4,096) share a bit, so that there is room for any number of
 *	processes.  The other processes of a bit are checked and described without need
 * @owner: the recorder's process, which is never recorded.  Not its PID, which may belong to
 *	another process later
 * @rules: changed under the session's lock, read under RCU
 * @matches_any: @rules have "all" or a cgroup, so every new task has to be checked
 *
 * A PID's bits, its id, and its entry in @leavers are changed under stape_filter_lock() of the
 * PID, and read without it.
 */
struct stape_filter {
	s8 id;
	unsigned long *members;
	atomic_t nr_members;
	u32 leavers[STAPE_FILTER_LEAVERS_MAX];
	u32 nr_leavers;
	unsigned long *seeds;
	atomic_t nr_seeds;
	bool closed;
	raw_spinlock_t lock;
	DECLARE_BITMAP(moved, STAPE_FILTER_MOVED_BITS);
	struct pid *owner;
	struct stape_filter_rules __rcu *rules;
	bool matches_any;
};

/*
 * The id of the filter that has a task, by the task's PID.  The array exists while probes are
 * attached; they get it as their data, which costs no load of a pointer.
 */
extern s8 *stape_filter_ids;

#define STAPE_FILTER_LOCKS		64

/**
 * struct stape_filter_lock - the lock of many PIDs, and the last name that one of their tasks got
 * @lock: see stape_filter_lock()
 * @renamed: the task; it may have been freed, and is only compared
 * @start_time: its start_time, because another task may be at the same address later
 * @comm: its name
 */
struct stape_filter_lock {
	raw_spinlock_t lock;	/* see above */
	const struct task_struct *renamed;
	u64 start_time;
	char comm[TASK_COMM_LEN];
} ____cacheline_aligned_in_smp;

extern struct stape_filter_lock stape_filter_locks[STAPE_FILTER_LOCKS];

/*
 * The lock of a PID, for all filters.  It is held while a task is checked against the rules and
 * its bits are changed, with interrupts off.  So if two CPUs check a task at a time, the later
 * one sees all that the earlier one has seen.  Tasks that fork and end on several CPUs take
 * different locks.  Nobody takes two of them.
 */
static inline raw_spinlock_t *stape_filter_lock(u32 pid)
{
	return &stape_filter_locks[pid % STAPE_FILTER_LOCKS].lock;
}

/*
 * Takes the lock of a task's PID, and returns the PID.  In an execve() a thread takes over the PID
 * of its leader, so the PID is read again under the lock.
 */
static inline u32 stape_filter_lock_task(const struct task_struct *task, unsigned long *flags)
{
	u32 pid;

	for (;;) {
		pid = READ_ONCE(task->pid);
		raw_spin_lock_irqsave(stape_filter_lock(pid), *flags);
		if (likely(pid == READ_ONCE(task->pid)))
			return pid;
		raw_spin_unlock_irqrestore(stape_filter_lock(pid), *flags);
	}
}

int stape_filter_alloc_ids(void);
void stape_filter_free_ids(void);
struct stape_filter_rules *stape_filter_alloc_rules(u32 nr_cgroups, u32 nr_patterns);
int stape_filter_init(struct stape_filter *filter);
int stape_filter_alloc(struct stape_filter *filter);
void stape_filter_free_bits(struct stape_filter *filter);
void stape_filter_free_cgroup(struct stape_filter_cgroup *entry);
void stape_filter_destroy(struct stape_filter *filter);
void stape_filter_publish(struct stape_filter *filter, bool slow);
void stape_filter_withdraw(struct stape_filter *filter);
void stape_filter_clear(struct stape_filter *filter);
void stape_filter_get_leavers(struct stape_filter *filter, u32 *pids);
void stape_filter_drop_leavers(struct stape_filter *filter, const u32 *pids);
u32 stape_filter_parent(const struct stape_filter *filter, const struct task_struct *task);
void stape_filter_add_moved(struct stape_filter *filter, u32 tgid);
void stape_filter_take_moved(struct stape_filter *filter, unsigned long *moved);
u32 stape_filter_next(const struct stape_filter *filter, u32 pid);
void stape_filter_follow(struct stape_filter *filter, struct cgroup *cgroup, const char *path);

/* Under the PID's stape_filter_lock(). */
void stape_filter_insert(struct stape_filter *filter, u32 pid);
void stape_filter_remove(struct stape_filter *filter, u32 pid);
void stape_filter_leave(struct stape_filter *filter, u32 pid);
void stape_filter_enter(struct stape_filter *filter, u32 pid);
void stape_filter_update_id(u32 pid);
void stape_filter_note_name(const struct task_struct *task, u32 pid, const char *comm);
const char *stape_filter_name(const struct task_struct *task, u32 pid);
bool stape_filter_in_cgroup(const struct stape_filter_rules *rules, struct task_struct *task);
bool stape_filter_name_matches(const char *pattern, const char *comm);
bool stape_filter_excludes(const struct stape_filter_rules *rules, const char *comm);

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
 * Returns the id of a PID: 0, a filter's, STAPE_FILTER_MULTI or STAPE_FILTER_IDLE.
 * @ids: stape_filter_ids
 *
 * READ_ONCE() takes up to three instructions more: compilers compute the address of a volatile byte
 * apart.  With the hidden value they do not read the byte again either.
 */
static __always_inline long stape_filter_id(const s8 *ids, u32 pid)
{
	long id = data_race(ids[pid]);	/* see above */

	OPTIMIZER_HIDE_VAR(id);
	return id;
}

/* Returns whether an id is slow, and not that of the idle tasks. */
static __always_inline bool stape_filter_is_slow(long id)
{
	/* After a comparison with STAPE_FILTER_IDLE this takes only a jump. */
	return (unsigned long)id > (unsigned long)STAPE_FILTER_IDLE;
}

/* Returns the number of the filter that an id stands for, 0 or STAPE_FILTER_NR_MULTI. */
static __always_inline unsigned long stape_filter_nr(long id)
{
	return id & (STAPE_FILTER_NUMBERS - 1);
}

/* Returns the rules.  For RCU readers; interrupts or preemption that are off are enough. */
static inline const struct stape_filter_rules *
stape_filter_rules(const struct stape_filter *filter)
{
	return rcu_dereference_check(filter->rules, rcu_read_lock_any_held());
}

/* Returns the rules.  For those who may change them: under the session's lock, or at its end. */
static inline struct stape_filter_rules *stape_filter_own_rules(const struct stape_filter *filter)
{
	return rcu_dereference_protected(filter->rules, true);
}

/**
 * stape_filter_set_seed() - make a task a seed, or no seed
 * @filter: a session's
 * @pid: the task's PID
 * @seed: true: a seed; false: no seed
 *
 * Context: under the PID's stape_filter_lock().
 */
static __always_inline void stape_filter_set_seed(struct stape_filter *filter, u32 pid, bool seed)
{
	if (seed && !test_and_set_bit(pid, filter->seeds))
		atomic_inc(&filter->nr_seeds);
	else if (!seed && test_and_clear_bit(pid, filter->seeds))
		atomic_dec(&filter->nr_seeds);
}

/**
 * stape_filter_match() - check whether the rules select a task
 * @filter: a session's
 * @task: the task
 * @pid: its PID
 *
 * Inline, because each fork needs it.
 *
 * Context: under the PID's stape_filter_lock().
 */
static inline bool stape_filter_match(const struct stape_filter *filter, struct task_struct *task,
				      u32 pid)
{
	const struct stape_filter_rules *rules = stape_filter_rules(filter);

	if (READ_ONCE(filter->closed))
		return false;
	if (stape_task_flags(task) & PF_KTHREAD && !rules->flags.kthreads)
		return false;
	/* Never the recorder, because it would record its own work. */
	if (task_tgid(task) == filter->owner)
		return false;
	if (!rules->flags.all && !test_bit(pid, filter->seeds) &&
	    !stape_filter_in_cgroup(rules, task))
		return false;
	return !rules->nr_patterns || !stape_filter_excludes(rules, stape_filter_name(task, pid));
}

/**
 * stape_filter_add_member() - make a task a member
 * @filter: a session's, not closed
 * @pid: the PID of a task that is no member
 *
 * Context: under the PID's stape_filter_lock().
 */
static inline void stape_filter_add_member(struct stape_filter *filter, u32 pid)
{
	set_bit(pid, filter->members);
	/* No filter has the PID, and it has left none. */
	if (likely(!READ_ONCE(stape_filter_ids[pid])))
		WRITE_ONCE(stape_filter_ids[pid], filter->id);
	else
		stape_filter_update_id(pid);
	atomic_inc(&filter->nr_members);
}

/**
 * stape_filter_drop_member() - remove a member
 * @filter: a session's
 * @pid: the task's PID
 *
 * Context: under the PID's stape_filter_lock().
 */
static inline void stape_filter_drop_member(struct stape_filter *filter, u32 pid)
{
	clear_bit(pid, filter->members);
	atomic_dec(&filter->nr_members);
	/* No other filter has the PID, and it has left none. */
	if (likely(READ_ONCE(stape_filter_ids[pid]) == filter->id))
		WRITE_ONCE(stape_filter_ids[pid], 0);
	else
		stape_filter_update_id(pid);
}

/*
 * Returns true if the filter has no member and will get none.  A seed that a pattern leaves out
 * may still become a member.  Of CPUs that clear the last bits at a time, at least one sees that.
 */
static inline bool stape_filter_is_over(const struct stape_filter *filter)
{
	smp_mb();	/* the caller's change before these loads; pairs with itself */
	return !READ_ONCE(filter->matches_any) && !atomic_read(&filter->nr_members) &&
	       !atomic_read(&filter->nr_seeds);
}

/* Returns true if a rule may select the PID's task, or a bit is set, perhaps by an older task. */
static inline bool stape_filter_may_match(const struct stape_filter *filter, u32 pid)
{
	return READ_ONCE(filter->matches_any) || test_bit(pid, filter->seeds) ||
	       test_bit(pid, filter->members);
}

#endif /* _STAPE_FILTER_H */
