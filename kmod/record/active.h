/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The sessions that record, as probes find them: a list of the sessions, and for each CPU the
 * rings by the numbers of the sessions' filters.
 */
#ifndef _STAPE_ACTIVE_H
#define _STAPE_ACTIVE_H

#include <linux/percpu.h>
#include <linux/rculist.h>
#include <linux/rcupdate.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "base/work.h"
#include "record/cgroups.h"
#include "record/descriptions.h"
#include "record/filter.h"
#include "record/ring.h"

struct stape_triggers;
struct stape_waits;

/**
 * struct stape_waiter - readers that wait for some of a session's rings
 * @list: entry in the session's @waiters
 * @cpus: the CPUs of these rings
 * @descriptions: they read the ring of the descriptions
 * @wait: the readers
 * @wake: wakes them from probes
 */
struct stape_waiter {
	struct list_head list;
	const struct cpumask *cpus;
	bool descriptions;
	wait_queue_head_t wait;
	struct stape_wake wake;
};

/**
 * struct stape_active - the part of a session that probes use
 * @node: entry in stape_actives
 * @rings: one per possible CPU; NULL before session-set
 * @descriptions: what tasks are, whichever CPU they are on; set before @rings
 * @filter: which tasks are recorded
 * @cgroups: where these are, or have been
 * @triggers: what notifications are sent of them; NULL: none.  Set before @rings
 * @waits: since when they wait; NULL: no triggers.  Set before @rings
 * @waiter: the readers of all rings; its @wake also notifies of the session's state
 * @resync: resyncs the session on its CPUs, from process context
 * @resync_delay: jiffies until then, a second at most: resyncs take no more than a tenth of a
 *	CPU, unless one takes longer than a ninth of a second
 */
struct stape_active {
	struct hlist_node node;
	struct stape_ring __percpu *rings;
	struct stape_descriptions *descriptions;
	struct stape_filter filter;
	struct stape_cgroups cgroups;
	struct stape_triggers *triggers;
	struct stape_waits *waits;
	struct stape_waiter waiter;
	struct delayed_work resync;
	unsigned long resync_delay;
};

extern struct hlist_head stape_actives;

/* The rings of a CPU by the numbers of filters. */
DECLARE_PER_CPU(struct stape_ring *, stape_active_rings[STAPE_FILTER_NR_MULTI]);

static inline void stape_waiter_init(struct stape_waiter *waiter, const struct cpumask *cpus,
				     void (*wake)(struct stape_wake *wake))
{
	INIT_LIST_HEAD(&waiter->list);
	waiter->cpus = cpus;
	init_waitqueue_head(&waiter->wait);
	stape_wake_init(&waiter->wake, wake, false);
}

void stape_active_add(struct stape_active *active);
void stape_active_remove(struct stape_active *active);
void stape_active_resync_soon(struct stape_active *active);
void stape_active_moved(struct stape_active *active, u32 tgid);

/* Returns the ring of a filter's session.  @nr: its number, neither 0 nor STAPE_FILTER_NR_MULTI */
static __always_inline struct stape_ring *stape_active_ring(unsigned long nr)
{
	return this_cpu_read(stape_active_rings[nr]);
}

/* Returns the list.  A debug kernel warns if RCU does not protect it. */
static inline struct hlist_head *stape_actives_rcu(void)
{
	RCU_LOCKDEP_WARN(!rcu_read_lock_any_held(), "a probe looks at sessions without RCU");
	return &stape_actives;
}

/*
 * For RCU readers.  A probe is an RCU reader if interrupts or preemption are off.  Otherwise it
 * switches preemption off, or calls rcu_read_lock(), because recent kernels no longer do so for it:
 * see attach.c.
 */
#define for_each_active(active) \
	hlist_for_each_entry_rcu_notrace(active, stape_actives_rcu(), node)

#endif /* _STAPE_ACTIVE_H */
