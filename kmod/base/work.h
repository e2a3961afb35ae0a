/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _STAPE_WORK_H
#define _STAPE_WORK_H

struct workqueue_struct;

/* For all work of the module, also from probes. */
extern struct workqueue_struct *stape_work;

int stape_work_init(void);
void stape_work_exit(void);

#endif /* _STAPE_WORK_H */
