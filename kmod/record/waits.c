// SPDX-License-Identifier: GPL-2.0-only
/*
 * Until when each task of a session may wait.  Probes take leaves from a stock, because they cannot
 * allocate.  A work of the session's triggers refills the stock, and frees leaves that no task
 * needs any more: PIDs rise, so a long recording would get one for each group of PIDs.
 */
#include "record/waits.h"

#include <linux/err.h>
#include <linux/netlink.h>
#include <linux/numa.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>

#include "base/account.h"
#include "base/memory.h"
#include "record/filter.h"

static_assert(PID_MAX_LIMIT % STAPE_WAITS_LEAF == 0);
static_assert(STAPE_WAITS_LEAF % BITS_PER_LONG == 0);

struct stape_waits_leaf stape_waits_no_leaf;

static int stape_waits_charge(struct stape_waits *waits, u64 bytes,
			      struct netlink_ext_ack *extack)
{
	int ret = stape_account_charge(waits->account, bytes, waits->powers, extack);

	if (!ret)
		WRITE_ONCE(waits->bytes, waits->bytes + bytes);
	return ret;
}

static void stape_waits_uncharge(struct stape_waits *waits, u64 bytes)
{
	stape_account_uncharge(waits->account, bytes);
	WRITE_ONCE(waits->bytes, waits->bytes - bytes);
}

/* May sleep.  Returns NULL if there is too little memory, or the user may have no more. */
static struct stape_waits_leaf *stape_waits_alloc(struct stape_waits *waits)
{
	struct stape_waits_leaf *leaf;

	if (stape_waits_charge(waits, sizeof(*leaf), NULL))
		return NULL;
	leaf = kzalloc(sizeof(*leaf), GFP_KERNEL | __GFP_NOWARN);
	if (!leaf)
		stape_waits_uncharge(waits, sizeof(*leaf));
	return leaf;
}

static void stape_waits_free(struct stape_waits *waits, struct stape_waits_leaf *leaf)
{
	if (!leaf || leaf == &stape_waits_no_leaf)
		return;
	kfree(leaf);
	stape_waits_uncharge(waits, sizeof(*leaf));
}

/**
 * stape_waits_create() - make the words of a session
 * @limit: the lowest limit of the session's latency triggers, by its clock; U64_MAX: it has none
 * @account: is charged with them
 * @powers: of the caller: STAPE_ACCOUNT_EXEMPT
 * @extack: returned: the reason, if this fails
 *
 * Context: may sleep.
 * Return: the words, or an ERR_PTR().
 */
struct stape_waits *stape_waits_create(u64 limit, struct stape_account *account, u32 powers,
				       struct netlink_ext_ack *extack)
{
	struct stape_waits *waits;
	int ret;
	u32 i;

	ret = stape_account_charge(account, sizeof(*waits), powers, extack);
	if (ret)
		return ERR_PTR(ret);
	waits = stape_memory_alloc(1, sizeof(*waits), NUMA_NO_NODE);
	if (!waits) {
		stape_account_uncharge(account, sizeof(*waits));
		NL_SET_ERR_MSG(extack, "no memory for triggers");
		return ERR_PTR(-ENOMEM);
	}
	/* The low bits of a word count as time. */
	limit -= min(limit, STAPE_WAITS_LOW_MASK);
	waits->patience = min(limit & ~STAPE_WAITS_LOW_MASK, STAPE_WAITS_PATIENCE_MAX);
	for (i = 0; i < STAPE_WAITS_LEAVES; i++)
		waits->leaves[i] = &stape_waits_no_leaf;
	raw_spin_lock_init(&waits->lock);
	waits->account = account;
	waits->powers = powers;
	waits->bytes = sizeof(*waits);
	stape_waits_refill(waits);
	return waits;
}

/**
 * stape_waits_destroy() - free all words
 * @waits: from stape_waits_create(); no probe uses it any more
 *
 * Context: may sleep.
 */
void stape_waits_destroy(struct stape_waits *waits)
{
	struct stape_account *account = waits->account;
	u64 bytes;
	u32 i;

	for (i = 0; i < STAPE_WAITS_LEAVES; i++)
		stape_waits_free(waits, waits->leaves[i]);
	for (i = 0; i < waits->nr_stock; i++)
		stape_waits_free(waits, waits->stock[i]);
	for (i = 0; i < waits->nr_retired; i++)
		stape_waits_free(waits, waits->retired[i]);
	bytes = waits->bytes;
	stape_memory_free(waits);
	stape_account_uncharge(account, bytes);
}

/**
 * stape_waits_take() - find a task's word, with a leaf from the stock if need be
 * @waits: a session's
 * @pid: the task's PID
 *
 * Context: RCU reader, interrupts off.  Any lock may be held.
 * Return: the word; or NULL: the stock is empty.  The work makes a leaf later.
 */
u64 *stape_waits_take(struct stape_waits *waits, u32 pid)
{
	u32 n = pid / STAPE_WAITS_LEAF;
	struct stape_waits_leaf *leaf;

	/* While there is no memory for leaves, this keeps the CPUs from taking the lock in vain. */
	if (!READ_ONCE(waits->nr_stock) && test_bit(n, waits->used) &&
	    READ_ONCE(waits->leaves[n]) == &stape_waits_no_leaf)
		return NULL;
	raw_spin_lock(&waits->lock);
	set_bit(n, waits->used);
	leaf = waits->leaves[n];
	if (leaf == &stape_waits_no_leaf && waits->nr_stock) {
		WRITE_ONCE(waits->nr_stock, waits->nr_stock - 1);
		leaf = waits->stock[waits->nr_stock];
		/* Pairs with the address dependency in stape_waits_leaf(). */
		smp_store_release(&waits->leaves[n], leaf);
	}
	raw_spin_unlock(&waits->lock);
	return leaf != &stape_waits_no_leaf ? stape_waits_word(leaf, pid) : NULL;
}

/**
 * stape_waits_add() - find a leaf, or make it
 * @waits: a session's
 * @n: its number
 *
 * Context: the work; may sleep.
 * Return: the leaf, or NULL: there is no memory for it.
 */
struct stape_waits_leaf *stape_waits_add(struct stape_waits *waits, u32 n)
{
	struct stape_waits_leaf *leaf = READ_ONCE(waits->leaves[n]), *new;

	if (leaf != &stape_waits_no_leaf)
		return leaf;
	new = stape_waits_alloc(waits);
	if (!new)
		return NULL;
	raw_spin_lock_irq(&waits->lock);
	leaf = waits->leaves[n];
	if (leaf == &stape_waits_no_leaf) {
		smp_store_release(&waits->leaves[n], new);	/* as in stape_waits_take() */
		leaf = new;
		new = NULL;
	}
	raw_spin_unlock_irq(&waits->lock);
	stape_waits_free(waits, new);
	return leaf;
}

/**
 * stape_waits_refill() - fill the stock
 * @waits: a session's
 *
 * Context: the work, or before it; may sleep.
 */
void stape_waits_refill(struct stape_waits *waits)
{
	struct stape_waits_leaf *leaf;

	/* Only probes take leaves meanwhile. */
	while (READ_ONCE(waits->nr_stock) < STAPE_WAITS_STOCK) {
		leaf = stape_waits_alloc(waits);
		if (!leaf)
			return;
		raw_spin_lock_irq(&waits->lock);
		waits->stock[waits->nr_stock] = leaf;
		WRITE_ONCE(waits->nr_stock, waits->nr_stock + 1);
		raw_spin_unlock_irq(&waits->lock);
	}
}

static bool stape_waits_needed(const struct stape_filter *filter, u32 n)
{
	const unsigned long *bits = filter->members + n * (STAPE_WAITS_LEAF / BITS_PER_LONG);
	u32 i;

	for (i = 0; i < STAPE_WAITS_LEAF / BITS_PER_LONG; i++)
		if (READ_ONCE(bits[i]))
			return true;
	return false;
}

/* Takes a leaf away from the probes.  Returns NULL if a task has come to need it. */
static struct stape_waits_leaf *stape_waits_unlink(struct stape_waits *waits,
						   const struct stape_filter *filter, u32 n)
{
	struct stape_waits_leaf *leaf;

	raw_spin_lock_irq(&waits->lock);
	leaf = waits->leaves[n];
	WRITE_ONCE(waits->leaves[n], &stape_waits_no_leaf);
	clear_bit(n, waits->used);
	/*
	 * If a probe has found the leaf, its task is a member, and this sees the task's bit:
	 * between the store of the bit and the probe are the full barriers of waking the task.
	 * Pairs also with the barrier in stape_waits_entered().
	 */
	smp_mb();	/* see above */
	if (stape_waits_needed(filter, n)) {
		set_bit(n, waits->used);
		smp_store_release(&waits->leaves[n], leaf);	/* as in stape_waits_take() */
		leaf = NULL;
	}
	raw_spin_unlock_irq(&waits->lock);
	return leaf;
}

/**
 * stape_waits_retire() - give up a leaf that no task needs
 * @waits: a session's
 * @filter: the session's
 * @n: number of the leaf
 *
 * A state that a probe stores meanwhile for a new task may be lost.  Then the task's word is
 * unknown, and the work stores the state that it finds.
 *
 * Context: the work.
 */
void stape_waits_retire(struct stape_waits *waits, const struct stape_filter *filter, u32 n)
{
	struct stape_waits_leaf *leaf;

	if (waits->waiting || waits->nr_retired == STAPE_WAITS_RETIRED ||
	    stape_waits_needed(filter, n))
		return;
	leaf = stape_waits_unlink(waits, filter, n);
	if (leaf)
		waits->retired[waits->nr_retired++] = leaf;
}

/**
 * stape_waits_reclaim() - free retired leaves, when a grace period is over
 * @waits: a session's
 *
 * Context: the work.
 */
void stape_waits_reclaim(struct stape_waits *waits)
{
	if (!waits->waiting && waits->nr_retired) {
		waits->grace = start_poll_synchronize_rcu();
		waits->waiting = true;
	} else if (waits->waiting && poll_state_synchronize_rcu(waits->grace)) {
		while (waits->nr_retired)
			stape_waits_free(waits, waits->retired[--waits->nr_retired]);
		waits->waiting = false;
	}
}

/**
 * stape_waits_enter() - forget what is known of the task that had a PID
 * @waits: a session's, or NULL
 * @pid: PID of a task that is about to become a member
 *
 * Context: under the PID's stape_filter_lock().
 */
void stape_waits_enter(struct stape_waits *waits, u32 pid)
{
	u64 *word = waits ? stape_waits_find(waits, pid) : NULL;

	if (word)
		WRITE_ONCE(*word, STAPE_WAITS_UNKNOWN);
}

/**
 * stape_waits_entered() - let the work look at a new member, which may never run a probe
 * @waits: a session's, or NULL
 * @pid: PID of a task whose member's bit has been set
 *
 * Context: as stape_waits_enter().
 */
void stape_waits_entered(struct stape_waits *waits, u32 pid)
{
	if (!waits)
		return;
	/* Pairs with stape_waits_unlink(), which sees the member, or has cleared the bit before. */
	smp_mb__before_atomic();
	set_bit(pid / STAPE_WAITS_LEAF, waits->used);
}
