// SPDX-License-Identifier: GPL-2.0-only
/*
 * The rings of a session.
 */
#include "record/session_rings.h"

#include <linux/log2.h>
#include <linux/netlink.h>
#include <linux/percpu.h>

#include "base/account.h"
#include "base/memory.h"
#include "record/dump.h"
#include "record/session_triggers.h"
#include "record/syscall.h"

static void stape_rings_free(struct stape_ring __percpu *rings)
{
	int cpu;

	for_each_possible_cpu(cpu)
		stape_ring_destroy(per_cpu_ptr(rings, cpu));
	free_percpu(rings);
}

static int stape_session_check(const struct stape_session *session,
			       const struct stape_ring_setup *setup,
			       struct netlink_ext_ack *extack)
{
	if (session->state != STAPE_SESSION_NEW) {
		NL_SET_ERR_MSG(extack, "the session has its rings already");
		return -EBUSY;
	}
	if (!is_power_of_2(setup->pages) || setup->pages < STAPE_RING_PAGES_MIN ||
	    setup->pages > STAPE_RING_PAGES_MAX) {
		NL_SET_ERR_MSG(extack, "a ring has a power of two of pages, from 4 to 65536");
		return -EINVAL;
	}
	if (setup->watermark > setup->pages) {
		NL_SET_ERR_MSG(extack, "the watermark is beyond the ring's end");
		return -EINVAL;
	}
	if (cpumask_empty(&setup->cpus)) {
		NL_SET_ERR_MSG(extack, "the mask has no CPU that is possible here");
		return -EINVAL;
	}
	if (setup->counter && !stape_counter_fit()) {
		NL_SET_ERR_MSG(extack, "this machine's counter is not fit as a clock");
		return -EOPNOTSUPP;
	}
	if (setup->syscalls && !STAPE_SYSCALL_KNOWN) {
		NL_SET_ERR_MSG(extack, "this machine's kernel does not tell system calls");
		return -EOPNOTSUPP;
	}
	return 0;
}

/* The memory that a session has from session-set on. */
static u64 stape_session_bytes(const struct stape_ring_setup *setup)
{
	return (u64)stape_ring_size(setup->pages) * cpumask_weight(&setup->cpus) +
	       sizeof(struct stape_ring) * num_possible_cpus() +
	       stape_ring_size(stape_descriptions_pages(setup)) +
	       sizeof(struct stape_descriptions) + STAPE_FILTER_BYTES + stape_dump_bytes(setup);
}

/* Counts a session and its memory, or says which limit it exceeds. */
static int stape_session_charge(struct stape_session *session, u64 bytes, u32 powers,
				struct netlink_ext_ack *extack)
{
	int ret;

	ret = stape_account_add_session(session->account, powers, extack);
	if (ret)
		return ret;
	ret = stape_account_charge(session->account, bytes, powers, extack);
	if (ret)
		stape_account_remove_session(session->account);
	return ret;
}

static struct stape_ring __percpu *stape_rings_alloc(const struct stape_ring_setup *setup)
{
	struct stape_ring __percpu *rings;
	int cpu;

	rings = alloc_percpu_gfp(struct stape_ring, STAPE_GFP_LARGE);
	if (!rings)
		return NULL;
	for_each_possible_cpu(cpu) {
		if (stape_ring_init(per_cpu_ptr(rings, cpu), cpu, setup)) {
			stape_rings_free(rings);
			return NULL;
		}
	}
	return rings;
}

/* Makes the rings of the CPUs, and describes them and @descriptions for a crash dump. */
static struct stape_ring __percpu *stape_rings_create(struct stape_session *session,
						      const struct stape_ring_setup *setup,
						      struct stape_descriptions *descriptions)
{
	struct stape_ring __percpu *rings;

	rings = stape_rings_alloc(setup);
	if (!rings)
		return NULL;
	session->dump = stape_dump_create(session->entry.id, setup, rings, descriptions);
	if (session->dump)
		return rings;
	stape_rings_free(rings);
	return NULL;
}

/**
 * stape_session_set() - give a session its rings
 * @session: a new session
 * @setup: settings of the rings; a watermark of 0 stands for a quarter of the ring
 * @triggers: the session's
 * @nr_triggers: entries of @triggers
 * @powers: of the caller: STAPE_ACCOUNT_ADMIN, STAPE_ACCOUNT_EXEMPT
 * @extack: returned: the reason, if this fails
 *
 * Context: under the session's lock; may sleep.
 * Return: 0; -EINVAL, -EBUSY, -ENOMEM; -EOPNOTSUPP: no such clock, or no system calls;
 * -EUSERS: too many sessions.
 */
int stape_session_set(struct stape_session *session, struct stape_ring_setup *setup,
		      const struct stape_trigger_setup *triggers, u32 nr_triggers,
		      u32 powers, struct netlink_ext_ack *extack)
{
	struct stape_descriptions *descriptions;
	struct stape_ring __percpu *rings;
	u64 bytes;
	int ret;

	ret = stape_session_check(session, setup, extack);
	if (ret)
		return ret;
	bytes = stape_session_bytes(setup);
	ret = stape_session_charge(session, bytes, powers, extack);
	if (ret)
		return ret;
	ret = stape_filter_alloc(&session->active.filter);
	if (ret) {
		NL_SET_ERR_MSG(extack, "no memory for the filter");
		goto err_filter;
	}
	ret = stape_session_make_triggers(session, setup, triggers, nr_triggers, powers, extack);
	if (ret)
		goto err_triggers;
	setup->notify = &session->active.wake;
	setup->any_lost = &session->any_lost;
	if (!setup->watermark)
		setup->watermark = setup->pages / 4;
	descriptions = stape_descriptions_create(setup);
	rings = descriptions ? stape_rings_create(session, setup, descriptions) : NULL;
	if (!rings) {
		NL_SET_ERR_MSG(extack, "no memory for the rings: make them smaller");
		ret = -ENOMEM;
		goto err_rings;
	}
	stape_session_link_triggers(session, rings);
	session->active.descriptions = descriptions;
	session->setup = *setup;
	session->memory = bytes;
	WRITE_ONCE(session->state, STAPE_SESSION_READY);
	/*
	 * Pairs with the acquire in stape_session_readable() and in the device's functions: a
	 * reader that sees the rings may use them.
	 */
	smp_store_release(&session->active.rings, rings);
	return 0;

err_rings:
	stape_descriptions_destroy(descriptions);
	stape_session_free_triggers(session);
err_triggers:
	stape_filter_free_bits(&session->active.filter);
err_filter:
	stape_account_uncharge(session->account, bytes);
	stape_account_remove_session(session->account);
	return ret;
}

/**
 * stape_session_free_rings() - undo stape_session_set()
 * @session: a session that nobody uses any more, with rings or without
 *
 * Context: may sleep.
 */
void stape_session_free_rings(struct stape_session *session)
{
	if (!session->active.rings)
		return;
	stape_dump_destroy(session->dump);
	stape_rings_free(session->active.rings);
	stape_descriptions_destroy(session->active.descriptions);
	stape_session_free_triggers(session);
	stape_account_uncharge(session->account, session->memory);
	stape_account_remove_session(session->account);
}

/**
 * stape_session_count() - add up what the rings have counted
 * @session: any session
 * @totals: returned
 *
 * Context: under the session's lock.
 */
void stape_session_count(struct stape_session *session, struct stape_session_totals *totals)
{
	const struct stape_ring_producer *producer;
	int cpu;

	*totals = (struct stape_session_totals){ 0 };
	if (!session->active.rings)
		return;
	/* The ring of descriptions overwrites nothing. */
	producer = session->active.descriptions->ring.producer;
	totals->events = READ_ONCE(producer->events);
	totals->lost = READ_ONCE(producer->lost);
	for_each_cpu(cpu, &session->setup.cpus) {
		producer = per_cpu_ptr(session->active.rings, cpu)->producer;
		totals->events += READ_ONCE(producer->events);
		totals->lost += READ_ONCE(producer->lost);
		totals->overwritten += READ_ONCE(producer->overwritten);
	}
}
