/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _STAPE_SESSION_H
#define _STAPE_SESSION_H

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <schedtape/netlink.h>

#include "base/registry.h"
#include "record/active.h"

struct netlink_ext_ack;
struct stape_account;
struct stape_dump;
struct stape_session;
struct stape_trigger;
struct stape_trigger_setup;

/**
 * struct stape_session_ops - notifications, sent from process context
 * @notify: the session has stopped or has lost its first event, or its last task has ended; under
 *	its lock
 * @notify_trigger: one of its triggers has fired, for what its @notice says; without the lock
 */
struct stape_session_ops {
	void (*notify)(struct stape_session *session);
	void (*notify_trigger)(struct stape_active *active, const struct stape_trigger *trigger);
};

/**
 * struct stape_session - one recording in the kernel; it ends with its open file
 * @active: the part that probes use
 * @entry: in stape_sessions; references: the open file's, and one of each request that uses
 *	the session
 * @rcu: frees it, because a request may be looking at @entry
 * @lock: see below
 * @gone: its file has been released; requests that waited for @lock find no session
 * @state: enum stape_session_state
 * @attached: @active is in stape_actives, and probes keep the filter up to date.  They write
 *	events while @state is RECORDING
 * @setup: settings of the rings
 * @dump: describes the rings for the reader of a crash dump; as long as there are rings
 * @account: its user's, as long as there are references
 * @memory: bytes charged to @account: the rings and the filter's bits
 * @had_members: the filter has had a member
 * @notified_lock: protects @notified_lost and @notified_empty from the wake of @active.waiter,
 *	which may run on two CPUs at a time
 * @any_lost: a ring has lost an event
 * @notified_lost: the netlink group has been notified of a loss
 * @notified_empty: it has been notified that the last task has ended
 * @flushed: jiffies, when the rings were flushed last
 * @start_time: ns, when recording started
 * @pause_time: ns, when it was paused last
 * @stop_time: ns, when it was stopped; if it was paused then, when it was paused
 * @stopped_by: enum stape_stopped_by
 * @missed_calls: stape_attach_missed_calls() at the start; from the stop on the difference
 * @waiters: all readers: @active.waiter, and a waiter for each file of STAPE_IOC_STREAM
 * @ops: notifications
 * @notify_work: calls @ops->notify, from process context
 * @read_lock: serialises read()
 *
 * @lock protects all fields except what probes use: the contents of the rings and the filter's
 * bits.  Readers read @state and @active.rings without it.  Once there are rings, they also read
 * @setup, which does not change any more.  Nobody holds the locks of two sessions.
 */
struct stape_session {
	struct stape_active active;
	struct stape_entry entry;
	struct rcu_head rcu;
	struct mutex lock;	/* see above */
	bool gone;

	u32 state;
	bool attached;
	struct stape_ring_setup setup;
	struct stape_dump *dump;
	struct stape_account *account;
	u64 memory;
	bool had_members;
	spinlock_t notified_lock;	/* see above */
	bool any_lost;
	bool notified_lost;
	bool notified_empty;
	u64 flushed;
	u64 start_time;
	u64 pause_time;
	u64 stop_time;
	u32 stopped_by;
	u64 missed_calls;
	struct list_head waiters;
	const struct stape_session_ops *ops;
	struct work_struct notify_work;
	struct mutex read_lock;	/* see above */
};

/* Returns true if the session's last task has ended and no other task will enter. */
static inline bool stape_session_empty(const struct stape_session *session)
{
	return READ_ONCE(session->had_members) && stape_filter_is_over(&session->active.filter);
}

static inline bool stape_session_finished(const struct stape_session *session)
{
	/* Pairs with the release in stape_session_end(). */
	return smp_load_acquire(&session->state) == STAPE_SESSION_STOPPED;
}

/* session_run.c */
void stape_session_init_run(struct stape_session *session);
int stape_session_attach(struct stape_session *session, struct netlink_ext_ack *extack);
void stape_session_detach(struct stape_session *session);
int stape_session_start(struct stape_session *session, struct netlink_ext_ack *extack);
void stape_session_set_asleep(bool asleep);
void stape_session_sleep(struct stape_session *session);
void stape_session_wake_up(struct stape_session *session);
int stape_session_pause(struct stape_session *session, struct netlink_ext_ack *extack);
int stape_session_mark(struct stape_session *session, u64 nr, u64 *time,
		       struct netlink_ext_ack *extack);
int stape_session_stop(struct stape_session *session, struct netlink_ext_ack *extack);
void stape_session_stop_by(struct stape_session *session, u32 stopped_by);
bool stape_session_flush(struct stape_session *session);
void stape_session_resync(struct stape_session *session);
u64 stape_session_missed_calls(const struct stape_session *session);

/* session_triggers.c */
int stape_session_make_triggers(struct stape_session *session, const struct stape_ring_setup *setup,
				const struct stape_trigger_setup *triggers, u32 nr, u32 powers,
				struct netlink_ext_ack *extack);
void stape_session_link_triggers(struct stape_session *session,
				 struct stape_ring __percpu *rings);
void stape_session_free_triggers(struct stape_session *session);
void stape_session_arm_triggers(struct stape_session *session);
void stape_session_disarm_triggers(struct stape_session *session);
void stape_session_settle_triggers(struct stape_session *session);
u64 stape_session_trigger_bytes(const struct stape_session *session);
u64 stape_session_missed_waits(const struct stape_session *session);

#endif /* _STAPE_SESSION_H */
