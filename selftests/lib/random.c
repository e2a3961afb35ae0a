// SPDX-License-Identifier: GPL-2.0-only
/*
 * Repeatable random numbers.
 */
#include "random.h"

/* splitmix64 */
uint64_t st_random_next(struct st_random *random)
{
	uint64_t z = random->state += 0x9e3779b97f4a7c15ull;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

uint32_t st_random_below(struct st_random *random, uint32_t limit)
{
	return (st_random_next(random) >> 32) % limit;
}

bool st_random_one_in(struct st_random *random, uint32_t n)
{
	return !st_random_below(random, n);
}

uint64_t st_random_odd(struct st_random *random, uint64_t typical)
{
	static const uint64_t odd[] = {
		0, 1, 2, 0x7f, 0x80, 0xff, 0x100, 0xfff, 0x1000, 0x1001, 0xffff, 0x10000,
		0x3fffff, 0x400000, 0x7fffffff, 0x80000000, 0xffffffff, 0x100000000ull,
		0x7fffffffffffffffull, 0x8000000000000000ull, 0xffffffffffffffffull,
	};

	switch (st_random_below(random, 4)) {
	case 0:
		return odd[st_random_below(random, sizeof(odd) / sizeof(odd[0]))];
	case 1:
		return st_random_next(random) >> st_random_below(random, 64);
	default:
		return typical + st_random_below(random, 5) - 2;
	}
}
