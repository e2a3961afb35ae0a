// SPDX-License-Identifier: GPL-2.0-only
/*
 * How long each CPU has been idle.
 */
#include "record/idle.h"

#include <linux/cpumask.h>
#include <linux/mutex.h>
#include <linux/sched.h>

DEFINE_PER_CPU(struct stape_idle, stape_idle_clocks[2]);

/* Protects the numbers of users. */
static DEFINE_MUTEX(stape_idle_lock);
static unsigned int stape_idle_users[2];

/*
 * Lets this clock begin now: what the CPUs did before does not count.  A probe that runs meanwhile
 * has read nearly the same time.
 */
static void stape_idle_reset(bool counter)
{
	u64 now = stape_clock_now(counter);
	int cpu;

	for_each_possible_cpu(cpu) {
		struct stape_idle *idle = per_cpu_ptr(&stape_idle_clocks[counter], cpu);

		WRITE_ONCE(idle->began, 0);
		WRITE_ONCE(idle->since, now);
	}
}

/**
 * stape_idle_get() - let a session's rings compare idle times
 * @counter: the session's clock is the CPU's counter
 *
 * Context: may sleep.  The switch probe is on, and reads this clock.
 */
void stape_idle_get(bool counter)
{
	mutex_lock(&stape_idle_lock);
	if (!stape_idle_users[counter]++)
		stape_idle_reset(counter);
	mutex_unlock(&stape_idle_lock);
}

/**
 * stape_idle_put() - undo stape_idle_get()
 * @counter: as there
 *
 * Context: may sleep.
 */
void stape_idle_put(bool counter)
{
	mutex_lock(&stape_idle_lock);
	stape_idle_users[counter]--;
	mutex_unlock(&stape_idle_lock);
}

static void notrace stape_idle_begin_mono(void)
{
	struct stape_idle *idle = this_cpu_ptr(&stape_idle_clocks[false]);

	idle->since = stape_clock_now(false);
	idle->began = 0;
}

/**
 * stape_idle_begin() - note that the CPU switches to its idle task
 *
 * Context: the switch probe.
 */
void notrace stape_idle_begin(void)
{
	stape_idle_begin_counter();
	if (stape_clock_mono_used())
		stape_idle_begin_mono();
}

static void notrace stape_idle_end_mono(void)
{
	struct stape_idle *idle = this_cpu_ptr(&stape_idle_clocks[false]);
	u64 now = stape_clock_now(false);

	idle->began = idle->since;
	/* It may step back a little. */
	if (now > idle->since)
		idle->sum += now - idle->since;
	idle->since = now;
}

/**
 * stape_idle_end() - note that the CPU switches away from its idle task
 *
 * Context: the switch probe.
 */
void notrace stape_idle_end(void)
{
	u64 now = stape_clock_now(true), since = this_cpu_read(stape_idle_clocks[true].since);

	this_cpu_write(stape_idle_clocks[true].began, since);
	this_cpu_write(stape_idle_clocks[true].since, now);
	this_cpu_add(stape_idle_clocks[true].sum, now - since);
	if (stape_clock_mono_used())
		stape_idle_end_mono();
}

/**
 * stape_idle_restart() - do not count the time in which a CPU was offline
 * @cpu: the CPU
 *
 * Context: the CPU is about to start, with its idle task.
 */
void stape_idle_restart(unsigned int cpu)
{
	int counter;

	for (counter = 0; counter < 2; counter++) {
		struct stape_idle *idle = per_cpu_ptr(&stape_idle_clocks[counter], cpu);

		idle->since = stape_clock_now(counter);
		idle->began = 0;
	}
}

/**
 * stape_idle_look() - see how long a CPU has been idle
 * @cpu: this CPU, or one that is offline
 * @counter: by which clock
 * @now: the time by that clock
 * @view: to be filled
 *
 * Context: interrupts off.
 */
void notrace stape_idle_look(unsigned int cpu, bool counter, u64 now, struct stape_idle_view *view)
{
	const struct stape_idle *idle = per_cpu_ptr(&stape_idle_clocks[counter], cpu);
	u64 since = idle->since;

	view->sum = idle->sum;
	view->before = idle->sum;
	view->idle = cpu != raw_smp_processor_id() || !current->pid;
	if (view->idle && idle->began) {
		view->before -= idle->since - idle->began;
		since = idle->began;
	}
	/* CLOCK_MONOTONIC may step back a little. */
	view->span = now > since ? now - since : 0;
	if (view->idle && !idle->began)
		view->sum += view->span;
}
