// SPDX-License-Identifier: GPL-2.0-only
/*
 * The list of sessions that record, for probes.
 */
#include "record/active.h"

#include <linux/cpumask.h>
#include <linux/spinlock.h>

#include "base/account.h"
#include "base/work.h"

/* Protects changes of stape_actives, and who has which id. */
static DEFINE_SPINLOCK(stape_actives_lock);
/* Read by probes under RCU. */
HLIST_HEAD(stape_actives);
/* Read by probes under RCU, changed by the owner of the id. */
DEFINE_PER_CPU(struct stape_ring *, stape_active_rings[STAPE_FILTER_NR_MULTI]);

static_assert(STAPE_FILTER_NR_MULTI - 1 == STAPE_ACCOUNT_SESSIONS_MAX);

/* Finds out which CPUs are recorded.  Under stape_actives_lock. */
static void stape_active_update_cpus(void)
{
	struct stape_active *active;
	bool recorded;
	int cpu;

	for_each_possible_cpu(cpu) {
		recorded = false;
		hlist_for_each_entry(active, &stape_actives, node)
			recorded |= !!per_cpu_ptr(active->rings, cpu)->mem;
		/* All CPUs read it, so it is stored only if it changes. */
		if (recorded != cpumask_test_cpu(cpu, &stape_recorded_cpus))
			assign_bit(cpu, cpumask_bits(&stape_recorded_cpus), recorded);
	}
}

/* There is an id for each session that has rings. */
static void stape_active_take_id(struct stape_active *active)
{
	int cpu;

	spin_lock(&stape_actives_lock);
	stape_filter_publish(&active->filter, !active->descriptions->ring.counter);
	spin_unlock(&stape_actives_lock);
	for_each_possible_cpu(cpu)
		WRITE_ONCE(per_cpu(stape_active_rings[stape_filter_nr(active->filter.id)], cpu),
			   per_cpu_ptr(active->rings, cpu));
}

static void stape_active_give_id(struct stape_active *active)
{
	int cpu;

	for_each_possible_cpu(cpu)
		WRITE_ONCE(per_cpu(stape_active_rings[stape_filter_nr(active->filter.id)], cpu),
			   NULL);
	spin_lock(&stape_actives_lock);
	stape_filter_withdraw(&active->filter);
	spin_unlock(&stape_actives_lock);
}

/**
 * stape_active_add() - show a session to probes
 * @active: a session's, with rings; its filter has no member yet
 *
 * Context: under the session's lock.
 */
void stape_active_add(struct stape_active *active)
{
	stape_active_take_id(active);
	spin_lock(&stape_actives_lock);
	hlist_add_head_rcu(&active->node, &stape_actives);
	stape_active_update_cpus();
	spin_unlock(&stape_actives_lock);
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
 * Context: under the session's lock.
 */
void stape_active_remove(struct stape_active *active)
{
	spin_lock(&stape_actives_lock);
	hlist_del_rcu(&active->node);
	stape_active_update_cpus();
	spin_unlock(&stape_actives_lock);
	stape_active_give_id(active);
}

/**
 * stape_active_resync_soon() - resync a session after a probe has changed its filter
 * @active: a session's
 *
 * The resync runs at most once a tick, because it interrupts the session's CPUs, and any task can
 * cause it as often as it likes.  After one that took long, the next one waits longer.
 *
 * Context: any without the runqueue lock.
 */
void stape_active_resync_soon(struct stape_active *active)
{
	stape_work_queue_delayed(&active->resync, READ_ONCE(active->resync_delay));
}

/**
 * stape_active_moved() - leave the threads of a process to be checked from process context
 * @active: a session's
 * @tgid: the process, which was moved to another cgroup or autogroup; its leader is checked already
 *
 * Context: any without the runqueue lock.
 */
void stape_active_moved(struct stape_active *active, u32 tgid)
{
	stape_filter_add_moved(&active->filter, tgid);
	stape_active_resync_soon(active);
}
