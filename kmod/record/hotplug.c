// SPDX-License-Identifier: GPL-2.0-only
/*
 * CPUs that go off- and online: while a CPU is offline, it is neither idle nor busy.
 */
#include "record/hotplug.h"

#include <linux/cpuhotplug.h>
#include <linux/irqflags.h>

#include "record/active.h"
#include "record/trigger.h"

/* Calls @func for the rings of a CPU that does not run. */
static void stape_hotplug_each(unsigned int cpu, void (*func)(struct stape_ring *ring))
{
	struct stape_active *active;
	unsigned long flags;

	local_irq_save(flags);
	for_each_active(active)
		func(per_cpu_ptr(active->rings, cpu));
	local_irq_restore(flags);
}

static int stape_hotplug_prepare(unsigned int cpu)
{
	/* First, so that the rings compare with that. */
	stape_idle_restart(cpu);
	stape_hotplug_each(cpu, stape_ring_online);
	return 0;
}

static void stape_hotplug_end(struct stape_ring *ring)
{
	stape_ring_offline(ring);
	if (!ring->mem)
		return;
	/* The dead CPU may have left these out: see stape_wake_queue(). */
	stape_wake_queue(ring->notify);
	stape_wake_queue(READ_ONCE(ring->wake));
	if (ring->triggers)
		stape_wake_queue(&ring->triggers->wake);
}

static int stape_hotplug_dead(unsigned int cpu)
{
	stape_hotplug_each(cpu, stape_hotplug_end);
	return 0;
}

static int stape_hotplug_state;

/**
 * stape_hotplug_init() - watch CPUs go off- and online
 *
 * No CPU is disturbed: another one calls these functions, before it starts and after its end.
 *
 * Context: may sleep.
 * Return: 0 or -errno.
 */
int __init stape_hotplug_init(void)
{
	int ret = cpuhp_setup_state_nocalls(CPUHP_BP_PREPARE_DYN, "schedtape:prepare",
					    stape_hotplug_prepare, stape_hotplug_dead);

	if (ret < 0)
		return ret;
	stape_hotplug_state = ret;
	return 0;
}

/**
 * stape_hotplug_exit() - undo stape_hotplug_init()
 *
 * Context: may sleep.
 */
void stape_hotplug_exit(void)
{
	cpuhp_remove_state_nocalls(stape_hotplug_state);
}
