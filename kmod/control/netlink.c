// SPDX-License-Identifier: GPL-2.0-only
/*
 * The generic netlink family "schedtape": the table of its commands, and the command
 * info-get.  <schedtape/netlink.h> describes the family.  All other commands are in
 * netlink_session.c, netlink_filter.c, netlink_task.c, netlink_replay.c and netlink_player.c.
 */
#include "control/control.h"

#include <linux/cpumask.h>
#include <linux/err.h>
#include <net/genetlink.h>
#include <schedtape/event.h>
#include <schedtape/version.h>

#include "base/account.h"
#include "base/registry.h"
#include "control/internal.h"
#include "record/attach.h"
#include "record/sessions.h"
#include "replay/replay.h"

/* info-get takes no attribute: attributes that a policy does not have are rejected. */
static const struct nla_policy stape_info_policy[2];

static int stape_info_get_doit(struct sk_buff *skb, struct genl_info *info);

static int stape_netlink_dump_start(struct netlink_callback *cb)
{
	return stape_message_permit(cb->skb, cb->extack);
}

/*
 * The kinds of objects that commands find in info->user_ptr[0].  Each command names its kind in the
 * internal_flags of its operation.
 */
enum {
	STAPE_OBJECT_NONE,
	STAPE_OBJECT_SESSION,	/* its lock is held */
	STAPE_OBJECT_REPLAY,
};

#define STAPE_DO(_cmd, _policy, _doit, _object) {		\
	.cmd = _cmd,						\
	.policy = _policy,					\
	.maxattr = ARRAY_SIZE(_policy) - 1,			\
	.internal_flags = _object,				\
	.doit = _doit,						\
}

#define STAPE_DUMP(_cmd, _policy, _doit, _object, _dumpit) {	\
	.cmd = _cmd,						\
	.policy = _policy,					\
	.maxattr = ARRAY_SIZE(_policy) - 1,			\
	.internal_flags = _object,				\
	.doit = _doit,						\
	.start = stape_netlink_dump_start,			\
	.dumpit = _dumpit,					\
}

#define STAPE_SESSION(...)	STAPE_DO(__VA_ARGS__, STAPE_OBJECT_SESSION)
#define STAPE_REPLAY(...)	STAPE_DO(__VA_ARGS__, STAPE_OBJECT_REPLAY)

/*
 * Each command needs the permission, and its object must be the sender's.  Dumps have no object:
 * they leave out what is not the sender's, or look up for each buffer what they dump.
 */
static const struct genl_ops stape_ops[] = {
	STAPE_DO(STAPE_CMD_INFO_GET, stape_info_policy, stape_info_get_doit, STAPE_OBJECT_NONE),
	STAPE_DUMP(STAPE_CMD_SESSION_GET, stape_session_policy, stape_session_get_doit,
		   STAPE_OBJECT_SESSION, stape_session_get_dumpit),
	STAPE_SESSION(STAPE_CMD_SESSION_SET, stape_session_set_policy, stape_session_set_doit),
	STAPE_SESSION(STAPE_CMD_SESSION_START, stape_session_policy, stape_session_start_doit),
	STAPE_SESSION(STAPE_CMD_SESSION_PAUSE, stape_session_policy, stape_session_pause_doit),
	STAPE_SESSION(STAPE_CMD_SESSION_STOP, stape_session_policy, stape_session_stop_doit),
	STAPE_SESSION(STAPE_CMD_SESSION_MONITOR, stape_session_policy, stape_session_monitor_doit),
	STAPE_SESSION(STAPE_CMD_SESSION_MARK, stape_session_mark_policy, stape_session_mark_doit),
	STAPE_SESSION(STAPE_CMD_FILTER_ADD, stape_filter_add_policy, stape_filter_change_doit),
	STAPE_SESSION(STAPE_CMD_FILTER_DEL, stape_filter_del_policy, stape_filter_change_doit),
	STAPE_SESSION(STAPE_CMD_FILTER_SET, stape_filter_set_policy, stape_filter_set_doit),
	STAPE_DUMP(STAPE_CMD_TASK_GET, stape_task_policy, NULL,
		   STAPE_OBJECT_NONE, stape_task_get_dumpit),
	STAPE_DUMP(STAPE_CMD_REPLAY_GET, stape_replay_policy, stape_replay_get_doit,
		   STAPE_OBJECT_REPLAY, stape_replay_get_dumpit),
	STAPE_REPLAY(STAPE_CMD_REPLAY_START, stape_replay_start_policy, stape_replay_start_doit),
	STAPE_REPLAY(STAPE_CMD_REPLAY_STOP, stape_replay_policy, stape_replay_stop_doit),
	STAPE_REPLAY(STAPE_CMD_REPLAY_SET, stape_replay_set_policy, stape_replay_set_doit),
	STAPE_REPLAY(STAPE_CMD_REPLAY_PAUSE, stape_replay_policy, stape_replay_pause_doit),
	STAPE_REPLAY(STAPE_CMD_REPLAY_MONITOR, stape_replay_policy, stape_replay_monitor_doit),
	STAPE_DUMP(STAPE_CMD_PLAYER_GET, stape_player_policy, NULL,
		   STAPE_OBJECT_NONE, stape_player_get_dumpit),
};

static int stape_netlink_pre_doit(const struct stape_genl_ops *ops, struct sk_buff *skb,
				  struct genl_info *info)
{
	int ret = stape_message_permit(skb, info->extack);

	if (ret)
		return ret;
	if (ops->internal_flags == STAPE_OBJECT_SESSION)
		info->user_ptr[0] = stape_lookup_session(skb, info->attrs, info->extack);
	else if (ops->internal_flags == STAPE_OBJECT_REPLAY)
		info->user_ptr[0] = stape_lookup_replay(skb, info->attrs, info->extack);
	return PTR_ERR_OR_ZERO(info->user_ptr[0]);
}

static void stape_netlink_post_doit(const struct stape_genl_ops *ops, struct sk_buff *skb,
				    struct genl_info *info)
{
	if (ops->internal_flags == STAPE_OBJECT_SESSION)
		stape_session_release(info->user_ptr[0]);
	else if (ops->internal_flags == STAPE_OBJECT_REPLAY)
		stape_replay_put(info->user_ptr[0]);
}

/* A socket is being closed.  Another one may get its port, and must not get its notifications. */
static int stape_netlink_released(struct notifier_block *block, unsigned long event, void *arg)
{
	const struct netlink_notify *notify = arg;

	if (event == NETLINK_URELEASE && notify->protocol == NETLINK_GENERIC && notify->portid &&
	    net_eq(notify->net, &init_net)) {
		stape_registry_forget_monitor(&stape_sessions, notify->portid);
		stape_registry_forget_monitor(&stape_replays, notify->portid);
	}
	return NOTIFY_DONE;
}

static struct notifier_block stape_netlink_notifier = { .notifier_call = stape_netlink_released };

/**
 * stape_netlink_init() - register the family
 *
 * Context: may sleep.
 * Return: 0 or -errno.
 */
int __init stape_netlink_init(void)
{
	int ret;

	stape_family.ops = stape_ops;
	stape_family.n_ops = ARRAY_SIZE(stape_ops);
	stape_family.pre_doit = stape_netlink_pre_doit;
	stape_family.post_doit = stape_netlink_post_doit;
	ret = netlink_register_notifier(&stape_netlink_notifier);
	if (ret)
		return ret;
	ret = genl_register_family(&stape_family);
	if (ret)
		netlink_unregister_notifier(&stape_netlink_notifier);
	return ret;
}

/**
 * stape_netlink_exit() - unregister the family
 *
 * Context: may sleep.
 */
void stape_netlink_exit(void)
{
	genl_unregister_family(&stape_family);
	netlink_unregister_notifier(&stape_netlink_notifier);
}

/* Returns the kernel's present preemption mode, which may have been chosen at boot. */
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
	char text[STAPE_MISSING_SIZE];

	if (!stape_missing_text(text, sizeof(text)))
		return 0;
	return nla_put_string(skb, STAPE_A_INFO_MISSING, text);
}

/* Fills in what there may be of sessions and memory, and what @uid and all users have. */
static int stape_info_fill_limits(struct sk_buff *skb, kuid_t uid)
{
	struct stape_account_limits limits;
	u64 memory;
	u32 sessions;

	stape_account_read_limits(&limits);
	stape_account_read_user(uid, &sessions, &memory);
	if (nla_put_u32(skb, STAPE_A_INFO_SESSIONS_USED, limits.sessions) ||
	    nla_put_u32(skb, STAPE_A_INFO_SESSIONS_MAX, limits.sessions_max) ||
	    nla_put_u32(skb, STAPE_A_INFO_USER_SESSIONS, sessions) ||
	    nla_put_u32(skb, STAPE_A_INFO_USER_SESSIONS_MAX, limits.user_sessions_max) ||
	    nla_put_u64_64bit(skb, STAPE_A_INFO_MEMORY, limits.memory, STAPE_A_INFO_PAD) ||
	    nla_put_u64_64bit(skb, STAPE_A_INFO_MEMORY_MAX, limits.memory_max,
			      STAPE_A_INFO_PAD) ||
	    nla_put_u64_64bit(skb, STAPE_A_INFO_USER_MEMORY, memory, STAPE_A_INFO_PAD) ||
	    nla_put_u64_64bit(skb, STAPE_A_INFO_USER_MEMORY_MAX, limits.user_memory_max,
			      STAPE_A_INFO_PAD))
		return -EMSGSIZE;
	return 0;
}

static int stape_info_fill(struct sk_buff *skb, kuid_t uid)
{
	if (nla_put_string(skb, STAPE_A_INFO_VERSION, SCHEDTAPE_VERSION) ||
	    nla_put_u32(skb, STAPE_A_INFO_WIRE_VERSION, STAPE_WIRE_VERSION) ||
	    nla_put_u32(skb, STAPE_A_INFO_PAGE_SIZE, STAPE_PAGE_SIZE) ||
	    nla_put_u32(skb, STAPE_A_INFO_CPUS, num_possible_cpus()) ||
	    nla_put_u32(skb, STAPE_A_INFO_RING_PAGES_MAX, STAPE_RING_PAGES_MAX) ||
	    nla_put_u32(skb, STAPE_A_INFO_SESSIONS, stape_registry_count(&stape_sessions)) ||
	    nla_put_u32(skb, STAPE_A_INFO_REPLAYS, stape_registry_count(&stape_replays)) ||
	    nla_put_u32(skb, STAPE_A_INFO_HZ, HZ) ||
	    nla_put_string(skb, STAPE_A_INFO_PREEMPT, stape_netlink_preempt()) ||
	    nla_put_u32(skb, STAPE_A_INFO_COUNTER_KHZ,
			stape_counter_fit() ? stape_counter_rate() : 0) ||
	    nla_put_u64_64bit(skb, STAPE_A_INFO_MISSED_CALLS, stape_attach_missed_calls(),
			      STAPE_A_INFO_PAD) ||
	    (stape_stop_all_is_set() && nla_put_flag(skb, STAPE_A_INFO_STOP_ALL)) ||
	    nla_put_u32(skb, STAPE_A_INFO_THROTTLING, stape_attach_throttling()) ||
	    stape_info_fill_missing(skb))
		return -EMSGSIZE;
	return stape_info_fill_limits(skb, uid);
}

static int stape_info_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct sk_buff *reply = stape_message_reply(info);

	if (!reply)
		return -ENOMEM;
	return stape_message_send(reply, stape_info_fill(reply, NETLINK_CREDS(skb)->uid), info);
}
