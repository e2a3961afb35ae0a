// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: the machine's speed, and players' CPU time: the clock decides, even if the
 * assumed speed is wrong.
 */
#include <player/burn.h>

#include <schedtape/netlink.h>

#include "tap.h"

#define MS	1000000ull
#define TRIES	5

static struct schedtape_calibration here;

TEST(calibration)
{
	struct schedtape_calibration again;
	uint64_t before = schedtape_cpu_time(), used, turns;

	schedtape_calibrate(&here);
	used = schedtape_cpu_time() - before;
	ok(used < 1000 * MS, "it takes less than a second (%.1f ms)", used / 1e6);
	ok(here.spins_per_ms >= 1 && here.spread >= 0, "%.0f spins a ms, which varied by %.1f %%",
	   here.spins_per_ms, 100 * here.spread);
	/* Only the order of magnitude, because the host of a guest may have other work. */
	turns = 20 * here.spins_per_ms;
	before = schedtape_cpu_time();
	schedtape_spin(turns);
	used = schedtape_cpu_time() - before;
	ok(used > 2 * MS && used < 200 * MS, "20 ms of spins take %.1f ms", used / 1e6);
	schedtape_calibrate(&again);
	ok(again.spins_per_ms > here.spins_per_ms / 10 &&
	   again.spins_per_ms < here.spins_per_ms * 10,
	   "once more: %.0f", again.spins_per_ms);
}

/**
 * struct attempt - CPU time to use for 20 ms of a task's
 * @belief: assumed speed of the CPU, as a multiple of the real one
 * @wanted: expected CPU time, ms
 */
struct attempt {
	double belief;
	double scale;
	double speed;
	double wanted;
};

/* Returns the CPU time of 20 ms, in 400 steps of 50 us, ns; with nothing else in between. */
static uint64_t burn(const struct attempt *attempt)
{
	struct schedtape_calibration belief = {
		.spins_per_ms = here.spins_per_ms * attempt->belief,
	};
	const volatile uint64_t speed = attempt->speed * STAPE_REPLAY_SPEED_ONE;
	struct schedtape_burner burner = {
		.calibration = &belief,
		.speed = &speed,
		.scale = attempt->scale,
	};
	uint64_t before = schedtape_cpu_time(), at;

	schedtape_burner_init(&burner, false);
	for (at = 0; at < 20 * MS; at += 50000)
		schedtape_burn(&burner, at + 50000, 0);
	return schedtape_cpu_time() - before;
}

TEST(targets)
{
	static const struct attempt attempts[] = {
		{ 1, 1, 1, 20 }, { 0.5, 1, 1, 20 }, { 2, 1, 1, 20 },
		{ 1, 0.5, 1, 10 }, { 1, 2, 1, 40 }, { 1, 1, 2, 10 }, { 1, 2, 4, 10 },
	};
	size_t i;
	int try;

	for (i = 0; i < sizeof(attempts) / sizeof(*attempts); i++) {
		const struct attempt *attempt = &attempts[i];
		uint64_t least = UINT64_MAX, used;

		/* Time that a guest's host takes counts as used, so the best attempt counts. */
		for (try = 0; try < TRIES; try++) {
			used = burn(attempt);
			if (used < least)
				least = used;
		}
		ok(least >= 0.99 * attempt->wanted * MS && least < 1.1 * attempt->wanted * MS,
		   "thought %g times as fast: 20 ms, times %g, at %g times the speed: %.3f ms",
		   attempt->belief, attempt->scale, attempt->speed, least / 1e6);
	}
}

TEST_MAIN
