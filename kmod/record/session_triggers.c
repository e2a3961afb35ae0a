// SPDX-License-Identifier: GPL-2.0-only
/*
 * The triggers of a session: made with its rings, armed while it records.
 */
#include "record/session.h"

#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/math64.h>
#include <linux/overflow.h>
#include <linux/percpu.h>
#include <linux/slab.h>

#include "base/work.h"
#include "record/trigger.h"

/* A scan finds a wait at the latest when it exceeds the limit by a quarter of that, and by this. */
#define STAPE_TRIGGER_SLACK_NS	(10 * NSEC_PER_MSEC)

static u64 stape_trigger_limit(const struct stape_trigger_setup *setup, bool counter)
{
	if (setup->kind == STAPE_TRIGGER_RATE || !counter)
		return setup->limit;
	return mul_u64_u32_div(setup->limit, stape_counter_rate(), 1000000);
}

/* Puts a trigger into the list of its kind, which is in the order of the limits. */
static void stape_trigger_sort(struct stape_triggers *triggers, u32 number)
{
	const struct stape_trigger *trigger = &triggers->triggers[number];
	struct stape_trigger_order *order = &triggers->order[trigger->setup.kind];
	u32 i = order->nr++;

	for (; i && triggers->triggers[order->numbers[i - 1]].limit > trigger->limit; i--)
		order->numbers[i] = order->numbers[i - 1];
	order->numbers[i] = number;
}

/* Returns the lowest limit of a kind, or @max if no trigger is of this kind. */
static u64 stape_trigger_lowest(const struct stape_triggers *triggers, u32 kind, u64 max)
{
	const struct stape_trigger_order *order = &triggers->order[kind];

	return order->nr ? triggers->triggers[order->numbers[0]].limit : max;
}

/*
 * Two ticks less than the slack allows: the work may be a tick late, and take a tick itself.  Once
 * a second at least, because the scan also makes leaves for new tasks.
 */
static void stape_trigger_set_period(struct stape_triggers *triggers)
{
	u64 lowest = U64_MAX;
	u32 i;

	for (i = 0; i < triggers->nr; i++)
		if (triggers->triggers[i].setup.kind != STAPE_TRIGGER_RATE)
			lowest = min(lowest, triggers->triggers[i].setup.limit);
	triggers->scan_period = HZ;
	if (lowest != U64_MAX)
		triggers->scan_period = clamp_t(s64, (s64)nsecs_to_jiffies(lowest / 4 +
							STAPE_TRIGGER_SLACK_NS) - 2, 1, HZ);
}

static void stape_trigger_init(struct stape_triggers *triggers,
			       const struct stape_trigger_setup *setups)
{
	u32 i;

	for (i = 0; i < triggers->nr; i++) {
		triggers->triggers[i].setup = setups[i];
		triggers->triggers[i].limit = stape_trigger_limit(&setups[i], triggers->counter);
		stape_trigger_sort(triggers, i);
	}
	stape_trigger_set_period(triggers);
	stape_wake_init(&triggers->wake, stape_trigger_wake, false);
	INIT_DELAYED_WORK(&triggers->tell, stape_trigger_tell);
	INIT_DELAYED_WORK(&triggers->scan, stape_trigger_scan);
	INIT_DELAYED_WORK(&triggers->count, stape_trigger_count);
}

/**
 * stape_session_make_triggers() - give a session triggers
 * @session: a new session, whose filter has its bits
 * @setup: settings of the rings that it is about to get
 * @setups: the triggers
 * @nr: entries of @setups; 0: none
 * @powers: of the caller: STAPE_ACCOUNT_EXEMPT
 * @extack: returned: the reason, if this fails
 *
 * Context: under the session's lock; may sleep.
 * Return: 0 or -ENOMEM.
 */
int stape_session_make_triggers(struct stape_session *session, const struct stape_ring_setup *setup,
				const struct stape_trigger_setup *setups, u32 nr, u32 powers,
				struct netlink_ext_ack *extack)
{
	struct stape_triggers *triggers;
	struct stape_waits *waits;

	if (!nr)
		return 0;
	triggers = kzalloc(struct_size(triggers, triggers, nr), GFP_KERNEL_ACCOUNT);
	if (!triggers)
		return -ENOMEM;
	triggers->active = &session->active;
	triggers->cpus = &session->setup.cpus;
	triggers->counter = setup->counter;
	triggers->nr = nr;
	triggers->notify = session->ops->notify_trigger;
	stape_trigger_init(triggers, setups);
	waits = stape_waits_create(stape_trigger_lowest(triggers, STAPE_TRIGGER_LATENCY, U64_MAX),
				   session->account, powers, extack);
	if (IS_ERR(waits)) {
		kfree(triggers);
		return PTR_ERR(waits);
	}
	session->active.waits = waits;
	session->active.triggers = triggers;
	return 0;
}

/**
 * stape_session_link_triggers() - let rings know the triggers
 * @session: the session
 * @rings: its rings, which no probe uses yet
 *
 * Context: under the session's lock.
 */
void stape_session_link_triggers(struct stape_session *session,
				 struct stape_ring __percpu *rings)
{
	struct stape_triggers *triggers = session->active.triggers;
	int cpu;

	if (!triggers)
		return;
	for_each_possible_cpu(cpu) {
		struct stape_ring *ring = per_cpu_ptr(rings, cpu);

		ring->waits = session->active.waits;
		ring->triggers = triggers;
		if (!ring->syscalls)
			ring->burst_limit = stape_trigger_lowest(triggers, STAPE_TRIGGER_BURST,
								 U64_MAX);
	}
}

/**
 * stape_session_free_triggers() - undo stape_session_make_triggers()
 * @session: a session that no probe uses
 *
 * Context: may sleep.
 */
void stape_session_free_triggers(struct stape_session *session)
{
	if (session->active.waits)
		stape_waits_destroy(session->active.waits);
	kfree(session->active.triggers);
	session->active.waits = NULL;
	session->active.triggers = NULL;
}

/**
 * stape_session_arm_triggers() - let triggers fire from now on
 * @session: a session that is about to record
 *
 * Context: under the session's lock; may sleep.
 */
void stape_session_arm_triggers(struct stape_session *session)
{
	struct stape_triggers *triggers = session->active.triggers;
	u32 i;

	if (!triggers)
		return;
	for (i = 0; i < triggers->nr; i++)
		triggers->triggers[i].exceeded = false;
	memset(triggers->parts, 0, sizeof(triggers->parts));
	triggers->part = 0;
	triggers->scan_leaf = 0;
	WRITE_ONCE(triggers->epoch, stape_clock_now(triggers->counter));
	WRITE_ONCE(triggers->on, true);
	queue_delayed_work(stape_work, &triggers->scan, 0);
	if (triggers->order[STAPE_TRIGGER_RATE].nr)
		queue_delayed_work(stape_work, &triggers->count, 0);
}

/**
 * stape_session_disarm_triggers() - let triggers fire no more
 * @session: a session that is about to record no more
 *
 * Context: under the session's lock.
 */
void stape_session_disarm_triggers(struct stape_session *session)
{
	if (session->active.triggers)
		WRITE_ONCE(session->active.triggers->on, false);
}

/**
 * stape_session_settle_triggers() - wait for the works of triggers
 * @session: its triggers have been disarmed, and all its CPUs have seen that
 *
 * No notification is sent after this.
 *
 * Context: under the session's lock; may sleep.
 */
void stape_session_settle_triggers(struct stape_session *session)
{
	struct stape_triggers *triggers = session->active.triggers;
	u32 i;

	if (!triggers)
		return;
	cancel_delayed_work_sync(&triggers->scan);
	cancel_delayed_work_sync(&triggers->count);
	stape_wake_cancel(&triggers->wake);
	cancel_delayed_work_sync(&triggers->tell);
	for (i = 0; i < triggers->nr; i++)
		atomic_set(&triggers->triggers[i].state, STAPE_TRIGGER_ARMED);
}

/**
 * stape_session_trigger_bytes() - get what triggers have charged to the session's user
 * @session: any session
 *
 * Context: under the session's lock.
 */
u64 stape_session_trigger_bytes(const struct stape_session *session)
{
	return session->active.waits ? READ_ONCE(session->active.waits->bytes) : 0;
}

/**
 * stape_session_missed_waits() - count the waits that triggers could not watch from their beginning
 * @session: any session
 *
 * Bursts and rates are found without words.
 *
 * Context: under the session's lock.
 */
u64 stape_session_missed_waits(const struct stape_session *session)
{
	const struct stape_triggers *triggers = session->active.triggers;

	if (!triggers || (!triggers->order[STAPE_TRIGGER_LATENCY].nr &&
			  !triggers->order[STAPE_TRIGGER_BLOCKED].nr))
		return 0;
	return atomic64_read(&session->active.waits->missed);
}
