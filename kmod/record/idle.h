/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How long each CPU has been idle.  That does not depend on what sessions record: what a CPU does
 * that is neither idle nor recorded is another task for the session.  The switch probe keeps the
 * time; a ring compares it with what it was when its reader knew it last.
 */
#ifndef _STAPE_IDLE_H
#define _STAPE_IDLE_H

#include <linux/percpu.h>

#include "record/clock.h"

/**
 * struct stape_idle - a CPU's idle time, by one clock without its offset
 * @sum: all idle time until the present idle time began
 * @since: when the CPU has become idle, or was so last
 * @began: while the switch away from the idle task is written: when the CPU had become idle; 0
 *	while it is idle
 */
struct stape_idle {
	u64 sum;
	u64 since;
	u64 began;
};

/* By stape_ring::counter.  CLOCK_MONOTONIC's is kept while a session has that clock. */
DECLARE_PER_CPU(struct stape_idle, stape_idle_clocks[2]);

/**
 * struct stape_idle_view - a CPU's idle time, as of now
 * @sum: all of it
 * @before: what of it was over before the CPU began to do what it does now
 * @span: for how long it has been idle, or not idle
 * @idle: the CPU is idle, or the present switch ends that
 */
struct stape_idle_view {
	u64 sum;
	u64 before;
	u64 span;
	bool idle;
};

void stape_idle_get(bool counter);
void stape_idle_put(bool counter);
void stape_idle_begin(void);
void stape_idle_end(void);
void stape_idle_restart(unsigned int cpu);
void stape_idle_look(unsigned int cpu, bool counter, u64 now, struct stape_idle_view *view);

/* stape_idle_begin() by the CPU's counter alone. */
static __always_inline void stape_idle_begin_counter(void)
{
	this_cpu_write(stape_idle_clocks[true].since, stape_clock_now(true));
	this_cpu_write(stape_idle_clocks[true].began, 0);
}

/*
 * stape_idle_end() by the CPU's counter alone, where the reader knows the idle time, and has not to
 * be told when it began.
 * @seen: what it knows, which is brought up to date.  Returns the time.
 */
static __always_inline u64 stape_idle_end_known(u64 *seen)
{
	u64 now = stape_clock_now(true);
	u64 sum = *seen + now - this_cpu_read(stape_idle_clocks[true].since);

	this_cpu_write(stape_idle_clocks[true].since, now);
	this_cpu_write(stape_idle_clocks[true].sum, sum);
	*seen = sum;
	return now;
}

#endif /* _STAPE_IDLE_H */
