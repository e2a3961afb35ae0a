/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _STAPE_HOTPLUG_H
#define _STAPE_HOTPLUG_H

int stape_hotplug_init(void);
void stape_hotplug_exit(void);

#endif /* _STAPE_HOTPLUG_H */
