/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _STAPE_LOOKUP_H
#define _STAPE_LOOKUP_H

struct genl_info;
struct netlink_ext_ack;
struct nlattr;
struct sk_buff;
struct stape_replay;
struct stape_session;

int stape_lookup_session(struct sk_buff *skb, const struct nlattr *id,
			 struct netlink_ext_ack *extack, struct stape_session **session);
int stape_lookup_replay(struct sk_buff *skb, const struct nlattr *id,
			struct netlink_ext_ack *extack, struct stape_replay **replay);
int stape_request_session(struct sk_buff *skb, struct genl_info *info,
			  struct stape_session **session);
int stape_request_check_replay(struct sk_buff *skb, struct genl_info *info);
int stape_request_replay(struct sk_buff *skb, struct genl_info *info,
			 struct stape_replay **replay);

#endif /* _STAPE_LOOKUP_H */
