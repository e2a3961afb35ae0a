/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _STAPE_SESSIONS_H
#define _STAPE_SESSIONS_H

#include "record/session.h"

struct file;
struct netlink_ext_ack;
struct poll_table_struct;
struct stape_trigger_setup;

/**
 * struct stape_session_totals - sums over all rings of a session
 * @events: in published pages
 * @lost: that found a full ring
 * @overwritten: before they were read
 */
struct stape_session_totals {
	u64 events;
	u64 lost;
	u64 overwritten;
};

extern struct stape_registry stape_sessions;

int stape_session_set(struct stape_session *session, struct stape_ring_setup *setup,
		      const struct stape_trigger_setup *triggers, u32 nr_triggers,
		      u32 powers, struct netlink_ext_ack *extack);
void stape_session_count(struct stape_session *session, struct stape_session_totals *totals);

bool stape_session_readable(struct stape_session *session, const struct stape_waiter *waiter,
			    u32 pages);
__poll_t stape_session_poll(struct stape_session *session, struct stape_waiter *waiter,
			    struct file *file, struct poll_table_struct *table);
int stape_session_add_waiter(struct stape_session *session, struct stape_waiter *waiter);
void stape_session_remove_waiter(struct stape_session *session, struct stape_waiter *waiter);

struct stape_session *stape_session_create(const struct stape_session_ops *ops);
void stape_session_destroy(struct stape_session *session);
struct stape_session *stape_session_find(u32 id);
struct stape_session *stape_session_find_after(u32 id);
int stape_session_acquire(struct stape_session *session);
void stape_session_each(void (*func)(struct stape_session *session), bool wait);
void stape_session_put(struct stape_session *session);
void stape_session_release(struct stape_session *session);
int stape_session_set_monitor(struct stape_session *session, u32 port,
			      struct netlink_ext_ack *extack);

#endif /* _STAPE_SESSIONS_H */
