/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Random numbers that are the same each time, for tests and the tapes that they read.
 */
#ifndef SELFTESTS_UNIT_RANDOM_H
#define SELFTESTS_UNIT_RANDOM_H

#include <stdint.h>

/* Returns the next number: xorshift64, by Marsaglia ("Xorshift RNGs", 2003). */
static inline uint64_t random64(void)
{
	static uint64_t state = 88172645463325252ULL;

	state ^= state << 13;
	state ^= state >> 7;
	return state ^= state << 17;
}

#endif /* SELFTESTS_UNIT_RANDOM_H */
