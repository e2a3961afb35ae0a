// SPDX-License-Identifier: GPL-2.0-only
/*
 * Converts CLOCK_MONOTONIC to a replay's time, and back.
 */
#include "replay/timebase.h"

#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <schedtape/netlink.h>

/* The longest time for a timer.  Longer times are cut to it, so that sums do not overflow. */
#define STAPE_TIMEBASE_MAX	(KTIME_MAX / 4)

static u64 stape_timebase_scale(u64 ns, u32 mul, u32 div)
{
	if (div_u64(ns, div) >= div_u64(STAPE_TIMEBASE_MAX, mul))
		return STAPE_TIMEBASE_MAX;
	return mul_u64_u64_div_u64(ns, mul, div);
}

/**
 * stape_timebase_to_replay() - convert a time of CLOCK_MONOTONIC to the replay's time
 * @timebase: of a replay that runs
 * @mono: ns of CLOCK_MONOTONIC
 *
 * Context: any.
 * Return: ns of the replay's time.
 */
u64 stape_timebase_to_replay(const struct stape_timebase *timebase, u64 mono)
{
	if (mono <= timebase->mono_base)
		return timebase->replay_base;
	return timebase->replay_base +
	       stape_timebase_scale(mono - timebase->mono_base, timebase->speed,
				    STAPE_REPLAY_SPEED_ONE);
}

/**
 * stape_timebase_to_mono() - convert a replay's time to CLOCK_MONOTONIC
 * @timebase: of a replay that runs
 * @time: ns of the replay's time
 *
 * Context: any.
 * Return: ns of CLOCK_MONOTONIC.
 */
u64 stape_timebase_to_mono(const struct stape_timebase *timebase, u64 time)
{
	u64 since;

	if (time >= timebase->replay_base)
		return timebase->mono_base +
		       stape_timebase_scale(time - timebase->replay_base, STAPE_REPLAY_SPEED_ONE,
					    timebase->speed);
	since = stape_timebase_scale(timebase->replay_base - time, STAPE_REPLAY_SPEED_ONE,
				     timebase->speed);
	return timebase->mono_base - min(since, timebase->mono_base);
}
