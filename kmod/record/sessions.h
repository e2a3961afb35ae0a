/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _STAPE_SESSIONS_H
#define _STAPE_SESSIONS_H

#include "record/session.h"

struct netlink_ext_ack;

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

extern struct stape_registry stape_sessions;

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
