// SPDX-License-Identifier: GPL-2.0-only
/*
 * Messages of the generic netlink family "schedtape": the permission for requests, replies,
 * dumps and notifications.
 */
#include "control/internal.h"

#include <linux/capability.h>
#include <linux/module.h>
#include <linux/user_namespace.h>
#include <net/genetlink.h>

#include "base/account.h"

enum { STAPE_GROUP_MONITOR };

static const struct genl_multicast_group stape_groups[] = {
	[STAPE_GROUP_MONITOR] = { .name = STAPE_MCGRP_MONITOR, .flags = STAPE_GROUP_FLAGS },
};

/* netlink.c adds the commands.  resv_start_op stays 0: every command is validated strictly. */
struct genl_family stape_family __ro_after_init = {
	.name = STAPE_FAMILY_NAME,
	.version = STAPE_FAMILY_VERSION,
	.module = THIS_MODULE,
	.netnsok = false,
	.parallel_ops = true,
	.mcgrps = stape_groups,
	.n_mcgrps = ARRAY_SIZE(stape_groups),
};

/**
 * stape_message_permit() - check the permission to make a request
 * @skb: the request
 * @extack: returned: the reason, if this fails
 *
 * GENL_ADMIN_PERM would require CAP_NET_ADMIN, the wrong capability for tracing.  The
 * socket's opener and the sender both need the right one, in the initial user namespace.
 *
 * Context: any.
 * Return: 0 or -EPERM.
 */
int stape_message_permit(struct sk_buff *skb, struct netlink_ext_ack *extack)
{
	if (netlink_ns_capable(skb, &init_user_ns, CAP_PERFMON) ||
	    netlink_ns_capable(skb, &init_user_ns, CAP_SYS_ADMIN))
		return 0;
	NL_SET_ERR_MSG(extack, "needs CAP_PERFMON or CAP_SYS_ADMIN");
	return -EPERM;
}

/**
 * stape_message_powers() - get what the capabilities of a request's sender allow
 * @skb: the request
 *
 * Context: any.
 * Return: STAPE_ACCOUNT_ADMIN, STAPE_ACCOUNT_EXEMPT.
 */
u32 stape_message_powers(struct sk_buff *skb)
{
	u32 powers = 0;

	if (netlink_ns_capable(skb, &init_user_ns, CAP_SYS_ADMIN))
		powers |= STAPE_ACCOUNT_ADMIN;
	if (netlink_ns_capable(skb, &init_user_ns, CAP_SYS_RESOURCE))
		powers |= STAPE_ACCOUNT_EXEMPT;
	return powers;
}

/**
 * stape_message_owns() - check whether a session or a replay belongs to a request's sender
 * @skb: the request
 * @account: of the user who opened it
 *
 * Context: any.
 * Return: true if the sender is that user, or has CAP_SYS_ADMIN.
 */
bool stape_message_owns(struct sk_buff *skb, const struct stape_account *account)
{
	return uid_eq(NETLINK_CREDS(skb)->uid, account->uid) ||
	       netlink_ns_capable(skb, &init_user_ns, CAP_SYS_ADMIN);
}

/**
 * stape_message_excess() - find the attribute with which a request has too many
 * @info: the request
 * @types: bits of the attributes' types
 * @max: how many of these there may be
 *
 * Context: any.
 * Return: the attribute that follows @max others; or NULL.
 */
const struct nlattr *stape_message_excess(struct genl_info *info, u64 types, u32 max)
{
	const struct nlattr *attr;
	int rest;

	nlmsg_for_each_attr(attr, info->nlhdr, GENL_HDRLEN, rest)
		if (types & BIT_ULL(nla_type(attr)) && !max--)
			return attr;
	return NULL;
}

/**
 * stape_message_reply() - begin the reply to a request
 * @info: the request
 *
 * Context: may sleep.
 * Return: the reply, to be filled and given to stape_message_send(); or NULL.
 */
struct sk_buff *stape_message_reply(struct genl_info *info)
{
	struct sk_buff *skb = genlmsg_new(NLMSG_GOODSIZE, GFP_KERNEL);

	/* A new message has room for its header. */
	if (skb)
		genlmsg_put_reply(skb, info, &stape_family, 0, info->genlhdr->cmd);
	return skb;
}

/**
 * stape_message_send() - send a reply
 * @skb: the reply; freed
 * @ret: 0, or the error of filling it
 * @info: the request
 *
 * Context: may sleep.
 * Return: @ret, or the error of sending.
 */
int stape_message_send(struct sk_buff *skb, int ret, struct genl_info *info)
{
	if (ret) {
		nlmsg_free(skb);
		return ret;
	}
	nlmsg_end(skb, nlmsg_hdr(skb));
	return genlmsg_reply(skb, info);
}

/**
 * stape_message_dump() - begin one entry of a dump
 * @skb: the dump's buffer
 * @cb: the dump
 * @cmd: enum stape_cmd
 *
 * Context: any.
 * Return: the entry's header, for stape_message_dumped(); NULL: the buffer is full.
 */
void *stape_message_dump(struct sk_buff *skb, struct netlink_callback *cb, u8 cmd)
{
	return genlmsg_put(skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq, &stape_family,
			   NLM_F_MULTI, cmd);
}

/**
 * stape_message_dumped() - end one entry of a dump, or remove it if it could not be filled
 * @skb: the dump's buffer
 * @header: the entry's
 * @ret: 0, or the error of filling it
 *
 * Context: any.
 * Return: @ret.
 */
int stape_message_dumped(struct sk_buff *skb, void *header, int ret)
{
	if (ret)
		genlmsg_cancel(skb, header);
	else
		genlmsg_end(skb, header);
	return ret;
}

/**
 * stape_message_ntf() - begin a notification, if somebody receives it
 * @cmd: enum stape_cmd
 * @monitor: port of the socket that has asked for it, or 0
 *
 * Context: may sleep.
 * Return: the message, to be filled and given to stape_message_notify(); or NULL.
 */
struct sk_buff *stape_message_ntf(u8 cmd, u32 monitor)
{
	struct sk_buff *skb;

	if (!monitor && !genl_has_listeners(&stape_family, &init_net, STAPE_GROUP_MONITOR))
		return NULL;
	skb = genlmsg_new(NLMSG_GOODSIZE, GFP_KERNEL);
	if (skb)
		genlmsg_put(skb, 0, 0, &stape_family, 0, cmd);
	return skb;
}

/**
 * stape_message_notify() - send a notification to the group, and to the socket that asked for it
 * @skb: the notification; freed
 * @ret: 0, or the error of filling it
 * @monitor: as for stape_message_ntf()
 *
 * Context: may sleep.
 */
void stape_message_notify(struct sk_buff *skb, int ret, u32 monitor)
{
	struct sk_buff *copy;

	if (ret) {
		nlmsg_free(skb);
		return;
	}
	nlmsg_end(skb, nlmsg_hdr(skb));
	/* Errors are ignored: a receiver may have gone, or may be too slow. */
	copy = monitor ? skb_clone(skb, GFP_KERNEL) : NULL;
	if (copy)
		genlmsg_unicast(&init_net, copy, monitor);
	genlmsg_multicast(&stape_family, skb, 0, STAPE_GROUP_MONITOR, GFP_KERNEL);
}
