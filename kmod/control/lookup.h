/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _STAPE_LOOKUP_H
#define _STAPE_LOOKUP_H

struct netlink_ext_ack;
struct nlattr;
struct sk_buff;
struct stape_replay;
struct stape_session;

struct stape_session *stape_lookup_session(struct sk_buff *skb, struct nlattr **attrs,
					   struct netlink_ext_ack *extack);
struct stape_replay *stape_lookup_replay(struct sk_buff *skb, struct nlattr **attrs,
					 struct netlink_ext_ack *extack);

#endif /* _STAPE_LOOKUP_H */
