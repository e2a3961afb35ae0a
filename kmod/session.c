// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sessions: made by open(), given rings by session-set, recording between
 * session-start and session-stop, gone with their file.
 */
#include "session.h"

#include <linux/cpu.h>
#include <linux/netlink.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/timekeeping.h>

#include "netlink.h"
#include "probe.h"

/* Protects the lists and every session's settings; the outermost lock. */
DEFINE_MUTEX(stape_sessions_lock);
LIST_HEAD(stape_sessions);
/* Read by probes under RCU, changed under stape_sessions_lock. */
HLIST_HEAD(stape_sessions_active);

static u32 stape_session_last_id;

static bool stape_session_has_lost(struct stape_session *session)
{
	int cpu;

	for_each_possible_cpu(cpu)
		if (READ_ONCE(per_cpu_ptr(session->rings, cpu)->producer->lost))
			return true;
	return false;
}

static void stape_session_wake(struct irq_work *work)
{
	struct stape_session *session = container_of(work, struct stape_session, wake);
	bool lost = session->told_lost || stape_session_has_lost(session);
	bool empty = stape_session_empty(session);

	wake_up_interruptible_all(&session->wait);
	if (lost != session->told_lost || empty != session->told_empty) {
		session->told_lost = lost;
		session->told_empty = empty;
		schedule_work(&session->notify);
	}
}

static void stape_session_notify(struct work_struct *work)
{
	stape_netlink_session_ntf(container_of(work, struct stape_session, notify));
}

/**
 * stape_session_create() - make a session for the calling process
 *
 * Context: may sleep.
 * Return: the session, or an ERR_PTR().
 */
struct stape_session *stape_session_create(void)
{
	struct stape_session *session;
	int ret;

	session = kzalloc(sizeof(*session), GFP_KERNEL_ACCOUNT);
	if (!session)
		return ERR_PTR(-ENOMEM);
	ret = stape_filter_init(&session->filter);
	if (ret)
		goto err_filter;
	session->owner = task_tgid_nr(current);
	init_waitqueue_head(&session->wait);
	/* Not a hard one: on PREEMPT_RT a wait queue's lock may sleep. */
	init_irq_work(&session->wake, stape_session_wake);
	INIT_WORK(&session->notify, stape_session_notify);
	mutex_init(&session->read_lock);

	mutex_lock(&stape_sessions_lock);
	session->id = ++stape_session_last_id;
	list_add_tail(&session->all, &stape_sessions);
	mutex_unlock(&stape_sessions_lock);
	return session;

err_filter:
	kfree(session);
	return ERR_PTR(ret);
}

/**
 * stape_session_arm() - let probes look after the filter
 * @session: a session with rings
 * @extack: why not
 *
 * From now on forks inherit and the dead are forgotten; nothing is written yet.
 *
 * Context: under stape_sessions_lock; may sleep.
 * Return: 0; -EINVAL: no rings, or what registering the probes said.
 */
int stape_session_arm(struct stape_session *session, struct netlink_ext_ack *extack)
{
	int ret;

	if (session->armed || session->state == STAPE_SESSION_STOPPED)
		return 0;
	if (session->state == STAPE_SESSION_NEW) {
		NL_SET_ERR_MSG(extack, "the session has no rings yet: session-set first");
		return -EINVAL;
	}
	ret = stape_probe_get();
	if (ret) {
		NL_SET_ERR_MSG(extack, "the kernel refused a tracepoint");
		return ret;
	}
	hlist_add_head_rcu(&session->active, &stape_sessions_active);
	session->armed = true;
	return 0;
}

/* Probes run with preemption off: none uses this session after this. */
static void stape_session_disarm(struct stape_session *session)
{
	if (!session->armed)
		return;
	session->armed = false;
	hlist_del_rcu(&session->active);
	stape_probe_put();
	synchronize_rcu();
}

static void stape_session_free_rings(struct stape_ring __percpu *rings)
{
	int cpu;

	for_each_possible_cpu(cpu)
		stape_ring_destroy(per_cpu_ptr(rings, cpu));
	free_percpu(rings);
}

/**
 * stape_session_destroy() - end a session and free it
 * @session: a session whose file is being released
 *
 * Context: may sleep.
 */
void stape_session_destroy(struct stape_session *session)
{
	mutex_lock(&stape_sessions_lock);
	if (session->state == STAPE_SESSION_RECORDING)
		stape_session_stop(session, NULL);
	stape_session_disarm(session);
	list_del(&session->all);
	mutex_unlock(&stape_sessions_lock);

	irq_work_sync(&session->wake);
	flush_work(&session->notify);
	if (session->rings)
		stape_session_free_rings(session->rings);
	stape_filter_destroy(&session->filter);
	kfree(session);
}

/**
 * stape_session_find() - a session by its number
 * @id: number in the netlink family
 *
 * Context: under stape_sessions_lock, which keeps the session alive.
 * Return: the session, or NULL.
 */
struct stape_session *stape_session_find(u32 id)
{
	struct stape_session *session;

	lockdep_assert_held(&stape_sessions_lock);
	list_for_each_entry(session, &stape_sessions, all)
		if (session->id == id)
			return session;
	return NULL;
}

/**
 * stape_session_set() - give a session its rings
 * @session: a new session
 * @ring_pages: pages in a ring, a power of two
 * @watermark: pages before the reader is woken, 0: a quarter of the ring
 * @extack: why not
 *
 * Context: under stape_sessions_lock; may sleep.
 * Return: 0; -EINVAL, -EBUSY, -ENOMEM.
 */
int stape_session_set(struct stape_session *session, u32 ring_pages, u32 watermark,
		      struct netlink_ext_ack *extack)
{
	struct stape_ring __percpu *rings;
	int cpu, ret;

	if (session->state != STAPE_SESSION_NEW) {
		NL_SET_ERR_MSG(extack, "the session has its rings already");
		return -EBUSY;
	}
	if (!is_power_of_2(ring_pages) || ring_pages < STAPE_RING_PAGES_MIN ||
	    ring_pages > STAPE_RING_PAGES_MAX) {
		NL_SET_ERR_MSG(extack, "ring-pages must be a power of two from 4 to 65536");
		return -EINVAL;
	}
	if (watermark > ring_pages) {
		NL_SET_ERR_MSG(extack, "the watermark is beyond the ring's end");
		return -EINVAL;
	}
	if (!watermark)
		watermark = ring_pages / 4;

	rings = alloc_percpu_gfp(struct stape_ring, GFP_KERNEL_ACCOUNT);
	if (!rings)
		return -ENOMEM;
	for_each_possible_cpu(cpu) {
		ret = stape_ring_init(per_cpu_ptr(rings, cpu), cpu, ring_pages, watermark,
				      &session->wake);
		if (ret) {
			stape_session_free_rings(rings);
			NL_SET_ERR_MSG(extack, "no memory for the rings: make them smaller");
			return ret;
		}
	}
	session->ring_pages = ring_pages;
	session->watermark = watermark;
	session->state = STAPE_SESSION_READY;
	/* Pairs with the acquire in the device: whoever sees rings may use them. */
	smp_store_release(&session->rings, rings);
	return 0;
}

/**
 * stape_session_refresh() - let every CPU judge its running task anew
 * @session: any session whose filter has changed
 *
 * Context: under stape_sessions_lock; may sleep.
 */
void stape_session_refresh(struct stape_session *session)
{
	if (!session->armed)
		return;
	on_each_cpu(stape_probe_refresh, session, true);
	/* It may have lost its last task. */
	irq_work_queue(&session->wake);
}

/**
 * stape_session_start() - begin to record
 * @session: a session with rings
 * @extack: why not
 *
 * Context: under stape_sessions_lock; may sleep.
 * Return: 0; -EINVAL, -EALREADY, or what registering the probes said.
 */
int stape_session_start(struct stape_session *session, struct netlink_ext_ack *extack)
{
	int cpu, ret;

	switch (session->state) {
	case STAPE_SESSION_RECORDING:
		NL_SET_ERR_MSG(extack, "the session is recording already");
		return -EALREADY;
	case STAPE_SESSION_STOPPED:
		NL_SET_ERR_MSG(extack, "the session has stopped for good: open another");
		return -EINVAL;
	}
	ret = stape_session_arm(session, extack);
	if (ret)
		return ret;
	session->start_time = ktime_get_mono_fast_ns();
	session->state = STAPE_SESSION_RECORDING;
	/* A probe sees it when it sees it: the first page of a CPU says who ran there. */
	for_each_possible_cpu(cpu)
		WRITE_ONCE(per_cpu_ptr(session->rings, cpu)->paused, false);
	return 0;
}

static void stape_session_flush_cpu(void *data)
{
	struct stape_session *session = data;

	stape_ring_flush(this_cpu_ptr(session->rings));
}

/**
 * stape_session_flush() - publish what the rings hold in open pages
 * @session: any session
 *
 * Context: under stape_sessions_lock; may sleep.
 */
void stape_session_flush(struct stape_session *session)
{
	int cpu;

	if (session->state != STAPE_SESSION_RECORDING)
		return;
	cpus_read_lock();
	on_each_cpu(stape_session_flush_cpu, session, true);
	/* A CPU that has gone offline writes no more. */
	for_each_possible_cpu(cpu)
		if (!cpu_online(cpu))
			stape_ring_flush(per_cpu_ptr(session->rings, cpu));
	cpus_read_unlock();
	wake_up_interruptible_all(&session->wait);
}

/**
 * stape_session_stop() - end recording; what the rings hold stays readable
 * @session: a recording session
 * @extack: why not, may be NULL
 *
 * Context: under stape_sessions_lock; may sleep.
 * Return: 0, or -EINVAL if it is not recording.
 */
int stape_session_stop(struct stape_session *session, struct netlink_ext_ack *extack)
{
	int cpu;

	if (session->state != STAPE_SESSION_RECORDING) {
		NL_SET_ERR_MSG(extack, "the session is not recording");
		return -EINVAL;
	}
	stape_session_disarm(session);
	session->stop_time = ktime_get_mono_fast_ns();
	for_each_possible_cpu(cpu)
		stape_ring_flush(per_cpu_ptr(session->rings, cpu));
	/* Pairs with the acquire in the device: all pages are there before. */
	smp_store_release(&session->state, STAPE_SESSION_STOPPED);
	wake_up_interruptible_all(&session->wait);
	schedule_work(&session->notify);
	return 0;
}

/**
 * stape_session_readable() - is there something to read?
 * @session: any session
 * @pages: how much of it
 *
 * Context: any.
 * Return: true if a ring has at least @pages pages for the reader.
 */
bool stape_session_readable(struct stape_session *session, u32 pages)
{
	/* Pairs with the release in stape_session_set(). */
	struct stape_ring __percpu *rings = smp_load_acquire(&session->rings);
	int cpu;

	if (!rings)
		return false;
	for_each_possible_cpu(cpu)
		if (stape_ring_pending(per_cpu_ptr(rings, cpu)) >= pages)
			return true;
	return false;
}
