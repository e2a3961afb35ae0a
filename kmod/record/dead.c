// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tasks that have switched out for the last time.  The switch probe runs under the runqueue lock,
 * so it only remembers them.  They are removed from the filters as soon as the CPU has interrupts
 * on again.
 */
#include "record/dead.h"

#include <linux/cpumask.h>
#include <linux/irq_work.h>
#include <linux/percpu.h>
#include <linux/sched.h>

#include "record/active.h"
#include "record/follow.h"

/* Interrupts are off for less than two last switches, unless the kernel polls for irq_work. */
#define STAPE_DEAD_MAX	16

/**
 * struct stape_dead_task - a task that has ended
 * @task: not referenced
 * @pid: its PID
 */
struct stape_dead_task {
	const struct task_struct *task;
	u32 pid;
};

/**
 * struct stape_dead_list - those of a CPU
 * @tasks: the tasks
 * @nr: entries of @tasks
 * @work: removes them from the filters
 */
struct stape_dead_list {
	struct stape_dead_task tasks[STAPE_DEAD_MAX];
	u32 nr;
	struct irq_work work;
};

static DEFINE_PER_CPU(struct stape_dead_list, stape_dead_lists);

/* Interrupts are off, which makes this an RCU reader. */
static void stape_dead_remove(const struct stape_dead_task *dead)
{
	struct stape_active *active;

	for_each_active(active)
		stape_follow_dead(active, dead->task, dead->pid);
}

static void stape_dead_work(struct irq_work *work)
{
	struct stape_dead_list *list = this_cpu_ptr(&stape_dead_lists);

	/* The task is off its CPU before its threads are counted: stape_follow_reap_leader(). */
	smp_mb();
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

	/* In the interrupt, also on PREEMPT_RT: a PID may be reused before a thread runs. */
	for_each_possible_cpu(cpu)
		per_cpu(stape_dead_lists, cpu).work = IRQ_WORK_INIT_HARD(stape_dead_work);
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
	struct stape_dead_task dead = { task, task->pid };

	if (list->nr == STAPE_DEAD_MAX) {
		stape_dead_remove(&dead);
		return;
	}
	list->tasks[list->nr++] = dead;
	irq_work_queue(&list->work);
}

/**
 * stape_dead_sync() - wait until nothing is left to be removed
 *
 * Context: may sleep; no switch probe runs any more.
 */
void stape_dead_sync(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		irq_work_sync(per_cpu_ptr(&stape_dead_lists.work, cpu));
}
