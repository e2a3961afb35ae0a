// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sessions: made by open(), given rings by session-set, recording between session-start and
 * session-stop, freed with their file.
 */
#include "record/session.h"

#include <linux/cpu.h>
#include <linux/cred.h>
#include <linux/log2.h>
#include <linux/netlink.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/security.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/timekeeping.h>

#include "base/account.h"
#include "base/memory.h"
#include "base/registry.h"
#include "base/stop_all.h"
#include "base/work.h"
#include "record/attach.h"
#include "record/encode.h"
#include "record/rules.h"

struct stape_registry stape_sessions = STAPE_REGISTRY_INIT(stape_sessions);

/* See stape_session_set_asleep(). */
static bool stape_session_asleep;

static bool stape_session_has_lost(struct stape_session *session)
{
	int cpu;

	for_each_cpu(cpu, &session->setup.cpus)
		if (READ_ONCE(per_cpu_ptr(session->active.rings, cpu)->producer->lost))
			return true;
	return READ_ONCE(session->active.descriptions->ring.producer->lost);
}

static void stape_session_wake(struct irq_work *work)
{
	struct stape_session *session = container_of(work, struct stape_session, active.wake);
	struct stape_descriptions *descriptions = session->active.descriptions;
	bool lost, empty;

	/*
	 * A tape that ends too early should name the tasks of its events.  At most one page that is
	 * not full waits for the reader.
	 */
	if (descriptions && !stape_ring_pending(&descriptions->ring))
		stape_descriptions_call(descriptions, stape_ring_flush);
	wake_up_interruptible_all(&session->wait);
	/*
	 * This may run on two CPUs at once.  The lock keeps a CPU that checked earlier from
	 * overwriting newer values of notified_lost and notified_empty.
	 */
	spin_lock(&session->notified_lock);
	lost = session->notified_lost || stape_session_has_lost(session);
	empty = stape_session_empty(session);
	if (lost != session->notified_lost || empty != session->notified_empty) {
		session->notified_lost = lost;
		session->notified_empty = empty;
		queue_work(stape_work, &session->notify_work);
	}
	spin_unlock(&session->notified_lock);
}

static void stape_session_wake_waiters(struct stape_session *session)
{
	struct stape_waiter *waiter;

	list_for_each_entry(waiter, &session->waiters, list)
		wake_up_interruptible_all(&waiter->wait);
}

static void stape_session_notify_work(struct work_struct *work)
{
	struct stape_session *session = container_of(work, struct stape_session, notify_work);

	mutex_lock(&session->lock);
	stape_session_wake_waiters(session);
	session->notify(session);
	mutex_unlock(&session->lock);
}

/* Jiffies.  A virtual CPU may be stopped for long; tasks that enter must not wait that long. */
#define STAPE_SESSION_RESYNC_DELAY_MAX	HZ

static void stape_session_resync_work(struct work_struct *work)
{
	struct stape_session *session = container_of(to_delayed_work(work), struct stape_session,
						     active.resync);
	u64 begin, took;

	mutex_lock(&session->lock);
	begin = ktime_get_mono_fast_ns();
	stape_rules_rescan(&session->active);
	stape_session_resync(session);
	took = ktime_get_mono_fast_ns() - begin;
	WRITE_ONCE(session->active.resync_delay,
		   1 + min_t(u64, nsecs_to_jiffies(9 * took), STAPE_SESSION_RESYNC_DELAY_MAX));
	mutex_unlock(&session->lock);
}

/**
 * stape_session_create() - make a session for the calling process
 * @notify: called under the session's lock, from process context, when the session has
 *	stopped or has lost its first event, or when its last task has ended
 *
 * Context: may sleep.
 * Return: the session, or an ERR_PTR().
 */
struct stape_session *stape_session_create(void (*notify)(struct stape_session *session))
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
	INIT_LIST_HEAD(&session->waiters);
	spin_lock_init(&session->notified_lock);
	init_waitqueue_head(&session->wait);
	/* Not a hard irq_work, because on PREEMPT_RT a wait queue's lock may sleep. */
	init_irq_work(&session->active.wake, stape_session_wake);
	session->notify = notify;
	INIT_WORK(&session->notify_work, stape_session_notify_work);
	INIT_DELAYED_WORK(&session->active.resync, stape_session_resync_work);
	session->active.resync_delay = 1;
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

/**
 * stape_session_attach() - let probes keep the filter up to date
 * @session: a session with rings
 * @extack: returned: the reason, if this fails
 *
 * From now on children of members become members, and tasks that end leave the filter.  No
 * event is written yet.
 *
 * Context: under the session's lock; may sleep.
 * Return: 0; -EINVAL: no rings; or the error of registering the probes.
 */
int stape_session_attach(struct stape_session *session, struct netlink_ext_ack *extack)
{
	int ret;

	if (session->attached || session->state == STAPE_SESSION_STOPPED)
		return 0;
	if (stape_stop_all_is_set()) {
		NL_SET_ERR_MSG(extack, STAPE_STOP_ALL_TEXT);
		return -EPERM;
	}
	if (session->state == STAPE_SESSION_NEW) {
		NL_SET_ERR_MSG(extack, "the session has no rings yet: give it their sizes first");
		return -EINVAL;
	}
	ret = stape_attach_get();
	if (ret) {
		NL_SET_ERR_MSG(extack, "the kernel refused a tracepoint or a probe");
		return ret;
	}
	stape_clock_get(session->setup.counter);
	stape_active_add(&session->active);
	session->attached = true;
	return 0;
}

/*
 * Takes a session away from the probes.  They are RCU readers, so no probe uses it when this
 * returns.  stape_attach_put() is not enough for that: it waits only if it has switched the
 * probes off, and on recent kernels for SRCU instead of RCU.
 */
static void stape_session_detach(struct stape_session *session)
{
	if (!session->attached)
		return;
	session->attached = false;
	/* Clear the bits first: after a grace period no probe gets the rings by the filter's id. */
	stape_filter_clear(&session->active.filter);
	synchronize_rcu();
	stape_active_remove(&session->active);
	stape_attach_put();
	synchronize_rcu();
	stape_clock_put(session->setup.counter);
}

static void stape_session_free_rings(struct stape_ring __percpu *rings)
{
	int cpu;

	for_each_possible_cpu(cpu)
		stape_ring_destroy(per_cpu_ptr(rings, cpu));
	free_percpu(rings);
}

static void stape_session_free(struct kref *ref)
{
	kfree_rcu(container_of(ref, struct stape_session, entry.ref), rcu);
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
	irq_work_sync(&session->active.wake);
	flush_work(&session->notify_work);
	stape_registry_remove(&stape_sessions, &session->entry);
	stape_filter_destroy(&session->active.filter);
	if (session->active.rings) {
		stape_session_free_rings(session->active.rings);
		stape_descriptions_destroy(session->active.descriptions);
		stape_account_uncharge(session->account, session->memory);
		stape_account_remove_session(session->account);
	}
	stape_account_put(session->account);
	kref_put(&session->entry.ref, stape_session_free);
}

/* Takes the lock of a session that was found, or drops the reference if its file has gone. */
static struct stape_session *stape_session_acquire(struct stape_entry *entry)
{
	struct stape_session *session = container_of(entry, struct stape_session, entry);

	mutex_lock(&session->lock);
	if (!session->gone)
		return session;
	stape_session_release(session);
	return NULL;
}

/**
 * stape_session_find() - find a session by its number
 * @id: number in the netlink family
 *
 * Context: may sleep.
 * Return: the session, with its lock and a reference, for stape_session_release(); or NULL.
 */
struct stape_session *stape_session_find(u32 id)
{
	struct stape_entry *entry = stape_registry_find(&stape_sessions, id);

	return entry ? stape_session_acquire(entry) : NULL;
}

/**
 * stape_session_find_after() - find the next session
 * @id: number of the last one, or 0
 *
 * Context: may sleep.
 * Return: the session with the lowest number above @id, as from stape_session_find(); or NULL.
 */
struct stape_session *stape_session_find_after(u32 id)
{
	struct stape_session *session = NULL;
	struct stape_entry *entry;

	while (!session && (entry = stape_registry_find_after(&stape_sessions, id))) {
		id = entry->id;
		session = stape_session_acquire(entry);
	}
	return session;
}

/**
 * stape_session_each() - call a function for each session
 * @func: called under the session's lock
 *
 * Context: may sleep.
 */
void stape_session_each(void (*func)(struct stape_session *session))
{
	struct stape_session *session;
	u32 id = 0;

	while ((session = stape_session_find_after(id))) {
		id = session->entry.id;
		func(session);
		stape_session_release(session);
	}
}

/**
 * stape_session_release() - drop the lock and the reference
 * @session: from stape_session_find()
 *
 * Context: any in which a mutex may be unlocked.
 */
void stape_session_release(struct stape_session *session)
{
	mutex_unlock(&session->lock);
	kref_put(&session->entry.ref, stape_session_free);
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
	return 0;
}

/* The memory that a session has from session-set on. */
static u64 stape_session_bytes(const struct stape_ring_setup *setup)
{
	return (u64)stape_ring_size(setup->pages) * cpumask_weight(&setup->cpus) +
	       sizeof(struct stape_ring) * num_possible_cpus() +
	       stape_ring_size(stape_descriptions_pages(setup)) +
	       sizeof(struct stape_descriptions) + STAPE_FILTER_BYTES;
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

static struct stape_ring __percpu *stape_session_make_rings(const struct stape_ring_setup *setup)
{
	struct stape_ring __percpu *rings;
	int cpu;

	rings = alloc_percpu_gfp(struct stape_ring, STAPE_GFP_LARGE);
	if (!rings)
		return NULL;
	for_each_possible_cpu(cpu) {
		if (stape_ring_init(per_cpu_ptr(rings, cpu), cpu, setup)) {
			stape_session_free_rings(rings);
			return NULL;
		}
	}
	return rings;
}

/**
 * stape_session_set() - give a session its rings
 * @session: a new session
 * @setup: settings of the rings; a watermark of 0 stands for a quarter of the ring
 * @powers: of the caller: STAPE_ACCOUNT_ADMIN, STAPE_ACCOUNT_EXEMPT
 * @extack: returned: the reason, if this fails
 *
 * Context: under the session's lock; may sleep.
 * Return: 0; -EINVAL, -EBUSY, -ENOMEM; -EOPNOTSUPP: no such clock; -EUSERS: too many sessions.
 */
int stape_session_set(struct stape_session *session, struct stape_ring_setup *setup,
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
	setup->notify = &session->active.wake;
	if (!setup->watermark)
		setup->watermark = setup->pages / 4;
	descriptions = stape_descriptions_create(setup);
	rings = descriptions ? stape_session_make_rings(setup) : NULL;
	if (!rings) {
		NL_SET_ERR_MSG(extack, "no memory for the rings: make them smaller");
		ret = -ENOMEM;
		goto err_rings;
	}
	session->active.descriptions = descriptions;
	session->setup = *setup;
	session->memory = bytes;
	WRITE_ONCE(session->state, STAPE_SESSION_READY);
	/* Pairs with the acquire in the device: a reader that sees the rings may use them. */
	smp_store_release(&session->active.rings, rings);
	return 0;

err_rings:
	stape_descriptions_destroy(descriptions);
	stape_filter_free_bits(&session->active.filter);
err_filter:
	stape_account_uncharge(session->account, bytes);
	stape_account_remove_session(session->account);
	return ret;
}

static void stape_session_resync_cpu(void *data)
{
	stape_encode_resync(data);
}

/**
 * stape_session_resync() - let every CPU check whether its running task is a member
 * @session: any session whose filter has changed
 *
 * CPUs that the session leaves out are not interrupted: their rings have no memory.
 *
 * Context: under the session's lock; may sleep.
 */
void stape_session_resync(struct stape_session *session)
{
	struct stape_active *active = &session->active;
	u32 leavers[STAPE_FILTER_LEAVERS_MAX];

	if (!session->attached)
		return;
	stape_filter_get_leavers(&active->filter, leavers);
	on_each_cpu_mask(&session->setup.cpus, stape_session_resync_cpu, active, true);
	stape_filter_settle_leavers(&active->filter, leavers);
	/* The filter may have lost its last member. */
	irq_work_queue(&active->wake);
}

struct stape_ring_call {
	struct stape_session *session;
	void (*func)(struct stape_ring *ring);
};

static void stape_session_call(void *data)
{
	struct stape_ring_call *call = data;

	call->func(this_cpu_ptr(call->session->active.rings));
}

/*
 * Calls @func for each ring with memory, on its own CPU, which owns it; here, if that CPU is
 * offline.  No other CPU is interrupted.  The ring of the descriptions is the last.
 */
static void stape_session_each_ring(struct stape_session *session,
				    void (*func)(struct stape_ring *ring))
{
	struct stape_ring_call call = { session, func };
	int cpu;

	cpus_read_lock();
	on_each_cpu_mask(&session->setup.cpus, stape_session_call, &call, true);
	for_each_cpu_andnot(cpu, &session->setup.cpus, cpu_online_mask)
		func(per_cpu_ptr(session->active.rings, cpu));
	cpus_read_unlock();
	stape_descriptions_call(session->active.descriptions, func);
}

static void stape_session_wake_readers(struct stape_session *session)
{
	wake_up_interruptible_all(&session->wait);
	stape_session_wake_waiters(session);
}

/**
 * stape_session_set_asleep() - say whether the machine is about to sleep
 * @asleep: until this is false again, the rings of sessions that start stay paused
 *
 * Context: before stape_session_sleep() or stape_session_wake_up() of all sessions.
 */
void stape_session_set_asleep(bool asleep)
{
	WRITE_ONCE(stape_session_asleep, asleep);
}

/**
 * stape_session_sleep() - record nothing while the machine sleeps
 * @session: any session
 *
 * Its state stays as it is.
 *
 * Context: under the session's lock; may sleep.
 */
void stape_session_sleep(struct stape_session *session)
{
	if (session->state == STAPE_SESSION_RECORDING)
		stape_session_each_ring(session, stape_ring_pause);
}

/**
 * stape_session_wake_up() - record, unless the machine is about to sleep
 * @session: any session
 *
 * Context: under the session's lock; may sleep.
 */
void stape_session_wake_up(struct stape_session *session)
{
	int cpu;

	if (session->state != STAPE_SESSION_RECORDING || READ_ONCE(stape_session_asleep))
		return;
	/* First, so that what a ring names is described.  A pause has the reverse order. */
	stape_ring_resume(&session->active.descriptions->ring);
	for_each_cpu(cpu, &session->setup.cpus)
		stape_ring_resume(per_cpu_ptr(session->active.rings, cpu));
}

/**
 * stape_session_start() - begin to record, or go on
 * @session: a session with rings
 * @extack: returned: the reason, if this fails
 *
 * Context: under the session's lock; may sleep.
 * Return: 0; -EINVAL: no rings, or it has stopped; -EALREADY: it is recording; -EPERM: the kernel
 * is locked down, or an administrator has stopped everything; or the error of registering the
 * probes.
 */
int stape_session_start(struct stape_session *session, struct netlink_ext_ack *extack)
{
	int ret;

	ret = security_locked_down(LOCKDOWN_PERF);
	if (ret) {
		NL_SET_ERR_MSG(extack, "the kernel is in lockdown");
		return ret;
	}
	switch (session->state) {
	case STAPE_SESSION_RECORDING:
		NL_SET_ERR_MSG(extack, "the session is recording already");
		return -EALREADY;
	case STAPE_SESSION_STOPPED:
		NL_SET_ERR_MSG(extack, "the session has stopped for good: open another");
		return -EINVAL;
	}
	ret = stape_session_attach(session, extack);
	if (ret)
		return ret;
	if (session->state == STAPE_SESSION_READY) {
		session->start_time = ktime_get_mono_fast_ns();
		session->missed_calls = stape_attach_missed_calls();
	}
	WRITE_ONCE(session->state, STAPE_SESSION_RECORDING);
	stape_session_wake_up(session);
	return 0;
}

/* Pauses all rings.  If no start follows, @pause_time is the recording's end. */
static void stape_session_quiesce(struct stape_session *session)
{
	stape_session_each_ring(session, stape_ring_pause);
	session->pause_time = ktime_get_mono_fast_ns();
}

/**
 * stape_session_pause() - record nothing until the next start
 * @session: a recording session
 * @extack: returned: the reason, if this fails
 *
 * Context: under the session's lock; may sleep.
 * Return: 0; -EALREADY: it is paused; -EINVAL: it does not record.
 */
int stape_session_pause(struct stape_session *session, struct netlink_ext_ack *extack)
{
	if (session->state == STAPE_SESSION_PAUSED) {
		NL_SET_ERR_MSG(extack, "the session is paused already");
		return -EALREADY;
	}
	if (session->state != STAPE_SESSION_RECORDING) {
		NL_SET_ERR_MSG(extack, "the session is not recording");
		return -EINVAL;
	}
	stape_session_quiesce(session);
	WRITE_ONCE(session->state, STAPE_SESSION_PAUSED);
	stape_session_wake_readers(session);
	return 0;
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

/**
 * stape_session_flush() - publish the open pages of all rings, except in overwrite mode
 * @session: any session
 *
 * Context: under the session's lock; may sleep.
 */
void stape_session_flush(struct stape_session *session)
{
	/* Rings in overwrite mode are read only after the stop. */
	if (session->state != STAPE_SESSION_RECORDING || session->setup.overwrite)
		return;
	stape_session_each_ring(session, stape_ring_flush);
	stape_session_wake_readers(session);
}

/* The end of a session with rings.  Under its lock. */
static void stape_session_end(struct stape_session *session, u32 stopped_by)
{
	int cpu;

	/* The recording ends now for all tasks, because clearing their bits may take long. */
	if (session->state == STAPE_SESSION_RECORDING)
		stape_session_quiesce(session);
	session->stop_time = session->pause_time;
	session->stopped_by = stopped_by;
	session->missed_calls = stape_session_missed_calls(session);
	stape_session_detach(session);
	for_each_cpu(cpu, &session->setup.cpus)
		stape_ring_finish(per_cpu_ptr(session->active.rings, cpu));
	stape_ring_finish(&session->active.descriptions->ring);
	/* Pairs with the acquire in stape_session_finished(): all pages are published before. */
	smp_store_release(&session->state, STAPE_SESSION_STOPPED);
	stape_session_wake_readers(session);
	queue_work(stape_work, &session->notify_work);
}

/**
 * stape_session_stop_by() - end a session for another reason than its owner's request
 * @session: any session; nothing happens if it has no rings, or has stopped
 * @stopped_by: enum stape_stopped_by
 *
 * Context: under the session's lock; may sleep.
 */
void stape_session_stop_by(struct stape_session *session, u32 stopped_by)
{
	if (session->state != STAPE_SESSION_NEW && session->state != STAPE_SESSION_STOPPED)
		stape_session_end(session, stopped_by);
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

/**
 * stape_session_missed_calls() - count what return probes have missed while a session recorded
 * @session: any session
 *
 * Context: under the session's lock; may sleep.
 */
u64 stape_session_missed_calls(const struct stape_session *session)
{
	if (session->state != STAPE_SESSION_RECORDING && session->state != STAPE_SESSION_PAUSED)
		return session->missed_calls;
	return stape_attach_missed_calls() - session->missed_calls;
}

/**
 * stape_session_stop() - end recording; what the rings hold stays readable
 * @session: a recording or paused session
 * @extack: returned: the reason, if this fails; may be NULL
 *
 * Context: under the session's lock; may sleep.
 * Return: 0, or -EINVAL if it is not recording.
 */
int stape_session_stop(struct stape_session *session, struct netlink_ext_ack *extack)
{
	if (session->state != STAPE_SESSION_RECORDING && session->state != STAPE_SESSION_PAUSED) {
		NL_SET_ERR_MSG(extack, "the session is not recording");
		return -EINVAL;
	}
	stape_session_end(session, STAPE_STOPPED_BY_REQUEST);
	return 0;
}

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
 * @readers: the rings that are checked
 * @pages: pages that one ring must have for the reader; 0: the ring's watermark
 *
 * Context: any.
 * Return: true if one of these rings has as many pages.
 */
bool stape_session_readable(struct stape_session *session, const struct stape_readers *readers,
			    u32 pages)
{
	/* Pairs with the release in stape_session_set(). */
	struct stape_ring __percpu *rings = smp_load_acquire(&session->active.rings);
	int cpu;

	if (!rings)
		return false;
	if (readers->descriptions &&
	    stape_session_ring_readable(&session->active.descriptions->ring, pages))
		return true;
	/* A ring in overwrite mode may be read only when no CPU writes to it any more. */
	if (session->setup.overwrite && !stape_session_finished(session))
		return false;
	for_each_cpu_and(cpu, readers->cpus, &session->setup.cpus)
		if (stape_session_ring_readable(per_cpu_ptr(rings, cpu), pages))
			return true;
	return false;
}

/**
 * stape_session_poll() - get the events for poll()
 * @session: any session
 * @readers: the rings that are checked
 *
 * Context: any.
 */
__poll_t stape_session_poll(struct stape_session *session, const struct stape_readers *readers)
{
	__poll_t events = 0;

	if (stape_session_finished(session) || stape_session_readable(session, readers, 0))
		events |= EPOLLIN | EPOLLRDNORM;
	if (stape_session_empty(session))
		events |= EPOLLHUP;
	return events;
}

/**
 * stape_session_add_waiter() - let the rings of some CPUs wake a waiter's readers
 * @session: a session with rings that does not record yet
 * @waiter: @cpus, @wait and @wake are set
 *
 * Context: may sleep.
 * Return: 0; -ENODATA: no rings; -EBUSY: it has started.
 */
int stape_session_add_waiter(struct stape_session *session, struct stape_waiter *waiter)
{
	int cpu, ret = 0;

	mutex_lock(&session->lock);
	if (session->state == STAPE_SESSION_NEW)
		ret = -ENODATA;
	else if (session->state != STAPE_SESSION_READY)
		ret = -EBUSY;
	if (ret)
		goto out;
	list_add(&waiter->list, &session->waiters);
	for_each_cpu_and(cpu, &waiter->cpus, &session->setup.cpus)
		WRITE_ONCE(per_cpu_ptr(session->active.rings, cpu)->wake, &waiter->wake);
	if (waiter->descriptions)
		WRITE_ONCE(session->active.descriptions->ring.wake, &waiter->wake);
out:
	mutex_unlock(&session->lock);
	return ret;
}

/* Points a ring back to the session's irq_work, unless a newer waiter has it. */
static void stape_session_forget_waiter(struct stape_session *session,
					const struct stape_waiter *waiter,
					struct stape_ring *ring)
{
	if (ring->wake == &waiter->wake)
		WRITE_ONCE(ring->wake, &session->active.wake);
}

/**
 * stape_session_remove_waiter() - undo stape_session_add_waiter()
 * @session: the session
 * @waiter: probes that have found it in a ring use it until a grace period is over, and may
 *	queue its @wake until then
 *
 * Context: may sleep.
 */
void stape_session_remove_waiter(struct stape_session *session, struct stape_waiter *waiter)
{
	int cpu;

	mutex_lock(&session->lock);
	list_del(&waiter->list);
	for_each_cpu_and(cpu, &waiter->cpus, &session->setup.cpus)
		stape_session_forget_waiter(session, waiter,
					    per_cpu_ptr(session->active.rings, cpu));
	if (waiter->descriptions)
		stape_session_forget_waiter(session, waiter, &session->active.descriptions->ring);
	mutex_unlock(&session->lock);
}
