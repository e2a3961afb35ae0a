// SPDX-License-Identifier: GPL-2.0-only
/*
 * Do dumps of a netlink family have a struct genl_info of their own?
 */
#include <net/genetlink.h>

struct nlattr **feature(const struct genl_dumpit_info *dump);

struct nlattr **feature(const struct genl_dumpit_info *dump)
{
	return dump->info.attrs;
}
