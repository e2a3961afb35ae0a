/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _STAPE_WORK_H
#define _STAPE_WORK_H

#include <linux/irq_work.h>
#include <linux/workqueue.h>

/* For all work of the module, also from probes. */
extern struct workqueue_struct *stape_work;

int stape_work_init(void);
void stape_work_exit(void);

/**
 * struct stape_wake - calls a function for a probe, which must not do itself what the function does
 * @irq: queued by probes
 * @work: on PREEMPT_RT queued by @irq
 * @func: the function
 */
struct stape_wake {
	struct irq_work irq;
	struct work_struct work;
	void (*func)(struct stape_wake *wake);
};

void stape_wake_init(struct stape_wake *wake, void (*func)(struct stape_wake *wake));
void stape_wake_queue(struct stape_wake *wake);
void stape_wake_cancel(struct stape_wake *wake);

#endif /* _STAPE_WORK_H */
