// SPDX-License-Identifier: GPL-2.0-only
/*
 * Netlink commands for replays.
 */
#include "control/commands.h"

#include <net/genetlink.h>

#include "base/account.h"
#include "control/lookup.h"
#include "control/message.h"
#include "replay/replay.h"

const struct nla_policy stape_replay_id_policy[STAPE_A_REPLAY_ID + 1] = {
	[STAPE_A_REPLAY_ID] = NLA_POLICY_MIN(NLA_U32, 1),
};

/* Not const, because up to 6.6 a policy's pointer to its range is not const. */
static struct netlink_range_validation stape_delay_range = {
	.max = 3600ULL * NSEC_PER_SEC,
};

const struct nla_policy stape_replay_start_policy[STAPE_A_REPLAY_DELAY + 1] = {
	[STAPE_A_REPLAY_ID] = NLA_POLICY_MIN(NLA_U32, 1),
	[STAPE_A_REPLAY_DELAY] = NLA_POLICY_FULL_RANGE(NLA_U64, &stape_delay_range),
};

static struct netlink_range_validation stape_speed_range = {
	.min = STAPE_REPLAY_SPEED_MIN,
	.max = STAPE_REPLAY_SPEED_MAX,
};

const struct nla_policy stape_replay_set_policy[STAPE_A_REPLAY_SPEED + 1] = {
	[STAPE_A_REPLAY_ID] = NLA_POLICY_MIN(NLA_U32, 1),
	[STAPE_A_REPLAY_SPEED] = NLA_POLICY_FULL_RANGE(NLA_U32, &stape_speed_range),
};

/* Fills in the state and the numbers that must match it.  Under the replay's lock. */
static int stape_replay_fill_state(struct sk_buff *skb, const struct stape_replay *replay)
{
	if (nla_put_u32(skb, STAPE_A_REPLAY_STATE, replay->state) ||
	    nla_put_u32(skb, STAPE_A_REPLAY_JOINED, replay->joined) ||
	    nla_put_u32(skb, STAPE_A_REPLAY_DONE, replay->done) ||
	    nla_put_u64_64bit(skb, STAPE_A_REPLAY_START_TIME, replay->start_time,
			      STAPE_A_REPLAY_PAD) ||
	    nla_put_u64_64bit(skb, STAPE_A_REPLAY_STOP_TIME, replay->stop_time,
			      STAPE_A_REPLAY_PAD) ||
	    nla_put_u32(skb, STAPE_A_REPLAY_FAILED_PID, replay->failed_pid) ||
	    nla_put_u32(skb, STAPE_A_REPLAY_STOPPED_BY, replay->stopped_by) ||
	    nla_put_u32(skb, STAPE_A_REPLAY_SPEED, replay->timebase.speed))
		return -EMSGSIZE;
	return 0;
}

static int stape_replay_fill(struct sk_buff *skb, struct stape_replay *replay)
{
	int ret;

	spin_lock(&replay->lock);
	ret = stape_replay_fill_state(skb, replay);
	spin_unlock(&replay->lock);
	if (ret || nla_put_u32(skb, STAPE_A_REPLAY_ID, replay->entry.id) ||
	    nla_put_u32(skb, STAPE_A_REPLAY_PLAYERS, replay->nr_players) ||
	    nla_put_u32(skb, STAPE_A_REPLAY_UID,
			from_kuid(&init_user_ns, replay->account->uid)) ||
	    nla_put_u64_64bit(skb, STAPE_A_REPLAY_MEMORY, replay->memory,
			      STAPE_A_REPLAY_PAD) ||
	    nla_put_u32(skb, STAPE_A_REPLAY_WAITING, atomic_read(&replay->waiting)) ||
	    nla_put_u64_64bit(skb, STAPE_A_REPLAY_STEPS, atomic64_read(&replay->steps),
			      STAPE_A_REPLAY_PAD) ||
	    nla_put_u64_64bit(skb, STAPE_A_REPLAY_LAG_MAX, atomic64_read(&replay->lag_max),
			      STAPE_A_REPLAY_PAD) ||
	    nla_put_u64_64bit(skb, STAPE_A_REPLAY_LAG_TOTAL, atomic64_read(&replay->lag_total),
			      STAPE_A_REPLAY_PAD) ||
	    nla_put_u64_64bit(skb, STAPE_A_REPLAY_TIMED_WAITS,
			      atomic64_read(&replay->timed_waits), STAPE_A_REPLAY_PAD) ||
	    nla_put_u64_64bit(skb, STAPE_A_REPLAY_TIME, stape_replay_time(replay),
			      STAPE_A_REPLAY_PAD))
		return -EMSGSIZE;
	return 0;
}

int stape_replay_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct stape_replay *replay;
	struct stape_message message;
	int ret;

	ret = stape_request_replay(skb, info, &replay);
	if (ret)
		return ret;
	/* A parent that has seen its player's end must see the state that followed. */
	stape_replay_reap(replay);
	ret = stape_message_reply(&message, info);
	if (!ret)
		ret = stape_message_send(&message, stape_replay_fill(message.skb, replay), info);
	stape_replay_put(replay);
	return ret;
}

static int stape_replay_dump_one(struct sk_buff *skb, struct netlink_callback *cb,
				 struct stape_replay *replay)
{
	struct stape_message message;
	int ret = stape_message_dump(&message, skb, cb, STAPE_CMD_REPLAY_GET);

	return ret ?: stape_message_dumped(&message, stape_replay_fill(skb, replay));
}

/* Other users' replays are left out. */
int stape_replay_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct stape_replay *replay;
	int ret = 0;

	while (!ret && (replay = stape_replay_find_after(cb->args[0]))) {
		if (stape_message_owns(cb->skb, replay->account))
			ret = stape_replay_dump_one(skb, cb, replay);
		if (!ret)
			cb->args[0] = replay->entry.id;
		stape_replay_put(replay);
	}
	return skb->len;
}

int stape_replay_start_doit(struct sk_buff *skb, struct genl_info *info)
{
	const struct nlattr *delay = info->attrs[STAPE_A_REPLAY_DELAY];
	struct stape_replay *replay;
	int ret;

	ret = stape_request_replay(skb, info, &replay);
	if (ret)
		return ret;
	ret = stape_replay_start(replay, delay ? nla_get_u64(delay) : 0, info->extack);
	stape_replay_put(replay);
	return ret;
}

int stape_replay_set_doit(struct sk_buff *skb, struct genl_info *info)
{
	const struct nlattr *speed = info->attrs[STAPE_A_REPLAY_SPEED];
	struct stape_replay *replay;
	int ret;

	ret = stape_request_check_replay(skb, info);
	if (ret)
		return ret;
	if (GENL_REQ_ATTR_CHECK(info, STAPE_A_REPLAY_SPEED)) {
		NL_SET_ERR_MSG(info->extack, "the speed is missing");
		return -EINVAL;
	}
	ret = stape_request_replay(skb, info, &replay);
	if (ret)
		return ret;
	ret = stape_replay_set_speed(replay, nla_get_u32(speed), info->extack);
	stape_replay_put(replay);
	return ret;
}

/* Calls @func for the replay that a request names. */
static int stape_replay_do(struct sk_buff *skb, struct genl_info *info,
			   int (*func)(struct stape_replay *replay,
				       struct netlink_ext_ack *extack))
{
	struct stape_replay *replay;
	int ret;

	ret = stape_request_replay(skb, info, &replay);
	if (ret)
		return ret;
	ret = func(replay, info->extack);
	stape_replay_put(replay);
	return ret;
}

int stape_replay_pause_doit(struct sk_buff *skb, struct genl_info *info)
{
	return stape_replay_do(skb, info, stape_replay_pause);
}

static int stape_replay_stop_by_request(struct stape_replay *replay,
					struct netlink_ext_ack *extack)
{
	return stape_replay_stop(replay, STAPE_STOPPED_BY_REQUEST, extack);
}

int stape_replay_stop_doit(struct sk_buff *skb, struct genl_info *info)
{
	return stape_replay_do(skb, info, stape_replay_stop_by_request);
}

int stape_replay_monitor_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct stape_replay *replay;
	int ret;

	ret = stape_request_replay(skb, info, &replay);
	if (ret)
		return ret;
	stape_registry_set_monitor(&stape_replays, &replay->entry, info->snd_portid);
	stape_replay_put(replay);
	return 0;
}

/**
 * stape_netlink_replay_ntf() - notify those who listen of a replay's state
 * @replay: a replay, kept alive by the caller
 *
 * Context: may sleep.
 */
void stape_netlink_replay_ntf(struct stape_replay *replay)
{
	u32 monitor = READ_ONCE(replay->entry.monitor);
	struct stape_message message;

	if (stape_message_ntf(&message, STAPE_CMD_REPLAY_NTF, monitor))
		stape_message_notify(&message, stape_replay_fill(message.skb, replay), monitor);
}
