// SPDX-License-Identifier: LGPL-2.1-or-later
#include "compare/distribution.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STEP_BITS	5			/* 32 steps in each power of two: 3 % each */
#define NR_STEPS	((64 - STEP_BITS + 1) << STEP_BITS)
#define FEW		1024			/* a power of two */

/* Below 64 every length has a step of its own. */
static unsigned int step_of(uint64_t length)
{
	unsigned int shift;

	if (length < 2 << STEP_BITS)
		return length;
	shift = 63 - __builtin_clzll(length) - STEP_BITS;
	return (shift << STEP_BITS) + (length >> shift);
}

static int make_steps(struct schedtape_dist *dist)
{
	uint64_t i;

	dist->steps = calloc(NR_STEPS, sizeof(*dist->steps));
	if (!dist->steps)
		return -ENOMEM;
	for (i = 0; i < dist->nr; i++)
		dist->steps[dist->few[i]]++;
	free(dist->few);
	dist->few = NULL;
	return 0;
}

static int grow_few(struct schedtape_dist *dist)
{
	uint64_t room = dist->nr ? 2 * dist->nr : 8;
	uint16_t *few;

	/* The array is full at each power of two, 8 at least. */
	if (dist->nr & (dist->nr - 1) || (dist->nr && dist->nr < 8))
		return 0;
	few = realloc(dist->few, room * sizeof(*few));
	if (!few)
		return -ENOMEM;
	dist->few = few;
	return 0;
}

static int add_steps(struct schedtape_dist *dist, unsigned int step, uint64_t times)
{
	if (!dist->steps && make_steps(dist))
		return -ENOMEM;
	dist->steps[step] += times;
	dist->nr += times;
	return 0;
}

int schedtape_dist_add(struct schedtape_dist *dist, uint64_t length)
{
	if (dist->steps || dist->nr == FEW)
		return add_steps(dist, step_of(length), 1);
	if (grow_few(dist))
		return -ENOMEM;
	dist->few[dist->nr++] = step_of(length);
	return 0;
}

int schedtape_dist_merge(struct schedtape_dist *dist, const struct schedtape_dist *other)
{
	uint64_t i, n = other->steps ? NR_STEPS : other->nr;
	int rc = 0;

	for (i = 0; i < n && !rc; i++) {
		if (!other->steps)
			rc = add_steps(dist, other->few[i], 1);
		else if (other->steps[i])
			rc = add_steps(dist, i, other->steps[i]);
	}
	return rc;
}

static void count(const struct schedtape_dist *dist, uint64_t steps[NR_STEPS])
{
	uint64_t i;

	if (dist->steps) {
		memcpy(steps, dist->steps, NR_STEPS * sizeof(*steps));
		return;
	}
	memset(steps, 0, NR_STEPS * sizeof(*steps));
	for (i = 0; i < dist->nr; i++)
		steps[dist->few[i]]++;
}

double schedtape_dist_distance(const struct schedtape_dist *a, const struct schedtape_dist *b)
{
	uint64_t steps_a[NR_STEPS], steps_b[NR_STEPS], sum_a = 0, sum_b = 0;
	double most = 0, gap;
	unsigned int i;

	if (!a->nr || !b->nr)
		return NAN;
	count(a, steps_a);
	count(b, steps_b);
	for (i = 0; i < NR_STEPS; i++) {
		sum_a += steps_a[i];
		sum_b += steps_b[i];
		gap = fabs((double)sum_a / a->nr - (double)sum_b / b->nr);
		if (gap > most)
			most = gap;
	}
	return most;
}

void schedtape_dist_free(struct schedtape_dist *dist)
{
	free(dist->few);
	free(dist->steps);
}
