/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _STAPE_NETLINK_H
#define _STAPE_NETLINK_H

int stape_netlink_init(void);
void stape_netlink_exit(void);

#endif /* _STAPE_NETLINK_H */
