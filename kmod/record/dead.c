// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tasks that have switched out for the last time.  The switch probe runs under the runqueue lock,
 * so it only remembers them.  They are removed from the filters at the CPU's next tick, which
 * costs no interrupt of their own, or sooner if there are many.
 *
 * If a PID is used again before that, the fork probe clears its bit.
 */
#include "record/dead.h"

#include <linux/cpumask.h>
#include <linux/irq_work.h>
#include <linux/percpu.h>
#include <linux/sched.h>

#include "record/follow.h"

/* When this many wait, an interrupt removes them. */
#define STAPE_DEAD_MANY	16
/* The CPU takes that interrupt before the list is full, unless the kernel polls for irq_work. */
#define STAPE_DEAD_MAX	32

/**
 * struct stape_dead_list - those of a CPU
 * @tasks: the tasks, and room for one more
 * @nr: entries of @tasks
 * @tick: removes them from the filters at the next tick
 * @now: does so in an interrupt
 */
struct stape_dead_list {
	struct stape_dead_task tasks[STAPE_DEAD_MAX + 1];
	u32 nr;
	struct irq_work tick;
	struct irq_work now;
};

static DEFINE_PER_CPU(struct stape_dead_list, stape_dead_lists);

static void stape_dead_work(struct irq_work *work)
{
	struct stape_dead_list *list = this_cpu_ptr(&stape_dead_lists);
	u32 nr = list->nr;

	/* A task is off its CPU before its threads are counted: stape_follow_reap_leader(). */
	smp_mb();
	list->nr = 0;
	stape_follow_dead(list->tasks, nr);
}

/**
 * stape_dead_init() - make the lists
 *
 * Context: module init.
 */
void stape_dead_init(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct stape_dead_list *list = per_cpu_ptr(&stape_dead_lists, cpu);

		list->now = IRQ_WORK_INIT_HARD(stape_dead_work);
		list->tick = IRQ_WORK_INIT_LAZY(stape_dead_work);
		/*
		 * There a thread of the CPU runs all irq_work that is not hard.  It is parked while
		 * the CPU goes offline, and waits for tasks of a higher priority.
		 */
		if (IS_ENABLED(CONFIG_PREEMPT_RT))
			list->tick = IRQ_WORK_INIT_HARD(stape_dead_work);
	}
}

/**
 * stape_dead_add() - note that a task has switched out for the last time
 * @task: the task
 *
 * Context: the switch probe: interrupts off, runqueue lock.
 */
void stape_dead_add(const struct task_struct *task)
{
	struct stape_dead_list *list = this_cpu_ptr(&stape_dead_lists);
	u32 nr = list->nr;
	struct stape_dead_task *dead = list->tasks + nr;

	dead->task = task;
	dead->pid = task->pid;
	dead->uses = stape_follow_last_use(task);
	if (unlikely(nr == STAPE_DEAD_MAX)) {
		stape_follow_dead(dead, 1);
		return;
	}
	list->nr = nr + 1;
	if (!nr)
		irq_work_queue(&list->tick);
	else if (nr + 1 == STAPE_DEAD_MANY)
		irq_work_queue(&list->now);
}

/**
 * stape_dead_sync() - wait until nothing is left to be removed
 *
 * Context: may sleep; no switch probe runs any more.
 */
void stape_dead_sync(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		irq_work_sync(per_cpu_ptr(&stape_dead_lists.tick, cpu));
		irq_work_sync(per_cpu_ptr(&stape_dead_lists.now, cpu));
	}
}
