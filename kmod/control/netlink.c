// SPDX-License-Identifier: GPL-2.0-only
/*
 * The generic netlink family "schedtape": see <schedtape/netlink.h>.  What a
 * command does stands in netlink_session.c, netlink_task.c, netlink_replay.c;
 * here are the table of commands, the permission, and how messages are made.
 */
#include "control/netlink.h"

#include <linux/capability.h>
#include <linux/cpumask.h>
#include <linux/module.h>
#include <linux/user_namespace.h>
#include <net/genetlink.h>
#include <schedtape/event.h>
#include <schedtape/version.h>

#include "record/missing.h"
#include "record/session.h"
#include "replay/replay.h"

/* info-get takes no attribute: one that is not of a policy is refused. */
static const struct nla_policy stape_info_policy[2];

static int stape_info_get_doit(struct sk_buff *skb, struct genl_info *info);

static int stape_netlink_dump_start(struct netlink_callback *cb)
{
	return stape_netlink_permit(cb->skb, cb->extack);
}

#define STAPE_DO(_cmd, _policy, _doit) {			\
	.cmd = _cmd,						\
	.policy = _policy,					\
	.maxattr = ARRAY_SIZE(_policy) - 1,			\
	.doit = _doit,						\
}

#define STAPE_DUMP(_cmd, _policy, _doit, _dumpit) {		\
	.cmd = _cmd,						\
	.policy = _policy,					\
	.maxattr = ARRAY_SIZE(_policy) - 1,			\
	.doit = _doit,						\
	.start = stape_netlink_dump_start,			\
	.dumpit = _dumpit,					\
}

static const struct genl_ops stape_ops[] = {
	STAPE_DO(STAPE_CMD_INFO_GET, stape_info_policy, stape_info_get_doit),
	STAPE_DUMP(STAPE_CMD_SESSION_GET, stape_session_id_policy,
		   stape_session_get_doit, stape_session_get_dumpit),
	STAPE_DO(STAPE_CMD_SESSION_SET, stape_session_set_policy, stape_session_set_doit),
	STAPE_DO(STAPE_CMD_SESSION_START, stape_session_id_policy, stape_session_start_doit),
	STAPE_DO(STAPE_CMD_SESSION_PAUSE, stape_session_id_policy, stape_session_pause_doit),
	STAPE_DO(STAPE_CMD_SESSION_STOP, stape_session_id_policy, stape_session_stop_doit),
	STAPE_DO(STAPE_CMD_FILTER_ADD, stape_filter_policy, stape_filter_add_doit),
	STAPE_DO(STAPE_CMD_FILTER_DEL, stape_filter_policy, stape_filter_del_doit),
	STAPE_DO(STAPE_CMD_FILTER_SET, stape_filter_set_policy, stape_filter_set_doit),
	STAPE_DUMP(STAPE_CMD_TASK_GET, stape_task_policy, NULL, stape_task_get_dumpit),
	STAPE_DUMP(STAPE_CMD_REPLAY_GET, stape_replay_id_policy,
		   stape_replay_get_doit, stape_replay_get_dumpit),
	STAPE_DO(STAPE_CMD_REPLAY_START, stape_replay_start_policy, stape_replay_start_doit),
	STAPE_DO(STAPE_CMD_REPLAY_STOP, stape_replay_id_policy, stape_replay_stop_doit),
	STAPE_DO(STAPE_CMD_REPLAY_SET, stape_replay_set_policy, stape_replay_set_doit),
	STAPE_DO(STAPE_CMD_REPLAY_PAUSE, stape_replay_id_policy, stape_replay_pause_doit),
	STAPE_DUMP(STAPE_CMD_PLAYER_GET, stape_player_policy, NULL, stape_player_get_dumpit),
};

enum { STAPE_GROUP_MONITOR };

static const struct genl_multicast_group stape_groups[] = {
	[STAPE_GROUP_MONITOR] = { .name = STAPE_MCGRP_MONITOR },
};

/* resv_start_op stays 0: every command is validated strictly. */
static struct genl_family stape_family __ro_after_init = {
	.name = STAPE_FAMILY_NAME,
	.version = STAPE_FAMILY_VERSION,
	.module = THIS_MODULE,
	.netnsok = false,
	.parallel_ops = true,
	.ops = stape_ops,
	.n_ops = ARRAY_SIZE(stape_ops),
	.mcgrps = stape_groups,
	.n_mcgrps = ARRAY_SIZE(stape_groups),
};

/**
 * stape_netlink_init() - register the family
 *
 * Context: may sleep.
 * Return: 0 or -errno.
 */
int __init stape_netlink_init(void)
{
	return genl_register_family(&stape_family);
}

/**
 * stape_netlink_exit() - unregister the family
 *
 * Context: may sleep.
 */
void stape_netlink_exit(void)
{
	genl_unregister_family(&stape_family);
}

/**
 * stape_netlink_permit() - may this request be made?
 * @skb: the request
 * @extack: why not
 *
 * GENL_ADMIN_PERM would ask for CAP_NET_ADMIN, the wrong right for tracing.
 * The socket's opener and the sender both need the right one, in the initial
 * user namespace.
 *
 * Context: any.
 * Return: 0 or -EPERM.
 */
int stape_netlink_permit(struct sk_buff *skb, struct netlink_ext_ack *extack)
{
	if (netlink_ns_capable(skb, &init_user_ns, CAP_PERFMON) ||
	    netlink_ns_capable(skb, &init_user_ns, CAP_SYS_ADMIN))
		return 0;
	NL_SET_ERR_MSG(extack, "needs CAP_PERFMON or CAP_SYS_ADMIN");
	return -EPERM;
}

/**
 * stape_message_reply() - begin the answer to a request
 * @message: to be filled, and given to stape_message_send()
 * @info: the request
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM.
 */
int stape_message_reply(struct stape_message *message, struct genl_info *info)
{
	message->skb = genlmsg_new(NLMSG_GOODSIZE, GFP_KERNEL);
	if (!message->skb)
		return -ENOMEM;
	/* A new message has room for its header. */
	message->header = genlmsg_put_reply(message->skb, info, &stape_family, 0,
					    info->genlhdr->cmd);
	return 0;
}

/**
 * stape_message_send() - send an answer
 * @message: the answer; freed
 * @ret: 0, or why it could not be filled
 * @info: the request
 *
 * Context: may sleep.
 * Return: @ret, or what sending said.
 */
int stape_message_send(struct stape_message *message, int ret, struct genl_info *info)
{
	if (ret) {
		nlmsg_free(message->skb);
		return ret;
	}
	genlmsg_end(message->skb, message->header);
	return genlmsg_reply(message->skb, info);
}

/**
 * stape_message_dump() - begin one entry of a dump
 * @message: to be filled, and given to stape_message_dumped()
 * @skb: the dump's buffer
 * @cb: the dump
 * @cmd: enum stape_cmd
 *
 * Context: any.
 * Return: 0, or -EMSGSIZE if the buffer is full.
 */
int stape_message_dump(struct stape_message *message, struct sk_buff *skb,
		       struct netlink_callback *cb, u8 cmd)
{
	message->skb = skb;
	message->header = genlmsg_put(skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq,
				      &stape_family, NLM_F_MULTI, cmd);
	return message->header ? 0 : -EMSGSIZE;
}

/**
 * stape_message_dumped() - end one entry of a dump, or take it back
 * @message: the entry
 * @ret: 0, or why it could not be filled
 *
 * Context: any.
 * Return: @ret.
 */
int stape_message_dumped(struct stape_message *message, int ret)
{
	if (ret)
		genlmsg_cancel(message->skb, message->header);
	else
		genlmsg_end(message->skb, message->header);
	return ret;
}

/**
 * stape_message_ntf() - begin a notification, if anyone listens
 * @message: to be filled, and given to stape_message_multicast()
 * @cmd: enum stape_cmd
 *
 * Context: may sleep.
 * Return: whether there is one to be filled.
 */
bool stape_message_ntf(struct stape_message *message, u8 cmd)
{
	if (!genl_has_listeners(&stape_family, &init_net, STAPE_GROUP_MONITOR))
		return false;
	message->skb = genlmsg_new(NLMSG_GOODSIZE, GFP_KERNEL);
	if (!message->skb)
		return false;
	message->header = genlmsg_put(message->skb, 0, 0, &stape_family, 0, cmd);
	return true;
}

/**
 * stape_message_multicast() - send a notification
 * @message: the notification; freed
 * @ret: 0, or why it could not be filled
 *
 * Context: may sleep.
 */
void stape_message_multicast(struct stape_message *message, int ret)
{
	if (ret) {
		nlmsg_free(message->skb);
		return;
	}
	genlmsg_end(message->skb, message->header);
	/* Nobody may be left to hear it: that is no error. */
	genlmsg_multicast(&stape_family, message->skb, 0, STAPE_GROUP_MONITOR, GFP_KERNEL);
}

static u32 stape_netlink_count(const struct list_head *list, struct mutex *lock)
{
	const struct list_head *entry;
	u32 n = 0;

	mutex_lock(lock);
	/* A session may be added meanwhile. */
	for (entry = READ_ONCE(list->next); entry != list; entry = READ_ONCE(entry->next))
		n++;
	mutex_unlock(lock);
	return n;
}

/* Returns the mode that the kernel is in now: it may have been chosen at boot. */
static const char *stape_netlink_preempt(void)
{
	if (IS_ENABLED(CONFIG_PREEMPT_RT))
		return "rt";
	if (preempt_model_lazy())
		return "lazy";
	if (preempt_model_full())
		return "full";
	return preempt_model_voluntary() ? "voluntary" : "none";
}

static int stape_info_fill_missing(struct sk_buff *skb)
{
	char text[STAPE_LACK_SIZE];

	if (!stape_lack_text(text, sizeof(text)))
		return 0;
	return nla_put_string(skb, STAPE_A_INFO_MISSING, text);
}

static int stape_info_fill(struct sk_buff *skb)
{
	if (nla_put_string(skb, STAPE_A_INFO_VERSION, SCHEDTAPE_VERSION) ||
	    nla_put_u32(skb, STAPE_A_INFO_WIRE_VERSION, STAPE_WIRE_VERSION) ||
	    nla_put_u32(skb, STAPE_A_INFO_PAGE_SIZE, STAPE_PAGE_SIZE) ||
	    nla_put_u32(skb, STAPE_A_INFO_CPUS, num_possible_cpus()) ||
	    nla_put_u32(skb, STAPE_A_INFO_RING_PAGES_MAX, STAPE_RING_PAGES_MAX) ||
	    nla_put_u32(skb, STAPE_A_INFO_SESSIONS,
			stape_netlink_count(&stape_sessions, &stape_sessions_lock)) ||
	    nla_put_u32(skb, STAPE_A_INFO_REPLAYS,
			stape_netlink_count(&stape_replays, &stape_replays_lock)) ||
	    nla_put_u32(skb, STAPE_A_INFO_HZ, HZ) ||
	    nla_put_string(skb, STAPE_A_INFO_PREEMPT, stape_netlink_preempt()) ||
	    nla_put_u32(skb, STAPE_A_INFO_COUNTER_KHZ,
			stape_counter_fit() ? stape_counter_rate() : 0) ||
	    nla_put_u64_64bit(skb, STAPE_A_INFO_RING_MEMORY, stape_session_memory(),
			      STAPE_A_INFO_PAD) ||
	    nla_put_u64_64bit(skb, STAPE_A_INFO_RING_MEMORY_MAX, stape_session_memory_max(),
			      STAPE_A_INFO_PAD) ||
	    stape_info_fill_missing(skb))
		return -EMSGSIZE;
	return 0;
}

static int stape_info_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct stape_message message;
	int ret;

	ret = stape_netlink_permit(skb, info->extack);
	if (!ret)
		ret = stape_message_reply(&message, info);
	if (!ret)
		ret = stape_message_send(&message, stape_info_fill(message.skb), info);
	return ret;
}
