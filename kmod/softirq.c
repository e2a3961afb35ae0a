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
 * @server: the task that serves a softirq which it alone has raised; NULL: the softirq is
 *	not the doing of the task that it runs on.  Never looked into
 *
 * Only touched by its CPU.  An interrupt may come between any two instructions that
 * a softirq begins with: so each is a store of its own.
 *
 * On PREEMPT_RT another task may preempt the one that serves a softirq, and recent kernels
 * let it serve another one then.  So @server is a task and not a flag: the first task finds
 * that it is not @server any more, and its softirq counts as an interrupt's.
 */
struct stape_softirq {
	const struct task_struct *raiser[NR_SOFTIRQS];
	bool by_others[NR_SOFTIRQS];
	const struct task_struct *server;
};

static DEFINE_PER_CPU(struct stape_softirq, stape_softirqs);

void stape_softirq_raise(void *data, unsigned int vec)
{
	struct stape_softirq *softirq = this_cpu_ptr(&stape_softirqs);

	if (vec >= NR_SOFTIRQS)
		return;
	/* What a softirq raises is the doing of whoever raised that one. */
	if (in_nmi() || in_hardirq() || (in_serving_softirq() && softirq->server != current))
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
	softirq->server = softirq->raiser[vec] == current &&
			  !READ_ONCE(softirq->by_others[vec]) ? current : NULL;
	WRITE_ONCE(softirq->by_others[vec], false);
	softirq->raiser[vec] = NULL;
}

/**
 * stape_softirq_by_current() - is the softirq the current task's doing?
 *
 * Context: a softirq that is being served, which keeps the task on this CPU.
 */
bool stape_softirq_by_current(void)
{
	return this_cpu_read(stape_softirqs.server) == current;
}
