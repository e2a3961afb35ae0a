// SPDX-License-Identifier: GPL-2.0-only
/*
 * Starts, pauses and stops sessions, tells their CPUs when a filter has changed, and wakes their
 * readers.
 */
#include "record/session.h"

#include <linux/cpu.h>
#include <linux/jiffies.h>
#include <linux/netlink.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/security.h>
#include <linux/smp.h>
#include <linux/timekeeping.h>

#include "base/registry.h"
#include "base/work.h"
#include "record/attach.h"
#include "record/dump.h"
#include "record/encode.h"
#include "record/rules.h"
#include "record/trigger.h"
#include "record/watch.h"

/* See stape_session_set_asleep(). */
static bool stape_session_asleep;

/* Lets probes do what the session needs besides writing events. */
static void stape_session_get_keys(struct stape_session *session)
{
	if (session->setup.syscalls)
		stape_extras_get();
	if (session->active.triggers)
		stape_trigger_enable();
}

static void stape_session_put_keys(struct stape_session *session)
{
	if (session->setup.syscalls)
		stape_extras_put();
	if (session->active.triggers)
		stape_trigger_disable();
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
	/* Before the probes are switched on, because this patches their code. */
	stape_session_get_keys(session);
	ret = stape_attach_get();
	if (ret) {
		NL_SET_ERR_MSG(extack, "the kernel refused a tracepoint or a probe");
		stape_session_put_keys(session);
		return ret;
	}
	stape_clock_get(session->setup.counter);
	stape_idle_get(session->setup.counter);
	stape_active_add(&session->active);
	session->attached = true;
	return 0;
}

/**
 * stape_session_detach() - take a session away from the probes
 * @session: any session; if it has not ended, it can be attached again
 *
 * They are RCU readers, so no probe uses it when this returns.  stape_attach_put() is not enough
 * for that: it waits only if it has switched the probes off, and on recent kernels for SRCU
 * instead of RCU.
 *
 * Context: under the session's lock; may sleep.
 */
void stape_session_detach(struct stape_session *session)
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
	stape_idle_put(session->setup.counter);
	stape_clock_put(session->setup.counter);
	stape_session_settle_triggers(session);
	stape_session_put_keys(session);
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
	stape_filter_drop_leavers(&active->filter, leavers);
	/* The filter may have lost its last member. */
	stape_wake_queue(&active->waiter.wake);
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

/* Jiffies.  A virtual CPU may be stopped for long; tasks that enter must not wait that long. */
#define STAPE_SESSION_RESYNC_DELAY_MAX	HZ

static void stape_session_resync_work(struct work_struct *work)
{
	struct stape_session *session = container_of(to_delayed_work(work), struct stape_session,
						     active.resync);
	u64 begin, took;

	mutex_lock(&session->lock);
	begin = ktime_get_mono_fast_ns();
	stape_rules_update_moved(&session->active);
	stape_session_resync(session);
	took = ktime_get_mono_fast_ns() - begin;
	WRITE_ONCE(session->active.resync_delay,
		   1 + min_t(u64, nsecs_to_jiffies(9 * took), STAPE_SESSION_RESYNC_DELAY_MAX));
	mutex_unlock(&session->lock);
}

/* Interrupts may be off, so this does not look at the rings of all CPUs. */
static void stape_session_wake(struct stape_wake *wake)
{
	struct stape_session *session = container_of(wake, struct stape_session,
						     active.waiter.wake);
	struct stape_descriptions *descriptions = session->active.descriptions;
	bool lost, empty;

	/*
	 * A tape that ends too early should name the tasks of its events.  At most one page that is
	 * not full waits for the reader.
	 */
	if (descriptions && !stape_ring_pending(&descriptions->ring))
		stape_descriptions_call(descriptions, stape_ring_flush);
	wake_up_interruptible_all(&session->active.waiter.wait);
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

/* Under the session's lock. */
static void stape_session_wake_readers(struct stape_session *session)
{
	struct stape_waiter *waiter;

	list_for_each_entry(waiter, &session->waiters, list)
		wake_up_interruptible_all(&waiter->wait);
}

static void stape_session_notify_work(struct work_struct *work)
{
	struct stape_session *session = container_of(work, struct stape_session, notify_work);

	mutex_lock(&session->lock);
	stape_session_wake_readers(session);
	session->ops->notify(session);
	mutex_unlock(&session->lock);
}

/**
 * stape_session_init_run() - prepare what a recording and its readers need
 * @session: a new session
 *
 * Context: any.
 */
void stape_session_init_run(struct stape_session *session)
{
	struct stape_waiter *waiter = &session->active.waiter;

	INIT_DELAYED_WORK(&session->active.resync, stape_session_resync_work);
	session->active.resync_delay = 1;
	spin_lock_init(&session->notified_lock);
	INIT_WORK(&session->notify_work, stape_session_notify_work);
	INIT_LIST_HEAD(&session->waiters);
	stape_waiter_init(waiter, cpu_possible_mask, stape_session_wake);
	waiter->descriptions = true;
	list_add(&waiter->list, &session->waiters);
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

/* Pauses all rings, and the triggers. */
static void stape_session_pause_rings(struct stape_session *session)
{
	stape_session_disarm_triggers(session);
	stape_session_each_ring(session, stape_ring_pause);
	stape_session_settle_triggers(session);
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
		stape_session_pause_rings(session);
}

/**
 * stape_session_wake_up() - record, unless the machine is about to sleep
 * @session: any session
 *
 * Context: under the session's lock; may sleep.
 */
void stape_session_wake_up(struct stape_session *session)
{
	if (session->state != STAPE_SESSION_RECORDING || READ_ONCE(stape_session_asleep))
		return;
	/* First, so that what a ring names is described.  A pause has the reverse order. */
	stape_ring_resume(&session->active.descriptions->ring);
	stape_session_each_ring(session, stape_ring_resume);
	/* Last, so that what fires is on the tape. */
	stape_session_arm_triggers(session);
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
		stape_dump_start(session->dump, session->start_time);
		session->missed_calls = stape_attach_missed_calls();
	}
	WRITE_ONCE(session->state, STAPE_SESSION_RECORDING);
	stape_session_wake_up(session);
	return 0;
}

/* Pauses all rings.  If no start follows, @pause_time is the recording's end. */
static void stape_session_quiesce(struct stape_session *session)
{
	stape_session_pause_rings(session);
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
 * stape_session_mark() - write that an interval ends
 * @session: a recording session
 * @nr: the interval's number
 * @time: returned: when, ns of CLOCK_MONOTONIC
 * @extack: returned: the reason, if this fails
 *
 * Context: under the session's lock; may sleep.
 * Return: 0; -EINVAL: it does not record; -EAGAIN: the machine is about to sleep; -ENOSPC: the mark
 * is lost, and counted as any other lost event.
 */
int stape_session_mark(struct stape_session *session, u64 nr, u64 *time,
		       struct netlink_ext_ack *extack)
{
	if (session->state != STAPE_SESSION_RECORDING) {
		NL_SET_ERR_MSG(extack, "the session is not recording");
		return -EINVAL;
	}
	if (stape_encode_interval(&session->active, nr, time))
		return 0;
	/* Under the session's lock, so its rings are neither paused nor resumed meanwhile. */
	if (stape_ring_is_paused(&session->active.descriptions->ring)) {
		NL_SET_ERR_MSG(extack, "the machine is about to sleep: nothing is recorded");
		return -EAGAIN;
	}
	NL_SET_ERR_MSG(extack, "the ring of the descriptions is full: the mark is lost");
	return -ENOSPC;
}

/**
 * stape_session_flush() - publish the open pages of all rings
 * @session: any session
 *
 * This interrupts the session's CPUs, so it is done at most once a tick.
 *
 * Context: under the session's lock; may sleep.
 * Return: false: it was done in this tick already, the caller has to try again.
 */
bool stape_session_flush(struct stape_session *session)
{
	u64 now = get_jiffies_64();

	if (session->state != STAPE_SESSION_RECORDING)
		return true;
	if (session->flushed == now)
		return false;
	session->flushed = now;
	stape_session_each_ring(session, stape_ring_flush);
	stape_session_wake_readers(session);
	return true;
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
