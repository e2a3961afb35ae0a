// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which task a softirq is charged to.  On loopback the sender raises NET_RX and runs it
 * itself when it enables bottom halves again, so the sender is the waker of the tasks that it
 * wakes.  A softirq that an interrupt has raised interrupts a task that has nothing to do with
 * it.  The preempt count is the same in both cases, so this file keeps the raiser of a softirq.
 */
#include "record/probes.h"

#include <linux/hash.h>
#include <linux/interrupt.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/sched.h>

/* As a power of two: tasks that may serve softirqs on one CPU at once. */
#define STAPE_SOFTIRQ_SERVERS_ORDER	(IS_ENABLED(CONFIG_PREEMPT_RT) ? 4 : 0)

/**
 * struct stape_softirq - one CPU's softirqs
 * @raiser: the task that has raised each softirq; NULL: no task; never dereferenced
 * @by_others: an interrupt, or two tasks, have raised the softirq
 * @servers: tasks that alone had raised the softirq that they served last on this CPU, each in
 *	its place of stape_softirq_place(); never dereferenced
 *
 * Used by its CPU only.  An interrupt may come between any two stores at the start of a
 * softirq, so each store leaves a valid state.
 *
 * On PREEMPT_RT another task may preempt the one that serves a softirq, and on recent kernels
 * it may serve another softirq meanwhile.  So there is room for several tasks.  If two of them
 * have the same place, the softirq of the first counts as raised by an interrupt.
 */
struct stape_softirq {
	const struct task_struct *raiser[NR_SOFTIRQS];
	bool by_others[NR_SOFTIRQS];
	const struct task_struct *servers[1 << STAPE_SOFTIRQ_SERVERS_ORDER];
};

static DEFINE_PER_CPU(struct stape_softirq, stape_softirqs);

/* Returns the place of the current task in @servers. */
static const struct task_struct **stape_softirq_place(struct stape_softirq *softirq)
{
	if (!STAPE_SOFTIRQ_SERVERS_ORDER)
		return &softirq->servers[0];
	return &softirq->servers[hash_ptr(current, STAPE_SOFTIRQ_SERVERS_ORDER)];
}

/**
 * stape_softirq_by_current() - check whether current alone has raised the softirq it serves
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
	/* A softirq that is raised by a softirq is charged to the same task. */
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
	/* ksoftirqd may serve it, or an interrupt of another task. */
	if (softirq->raiser[vec] == current && !READ_ONCE(softirq->by_others[vec]))
		WRITE_ONCE(*place, current);
	else if (READ_ONCE(*place) == current)
		WRITE_ONCE(*place, NULL);
	WRITE_ONCE(softirq->by_others[vec], false);
	softirq->raiser[vec] = NULL;
}
