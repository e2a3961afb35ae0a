// SPDX-License-Identifier: GPL-2.0-only
/*
 * The minimal cost of any recorder of sched_switch, sched_waking and sched_wakeup: a probe that
 * does nothing, or reads a clock and stores 8 bytes.
 *
 *	insmod floor.ko probe=empty|tsc|mono
 *
 * /sys/module/floor/parameters/events is the number of stores.
 */
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/timekeeping.h>
#include <linux/tracepoint.h>
#include <asm/msr.h>
#include <trace/events/sched.h>

#define FLOOR_WORDS	512	/* a power of two */

struct floor_ring {
	u64 events;
	u64 words[FLOOR_WORDS];
};

static DEFINE_PER_CPU(struct floor_ring, floor_rings);

static __always_inline void floor_store(u64 now)
{
	struct floor_ring *ring = this_cpu_ptr(&floor_rings);

	ring->words[ring->events++ & (FLOOR_WORDS - 1)] = now;
}

/* For each way to get a word, a probe for each of the three tracepoints. */
#define FLOOR_PROBES(name, action)						\
static void floor_switch_##name(void *data, bool preempt, struct task_struct *prev,	\
				struct task_struct *next, unsigned int prev_state)	\
{										\
	action;									\
}										\
static void floor_waking_##name(void *data, struct task_struct *task)		\
{										\
	action;									\
}										\
static void floor_wakeup_##name(void *data, struct task_struct *task)		\
{										\
	action;									\
}

FLOOR_PROBES(empty, barrier())
FLOOR_PROBES(tsc, floor_store(rdtsc()))
FLOOR_PROBES(mono, floor_store(ktime_get_mono_fast_ns()))

static const struct floor_kind {
	const char *name;
	void *probes[3];
} floor_kinds[] = {
	{ "empty", { floor_switch_empty, floor_waking_empty, floor_wakeup_empty } },
	{ "tsc", { floor_switch_tsc, floor_waking_tsc, floor_wakeup_tsc } },
	{ "mono", { floor_switch_mono, floor_waking_mono, floor_wakeup_mono } },
};

static const char * const floor_names[] = { "sched_switch", "sched_waking", "sched_wakeup" };
static struct tracepoint *floor_tracepoints[ARRAY_SIZE(floor_names)];
static const struct floor_kind *floor_kind;

static char *probe = "empty";
module_param(probe, charp, 0444);
MODULE_PARM_DESC(probe, "empty, tsc or mono");

static int floor_events_get(char *buffer, const struct kernel_param *kp)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += per_cpu(floor_rings, cpu).events;
	return sprintf(buffer, "%llu\n", sum);
}

static const struct kernel_param_ops floor_events_ops = { .get = floor_events_get };
module_param_cb(events, &floor_events_ops, NULL, 0444);
MODULE_PARM_DESC(events, "stores so far");

static void floor_find(struct tracepoint *tp, void *data)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(floor_names); i++)
		if (!strcmp(tp->name, floor_names[i]))
			floor_tracepoints[i] = tp;
}

static void floor_unregister(int n)
{
	while (n--)
		tracepoint_probe_unregister(floor_tracepoints[n], floor_kind->probes[n], NULL);
	tracepoint_synchronize_unregister();
}

static int __init floor_init(void)
{
	int i, ret;

	for (i = 0; i < ARRAY_SIZE(floor_kinds); i++)
		if (!strcmp(probe, floor_kinds[i].name))
			floor_kind = &floor_kinds[i];
	if (!floor_kind)
		return -EINVAL;
	for_each_kernel_tracepoint(floor_find, NULL);
	for (i = 0; i < ARRAY_SIZE(floor_names); i++) {
		ret = floor_tracepoints[i] ?
		      tracepoint_probe_register(floor_tracepoints[i], floor_kind->probes[i],
						NULL) : -ENOENT;
		if (ret) {
			floor_unregister(i);
			return ret;
		}
	}
	return 0;
}

static void __exit floor_exit(void)
{
	floor_unregister(ARRAY_SIZE(floor_names));
}

module_init(floor_init);
module_exit(floor_exit);
MODULE_DESCRIPTION("Bare probes on the scheduler's tracepoints");
MODULE_LICENSE("GPL");
