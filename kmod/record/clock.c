// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which clocks sessions have, and how a session's clock compares to others.
 */
#include "record/clock.h"

#include <linux/irqflags.h>
#include <linux/string.h>

static_assert(sizeof(struct stape_clock_sample) == 40);

#define STAPE_NS_KHZ	1000000		/* a clock that counts ns */

DEFINE_STATIC_KEY_FALSE(stape_clock_mono_key);

/**
 * stape_clock_get() - let probes read a clock
 * @counter: the CPU's counter, which they can always read; false: CLOCK_MONOTONIC
 *
 * Context: may sleep.
 */
void stape_clock_get(bool counter)
{
	if (!counter)
		static_branch_inc(&stape_clock_mono_key);
}

/* Undoes stape_clock_get(), when no probe uses a ring with that clock any more. */
void stape_clock_put(bool counter)
{
	if (!counter)
		static_branch_dec(&stape_clock_mono_key);
}

/**
 * stape_clock_sample() - read several clocks at one time
 * @counter: the session's clock is the CPU's counter
 * @sample: to be filled
 *
 * Context: any but NMI.
 */
void stape_clock_sample(bool counter, struct stape_clock_sample *sample)
{
	unsigned long flags;
	u64 before;

	memset(sample, 0, sizeof(*sample));
	/* No interrupt may come between the reads. */
	local_irq_save(flags);
	before = stape_clock_now(counter);
	sample->mono = ktime_get_mono_fast_ns();
	sample->counter = counter ? before + (stape_clock_now(true) - before) / 2 : sample->mono;
	sample->boot = ktime_get_boot_fast_ns();
	sample->real = ktime_get_real_fast_ns();
	local_irq_restore(flags);

	sample->khz = STAPE_NS_KHZ;
	if (counter) {
		sample->khz = stape_counter_rate();
		sample->unstable = !stape_counter_fit();
	}
}
