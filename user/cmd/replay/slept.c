// SPDX-License-Identifier: GPL-2.0-only
#include "replay/slept.h"

#include <time.h>

#include "base/clock.h"

#define NS_PER_S	1000000000ULL
#define APART_NS	200000		/* the clocks are read again if there was more between */
#define SHORTEST_NS	1000000

uint64_t slept_so_far(void)
{
	uint64_t before, after, boot;
	struct timespec now;
	int tries = 100;

	do {
		before = schedtape_now();
		clock_gettime(CLOCK_BOOTTIME, &now);
		after = schedtape_now();
	} while (after - before > APART_NS && --tries);
	boot = now.tv_sec * NS_PER_S + now.tv_nsec;
	return boot > after ? boot - after : 0;
}

uint64_t slept_since(uint64_t before)
{
	uint64_t slept = slept_so_far() - before;

	return (int64_t)slept < SHORTEST_NS ? 0 : slept;
}
