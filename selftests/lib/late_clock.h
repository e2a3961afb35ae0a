/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Builds the module as if another CPU always came in between: every second time that it reads
 * CLOCK_MONOTONIC, it gets the time of 2 ms ago. Included before all other headers.
 */
#include <linux/ktime.h>

static __always_inline u64 stape_late(u64 mono)
{
	static unsigned int reads;

	return mono - (reads++ % 2 ? 2 * NSEC_PER_MSEC : 0);
}

#define ktime_get_mono_fast_ns()	stape_late(ktime_get_mono_fast_ns())
