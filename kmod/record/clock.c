// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which clocks sessions have, and how a session's clock compares to others.
 */
#include "record/clock.h"

#include <linux/irqflags.h>
#include <linux/math64.h>
#include <linux/spinlock.h>
#include <linux/string.h>

static_assert(sizeof(struct stape_clock_sample) == 40);

#define STAPE_NS_KHZ	1000000		/* a clock that counts ns */

/*
 * The counter may jump: it counts while the machine sleeps, or starts again from 0 after that; and
 * a virtual machine may go on with the counter of another one.  The kernel corrects
 * CLOCK_MONOTONIC then, which tells how far the counter has jumped.
 */
#define STAPE_CLOCK_ANCHOR_NS	NSEC_PER_SEC	/* age at which the anchor is renewed */
/*
 * Less than 1 ms and a 1024th of the time since the anchor is no jump: the kernel slews
 * CLOCK_MONOTONIC by up to 500 ppm, and knows the counter's rate about as well.
 */
#define STAPE_CLOCK_SLEW_SHIFT	10

/**
 * struct stape_clock_anchor - a time by both clocks
 * @lock: protects changes of the others; the innermost of all locks
 * @counter: the counter, with @offset
 * @mono: ns of CLOCK_MONOTONIC
 * @offset: is added to the raw counter; changes when that has jumped
 */
static struct stape_clock_anchor {
	raw_spinlock_t lock;
	u64 counter;
	u64 mono;
	u64 offset;
} stape_clock_anchor = { .lock = __RAW_SPIN_LOCK_UNLOCKED(stape_clock_anchor.lock) };

DEFINE_STATIC_KEY_FALSE(stape_clock_mono_key);

/* Reads both clocks.  Returns false if they may be far apart, because a host stopped this CPU. */
static bool stape_clock_read_both(u64 *counter, u64 *mono)
{
	u64 limit = stape_counter_rate() / 10;	/* 0.1 ms */
	u64 before, after;
	int tries = 3;

	do {
		before = stape_counter_read();
		*mono = ktime_get_mono_fast_ns();
		after = stape_counter_read();
	} while (after - before > limit && --tries);
	*counter = before + (after - before) / 2;
	return after - before <= limit;
}

/* Returns by how many ticks the counter is ahead, if it has jumped since the anchor; else 0. */
static s64 stape_clock_jump(u64 counter, u64 mono)
{
	u64 since = mono - READ_ONCE(stape_clock_anchor.mono);
	u64 ticks, slew;
	s64 ahead;

	/*
	 * Another CPU may have made the anchor since @mono was read.  x86 divides by an instruction
	 * that ends in an exception if the quotient has more than 64 bits.
	 */
	if ((s64)since < 0)
		return 0;
	ticks = mul_u64_u32_div(since, stape_counter_rate(), STAPE_NS_KHZ);
	ahead = counter + READ_ONCE(stape_clock_anchor.offset) -
		READ_ONCE(stape_clock_anchor.counter) - ticks;
	slew = stape_counter_rate() + (ticks >> STAPE_CLOCK_SLEW_SHIFT);
	return abs(ahead) <= slew ? 0 : ahead;
}

/**
 * stape_clock_offset() - find out what has to be added to a clock's raw values
 * @counter: the clock is the CPU's counter
 *
 * If the counter has jumped, this changes the offset, so that the sum goes on by
 * CLOCK_MONOTONIC.  All CPUs use the same offset.
 *
 * Context: interrupts off.  Any lock may be held.
 * Return: the offset; 0 for CLOCK_MONOTONIC.
 */
u64 stape_clock_offset(bool counter)
{
	u64 now, mono;

	/* Without a rate no session uses the counter. */
	if (!counter || !stape_counter_rate() || !stape_clock_read_both(&now, &mono))
		return counter ? READ_ONCE(stape_clock_anchor.offset) : 0;
	/* Fields of two anchors may be mixed up here.  Under the lock they are read again. */
	if ((s64)(mono - READ_ONCE(stape_clock_anchor.mono)) < STAPE_CLOCK_ANCHOR_NS &&
	    !stape_clock_jump(now, mono))
		return READ_ONCE(stape_clock_anchor.offset);
	raw_spin_lock(&stape_clock_anchor.lock);
	WRITE_ONCE(stape_clock_anchor.offset,
		   stape_clock_anchor.offset - stape_clock_jump(now, mono));
	if ((s64)(mono - stape_clock_anchor.mono) > 0) {
		WRITE_ONCE(stape_clock_anchor.mono, mono);
		WRITE_ONCE(stape_clock_anchor.counter, now + stape_clock_anchor.offset);
	}
	now = stape_clock_anchor.offset;
	raw_spin_unlock(&stape_clock_anchor.lock);
	return now;
}

/**
 * stape_clock_init() - take the first anchor
 *
 * Context: before the first session.
 */
void stape_clock_init(void)
{
	local_irq_disable();
	stape_clock_read_both(&stape_clock_anchor.counter, &stape_clock_anchor.mono);
	local_irq_enable();
}

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
	u64 offset;

	memset(sample, 0, sizeof(*sample));
	/* No interrupt may come between the reads. */
	local_irq_save(flags);
	if (counter) {
		offset = stape_clock_offset(true);
		stape_clock_read_both(&sample->counter, &sample->mono);
		sample->counter += offset;
	} else {
		sample->mono = ktime_get_mono_fast_ns();
		sample->counter = sample->mono;
	}
	sample->boot = ktime_get_boot_fast_ns();
	sample->real = ktime_get_real_fast_ns();
	local_irq_restore(flags);

	sample->khz = STAPE_NS_KHZ;
	if (counter) {
		sample->khz = stape_counter_rate();
		sample->unstable = !stape_counter_fit();
	}
}
