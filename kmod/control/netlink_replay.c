// SPDX-License-Identifier: GPL-2.0-only
/*
 * Netlink commands for replays.
 */
#include "control/internal.h"

#include <net/genetlink.h>

#include "base/account.h"
#include "replay/replay.h"

const struct nla_policy stape_replay_policy[STAPE_A_REPLAY_ID + 1] = {
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
	    nla_put_u32(skb, STAPE_A_REPLAY_PLAYERS, replay->nr_turns) ||
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
	struct stape_replay *replay = info->user_ptr[0];
	struct sk_buff *reply = stape_message_reply(info);

	if (!reply)
		return -ENOMEM;
	/* A parent that has seen its player's end must see the state that followed. */
	stape_replay_reap(replay);
	return stape_message_send(reply, stape_replay_fill(reply, replay), info);
}

static int stape_replay_dump_one(struct sk_buff *skb, struct netlink_callback *cb,
				 struct stape_replay *replay)
{
	void *header = stape_message_dump(skb, cb, STAPE_CMD_REPLAY_GET);

	if (!header)
		return -EMSGSIZE;
	return stape_message_dumped(skb, header, stape_replay_fill(skb, replay));
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

	return stape_replay_start(info->user_ptr[0], delay ? nla_get_u64(delay) : 0, info->extack);
}

int stape_replay_set_doit(struct sk_buff *skb, struct genl_info *info)
{
	if (GENL_REQ_ATTR_CHECK(info, STAPE_A_REPLAY_SPEED)) {
		NL_SET_ERR_MSG(info->extack, "the speed is missing");
		return -EINVAL;
	}
	return stape_replay_set_speed(info->user_ptr[0],
				      nla_get_u32(info->attrs[STAPE_A_REPLAY_SPEED]),
				      info->extack);
}

int stape_replay_pause_doit(struct sk_buff *skb, struct genl_info *info)
{
	return stape_replay_pause(info->user_ptr[0], info->extack);
}

int stape_replay_stop_doit(struct sk_buff *skb, struct genl_info *info)
{
	return stape_replay_stop(info->user_ptr[0], STAPE_STOPPED_BY_REQUEST, info->extack);
}

int stape_replay_monitor_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct stape_replay *replay = info->user_ptr[0];

	stape_registry_set_monitor(&stape_replays, &replay->entry, info->snd_portid);
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
	struct sk_buff *skb = stape_message_ntf(STAPE_CMD_REPLAY_NTF, monitor);

	if (skb)
		stape_message_notify(skb, stape_replay_fill(skb, replay), monitor);
}
