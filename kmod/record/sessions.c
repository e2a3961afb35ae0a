// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sessions: made by open(), given rings by session-set, recording between session-start and
 * session-stop, freed with their file.
 */
#include "record/sessions.h"

#include <linux/cred.h>
#include <linux/log2.h>
#include <linux/netlink.h>
#include <linux/percpu.h>
#include <linux/poll.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "base/account.h"
#include "base/memory.h"
#include "record/dump.h"
#include "record/syscall.h"
#include "record/trigger.h"

struct stape_registry stape_sessions = STAPE_REGISTRY_INIT(stape_sessions);

/* -- rings ------------------------------------------------------------------- */

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
	setup->notify = &session->active.waiter.wake;
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

/* Undoes stape_session_set().  Nobody uses the session any more, which may have no rings. */
static void stape_session_free_rings(struct stape_session *session)
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

/* -- readers ----------------------------------------------------------------- */

/*
 * Returns true if a ring has as many pages for the reader as @pages says, or as its watermark if
 * that is 0.
 */
static bool stape_session_ring_readable(const struct stape_ring *ring, u32 pages)
{
	return stape_ring_pending(ring) >= (pages ?: ring->watermark);
}

/**
 * stape_session_readable() - check whether there is something to read
 * @session: any session
 * @waiter: one of its waiters, for the rings that are checked
 * @pages: pages that one ring must have for the reader; 0: the ring's watermark
 *
 * Context: any.
 * Return: true if one of these rings has as many pages.
 */
bool stape_session_readable(struct stape_session *session, const struct stape_waiter *waiter,
			    u32 pages)
{
	/* Pairs with the release in stape_session_set(). */
	struct stape_ring __percpu *rings = smp_load_acquire(&session->active.rings);
	int cpu;

	if (!rings)
		return false;
	if (waiter->descriptions &&
	    stape_session_ring_readable(&session->active.descriptions->ring, pages))
		return true;
	/* A ring in overwrite mode may be read only when no CPU writes to it any more. */
	if (session->setup.overwrite && !stape_session_finished(session))
		return false;
	for_each_cpu_and(cpu, waiter->cpus, &session->setup.cpus)
		if (stape_session_ring_readable(per_cpu_ptr(rings, cpu), pages))
			return true;
	return false;
}

/**
 * stape_session_poll() - get the events for poll()
 * @session: any session
 * @waiter: one of its waiters, to which the caller is added
 * @file: the file
 * @table: the caller's
 *
 * Context: may sleep.
 */
__poll_t stape_session_poll(struct stape_session *session, struct stape_waiter *waiter,
			    struct file *file, struct poll_table_struct *table)
{
	__poll_t events = 0;

	poll_wait(file, &waiter->wait, table);
	if (stape_session_finished(session) || stape_session_readable(session, waiter, 0))
		events |= EPOLLIN | EPOLLRDNORM;
	if (stape_session_empty(session))
		events |= EPOLLHUP;
	return events;
}

/**
 * stape_session_add_waiter() - let the rings of some CPUs wake a waiter's readers
 * @session: a session with rings that does not record yet
 * @waiter: from stape_waiter_init()
 *
 * Context: may sleep.
 * Return: 0; -ENODATA: no rings; -EBUSY: it has started; -EINTR: the caller is being killed.
 */
int stape_session_add_waiter(struct stape_session *session, struct stape_waiter *waiter)
{
	int cpu, ret;

	ret = mutex_lock_killable(&session->lock);
	if (ret)
		return ret;
	if (session->state == STAPE_SESSION_NEW)
		ret = -ENODATA;
	else if (session->state != STAPE_SESSION_READY)
		ret = -EBUSY;
	if (ret)
		goto out;
	list_add(&waiter->list, &session->waiters);
	for_each_cpu_and(cpu, waiter->cpus, &session->setup.cpus)
		WRITE_ONCE(per_cpu_ptr(session->active.rings, cpu)->wake, &waiter->wake);
	if (waiter->descriptions)
		WRITE_ONCE(session->active.descriptions->ring.wake, &waiter->wake);
out:
	mutex_unlock(&session->lock);
	return ret;
}

/* Points a ring back to the readers of all rings, unless a newer waiter has it. */
static void stape_session_forget_waiter(struct stape_session *session,
					const struct stape_waiter *waiter,
					struct stape_ring *ring)
{
	if (ring->wake == &waiter->wake)
		WRITE_ONCE(ring->wake, &session->active.waiter.wake);
}

/**
 * stape_session_remove_waiter() - undo stape_session_add_waiter()
 * @session: the session
 * @waiter: may not have been added; nothing adds it any more.  Probes that have found it in a ring
 *	use it until a grace period is over, and may queue its @wake until then
 *
 * Context: may sleep.
 */
void stape_session_remove_waiter(struct stape_session *session, struct stape_waiter *waiter)
{
	int cpu;

	if (list_empty(&waiter->list))
		return;
	mutex_lock(&session->lock);
	list_del(&waiter->list);
	for_each_cpu_and(cpu, waiter->cpus, &session->setup.cpus)
		stape_session_forget_waiter(session, waiter,
					    per_cpu_ptr(session->active.rings, cpu));
	if (waiter->descriptions)
		stape_session_forget_waiter(session, waiter, &session->active.descriptions->ring);
	mutex_unlock(&session->lock);
}

/* -- from open() to close() -------------------------------------------------- */

/**
 * stape_session_create() - make a session for the calling process
 * @ops: its notifications
 *
 * Context: may sleep.
 * Return: the session, or an ERR_PTR().
 */
struct stape_session *stape_session_create(const struct stape_session_ops *ops)
{
	struct stape_session *session;
	int ret;

	session = kzalloc(sizeof(*session), GFP_KERNEL_ACCOUNT);
	if (!session)
		return ERR_PTR(-ENOMEM);
	session->account = stape_account_get(current_uid());
	ret = -ENOMEM;
	if (!session->account)
		goto err_account;
	ret = stape_filter_init(&session->active.filter);
	if (ret)
		goto err_filter;
	session->ops = ops;
	stape_session_init_run(session);
	mutex_init(&session->read_lock);
	mutex_init(&session->lock);
	ret = stape_registry_add(&stape_sessions, &session->entry);
	if (ret)
		goto err_id;
	return session;

err_id:
	stape_filter_destroy(&session->active.filter);
err_filter:
	stape_account_put(session->account);
err_account:
	kfree(session);
	return ERR_PTR(ret);
}

static void stape_session_free(struct kref *ref)
{
	struct stape_session *session = container_of(ref, struct stape_session, entry.ref);

	/* Until here requests compare their senders with the owner. */
	stape_account_put(session->account);
	kfree_rcu(session, rcu);
}

/**
 * stape_session_destroy() - end a session and free what it has
 * @session: a session whose file is being released
 *
 * Context: may sleep.
 */
void stape_session_destroy(struct stape_session *session)
{
	mutex_lock(&session->lock);
	session->gone = true;
	stape_session_stop(session, NULL);
	stape_session_detach(session);
	mutex_unlock(&session->lock);

	/* Only these works still use the session, and they queue each other in this order. */
	flush_delayed_work(&session->active.resync);
	stape_wake_cancel(&session->active.waiter.wake);
	flush_work(&session->notify_work);
	stape_registry_remove(&stape_sessions, &session->entry);
	stape_filter_destroy(&session->active.filter);
	stape_session_free_rings(session);
	stape_session_put(session);
}

static struct stape_session *stape_session_of(struct stape_entry *entry)
{
	return entry ? container_of(entry, struct stape_session, entry) : NULL;
}

/**
 * stape_session_find() - find a session by its number
 * @id: number in the netlink family
 *
 * Context: any.
 * Return: the session, with a reference, for stape_session_acquire() or stape_session_put(); or
 * NULL.
 */
struct stape_session *stape_session_find(u32 id)
{
	return stape_session_of(stape_registry_find(&stape_sessions, id));
}

/**
 * stape_session_find_after() - find the next session
 * @id: number of the last one, or 0
 *
 * Context: any.
 * Return: the session with the lowest number above @id, as from stape_session_find(); or NULL.
 */
struct stape_session *stape_session_find_after(u32 id)
{
	return stape_session_of(stape_registry_find_after(&stape_sessions, id));
}

/**
 * stape_session_acquire() - take the lock of a session that was found
 * @session: from stape_session_find(); the reference is dropped if this fails
 *
 * A request may hold the lock for long, so the caller checks first whether the session is its
 * sender's.  A message may have very many requests: none of a killed sender begins any more.
 *
 * Context: may sleep.
 * Return: 0, and the caller calls stape_session_release(); -ENOENT: the session's file has gone;
 * -EINTR: the caller is being killed.
 */
int stape_session_acquire(struct stape_session *session)
{
	if (fatal_signal_pending(current) || mutex_lock_killable(&session->lock)) {
		stape_session_put(session);
		return -EINTR;
	}
	if (!session->gone)
		return 0;
	stape_session_release(session);
	return -ENOENT;
}

/**
 * stape_session_each() - call a function for each session
 * @func: called under the session's lock
 * @wait: wait for locks that others hold; false: leave these sessions out
 *
 * Context: may sleep.
 */
void stape_session_each(void (*func)(struct stape_session *session), bool wait)
{
	struct stape_session *session;
	u32 id = 0;

	while ((session = stape_session_find_after(id))) {
		id = session->entry.id;
		if (wait) {
			mutex_lock(&session->lock);
		} else if (!mutex_trylock(&session->lock)) {
			stape_session_put(session);
			continue;
		}
		if (!session->gone)
			func(session);
		stape_session_release(session);
	}
}

/**
 * stape_session_put() - drop the reference
 * @session: from stape_session_find()
 *
 * Context: any but interrupts.
 */
void stape_session_put(struct stape_session *session)
{
	kref_put(&session->entry.ref, stape_session_free);
}

/**
 * stape_session_release() - drop the lock and the reference
 * @session: from stape_session_acquire()
 *
 * Context: any in which a mutex may be unlocked.
 */
void stape_session_release(struct stape_session *session)
{
	mutex_unlock(&session->lock);
	stape_session_put(session);
}

/**
 * stape_session_set_monitor() - send notifications to a socket as well
 * @session: a session with rings
 * @port: the socket's; it replaces an earlier one
 * @extack: returned: the reason, if this fails
 *
 * Context: under the session's lock; may sleep.
 * Return: 0, or -EINVAL: no rings.
 */
int stape_session_set_monitor(struct stape_session *session, u32 port,
			      struct netlink_ext_ack *extack)
{
	/* So there are no more monitored sessions than the limit of sessions allows. */
	if (session->state == STAPE_SESSION_NEW) {
		NL_SET_ERR_MSG(extack, "the session has no rings yet");
		return -EINVAL;
	}
	stape_registry_set_monitor(&stape_sessions, &session->entry, port);
	return 0;
}
