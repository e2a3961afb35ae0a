/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _STAPE_SESSION_RINGS_H
#define _STAPE_SESSION_RINGS_H

#include "record/session.h"

struct netlink_ext_ack;
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

int stape_session_set(struct stape_session *session, struct stape_ring_setup *setup,
		      const struct stape_trigger_setup *triggers, u32 nr_triggers,
		      u32 powers, struct netlink_ext_ack *extack);
void stape_session_free_rings(struct stape_session *session);
void stape_session_count(struct stape_session *session, struct stape_session_totals *totals);

#endif /* _STAPE_SESSION_RINGS_H */
