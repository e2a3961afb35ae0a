// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sessions: made by open(), given rings by session-set, recording between
 * session-start and session-stop, gone with their file.
 */
#include "record/session.h"

#include <linux/cpu.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/moduleparam.h>
#include <linux/netlink.h>
#include <linux/percpu.h>
#include <linux/rculist.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/timekeeping.h>

#include "base/memory.h"
#include "base/work.h"
#include "control/netlink.h"
#include "control/waiter.h"
#include "record/probe_sched.h"

/* Protects every session's settings and its life; the outermost lock. */
DEFINE_MUTEX(stape_sessions_lock);
/* Read under stape_sessions_lock: to that a new session may be added at any time. */
LIST_HEAD(stape_sessions);
/* Protects changes of the list, and the last id. */
static DEFINE_SPINLOCK(stape_sessions_list_lock);
/* Read by probes under RCU, changed under stape_sessions_lock. */
HLIST_HEAD(stape_sessions_active);
/* The same. */
DEFINE_PER_CPU(struct stape_ring *, stape_session_rings[STAPE_FILTER_SLOTS]);

static u32 stape_session_last_id;

static unsigned int stape_ring_memory_max_mb;
module_param_named(ring_memory_max, stape_ring_memory_max_mb, uint, 0644);
MODULE_PARM_DESC(ring_memory_max, "MB in the rings of all sessions; 0: a quarter of the memory");

/* Bytes in rings; changed under stape_sessions_lock. */
static u64 stape_ring_memory;

static bool stape_session_has_lost(struct stape_session *session)
{
	int cpu;

	for_each_cpu(cpu, &session->setup.cpus)
		if (READ_ONCE(per_cpu_ptr(session->rings, cpu)->producer->lost))
			return true;
	return false;
}

static void stape_session_wake(struct irq_work *work)
{
	struct stape_session *session = container_of(work, struct stape_session, wake);
	bool lost, empty;

	wake_up_interruptible_all(&session->wait);
	/* Who looks later tells later: no CPU puts back what another has seen since. */
	spin_lock(&session->told_lock);
	lost = session->told_lost || stape_session_has_lost(session);
	empty = stape_session_empty(session);
	if (lost != session->told_lost || empty != session->told_empty) {
		session->told_lost = lost;
		session->told_empty = empty;
		queue_work(stape_work, &session->notify);
	}
	spin_unlock(&session->told_lock);
}

static void stape_session_notify(struct work_struct *work)
{
	struct stape_session *session = container_of(work, struct stape_session, notify);

	mutex_lock(&stape_sessions_lock);
	stape_streams_wake(session);
	stape_netlink_session_ntf(session);
	mutex_unlock(&stape_sessions_lock);
}

static void stape_session_refresh_work(struct work_struct *work)
{
	struct stape_session *session = container_of(to_delayed_work(work), struct stape_session,
						     refresh);

	mutex_lock(&stape_sessions_lock);
	stape_filter_freshen(&session->filter);
	stape_session_refresh(session);
	mutex_unlock(&stape_sessions_lock);
}

/**
 * stape_session_refresh_soon() - refresh a session that a probe has found changed
 * @session: an active session
 *
 * Anybody can cause it as often as he likes, and it disturbs all CPUs: once a tick.
 *
 * Context: any that has no runqueue lock.
 */
void stape_session_refresh_soon(struct stape_session *session)
{
	queue_delayed_work(stape_work, &session->refresh, 1);
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
	INIT_LIST_HEAD(&session->streams);
	spin_lock_init(&session->told_lock);
	init_waitqueue_head(&session->wait);
	/* Not a hard one: on PREEMPT_RT a wait queue's lock may sleep. */
	init_irq_work(&session->wake, stape_session_wake);
	INIT_WORK(&session->notify, stape_session_notify);
	INIT_DELAYED_WORK(&session->refresh, stape_session_refresh_work);
	mutex_init(&session->read_lock);

	/* Not the mutex, which may be held for long: whoever opens any misc device waits for us. */
	spin_lock(&stape_sessions_list_lock);
	session->id = ++stape_session_last_id;
	list_add_tail_rcu(&session->all, &stape_sessions);
	spin_unlock(&stape_sessions_list_lock);
	return session;

err_filter:
	kfree(session);
	return ERR_PTR(ret);
}

/* Who has which slot; under stape_sessions_lock. */
static DECLARE_BITMAP(stape_session_slots, STAPE_FILTER_SHARED) = { 1 };

static void stape_session_take_slot(struct stape_session *session)
{
	u32 slot = find_first_zero_bit(stape_session_slots, STAPE_FILTER_SHARED);
	int cpu;

	/* None is left: that is the number of the shared one. */
	session->filter.slot = slot;
	if (slot == STAPE_FILTER_SHARED)
		return;
	__set_bit(slot, stape_session_slots);
	for_each_possible_cpu(cpu)
		WRITE_ONCE(per_cpu(stape_session_rings[slot], cpu),
			   per_cpu_ptr(session->rings, cpu));
}

static void stape_session_give_slot(struct stape_session *session)
{
	u32 slot = session->filter.slot;
	int cpu;

	if (slot == STAPE_FILTER_SHARED)
		return;
	for_each_possible_cpu(cpu)
		WRITE_ONCE(per_cpu(stape_session_rings[slot], cpu), NULL);
	__clear_bit(slot, stape_session_slots);
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
		NL_SET_ERR_MSG(extack, "the kernel refused a tracepoint or a probe");
		return ret;
	}
	stape_session_take_slot(session);
	hlist_add_head_rcu(&session->active, &stape_sessions_active);
	session->armed = true;
	/*
	 * Only now the filter's bits.  Pairs with the address dependency of
	 * stape_probe_ring() on the slot of a task.
	 */
	smp_wmb();
	return 0;
}

/*
 * Takes a session from the probes: they are RCU readers, and none uses it when this returns.
 * That is not left to stape_probe_put(), which waits only if it was the last user, and
 * on recent kernels for SRCU instead of RCU.
 */
static void stape_session_disarm(struct stape_session *session)
{
	if (!session->armed)
		return;
	session->armed = false;
	/* First its bits: after a grace period no probe reaches the rings through its slot. */
	stape_filter_clear(&session->filter);
	synchronize_rcu();
	hlist_del_rcu(&session->active);
	stape_session_give_slot(session);
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
	stape_session_stop(session, NULL);
	stape_session_disarm(session);
	spin_lock(&stape_sessions_list_lock);
	list_del_rcu(&session->all);
	spin_unlock(&stape_sessions_list_lock);
	WRITE_ONCE(stape_ring_memory, stape_ring_memory - session->memory);
	mutex_unlock(&stape_sessions_lock);

	flush_delayed_work(&session->refresh);
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
	for_each_session(session)
		if (session->id == id)
			return session;
	return NULL;
}

/**
 * stape_session_memory_max() - bytes that all rings together may have
 *
 * Context: any.
 */
u64 stape_session_memory_max(void)
{
	u64 mb = READ_ONCE(stape_ring_memory_max_mb);

	return mb ? mb << 20 : (u64)totalram_pages() * PAGE_SIZE / 4;
}

/**
 * stape_session_memory() - bytes that they have
 *
 * Context: any.
 */
u64 stape_session_memory(void)
{
	return READ_ONCE(stape_ring_memory);
}

static int stape_session_check(const struct stape_session *session,
			       const struct stape_ring_setup *setup,
			       struct netlink_ext_ack *extack)
{
	u64 bytes = (u64)stape_ring_size(setup->pages) * cpumask_weight(&setup->cpus);

	if (session->state != STAPE_SESSION_NEW) {
		NL_SET_ERR_MSG(extack, "the session has its rings already");
		return -EBUSY;
	}
	if (!is_power_of_2(setup->pages) || setup->pages < STAPE_RING_PAGES_MIN ||
	    setup->pages > STAPE_RING_PAGES_MAX) {
		NL_SET_ERR_MSG(extack, "ring-pages must be a power of two from 4 to 65536");
		return -EINVAL;
	}
	if (setup->watermark > setup->pages) {
		NL_SET_ERR_MSG(extack, "the watermark is beyond the ring's end");
		return -EINVAL;
	}
	if (cpumask_empty(&setup->cpus)) {
		NL_SET_ERR_MSG(extack, "none of these CPUs can be");
		return -EINVAL;
	}
	if (setup->counter && !stape_counter_fit()) {
		NL_SET_ERR_MSG(extack, "this machine's counter is not fit as a clock");
		return -EOPNOTSUPP;
	}
	if (stape_ring_memory + bytes > stape_session_memory_max()) {
		NL_SET_ERR_MSG(extack, "more than all rings may have (parameter ring_memory_max)");
		return -ENOMEM;
	}
	return 0;
}

/**
 * stape_session_set() - give a session its rings
 * @session: a new session
 * @setup: what they are to be like; a watermark of 0: a quarter of the ring
 * @extack: why not
 *
 * Context: under stape_sessions_lock; may sleep.
 * Return: 0; -EINVAL, -EBUSY, -ENOMEM; -EOPNOTSUPP: no such clock.
 */
int stape_session_set(struct stape_session *session, const struct stape_ring_setup *setup,
		      struct netlink_ext_ack *extack)
{
	struct stape_ring __percpu *rings;
	int cpu, ret;

	ret = stape_session_check(session, setup, extack);
	if (ret)
		return ret;
	rings = alloc_percpu_gfp(struct stape_ring, STAPE_GFP_LARGE);
	if (!rings) {
		NL_SET_ERR_MSG(extack, "no memory for what each CPU needs besides its ring");
		return -ENOMEM;
	}
	session->setup = *setup;
	session->setup.notify = &session->wake;
	if (!setup->watermark)
		session->setup.watermark = setup->pages / 4;
	for_each_possible_cpu(cpu) {
		ret = stape_ring_init(per_cpu_ptr(rings, cpu), cpu, &session->setup);
		if (ret) {
			stape_session_free_rings(rings);
			NL_SET_ERR_MSG(extack, "no memory for the rings: make them smaller");
			return ret;
		}
	}
	session->memory = stape_ring_size(setup->pages) * cpumask_weight(&setup->cpus);
	WRITE_ONCE(stape_ring_memory, stape_ring_memory + session->memory);
	WRITE_ONCE(session->state, STAPE_SESSION_READY);
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
	u32 left;

	if (!session->armed)
		return;
	left = stape_filter_left(&session->filter);
	on_each_cpu(stape_probe_refresh, session, true);
	stape_filter_forget_left(&session->filter, left);
	/* It may have lost its last task. */
	irq_work_queue(&session->wake);
}

struct stape_ring_call {
	struct stape_session *session;
	void (*func)(struct stape_ring *ring);
};

static void stape_session_call(void *data)
{
	struct stape_ring_call *call = data;

	call->func(this_cpu_ptr(call->session->rings));
}

/* A ring is its CPU's; that of a CPU which is offline is nobody's. */
static void stape_session_each_ring(struct stape_session *session,
				    void (*func)(struct stape_ring *ring))
{
	struct stape_ring_call call = { session, func };
	int cpu;

	cpus_read_lock();
	on_each_cpu(stape_session_call, &call, true);
	for_each_possible_cpu(cpu)
		if (!cpu_online(cpu))
			func(per_cpu_ptr(session->rings, cpu));
	cpus_read_unlock();
}

static void stape_session_wake_readers(struct stape_session *session)
{
	wake_up_interruptible_all(&session->wait);
	stape_streams_wake(session);
}

/**
 * stape_session_start() - begin to record, or go on
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
	if (session->state == STAPE_SESSION_READY)
		session->start_time = ktime_get_mono_fast_ns();
	WRITE_ONCE(session->state, STAPE_SESSION_RECORDING);
	for_each_cpu(cpu, &session->setup.cpus)
		stape_ring_resume(per_cpu_ptr(session->rings, cpu));
	return 0;
}

/* Nothing is recorded from here on.  If nothing comes after it, this is the end. */
static void stape_session_rest(struct stape_session *session)
{
	stape_session_each_ring(session, stape_ring_pause);
	session->pause_time = ktime_get_mono_fast_ns();
}

/**
 * stape_session_pause() - record nothing until the next start
 * @session: a recording session
 * @extack: why not
 *
 * Context: under stape_sessions_lock; may sleep.
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
	stape_session_rest(session);
	WRITE_ONCE(session->state, STAPE_SESSION_PAUSED);
	stape_session_wake_readers(session);
	return 0;
}

/**
 * stape_session_flush() - publish what the rings hold in open pages
 * @session: any session
 *
 * Context: under stape_sessions_lock; may sleep.
 */
void stape_session_flush(struct stape_session *session)
{
	/* What may be overwritten is read in the end. */
	if (session->state != STAPE_SESSION_RECORDING || session->setup.overwrite)
		return;
	stape_session_each_ring(session, stape_ring_flush);
	stape_session_wake_readers(session);
}

/**
 * stape_session_stop() - end recording; what the rings hold stays readable
 * @session: a recording or paused session
 * @extack: why not, may be NULL
 *
 * Context: under stape_sessions_lock; may sleep.
 * Return: 0, or -EINVAL if it is not recording.
 */
int stape_session_stop(struct stape_session *session, struct netlink_ext_ack *extack)
{
	int cpu;

	if (session->state != STAPE_SESSION_RECORDING && session->state != STAPE_SESSION_PAUSED) {
		NL_SET_ERR_MSG(extack, "the session is not recording");
		return -EINVAL;
	}
	/* At one instant for all tasks, however long it takes to let go of them. */
	if (session->state == STAPE_SESSION_RECORDING)
		stape_session_rest(session);
	session->stop_time = session->pause_time;
	stape_session_disarm(session);
	for_each_cpu(cpu, &session->setup.cpus)
		stape_ring_finish(per_cpu_ptr(session->rings, cpu));
	/* Pairs with the acquire in stape_session_finished(): all pages are there before. */
	smp_store_release(&session->state, STAPE_SESSION_STOPPED);
	stape_session_wake_readers(session);
	queue_work(stape_work, &session->notify);
	return 0;
}

/**
 * stape_session_readable() - is there something to read?
 * @session: any session
 * @cpus: in whose rings
 * @pages: how much of it, 0: as much as the session's watermark says
 *
 * Context: any.
 * Return: true if one of these rings has as many pages for the reader.
 */
bool stape_session_readable(struct stape_session *session, const struct cpumask *cpus, u32 pages)
{
	/* Pairs with the release in stape_session_set(). */
	struct stape_ring __percpu *rings = smp_load_acquire(&session->rings);
	int cpu;

	/* A ring that is overwritten may be read when it is at rest. */
	if (!rings || (session->setup.overwrite && !stape_session_finished(session)))
		return false;
	if (!pages)
		pages = session->setup.watermark;
	for_each_cpu_and(cpu, cpus, &session->setup.cpus)
		if (stape_ring_pending(per_cpu_ptr(rings, cpu)) >= pages)
			return true;
	return false;
}

/**
 * stape_session_poll() - what poll() says
 * @session: any session
 * @cpus: of whose rings
 *
 * Context: any.
 */
__poll_t stape_session_poll(struct stape_session *session, const struct cpumask *cpus)
{
	__poll_t events = 0;

	if (stape_session_finished(session) || stape_session_readable(session, cpus, 0))
		events |= EPOLLIN | EPOLLRDNORM;
	if (stape_session_empty(session))
		events |= EPOLLHUP;
	return events;
}

/**
 * stape_session_cpus() - CPUs from a mask of bytes
 * @cpus: returned: those of them that may be
 * @bytes: bit n%8 of byte n/8 is CPU n
 * @n: bytes
 *
 * Context: any.
 */
void stape_session_cpus(cpumask_t *cpus, const u8 *bytes, unsigned int n)
{
	int cpu;

	cpumask_clear(cpus);
	for_each_possible_cpu(cpu) {
		u32 at = cpu / BITS_PER_BYTE;

		if (at < n && bytes[at] & BIT(cpu % BITS_PER_BYTE))
			cpumask_set_cpu(cpu, cpus);
	}
}
