/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _STAPE_SESSION_TRIGGERS_H
#define _STAPE_SESSION_TRIGGERS_H

#include "record/session.h"
#include "record/trigger.h"

struct netlink_ext_ack;

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

#endif /* _STAPE_SESSION_TRIGGERS_H */
