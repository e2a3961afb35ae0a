// SPDX-License-Identifier: GPL-2.0-only
/*
 * Whose doing a softirq is.  On loopback the sender raises NET_RX and runs it
 * itself when it enables bottom halves again: what that wakes, the sender
 * wakes.  A softirq that an interrupt has raised runs on top of a bystander.
 * The preempt count looks the same; who raised it tells.
 */
#include "softirq.h"

#include <linux/interrupt.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/sched.h>

/**
 * struct stape_softirq - one CPU's softirqs
 * @raiser: the task that has raised each, NULL: none; never looked into
 * @by_others: bits of those that an interrupt has raised, whoever else has
 * @by_current: the one that is being served was raised by the task it runs on
 *
 * Only touched by its CPU, with interrupts off or in the softirq itself.
 */
struct stape_softirq {
	const struct task_struct *raiser[NR_SOFTIRQS];
	u32 by_others;
	bool by_current;
};

static DEFINE_PER_CPU(struct stape_softirq, stape_softirqs);

void stape_softirq_raise(void *data, unsigned int vec)
{
	struct stape_softirq *softirq = this_cpu_ptr(&stape_softirqs);

	if (vec >= NR_SOFTIRQS)
		return;
	/* What a softirq raises is the doing of whoever raised that one. */
	if (in_nmi() || in_hardirq() || (in_serving_softirq() && !softirq->by_current))
		softirq->by_others |= BIT(vec);
	else
		softirq->raiser[vec] = current;
}

void stape_softirq_entry(void *data, unsigned int vec)
{
	struct stape_softirq *softirq = this_cpu_ptr(&stape_softirqs);

	if (vec >= NR_SOFTIRQS)
		return;
	/* It may have been left to ksoftirqd, or to an interrupt on top of another task. */
	softirq->by_current = softirq->raiser[vec] == current &&
			      !(softirq->by_others & BIT(vec));
	softirq->by_others &= ~BIT(vec);
	softirq->raiser[vec] = NULL;
}

/**
 * stape_softirq_by_current() - is the softirq the current task's doing?
 *
 * Context: a softirq that is being served, preemption off.
 */
bool stape_softirq_by_current(void)
{
	return this_cpu_read(stape_softirqs.by_current);
}
