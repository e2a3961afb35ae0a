/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _STAPE_TEMPO_H
#define _STAPE_TEMPO_H

#include <linux/types.h>

/**
 * struct stape_tempo - how a replay's own time goes
 * @base_time: ns of CLOCK_MONOTONIC
 * @base: the replay's time then, ns
 * @speed: millionths: how much of its time passes in as much of ours
 *
 * A replay's time begins with 0 at its start, and stands while it is paused.
 */
struct stape_tempo {
	u64 base_time;
	u64 base;
	u32 speed;
};

u64 stape_tempo_at(const struct stape_tempo *tempo, u64 time);
u64 stape_tempo_due(const struct stape_tempo *tempo, u64 at);

#endif /* _STAPE_TEMPO_H */
