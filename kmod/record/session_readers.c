// SPDX-License-Identifier: GPL-2.0-only
/*
 * Wakes the readers of a session's rings, and notifies the netlink group of its state.
 */
#include "record/session_readers.h"

#include <linux/cpumask.h>
#include <linux/percpu.h>

#include "base/work.h"

/* Interrupts may be off, so this does not look at the rings of all CPUs. */
static void stape_session_wake(struct stape_wake *wake)
{
	struct stape_session *session = container_of(wake, struct stape_session, active.wake);
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
	lost = READ_ONCE(session->any_lost);
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

/**
 * stape_session_init_readers() - prepare what readers need
 * @session: a new session
 * @notify: see stape_session_create()
 *
 * Context: any.
 */
void stape_session_init_readers(struct stape_session *session,
				void (*notify)(struct stape_session *session))
{
	INIT_LIST_HEAD(&session->waiters);
	spin_lock_init(&session->notified_lock);
	init_waitqueue_head(&session->wait);
	stape_wake_init(&session->active.wake, stape_session_wake);
	session->notify = notify;
	INIT_WORK(&session->notify_work, stape_session_notify_work);
	mutex_init(&session->read_lock);
}

/**
 * stape_session_wake_readers() - wake all readers, because there is something to read
 * @session: any session
 *
 * Context: under the session's lock.
 */
void stape_session_wake_readers(struct stape_session *session)
{
	wake_up_interruptible_all(&session->wait);
	stape_session_wake_waiters(session);
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
	for_each_cpu_and(cpu, &waiter->cpus, &session->setup.cpus)
		WRITE_ONCE(per_cpu_ptr(session->active.rings, cpu)->wake, &waiter->wake);
	if (waiter->descriptions)
		WRITE_ONCE(session->active.descriptions->ring.wake, &waiter->wake);
out:
	mutex_unlock(&session->lock);
	return ret;
}

/* Points a ring back to the session's @wake, unless a newer waiter has it. */
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
