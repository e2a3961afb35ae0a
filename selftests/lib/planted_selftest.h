/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Included before kmod/record/selftest.c.  Makes its kernel wrong in one way, which STAPE_PLANTED
 * chooses: a tracepoint gets its tasks in another order, or is never called, or the thread is
 * scheduled too late.
 */
#include <linux/delay.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/tracepoint.h>

#define OTHER_ORDER	1
#define SILENT		2
#define LATE		3

#if STAPE_PLANTED == LATE
static inline int planted_wake_up(struct task_struct *task)
{
	ssleep(6);
	return wake_up_process(task);
}

#define wake_up_process			planted_wake_up
#else
#if STAPE_PLANTED == OTHER_ORDER
#define PLANTED_POINT	"sched_switch"
static void (*planted_for)(void *data, bool preempt, struct task_struct *prev,
			   struct task_struct *next, unsigned int prev_state);

static void planted_probe(void *data, bool preempt, struct task_struct *next,
			  struct task_struct *prev, unsigned int prev_state)
{
	planted_for(data, preempt, prev, next, prev_state);
}
#else
#define PLANTED_POINT	"sched_process_exit"
static void *planted_for;

static void planted_probe(STAPE_EXIT_PROTO)
{
}
#endif

static void *planted(struct tracepoint *tp, void *probe)
{
	if (strcmp(tp->name, PLANTED_POINT))
		return probe;
	planted_for = probe;
	return planted_probe;
}

static int planted_register(struct tracepoint *tp, void *probe, void *data)
{
	return tracepoint_probe_register(tp, planted(tp, probe), data);
}

static int planted_unregister(struct tracepoint *tp, void *probe, void *data)
{
	return tracepoint_probe_unregister(tp, planted(tp, probe), data);
}

#define tracepoint_probe_register	planted_register
#define tracepoint_probe_unregister	planted_unregister
#endif
