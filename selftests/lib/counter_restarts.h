/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Builds the module as if for a machine whose counter starts again after a sleep, which QEMU's
 * does not: the first sleep of a second or more takes it back by 2^33 ticks, some seconds.
 * Included before all other headers.
 */
#include <linux/ktime.h>
#include <asm/msr.h>
#include <asm/tsc.h>

static __always_inline u64 stape_restarted(u64 counter)
{
	u64 slept = ktime_get_boot_fast_ns() - ktime_get_mono_fast_ns();

	return slept < NSEC_PER_SEC ? counter : counter - (1ULL << 33);
}

#define rdtsc()		stape_restarted(rdtsc())
