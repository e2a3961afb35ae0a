/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SCHEDTAPE_BASE_CLOCK_H
#define SCHEDTAPE_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Returns CLOCK_MONOTONIC, ns. */
static inline uint64_t schedtape_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

#endif /* SCHEDTAPE_BASE_CLOCK_H */
