/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _STAPE_MESSAGE_H
#define _STAPE_MESSAGE_H

#include <net/netlink.h>
#include <schedtape/netlink.h>

struct genl_family;
struct genl_info;
struct netlink_callback;
struct stape_account;

extern struct genl_family stape_family;

int stape_message_permit(struct sk_buff *skb, struct netlink_ext_ack *extack);
u32 stape_message_powers(struct sk_buff *skb);
bool stape_message_owns(struct sk_buff *skb, const struct stape_account *account);
const struct nlattr *stape_message_excess(struct genl_info *info, u64 types, u32 max);
struct sk_buff *stape_message_reply(struct genl_info *info);
int stape_message_send(struct sk_buff *skb, int ret, struct genl_info *info);
void *stape_message_dump(struct sk_buff *skb, struct netlink_callback *cb, u8 cmd);
int stape_message_dumped(struct sk_buff *skb, void *header, int ret);
struct sk_buff *stape_message_ntf(u8 cmd, u32 monitor);
void stape_message_notify(struct sk_buff *skb, int ret, u32 monitor);

/* Adds the PID that a task has for the receiver, which is current, unless it is the same one. */
static inline int stape_message_put_vpid(struct sk_buff *skb, int attr, u32 pid, u32 vpid)
{
	return pid == vpid ? 0 : nla_put_u32(skb, attr, vpid);
}

#endif /* _STAPE_MESSAGE_H */
