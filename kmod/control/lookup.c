// SPDX-License-Identifier: GPL-2.0-only
/*
 * Finds the session or the replay that a request names, and keeps it alive.
 */
#include "control/lookup.h"

#include <net/genetlink.h>

#include "control/message.h"
#include "record/sessions.h"
#include "replay/replay.h"

/**
 * stape_lookup_session() - find the session that an attribute names
 * @skb: the request, whose sender must own the session
 * @id: the attribute; NULL: the request has none
 * @extack: returned: the reason, if this fails
 * @session: returned
 *
 * Context: may sleep.
 * Return: 0, and the caller calls stape_session_release(); -EINVAL, -ENOENT or -EPERM; -EINTR: the
 * sender is being killed.
 */
int stape_lookup_session(struct sk_buff *skb, const struct nlattr *id,
			 struct netlink_ext_ack *extack, struct stape_session **session)
{
	int ret = -ENOENT;

	if (!id) {
		NL_SET_ERR_MSG(extack, "the id of the session is missing");
		return -EINVAL;
	}
	*session = stape_session_find(nla_get_u32(id));
	if (*session && !stape_message_owns(skb, (*session)->account)) {
		stape_session_put(*session);
		NL_SET_ERR_MSG_ATTR(extack, id,
				    "the session is another user's: needs CAP_SYS_ADMIN");
		return -EPERM;
	}
	if (*session)
		ret = stape_session_acquire(*session);
	if (ret == -ENOENT)
		NL_SET_ERR_MSG_ATTR(extack, id, "there is no such session");
	return ret;
}

/**
 * stape_lookup_replay() - find the replay that an attribute names
 * @skb: the request, whose sender must own the replay
 * @id: the attribute; NULL: the request has none
 * @extack: returned: the reason, if this fails
 * @replay: returned
 *
 * Context: may sleep.
 * Return: 0, and the caller calls stape_replay_put(); -EINVAL, -ENOENT or -EPERM.
 */
int stape_lookup_replay(struct sk_buff *skb, const struct nlattr *id,
			struct netlink_ext_ack *extack, struct stape_replay **replay)
{
	if (!id) {
		NL_SET_ERR_MSG(extack, "the id of the replay is missing");
		return -EINVAL;
	}
	*replay = stape_replay_find(nla_get_u32(id));
	if (!*replay) {
		NL_SET_ERR_MSG_ATTR(extack, id, "there is no such replay");
		return -ENOENT;
	}
	if (!stape_message_owns(skb, (*replay)->account)) {
		stape_replay_put(*replay);
		NL_SET_ERR_MSG_ATTR(extack, id,
				    "the replay is another user's: needs CAP_SYS_ADMIN");
		return -EPERM;
	}
	return 0;
}

/**
 * stape_request_session() - check the permission, and find the session of a request
 * @skb: the request
 * @info: the request
 * @session: returned
 *
 * Context: may sleep.
 * Return: 0, and the caller calls stape_session_release(); -EPERM, -EINVAL, -ENOENT or -EINTR.
 */
int stape_request_session(struct sk_buff *skb, struct genl_info *info,
			  struct stape_session **session)
{
	int ret = stape_message_permit(skb, info->extack);

	if (ret)
		return ret;
	if (GENL_REQ_ATTR_CHECK(info, STAPE_A_SESSION_ID))
		return stape_lookup_session(skb, NULL, info->extack, session);
	return stape_lookup_session(skb, info->attrs[STAPE_A_SESSION_ID], info->extack, session);
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
		ret = stape_lookup_replay(skb, NULL, info->extack, NULL);
	return ret;
}

/**
 * stape_request_replay() - check the permission, and find the replay of a request
 * @skb: the request
 * @info: the request
 * @replay: returned
 *
 * Context: may sleep.
 * Return: 0, and the caller calls stape_replay_put(); -EPERM, -EINVAL or -ENOENT.
 */
int stape_request_replay(struct sk_buff *skb, struct genl_info *info,
			 struct stape_replay **replay)
{
	int ret = stape_request_check_replay(skb, info);

	return ret ?: stape_lookup_replay(skb, info->attrs[STAPE_A_REPLAY_ID], info->extack,
					  replay);
}
