/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _STAPE_WAKE_H
#define _STAPE_WAKE_H

#include <linux/irq_work.h>
#include <linux/workqueue.h>

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

#endif /* _STAPE_WAKE_H */
