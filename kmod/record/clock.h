/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The clocks that a session may have: CLOCK_MONOTONIC, or the CPU's counter, which the reader of
 * the tape converts.  Probes read the raw counter.  stape_clock_offset() is added to what is
 * written, so that times go on when the counter jumps.
 */
#ifndef _STAPE_CLOCK_H
#define _STAPE_CLOCK_H

#include <linux/jump_label.h>
#include <linux/timekeeping.h>
#include <schedtape/device.h>

/**
 * stape_clock_now() - read a session's clock, without its offset
 * @counter: the clock is the CPU's counter
 *
 * Context: any, NMI included.
 */
static __always_inline u64 stape_clock_now(bool counter)
{
	return counter ? stape_counter_read() : ktime_get_mono_fast_ns();
}

DECLARE_STATIC_KEY_FALSE(stape_clock_mono_key);

/* Returns true if a session may have CLOCK_MONOTONIC. */
static __always_inline bool stape_clock_mono_used(void)
{
	return static_branch_unlikely(&stape_clock_mono_key);
}

void stape_clock_init(void);
void stape_clock_get(bool counter);
void stape_clock_put(bool counter);
u64 stape_clock_offset(bool counter);
void stape_clock_sample(bool counter, struct stape_clock_sample *sample);

#endif /* _STAPE_CLOCK_H */
