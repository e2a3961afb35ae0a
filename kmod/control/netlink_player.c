// SPDX-License-Identifier: GPL-2.0-only
/*
 * Netlink dump of a replay's players that are alive.
 */
#include "control/internal.h"

#include <net/genetlink.h>

#include "replay/replay.h"

const struct nla_policy stape_player_policy[STAPE_A_PLAYER_REPLAY + 1] = {
	[STAPE_A_PLAYER_REPLAY] = NLA_POLICY_MIN(NLA_U32, 1),
};

static u32 stape_player_state(const struct stape_player *player)
{
	if (READ_ONCE(player->held))
		return STAPE_PLAYER_HELD;
	if (READ_ONCE(player->edge) != STAPE_NO_EDGE)
		return STAPE_PLAYER_EDGE;
	return READ_ONCE(player->timed) ? STAPE_PLAYER_TIMED : STAPE_PLAYER_RUNNING;
}

static int stape_player_fill(struct sk_buff *skb, const struct stape_player *player)
{
	struct task_struct *task = player->watch.task;
	u32 edge = READ_ONCE(player->edge);

	if (nla_put_u32(skb, STAPE_A_PLAYER_NUMBER, player->number) ||
	    nla_put_u32(skb, STAPE_A_PLAYER_TURN, player->turn) ||
	    nla_put_u32(skb, STAPE_A_PLAYER_PID, task_pid_nr(task)) ||
	    stape_message_put_vpid(skb, STAPE_A_PLAYER_VPID, task_pid_nr(task),
				   task_pid_vnr(task)) ||
	    nla_put_u32(skb, STAPE_A_PLAYER_STATE, stape_player_state(player)) ||
	    (edge != STAPE_NO_EDGE && nla_put_u32(skb, STAPE_A_PLAYER_EDGE, edge)) ||
	    nla_put_u64_64bit(skb, STAPE_A_PLAYER_STEPS, READ_ONCE(player->steps),
			      STAPE_A_PLAYER_PAD) ||
	    nla_put_u64_64bit(skb, STAPE_A_PLAYER_CPU_TIME, READ_ONCE(player->watch.runtime),
			      STAPE_A_PLAYER_PAD) ||
	    nla_put_u64_64bit(skb, STAPE_A_PLAYER_TIMED_WAITS, READ_ONCE(player->timed_waits),
			      STAPE_A_PLAYER_PAD) ||
	    nla_put_u64_64bit(skb, STAPE_A_PLAYER_LAG_TOTAL, READ_ONCE(player->lag_total),
			      STAPE_A_PLAYER_PAD) ||
	    nla_put_u64_64bit(skb, STAPE_A_PLAYER_LAG_MAX, READ_ONCE(player->lag_max),
			      STAPE_A_PLAYER_PAD))
		return -EMSGSIZE;
	return 0;
}

static int stape_player_dump_one(struct sk_buff *skb, struct netlink_callback *cb,
				 struct stape_replay *replay, u32 number)
{
	struct stape_player *player;
	void *header;
	int ret = 0;

	rcu_read_lock();
	player = rcu_dereference(replay->players[number]);
	if (player) {
		header = stape_message_dump(skb, cb, STAPE_CMD_PLAYER_GET);
		ret = !header ? -EMSGSIZE :
		      stape_message_dumped(skb, header, stape_player_fill(skb, player));
	}
	rcu_read_unlock();
	return ret;
}

int stape_player_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct nlattr **attrs = stape_dump_attrs(genl_dumpit_info(cb));
	struct stape_replay *replay = stape_lookup_replay(cb->skb, attrs, cb->extack);
	u32 number = cb->args[0];

	if (IS_ERR(replay))
		return PTR_ERR(replay);
	for (; number < replay->nr_players; number++) {
		if (stape_player_dump_one(skb, cb, replay, number))
			break;
		cond_resched();
	}
	stape_replay_put(replay);
	cb->args[0] = number;
	return skb->len;
}
