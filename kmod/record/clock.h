/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The clocks that a session may have: CLOCK_MONOTONIC, or the CPU's raw counter, which the
 * reader of the tape converts.
 */
#ifndef _STAPE_CLOCK_H
#define _STAPE_CLOCK_H

#include <linux/timekeeping.h>
#include <linux/timex.h>
#include <schedtape/device.h>

/**
 * stape_clock_now() - read a session's clock
 * @counter: the clock is the CPU's counter
 *
 * Context: any, NMI included.
 */
static __always_inline u64 stape_clock_now(bool counter)
{
	return counter ? get_cycles() : ktime_get_mono_fast_ns();
}

void stape_clock_sample(bool counter, struct stape_clock_sample *sample);

#endif /* _STAPE_CLOCK_H */
