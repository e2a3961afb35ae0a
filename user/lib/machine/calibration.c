// SPDX-License-Identifier: LGPL-2.1-or-later
#include "machine/calibration.h"

#include <stdlib.h>
#include <time.h>

#define ROUNDS		9
#define ROUND_NS	2000000

uint64_t schedtape_cpu_time(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

__attribute__((noinline)) void schedtape_spin(uint64_t turns)
{
	while (turns--)
		__asm__ __volatile__("");
}

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Spins per ms, measured over at least ROUND_NS / 2 of CPU time. */
static double calibrate_round(uint64_t *turns)
{
	uint64_t start, used;

	for (;;) {
		start = schedtape_cpu_time();
		schedtape_spin(*turns);
		used = schedtape_cpu_time() - start;
		if (used >= ROUND_NS / 2)
			return *turns * 1e6 / used;
		*turns *= 2;
	}
}

void schedtape_calibrate(struct schedtape_calibration *calibration)
{
	uint64_t turns = 100000;
	double rounds[ROUNDS];
	int i;

	for (i = 0; i < ROUNDS; i++)
		rounds[i] = calibrate_round(&turns);
	qsort(rounds, ROUNDS, sizeof(*rounds), compare_doubles);
	calibration->spins_per_ms = rounds[ROUNDS / 2];
	calibration->spread = (rounds[ROUNDS - 1] - rounds[0]) / rounds[ROUNDS / 2];
}
