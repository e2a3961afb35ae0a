/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _STAPE_MACHINE_H
#define _STAPE_MACHINE_H

int stape_machine_init(void);
void stape_machine_exit(void);

#endif /* _STAPE_MACHINE_H */
