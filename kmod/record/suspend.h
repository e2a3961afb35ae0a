/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _STAPE_SUSPEND_H
#define _STAPE_SUSPEND_H

int stape_suspend_init(void);
void stape_suspend_exit(void);

#endif /* _STAPE_SUSPEND_H */
