// SPDX-License-Identifier: GPL-2.0-only
/*
 * Finds the session or the replay that a request names, and keeps it alive.
 */
#include "control/internal.h"

#include <linux/err.h>
#include <net/netlink.h>
#include <schedtape/netlink.h>

#include "record/sessions.h"
#include "replay/replay.h"

/* task-get and player-get name it in an enum of their own, by the same number. */
static_assert((int)STAPE_A_TASK_SESSION == STAPE_A_SESSION_ID);
static_assert((int)STAPE_A_PLAYER_REPLAY == STAPE_A_REPLAY_ID);

/**
 * stape_lookup_session() - find the session that a request names, and take its lock
 * @skb: the request, whose sender must own the session
 * @attrs: its attributes
 * @extack: returned: the reason, if this fails
 *
 * Owners are compared first, because another request may hold the lock for long.
 *
 * Context: may sleep.
 * Return: the session, and the caller calls stape_session_release(); or an ERR_PTR(): -EINVAL,
 * -ENOENT or -EPERM; -EINTR: the sender is being killed.
 */
struct stape_session *stape_lookup_session(struct sk_buff *skb, struct nlattr **attrs,
					   struct netlink_ext_ack *extack)
{
	const struct nlattr *id = attrs[STAPE_A_SESSION_ID];
	struct stape_session *session;
	int ret;

	if (NL_REQ_ATTR_CHECK(extack, NULL, attrs, STAPE_A_SESSION_ID)) {
		NL_SET_ERR_MSG(extack, "the id of the session is missing");
		return ERR_PTR(-EINVAL);
	}
	session = stape_session_find(nla_get_u32(id));
	if (session && !stape_message_owns(skb, session->account)) {
		stape_session_put(session);
		NL_SET_ERR_MSG_ATTR(extack, id,
				    "the session is another user's: needs CAP_SYS_ADMIN");
		return ERR_PTR(-EPERM);
	}
	ret = session ? stape_session_acquire(session) : -ENOENT;
	if (ret == -ENOENT)
		NL_SET_ERR_MSG_ATTR(extack, id, "there is no such session");
	return ret ? ERR_PTR(ret) : session;
}

/**
 * stape_lookup_replay() - find the replay that a request names
 * @skb: the request, whose sender must own the replay
 * @attrs: its attributes
 * @extack: returned: the reason, if this fails
 *
 * Context: may sleep.
 * Return: the replay, and the caller calls stape_replay_put(); or an ERR_PTR(): -EINVAL, -ENOENT
 * or -EPERM.
 */
struct stape_replay *stape_lookup_replay(struct sk_buff *skb, struct nlattr **attrs,
					 struct netlink_ext_ack *extack)
{
	const struct nlattr *id = attrs[STAPE_A_REPLAY_ID];
	struct stape_replay *replay;

	if (NL_REQ_ATTR_CHECK(extack, NULL, attrs, STAPE_A_REPLAY_ID)) {
		NL_SET_ERR_MSG(extack, "the id of the replay is missing");
		return ERR_PTR(-EINVAL);
	}
	replay = stape_replay_find(nla_get_u32(id));
	if (!replay) {
		NL_SET_ERR_MSG_ATTR(extack, id, "there is no such replay");
		return ERR_PTR(-ENOENT);
	}
	if (!stape_message_owns(skb, replay->account)) {
		stape_replay_put(replay);
		NL_SET_ERR_MSG_ATTR(extack, id,
				    "the replay is another user's: needs CAP_SYS_ADMIN");
		return ERR_PTR(-EPERM);
	}
	return replay;
}
