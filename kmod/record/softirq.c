// SPDX-License-Identifier: GPL-2.0-only
/*
 * Whose doing a softirq is.  On loopback the sender raises NET_RX and runs it
 * itself when it enables bottom halves again: what that wakes, the sender
 * wakes.  A softirq that an interrupt has raised runs on top of a bystander.
 * The preempt count looks the same; who raised it tells.
 */
#include "record/softirq.h"

#include <linux/hash.h>
#include <linux/interrupt.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/sched.h>

/* As a power of two: tasks that may serve softirqs on one CPU at once. */
#define STAPE_SOFTIRQ_SERVERS_ORDER	(IS_ENABLED(CONFIG_PREEMPT_RT) ? 4 : 0)

/**
 * struct stape_softirq - one CPU's softirqs
 * @raiser: the task that has raised each, NULL: none; never looked into
 * @by_others: an interrupt has raised it, or two tasks have
 * @servers: tasks whose last softirq here was one that they alone had raised, each in its
 *	place of stape_softirq_place().  Never looked into
 *
 * Only touched by its CPU.  An interrupt may come between any two instructions that
 * a softirq begins with: so each is a store of its own.
 *
 * On PREEMPT_RT another task may preempt the one that serves a softirq, and recent kernels
 * let it serve another one then, in the middle of it.  So there is room for several.  Where
 * two of them have the same place, the first one's softirq counts as an interrupt's.
 */
struct stape_softirq {
	const struct task_struct *raiser[NR_SOFTIRQS];
	bool by_others[NR_SOFTIRQS];
	const struct task_struct *servers[1 << STAPE_SOFTIRQ_SERVERS_ORDER];
};

static DEFINE_PER_CPU(struct stape_softirq, stape_softirqs);

/* Where the current task stands if it serves a softirq that is its own doing. */
static const struct task_struct **stape_softirq_place(struct stape_softirq *softirq)
{
	if (!STAPE_SOFTIRQ_SERVERS_ORDER)
		return &softirq->servers[0];
	return &softirq->servers[hash_ptr(current, STAPE_SOFTIRQ_SERVERS_ORDER)];
}

/**
 * stape_softirq_by_current() - is the softirq the current task's doing?
 *
 * Context: a softirq that is being served, which keeps the task on this CPU.
 */
bool stape_softirq_by_current(void)
{
	return READ_ONCE(*stape_softirq_place(this_cpu_ptr(&stape_softirqs))) == current;
}

void stape_softirq_raise(void *data, unsigned int vec)
{
	struct stape_softirq *softirq = this_cpu_ptr(&stape_softirqs);

	if (vec >= NR_SOFTIRQS)
		return;
	/* What a softirq raises is the doing of whoever raised that one. */
	if (in_nmi() || in_hardirq() || (in_serving_softirq() && !stape_softirq_by_current()))
		WRITE_ONCE(softirq->by_others[vec], true);
	else if (softirq->raiser[vec] && softirq->raiser[vec] != current)
		WRITE_ONCE(softirq->by_others[vec], true);
	else
		softirq->raiser[vec] = current;
}

void stape_softirq_entry(void *data, unsigned int vec)
{
	struct stape_softirq *softirq = this_cpu_ptr(&stape_softirqs);
	const struct task_struct **place = stape_softirq_place(softirq);

	if (vec >= NR_SOFTIRQS)
		return;
	/* It may have been left to ksoftirqd, or to an interrupt on top of another task. */
	if (softirq->raiser[vec] == current && !READ_ONCE(softirq->by_others[vec]))
		WRITE_ONCE(*place, current);
	else if (READ_ONCE(*place) == current)
		WRITE_ONCE(*place, NULL);
	WRITE_ONCE(softirq->by_others[vec], false);
	softirq->raiser[vec] = NULL;
}
