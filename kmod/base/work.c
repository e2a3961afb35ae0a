// SPDX-License-Identifier: GPL-2.0-only
/*
 * The module's own workqueue, and what probes leave to others.
 *
 * The work takes the locks of sessions and may wait for them for long, which on one of the kernel's
 * queues would delay other work.
 *
 * Probes run under the runqueue lock and must not wake a task.  An interrupt on the same CPU, an
 * irq_work, does it for them.  A CPU that no session records interrupts one that is recorded
 * instead.
 *
 * On PREEMPT_RT an interrupt must not take the lock of a wait queue.  There the kernel leaves an
 * ordinary irq_work to a thread of the CPU with priority 1.  A task with a higher priority can
 * keep that thread from running for as long as it likes, and no other CPU can queue the irq_work
 * meanwhile.  So the irq_work is a hard one, which queues a work that any CPU may run.
 */
#include "base/work.h"

#include <linux/kernel.h>
#include <linux/processor.h>
#include <linux/rcupdate.h>

struct workqueue_struct *stape_work;
struct cpumask stape_recorded_cpus;

/**
 * stape_work_init() - make the workqueue
 *
 * It is unbound, because its work needs no particular CPU and must not disturb isolated CPUs.
 * Reclaim of memory does not wait for it, so it needs no rescuer (WQ_MEM_RECLAIM).
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM.
 */
int stape_work_init(void)
{
	stape_work = alloc_workqueue("schedtape", WQ_UNBOUND, 0);
	return stape_work ? 0 : -ENOMEM;
}

/**
 * stape_work_exit() - free the workqueue
 *
 * Context: may sleep; nothing queues work any more.
 */
void stape_work_exit(void)
{
	/* Work that waits for a grace period is not in the queue yet. */
	rcu_barrier();
	destroy_workqueue(stape_work);
}

/*
 * Returns an online CPU that a session records.  Without one, the number is nr_cpu_ids or more.
 * The caller has preemption off until it has used the CPU, so that the CPU does not go offline.
 */
static unsigned int stape_work_cpu(void)
{
	/* A session may come or go meanwhile. */
	return data_race(cpumask_any_and(cpu_online_mask, &stape_recorded_cpus));
}

/**
 * stape_work_queue_delayed() - queue a work for later
 * @work: queued on stape_work; nothing happens if it is pending
 * @delay: jiffies, at least 1
 *
 * If this CPU is left out, its timer is on one that a session records.  On PREEMPT_RT it stays
 * here: there timers expire in a thread, and a task with a higher priority, which may be what that
 * CPU records, could hold them off.
 *
 * Context: any but NMI, without the runqueue lock.
 */
void stape_work_queue_delayed(struct delayed_work *work, unsigned long delay)
{
	unsigned int cpu = nr_cpu_ids;

	preempt_disable();	/* see stape_work_cpu() */
	if (!IS_ENABLED(CONFIG_PREEMPT_RT) && stape_cpu_is_left_out())
		cpu = stape_work_cpu();
	queue_delayed_work_on(cpu < nr_cpu_ids ? cpu : WORK_CPU_UNBOUND, stape_work, work, delay);
	preempt_enable();
}

static void stape_wake_work(struct work_struct *work)
{
	struct stape_wake *wake = container_of(work, struct stape_wake, work);

	wake->func(wake);
}

static void stape_wake_irq(struct irq_work *irq)
{
	struct stape_wake *wake = container_of(irq, struct stape_wake, irq);

	if (IS_ENABLED(CONFIG_PREEMPT_RT) && !wake->hard)
		queue_work(stape_work, &wake->work);
	else
		wake->func(wake);
}

static void stape_wake_call(void *data)
{
	struct stape_wake *wake = data;

	/* Clears bit 0: this sees what was stored before a stape_wake_send() that found it set. */
	atomic_inc_return(&wake->calls);
	/* Lockdep allows the lock of a wait queue in an irq_work, but not here. */
	if (wake->hard)
		wake->func(wake);
	else
		irq_work_queue(&wake->irq);
	atomic_sub_return(2, &wake->calls);	/* the last use of @wake but for its irq_work */
}

/*
 * Has another CPU, which a session records, call the function.  Returns false if no session records
 * another CPU.  Preemption is off.
 */
static bool stape_wake_send(struct stape_wake *wake)
{
	unsigned int cpu = stape_work_cpu();

	/* The call would be made at once, under the caller's locks. */
	if (cpu >= nr_cpu_ids || cpu == smp_processor_id())
		return false;
	if (!(atomic_fetch_or(1, &wake->calls) & 1) &&
	    WARN_ON_ONCE(smp_call_function_single_async(cpu, &wake->csd)))
		atomic_dec(&wake->calls);
	return true;
}

/**
 * stape_wake_init() - prepare a function to be called for probes
 * @wake: to be filled
 * @func: called with interrupts off, on PREEMPT_RT in process context; perhaps by several CPUs at
 *	once
 * @hard: it is called in the interrupt on PREEMPT_RT, too
 *
 * Context: any.
 */
void stape_wake_init(struct stape_wake *wake, void (*func)(struct stape_wake *wake), bool hard)
{
	if (IS_ENABLED(CONFIG_PREEMPT_RT))
		wake->irq = IRQ_WORK_INIT_HARD(stape_wake_irq);
	else
		init_irq_work(&wake->irq, stape_wake_irq);
	INIT_CSD(&wake->csd, stape_wake_call, wake);
	atomic_set(&wake->calls, 0);
	wake->hard = hard;
	INIT_WORK(&wake->work, stape_wake_work);
	wake->func = func;
}

/**
 * stape_wake_queue() - let the function be called soon
 * @wake: from stape_wake_init()
 *
 * A CPU that goes offline still runs the stopper thread after it has taken its last interrupt.  An
 * irq_work that was queued there would not run, and no CPU could queue it again.  So this does
 * nothing then, and stape_hotplug_dead() queues what readers wait for from another CPU.
 *
 * Context: any but NMI.  Any lock may be held.
 */
void stape_wake_queue(struct stape_wake *wake)
{
	preempt_disable();	/* or others could find it sent before this task sends it */
	if (!(stape_cpu_is_left_out() && stape_wake_send(wake)) &&
	    likely(cpu_online(smp_processor_id())))
		irq_work_queue(&wake->irq);
	preempt_enable();
}

/**
 * stape_wake_cancel() - wait until the function neither runs nor will be called
 * @wake: from stape_wake_init(); nothing queues it any more
 *
 * No task can delay this: interrupts are not queued behind tasks, and a work that has not begun is
 * taken out of the workqueue.
 *
 * Context: may sleep.
 */
void stape_wake_cancel(struct stape_wake *wake)
{
	/* Pairs with the full barrier at the end of stape_wake_call(). */
	while (atomic_read_acquire(&wake->calls))
		cpu_relax();
	irq_work_sync(&wake->irq);
	cancel_work_sync(&wake->work);
}
