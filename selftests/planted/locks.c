// SPDX-License-Identifier: GPL-2.0-only
/*
 * Bugs with locks and contexts: DEBUG_ATOMIC_SLEEP, DEBUG_PREEMPT, PROVE_RCU and lockdep, which
 * stays off after its first report, and after one of KASAN.
 */
#include <linux/irq_work.h>
#include <linux/kernel.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/smp.h>
#include <linux/spinlock.h>

#include "planted.h"

static DEFINE_SPINLOCK(spin);
static DEFINE_MUTEX(first);
static DEFINE_MUTEX(second);
static int __rcu *pointer;

void planted_atomic(void)
{
	spin_lock(&spin);
	might_sleep();
	spin_unlock(&spin);
}

void planted_rcu(void)
{
	int *value = rcu_dereference(pointer);

	barrier_data(value);
}

void planted_abba(void)
{
	mutex_lock(&first);
	mutex_lock(&second);
	mutex_unlock(&second);
	mutex_unlock(&first);

	mutex_lock(&second);
	mutex_lock(&first);
	mutex_unlock(&first);
	mutex_unlock(&second);
}

static DEFINE_SPINLOCK(interrupted);

static void in_interrupt_too(struct irq_work *work)
{
	spin_lock(&interrupted);
	spin_unlock(&interrupted);
}

void planted_interrupted(void)
{
	static DEFINE_IRQ_WORK(work, in_interrupt_too);

	irq_work_queue(&work);
	irq_work_sync(&work);
	spin_lock(&interrupted);
	spin_unlock(&interrupted);
}

void planted_preemptible(void)
{
	int cpu = smp_processor_id();

	barrier_data(&cpu);
}
