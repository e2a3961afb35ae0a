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
 * @by_others: an interrupt has raised it, whoever else has
 * @by_current: the one that is being served was raised by the task it runs on
 *
 * Only touched by its CPU.  An interrupt may come between any two instructions that
 * a softirq begins with: so each is a store of its own.
 */
struct stape_softirq {
	const struct task_struct *raiser[NR_SOFTIRQS];
	bool by_others[NR_SOFTIRQS];
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
		WRITE_ONCE(softirq->by_others[vec], true);
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
			      !READ_ONCE(softirq->by_others[vec]);
	WRITE_ONCE(softirq->by_others[vec], false);
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
