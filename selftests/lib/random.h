/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Repeatable random numbers.
 */
#ifndef SELFTESTS_RANDOM_H
#define SELFTESTS_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

/* A generator; each thread has its own. */
struct st_random {
	uint64_t state;
};

uint64_t st_random_next(struct st_random *random);
/* Returns a number below @limit, which is not 0. */
uint32_t st_random_below(struct st_random *random, uint32_t limit);
/* Returns true once in @n calls on average. */
bool st_random_one_in(struct st_random *random, uint32_t n);
/* Returns a number that programs often mishandle, or one near @typical. */
uint64_t st_random_odd(struct st_random *random, uint64_t typical);

#endif /* SELFTESTS_RANDOM_H */
