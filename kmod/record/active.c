// SPDX-License-Identifier: GPL-2.0-only
/*
 * The list of sessions that record, for probes.
 */
#include "record/active.h"

#include <linux/bitmap.h>
#include <linux/cpumask.h>

#include "base/work.h"

/* Read by probes under RCU, changed under stape_sessions_lock. */
HLIST_HEAD(stape_actives);
/* Read by probes under RCU, changed under stape_sessions_lock, like stape_actives. */
DEFINE_PER_CPU(struct stape_ring *, stape_active_rings[STAPE_FILTER_IDS]);

/* Ids in use; 0 stands for no filter.  Protected by stape_sessions_lock. */
static DECLARE_BITMAP(stape_active_ids, STAPE_FILTER_MULTI) = { 1 };

static void stape_active_take_id(struct stape_active *active)
{
	u32 id = find_first_zero_bit(stape_active_ids, STAPE_FILTER_MULTI);
	int cpu;

	/* If no id is free, @id is STAPE_FILTER_MULTI. */
	active->filter.id = id;
	if (id == STAPE_FILTER_MULTI)
		return;
	__set_bit(id, stape_active_ids);
	for_each_possible_cpu(cpu)
		WRITE_ONCE(per_cpu(stape_active_rings[id], cpu), per_cpu_ptr(active->rings, cpu));
}

static void stape_active_give_id(struct stape_active *active)
{
	u32 id = active->filter.id;
	int cpu;

	if (id == STAPE_FILTER_MULTI)
		return;
	for_each_possible_cpu(cpu)
		WRITE_ONCE(per_cpu(stape_active_rings[id], cpu), NULL);
	__clear_bit(id, stape_active_ids);
}

/**
 * stape_active_add() - show a session to probes
 * @active: a session's, with rings; its filter has no member yet
 *
 * Context: under stape_sessions_lock.
 */
void stape_active_add(struct stape_active *active)
{
	stape_active_take_id(active);
	hlist_add_head_rcu(&active->node, &stape_actives);
	/*
	 * The filter's bits come after this.  Pairs with the address dependency of
	 * stape_active_ring() on the id of a task.
	 */
	smp_wmb();
}

/**
 * stape_active_remove() - hide a session from probes
 * @active: a session's, whose filter has had no member for an RCU grace period, so that no
 *	probe gets its rings by its id
 *
 * Probes that have found it in the list use it until another grace period is over.
 *
 * Context: under stape_sessions_lock.
 */
void stape_active_remove(struct stape_active *active)
{
	hlist_del_rcu(&active->node);
	stape_active_give_id(active);
}

/**
 * stape_active_resync_soon() - resync a session after a probe has changed its filter
 * @active: a session's
 *
 * The resync runs at most once a tick, because it disturbs all CPUs, and any task can cause it
 * as often as it likes.
 *
 * Context: any without the runqueue lock.
 */
void stape_active_resync_soon(struct stape_active *active)
{
	queue_delayed_work(stape_work, &active->resync, 1);
}
