// SPDX-License-Identifier: GPL-2.0-only
/*
 * Do the functions around a command of a netlink family get a split operation?
 */
#include <net/genetlink.h>

static int feature(const struct genl_split_ops *ops, struct sk_buff *skb, struct genl_info *info)
{
	return 0;
}

const struct genl_family use = { .pre_doit = feature };
