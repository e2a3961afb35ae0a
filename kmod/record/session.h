/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _STAPE_SESSION_H
#define _STAPE_SESSION_H

#include <linux/irq_work.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/poll.h>
#include <linux/rculist.h>
#include <linux/rcupdate.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <schedtape/netlink.h>

#include "record/filter.h"
#include "record/ring.h"

struct netlink_ext_ack;
struct stape_replay;

/**
 * struct stape_session - one recording, as long as its file is open
 * @active: in stape_sessions_active while armed
 * @all: in stape_sessions
 * @rings: one per possible CPU; NULL before session-set
 * @filter: which tasks
 * @id: number in the netlink family, never used again
 * @state: enum stape_session_state
 * @armed: probes look after the filter; they write while @state is RECORDING
 * @setup: of the rings
 * @memory: bytes of the rings
 * @peopled: the filter has had a task
 * @told_lock: protects what has been told; for @wake, which may run on two CPUs at a time
 * @told_lost: a loss has been told to the netlink group
 * @told_empty: that the last task has gone has been told
 * @start_time: ns, when recording started
 * @pause_time: ns, when it was paused last
 * @stop_time: ns, when it stopped, or was paused for good
 * @streams: files that wait for some of the CPUs
 * @wait: readers
 * @wake: wakes them from probes
 * @notify: tells the netlink group, from process context
 * @refresh: lets all CPUs look who runs there, from process context
 * @read_lock: one read() at a time
 * @has_replay: STAPE_IOC_REPLAY has been called
 * @replay: made by it, or NULL
 *
 * But for what probes touch (@rings' contents, @filter's bits) and @has_replay,
 * everything is protected by stape_sessions_lock.  Readers look at @state and @rings
 * without it, and once there are @rings, at their @setup, which stays.
 */
struct stape_session {
	struct hlist_node active;
	struct list_head all;
	struct stape_ring __percpu *rings;
	struct stape_filter filter;

	u32 id;
	u32 state;
	bool armed;
	struct stape_ring_setup setup;
	size_t memory;
	bool peopled;
	spinlock_t told_lock;	/* see above */
	bool told_lost;
	bool told_empty;
	atomic_t has_replay;
	u64 start_time;
	u64 pause_time;
	u64 stop_time;
	struct list_head streams;
	wait_queue_head_t wait;
	struct irq_work wake;
	struct work_struct notify;
	struct delayed_work refresh;
	struct mutex read_lock;	/* see above */
	struct stape_replay *replay;
};

extern struct mutex stape_sessions_lock;
extern struct list_head stape_sessions;
extern struct hlist_head stape_sessions_active;

/*
 * This CPU's ring by the slot of an active session's filter; for the slot that
 * several share one that hands on to all of theirs.
 */
DECLARE_PER_CPU(struct stape_ring *, stape_session_rings[STAPE_FILTER_SLOTS]);

struct stape_session *stape_session_create(void);
void stape_session_destroy(struct stape_session *session);
struct stape_session *stape_session_find(u32 id);
int stape_session_set(struct stape_session *session, const struct stape_ring_setup *setup,
		      struct netlink_ext_ack *extack);
int stape_session_arm(struct stape_session *session, struct netlink_ext_ack *extack);
int stape_session_start(struct stape_session *session, struct netlink_ext_ack *extack);
int stape_session_pause(struct stape_session *session, struct netlink_ext_ack *extack);
int stape_session_stop(struct stape_session *session, struct netlink_ext_ack *extack);
void stape_session_flush(struct stape_session *session);
void stape_session_refresh(struct stape_session *session);
void stape_session_refresh_soon(struct stape_session *session);
void stape_session_cpus(cpumask_t *cpus, const u8 *bytes, unsigned int n);
__poll_t stape_session_poll(struct stape_session *session, const struct cpumask *cpus);
bool stape_session_readable(struct stape_session *session, const struct cpumask *cpus, u32 pages);
u64 stape_session_memory(void);
u64 stape_session_memory_max(void);

/* Its last task has gone, and no other will come. */
static inline bool stape_session_empty(const struct stape_session *session)
{
	return READ_ONCE(session->peopled) && stape_filter_is_over(&session->filter);
}

static inline bool stape_session_finished(const struct stape_session *session)
{
	/* Pairs with the release in stape_session_stop(). */
	return smp_load_acquire(&session->state) == STAPE_SESSION_STOPPED;
}

/* Under stape_sessions_lock: without it none goes, see stape_session_create(). */
#define for_each_session(session) \
	list_for_each_entry_rcu(session, &stape_sessions, all, \
				lockdep_is_held(&stape_sessions_lock))

/* Returns the list of active sessions.  A debug kernel warns if RCU does not protect it. */
static inline struct hlist_head *stape_session_actives(void)
{
	RCU_LOCKDEP_WARN(!rcu_read_lock_any_held(), "a probe looks at sessions without RCU");
	return &stape_sessions_active;
}

/*
 * For RCU readers.  A probe is one where interrupts or preemption are off; where they may
 * be on it calls rcu_read_lock(), because the kernel no longer does so for it: see probe.c.
 */
#define for_each_active_session(session) \
	hlist_for_each_entry_rcu_notrace(session, stape_session_actives(), active)

#endif /* _STAPE_SESSION_H */
