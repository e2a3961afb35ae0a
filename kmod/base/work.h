/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _STAPE_WORK_H
#define _STAPE_WORK_H

#include <linux/atomic.h>
#include <linux/cpumask.h>
#include <linux/irq_work.h>
#include <linux/smp.h>
#include <linux/workqueue.h>

/* For all work of the module, also from probes. */
extern struct workqueue_struct *stape_work;

/* The CPUs that sessions record. */
extern struct cpumask stape_recorded_cpus;

int stape_work_init(void);
void stape_work_exit(void);
void stape_work_queue_delayed(struct delayed_work *work, unsigned long delay);

/**
 * struct stape_wake - calls a function for a probe, which must not do itself what the function does
 * @irq: queued by probes
 * @csd: the same of a CPU that no session records: interrupts one that a session records
 * @calls: bit 0: @csd has been sent, and its call has not begun; the others count calls that have
 *	not ended
 * @hard: @func takes raw spinlocks only: it is called by the interrupt on PREEMPT_RT, too
 * @work: calls the function on PREEMPT_RT otherwise
 * @func: the function
 */
struct stape_wake {
	struct irq_work irq;
	call_single_data_t csd;
	atomic_t calls;
	bool hard;
	struct work_struct work;
	void (*func)(struct stape_wake *wake);
};

/* Returns true if no session records this CPU. */
static inline bool stape_cpu_is_left_out(void)
{
	return unlikely(!cpumask_test_cpu(raw_smp_processor_id(), &stape_recorded_cpus));
}

void stape_wake_init(struct stape_wake *wake, void (*func)(struct stape_wake *wake), bool hard);
void stape_wake_queue(struct stape_wake *wake);
void stape_wake_cancel(struct stape_wake *wake);

#endif /* _STAPE_WORK_H */
