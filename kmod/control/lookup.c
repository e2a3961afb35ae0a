// SPDX-License-Identifier: GPL-2.0-only
/*
 * Finds the session or the replay that a request names, and takes the lock that keeps it alive.
 */
#include "control/lookup.h"

#include <net/genetlink.h>

#include "control/message.h"
#include "record/session.h"
#include "replay/replay.h"

/**
 * stape_lookup_session() - find the session that an attribute names
 * @id: the attribute; NULL: the request has none
 * @extack: returned: the reason, if this fails
 * @session: returned
 *
 * Context: may sleep.
 * Return: 0, with stape_sessions_lock; -EINVAL or -ENOENT, without.
 */
int stape_lookup_session(const struct nlattr *id, struct netlink_ext_ack *extack,
			 struct stape_session **session)
{
	if (!id) {
		NL_SET_ERR_MSG(extack, "the id of the session is missing");
		return -EINVAL;
	}
	mutex_lock(&stape_sessions_lock);
	*session = stape_session_find(nla_get_u32(id));
	if (!*session) {
		mutex_unlock(&stape_sessions_lock);
		NL_SET_ERR_MSG_ATTR(extack, id, "there is no such session");
		return -ENOENT;
	}
	return 0;
}

/**
 * stape_lookup_replay() - find the replay that an attribute names
 * @id: the attribute; NULL: the request has none
 * @extack: returned: the reason, if this fails
 * @replay: returned
 *
 * Context: may sleep.
 * Return: 0, with stape_replays_lock; -EINVAL or -ENOENT, without.
 */
int stape_lookup_replay(const struct nlattr *id, struct netlink_ext_ack *extack,
			struct stape_replay **replay)
{
	if (!id) {
		NL_SET_ERR_MSG(extack, "the id of the replay is missing");
		return -EINVAL;
	}
	mutex_lock(&stape_replays_lock);
	*replay = stape_replay_find(nla_get_u32(id));
	if (!*replay) {
		mutex_unlock(&stape_replays_lock);
		NL_SET_ERR_MSG_ATTR(extack, id, "there is no such replay");
		return -ENOENT;
	}
	return 0;
}

/**
 * stape_request_session() - check the permission, and find the session of a request
 * @skb: the request
 * @info: the request
 * @session: returned
 *
 * A sender without permission fails before the lock is taken.
 *
 * Context: may sleep.
 * Return: 0, with stape_sessions_lock; -EPERM, -EINVAL or -ENOENT, without.
 */
int stape_request_session(struct sk_buff *skb, struct genl_info *info,
			  struct stape_session **session)
{
	int ret = stape_message_permit(skb, info->extack);

	if (ret)
		return ret;
	if (GENL_REQ_ATTR_CHECK(info, STAPE_A_SESSION_ID))
		return stape_lookup_session(NULL, info->extack, session);
	return stape_lookup_session(info->attrs[STAPE_A_SESSION_ID], info->extack, session);
}

/**
 * stape_request_check_replay() - check the permission, and that a request names a replay
 * @skb: the request
 * @info: the request
 *
 * Context: any.
 * Return: 0, -EPERM or -EINVAL.
 */
int stape_request_check_replay(struct sk_buff *skb, struct genl_info *info)
{
	int ret = stape_message_permit(skb, info->extack);

	if (!ret && GENL_REQ_ATTR_CHECK(info, STAPE_A_REPLAY_ID))
		ret = stape_lookup_replay(NULL, info->extack, NULL);
	return ret;
}

/**
 * stape_request_replay() - check the permission, and find the replay of a request
 * @skb: the request
 * @info: the request
 * @replay: returned
 *
 * Context: may sleep.
 * Return: 0, with stape_replays_lock; -EPERM, -EINVAL or -ENOENT, without.
 */
int stape_request_replay(struct sk_buff *skb, struct genl_info *info,
			 struct stape_replay **replay)
{
	int ret = stape_request_check_replay(skb, info);

	return ret ?: stape_lookup_replay(info->attrs[STAPE_A_REPLAY_ID], info->extack, replay);
}
