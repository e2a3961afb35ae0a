/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _STAPE_CONTROL_H
#define _STAPE_CONTROL_H

int stape_device_init(void);
void stape_device_exit(void);
void stape_missing_init(void);
int stape_netlink_init(void);
void stape_netlink_exit(void);

#endif /* _STAPE_CONTROL_H */
