/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _STAPE_SESSIONS_H
#define _STAPE_SESSIONS_H

#include "record/session.h"

struct netlink_ext_ack;

extern struct stape_registry stape_sessions;

struct stape_session *stape_session_create(void (*notify)(struct stape_session *session));
void stape_session_destroy(struct stape_session *session);
struct stape_session *stape_session_find(u32 id);
struct stape_session *stape_session_find_after(u32 id);
void stape_session_each(void (*func)(struct stape_session *session));
void stape_session_release(struct stape_session *session);
int stape_session_set_monitor(struct stape_session *session, u32 port,
			      struct netlink_ext_ack *extack);

#endif /* _STAPE_SESSIONS_H */
