/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The engine without the module, and steps of its players.
 */
#ifndef SELFTESTS_ENGINES_H
#define SELFTESTS_ENGINES_H

#include <stdint.h>

#include <player/engine.h>

#define MS	1000000ull
#define NOBODY	UINT32_MAX

static struct schedtape_engine *engine;

static inline struct schedtape_replay_state state(void)
{
	struct schedtape_replay_state s;

	schedtape_engine_get(engine, &s);
	return s;
}

/* @wake: the edge of a wake-up, or NOBODY */
static inline int step(uint32_t player, uint32_t wake, uint32_t wait, uint64_t value)
{
	const struct stape_step s = {
		.player = player,
		.nr_wakes = wake != NOBODY,
		.wakes = (uintptr_t)&wake,
		.wait = wait,
		.value = value,
	};

	return schedtape_engine_step(engine, &s);
}

#endif /* SELFTESTS_ENGINES_H */
