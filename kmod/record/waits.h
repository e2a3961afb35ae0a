/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Until when each task of a session may wait, for the session's triggers: a word a task, by its
 * PID.  The words are in leaves, which exist only where there are tasks.
 */
#ifndef _STAPE_WAITS_H
#define _STAPE_WAITS_H

#include <linux/atomic.h>
#include <linux/bits.h>
#include <linux/bitops.h>
#include <linux/compiler.h>
#include <linux/spinlock.h>
#include <linux/threads.h>
#include <linux/types.h>

struct netlink_ext_ack;
struct stape_account;
struct stape_filter;

/*
 * A word: a raw time of the session's clock.  After it, the switch probe looks closer at the state,
 * because the state has lasted for longer than struct stape_waits::patience.  The low bits are the
 * state, and how many triggers the work has fired for it.
 *
 *   63                                             6 5              2 1     0
 *  +------------------------------------------------+----------------+-------+
 *  | until when, in units of 64                     | triggers fired | state |
 *  +------------------------------------------------+----------------+-------+
 *
 * The probe compares a time with a whole word, so its low bits count as time.  A word without a
 * time is always in the past.
 *
 * Only the switch and wakeup probes store another state.  They hold the lock of the task's
 * runqueue, so they store one at a time, in the order of what happens to the task.
 */
#define STAPE_WAITS_STATE_MASK	0x3ULL
#define STAPE_WAITS_FIRED_SHIFT	2
#define STAPE_WAITS_FIRED_MASK	0xfULL
#define STAPE_WAITS_LOW_MASK	0x3fULL

/* More than 40 years of any counter. */
#define STAPE_WAITS_PATIENCE_MAX	BIT_ULL(62)

/**
 * enum stape_waits_state - what a task waits for
 * @STAPE_WAITS_UNKNOWN: it has become a member, and has not been seen since
 * @STAPE_WAITS_NONE: it runs, or sleeps without being blocked; its word has nothing else
 * @STAPE_WAITS_RUNNABLE: for a CPU
 * @STAPE_WAITS_BLOCKED: it is in an uninterruptible sleep
 */
enum stape_waits_state {
	STAPE_WAITS_UNKNOWN = 0,
	STAPE_WAITS_NONE = 1,
	STAPE_WAITS_RUNNABLE = 2,
	STAPE_WAITS_BLOCKED = 3,
};

/* A leaf has a kilobyte, not a page, because one task that lives on keeps all of it. */
#define STAPE_WAITS_LEAF	128
#define STAPE_WAITS_LEAVES	(PID_MAX_LIMIT / STAPE_WAITS_LEAF)
/* Leaves in stock are enough for 4,096 forks until the work runs. */
#define STAPE_WAITS_STOCK	32
#define STAPE_WAITS_RETIRED	64

struct stape_waits_leaf {
	u64 words[STAPE_WAITS_LEAF];
};

/*
 * Stands where there is no leaf, so that probes that only read need no check.  Its words are
 * STAPE_WAITS_UNKNOWN, the time 0.  That is always in the past, so that no probe stores anything in
 * it: no counter runs for so long that its time is below 0.
 */
extern struct stape_waits_leaf stape_waits_no_leaf;

/**
 * struct stape_waits - the words of a session's tasks
 * @patience: how long a task may wait before the switch probe looks closer, by the session's clock;
 *	in units of 64, at most STAPE_WAITS_PATIENCE_MAX
 * @leaves: by PID; read by probes under RCU, changed under @lock
 * @used: leaves that exist, or that a task has needed
 * @lock: protects changes; the innermost of all locks, held for a constant time
 * @stock: leaves for new tasks, because probes cannot allocate
 * @nr_stock: entries of @stock
 * @missed: waits that began when the stock was empty, so that their task had no word
 * @retired: leaves without tasks, which probes may still use
 * @nr_retired: entries of @retired
 * @grace: the grace period after which @retired may be freed
 * @waiting: @grace has been started
 * @account: is charged with all of this
 * @powers: of the caller of session-set
 * @bytes: charged
 *
 * Only one context at a time, the work of triggers, uses @retired and what follows.
 */
struct stape_waits {
	u64 patience;
	struct stape_waits_leaf *leaves[STAPE_WAITS_LEAVES];
	DECLARE_BITMAP(used, STAPE_WAITS_LEAVES);
	raw_spinlock_t lock;	/* see above */
	struct stape_waits_leaf *stock[STAPE_WAITS_STOCK];
	u32 nr_stock;
	atomic64_t missed;
	struct stape_waits_leaf *retired[STAPE_WAITS_RETIRED];
	u32 nr_retired;
	unsigned long grace;
	bool waiting;
	struct stape_account *account;
	u32 powers;
	u64 bytes;
};

struct stape_waits *stape_waits_create(u64 limit, struct stape_account *account, u32 powers,
				       struct netlink_ext_ack *extack);
void stape_waits_destroy(struct stape_waits *waits);
u64 *stape_waits_take(struct stape_waits *waits, u32 pid);
struct stape_waits_leaf *stape_waits_add(struct stape_waits *waits, u32 n);
void stape_waits_refill(struct stape_waits *waits);
void stape_waits_retire(struct stape_waits *waits, const struct stape_filter *filter, u32 n);
void stape_waits_reclaim(struct stape_waits *waits);
void stape_waits_enter(struct stape_waits *waits, u32 pid);
void stape_waits_entered(struct stape_waits *waits, u32 pid);

/* Returns a word of a state that begins. */
static __always_inline u64 stape_wait_word(const struct stape_waits *waits, u64 now,
					   enum stape_waits_state state)
{
	/* An instruction less than to clear the low bits, and to set the state. */
	return (now | STAPE_WAITS_LOW_MASK) + (waits->patience - STAPE_WAITS_LOW_MASK + state);
}

static __always_inline enum stape_waits_state stape_wait_state(u64 word)
{
	return word & STAPE_WAITS_STATE_MASK;
}

static inline u32 stape_wait_fired(u64 word)
{
	return word >> STAPE_WAITS_FIRED_SHIFT & STAPE_WAITS_FIRED_MASK;
}

/* Returns how long the state lasts; below 0 if the clock of another CPU is ahead. */
static inline s64 stape_wait_elapsed(const struct stape_waits *waits, u64 word, u64 now)
{
	return now - ((word & ~STAPE_WAITS_LOW_MASK) - waits->patience);
}

/* Returns false if a task has waited for longer than the patience, or if its word has no time. */
static __always_inline bool stape_wait_is_short(const u64 *word, u64 now)
{
	/* The work may count in the word.  READ_ONCE() would take an instruction more. */
	return (s64)now <= (s64)data_race(*word);
}

/* Returns the leaf of a task's word, or &stape_waits_no_leaf.  For RCU readers. */
static __always_inline struct stape_waits_leaf *stape_waits_leaf(struct stape_waits *waits,
								 u32 pid)
{
	/* The address dependency makes the leaf's zeros visible. */
	return READ_ONCE(waits->leaves[pid / STAPE_WAITS_LEAF]);
}

/* Returns the word of a task in its leaf.  An unsigned PID needs no division. */
static __always_inline u64 *stape_waits_word(struct stape_waits_leaf *leaf, u32 pid)
{
	return &leaf->words[pid % STAPE_WAITS_LEAF];
}

/**
 * stape_waits_find() - find a task's word
 * @waits: a session's
 * @pid: the task's PID
 *
 * Context: RCU reader.
 * Return: the word, or NULL: there is none yet.
 */
static inline u64 *stape_waits_find(struct stape_waits *waits, u32 pid)
{
	struct stape_waits_leaf *leaf = stape_waits_leaf(waits, pid);

	return likely(leaf != &stape_waits_no_leaf) ? stape_waits_word(leaf, pid) : NULL;
}

#endif /* _STAPE_WAITS_H */
