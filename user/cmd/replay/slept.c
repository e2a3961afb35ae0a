// SPDX-License-Identifier: GPL-2.0-only
#include "replay/slept.h"

#include "base/clock.h"

#define APART_NS	200000		/* the clocks are read again if there was more between */
#define SHORTEST_NS	1000000

uint64_t slept_so_far(void)
{
	uint64_t before, after, boot;
	int tries = 100;

	do {
		before = schedtape_now();
		boot = schedtape_clock_now(CLOCK_BOOTTIME);
		after = schedtape_now();
	} while (after - before > APART_NS && --tries);
	return boot > after ? boot - after : 0;
}

uint64_t slept_since(uint64_t before)
{
	uint64_t slept = slept_so_far() - before;

	return (int64_t)slept < SHORTEST_NS ? 0 : slept;
}
