/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _STAPE_PRIO_H
#define _STAPE_PRIO_H

int stape_prio_hook(void);
void stape_prio_unhook(void);

#endif /* _STAPE_PRIO_H */
