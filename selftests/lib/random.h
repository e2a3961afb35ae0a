/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Random numbers that can be had again.
 */
#ifndef SELFTESTS_RANDOM_H
#define SELFTESTS_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

/* One that decides; every thread has its own. */
struct st_random {
	uint64_t state;
};

uint64_t st_random_next(struct st_random *random);
/* Below @limit, which is not 0. */
uint32_t st_random_below(struct st_random *random, uint32_t limit);
/* Once in @n. */
bool st_random_one_in(struct st_random *random, uint32_t n);
/* A number of the kind that programs stumble over, or one near @typical. */
uint64_t st_random_odd(struct st_random *random, uint64_t typical);

#endif /* SELFTESTS_RANDOM_H */
