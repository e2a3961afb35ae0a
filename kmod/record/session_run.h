/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _STAPE_SESSION_RUN_H
#define _STAPE_SESSION_RUN_H

#include "record/session.h"

struct netlink_ext_ack;

void stape_session_init_run(struct stape_session *session);
int stape_session_attach(struct stape_session *session, struct netlink_ext_ack *extack);
void stape_session_detach(struct stape_session *session);
int stape_session_start(struct stape_session *session, struct netlink_ext_ack *extack);
void stape_session_set_asleep(bool asleep);
void stape_session_sleep(struct stape_session *session);
void stape_session_wake_up(struct stape_session *session);
int stape_session_pause(struct stape_session *session, struct netlink_ext_ack *extack);
int stape_session_stop(struct stape_session *session, struct netlink_ext_ack *extack);
void stape_session_stop_by(struct stape_session *session, u32 stopped_by);
bool stape_session_flush(struct stape_session *session);
void stape_session_resync(struct stape_session *session);
u64 stape_session_missed_calls(const struct stape_session *session);

#endif /* _STAPE_SESSION_RUN_H */
