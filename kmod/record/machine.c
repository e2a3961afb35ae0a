// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sleeps of the machine, and CPUs that go off- and online.  When the machine sleeps, to RAM, to
 * disk or to idle, all recordings pause from before tasks are frozen until after they have been
 * thawed.  While a CPU is offline, it is neither idle nor busy.
 */
#include "record/machine.h"

#include <linux/cpuhotplug.h>
#include <linux/irqflags.h>
#include <linux/suspend.h>

#include "record/active.h"
#include "record/sessions.h"
#include "record/trigger.h"

/* A session that starts meanwhile sees the flag, or is found: both are under its lock. */
static int stape_suspend_notify(struct notifier_block *block, unsigned long action, void *data)
{
	switch (action) {
	case PM_SUSPEND_PREPARE:
	case PM_HIBERNATION_PREPARE:
	case PM_RESTORE_PREPARE:
		stape_session_set_asleep(true);
		stape_session_each(stape_session_sleep, true);
		break;
	case PM_POST_SUSPEND:
	case PM_POST_HIBERNATION:
	case PM_POST_RESTORE:
		stape_session_set_asleep(false);
		stape_session_each(stape_session_wake_up, true);
		break;
	}
	return NOTIFY_DONE;
}

static struct notifier_block stape_suspend_block = { .notifier_call = stape_suspend_notify };

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
	/* The dead CPU may have left these out: see stape_wake_queue(). */
	stape_wake_queue(ring->notify);
	if (!ring->mem)
		return;
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
 * stape_machine_init() - watch for sleeps of the machine, and for CPUs that go off- and online
 *
 * No CPU is disturbed: another one calls the functions above, before it starts and after its end.
 *
 * Context: may sleep.
 * Return: 0 or -errno.
 */
int __init stape_machine_init(void)
{
	int ret;

	ret = register_pm_notifier(&stape_suspend_block);
	if (ret)
		return ret;
	ret = cpuhp_setup_state_nocalls(CPUHP_BP_PREPARE_DYN, "schedtape:prepare",
					stape_hotplug_prepare, stape_hotplug_dead);
	if (ret < 0) {
		unregister_pm_notifier(&stape_suspend_block);
		return ret;
	}
	stape_hotplug_state = ret;
	return 0;
}

/**
 * stape_machine_exit() - undo stape_machine_init()
 *
 * Context: may sleep.
 */
void stape_machine_exit(void)
{
	cpuhp_remove_state_nocalls(stape_hotplug_state);
	unregister_pm_notifier(&stape_suspend_block);
}
