/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _STAPE_DEVICE_H
#define _STAPE_DEVICE_H

int stape_device_init(void);
void stape_device_exit(void);

#endif /* _STAPE_DEVICE_H */
