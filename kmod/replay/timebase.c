// SPDX-License-Identifier: GPL-2.0-only
/*
 * A replay's time: from CLOCK_MONOTONIC to it and back.
 */
#include "replay/timebase.h"

#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <schedtape/netlink.h>

/* What is too far away is as far as a timer may be: sums with it fit as well. */
#define STAPE_TEMPO_MAX	(KTIME_MAX / 4)

static u64 stape_tempo_scale(u64 ns, u32 mul, u32 div)
{
	if (div_u64(ns, div) >= div_u64(STAPE_TEMPO_MAX, mul))
		return STAPE_TEMPO_MAX;
	return mul_u64_u64_div_u64(ns, mul, div);
}

/**
 * stape_tempo_at() - what time is it for the replay?
 * @tempo: the replay's, which runs
 * @time: ns of CLOCK_MONOTONIC
 *
 * Context: any.
 * Return: ns of the replay's time.
 */
u64 stape_tempo_at(const struct stape_tempo *tempo, u64 time)
{
	if (time <= tempo->base_time)
		return tempo->base;
	return tempo->base + stape_tempo_scale(time - tempo->base_time, tempo->speed,
					       STAPE_REPLAY_SPEED_ONE);
}

/**
 * stape_tempo_due() - when is it that time for the replay?
 * @tempo: the replay's, which runs
 * @at: ns of the replay's time
 *
 * Context: any.
 * Return: ns of CLOCK_MONOTONIC.
 */
u64 stape_tempo_due(const struct stape_tempo *tempo, u64 at)
{
	u64 since;

	if (at >= tempo->base)
		return tempo->base_time + stape_tempo_scale(at - tempo->base,
							    STAPE_REPLAY_SPEED_ONE, tempo->speed);
	since = stape_tempo_scale(tempo->base - at, STAPE_REPLAY_SPEED_ONE, tempo->speed);
	return tempo->base_time - min(since, tempo->base_time);
}
