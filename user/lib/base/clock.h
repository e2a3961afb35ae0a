/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SCHEDTAPE_BASE_CLOCK_H
#define SCHEDTAPE_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Returns the time by a clock, ns. */
static inline uint64_t schedtape_clock_now(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

/* Returns CLOCK_MONOTONIC, ns. */
static inline uint64_t schedtape_now(void)
{
	return schedtape_clock_now(CLOCK_MONOTONIC);
}

#endif /* SCHEDTAPE_BASE_CLOCK_H */
