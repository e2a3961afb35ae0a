/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _STAPE_TIMEBASE_H
#define _STAPE_TIMEBASE_H

#include <linux/types.h>

/**
 * struct stape_timebase - maps CLOCK_MONOTONIC to a replay's time
 * @mono_base: ns of CLOCK_MONOTONIC
 * @replay_base: the replay's time at @mono_base, ns
 * @speed: how fast the replay's time passes, in millionths of CLOCK_MONOTONIC
 *
 * A replay's time is 0 at its start, and does not pass while the replay is paused.
 */
struct stape_timebase {
	u64 mono_base;
	u64 replay_base;
	u32 speed;
};

u64 stape_timebase_to_replay(const struct stape_timebase *timebase, u64 mono);
u64 stape_timebase_to_mono(const struct stape_timebase *timebase, u64 time);

#endif /* _STAPE_TIMEBASE_H */
