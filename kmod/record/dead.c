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

#include "record/active.h"
#include "record/follow.h"

/* When this many wait, an interrupt removes them. */
#define STAPE_DEAD_MANY	16
/* The CPU takes that interrupt before the list is full, unless the kernel polls for irq_work. */
#define STAPE_DEAD_MAX	32

/**
 * struct stape_dead_task - a task that has switched out for the last time
 * @task: it may have been freed, and is only compared
 * @pid: its PID, which may belong to another task if its parent has reaped it
 */
struct stape_dead_task {
	const struct task_struct *task;
	u32 pid;
};

/**
 * struct stape_dead_list - those of a CPU
 * @tasks: the tasks
 * @nr: entries of @tasks
 * @tick: removes them from the filters at the next tick
 * @now: does so in an interrupt
 */
struct stape_dead_list {
	struct stape_dead_task tasks[STAPE_DEAD_MAX];
	u32 nr;
	struct irq_work tick;
	struct irq_work now;
};

static DEFINE_PER_CPU(struct stape_dead_list, stape_dead_lists);

/* Interrupts are off, which makes this an RCU reader. */
static void stape_dead_remove(const struct stape_dead_task *dead)
{
	struct stape_active *active;

	for_each_active(active)
		stape_follow_end(active, dead->task, dead->pid, STAPE_END_SWITCHED);
}

static void stape_dead_work(struct irq_work *work)
{
	struct stape_dead_list *list = this_cpu_ptr(&stape_dead_lists);

	while (list->nr)
		stape_dead_remove(&list->tasks[--list->nr]);
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
	struct stape_dead_task dead = { task, task->pid };
	struct stape_dead_list *list = this_cpu_ptr(&stape_dead_lists);

	if (unlikely(list->nr == STAPE_DEAD_MAX)) {
		stape_dead_remove(&dead);
		return;
	}
	list->tasks[list->nr++] = dead;
	if (list->nr == 1)
		irq_work_queue(&list->tick);
	else if (list->nr == STAPE_DEAD_MANY)
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
