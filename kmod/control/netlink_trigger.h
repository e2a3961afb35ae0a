/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _STAPE_NETLINK_TRIGGER_H
#define _STAPE_NETLINK_TRIGGER_H

#include <net/netlink.h>
#include <schedtape/netlink.h>

struct genl_info;
struct stape_active;
struct stape_trigger;
struct stape_trigger_setup;
struct stape_triggers;

/* Not an array of unknown size, because NLA_POLICY_NESTED() counts its entries. */
extern const struct nla_policy stape_trigger_policy[STAPE_A_TRIGGER_PID + 1];

int stape_trigger_read_all(struct genl_info *info, struct stape_trigger_setup *setups, u32 *nr);
int stape_trigger_put_all(struct sk_buff *skb, const struct stape_triggers *triggers);
void stape_trigger_ntf(struct stape_active *active, const struct stape_trigger *trigger);

#endif /* _STAPE_NETLINK_TRIGGER_H */
