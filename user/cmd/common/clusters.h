/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Groups of points that are near each other, and numbers for that which look random.
 */
#ifndef SCHEDTAPE_CLUSTERS_H
#define SCHEDTAPE_CLUSTERS_H

#include <stdint.h>

/*
 * Sebastiano Vigna, splitmix64, 2015: numbers that look random, and are the same each time on every
 * machine.  @state: any number, which the call changes
 */
static inline uint64_t clusters_random(uint64_t *state)
{
	uint64_t z = (*state += 0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

/* Returns such a number from 0 to below 1. */
static inline double clusters_random_share(uint64_t *state)
{
	return (double)(clusters_random(state) >> 11) / (1ULL << 53);
}

/* Dimensions of a projected vector, as SimPoint has them. */
#define POINT_DIMS	15

/**
 * struct point - the projected vector of an interval
 */
struct point {
	double at[POINT_DIMS];
};

/**
 * struct clusters - groups of points
 * @k: number of groups
 * @centres: of each
 * @of: by point: its group
 * @error: sum of the squares of all points' distances from their centres
 */
struct clusters {
	uint32_t k;
	struct point *centres;
	uint32_t *of;
	double error;
};

/*
 * Groups @n points, in @least to @most groups, both from 1 to @n.  Groups may be fewer if there are
 * fewer points that differ.  The caller frees the groups.  Returns 0 or -ENOMEM.
 */
int clusters_find(struct clusters *clusters, const struct point *points, uint32_t n,
		  uint32_t least, uint32_t most);
/* Returns the square of the distance of two points. */
double clusters_distance(const struct point *a, const struct point *b);
void clusters_free(struct clusters *clusters);

#endif /* SCHEDTAPE_CLUSTERS_H */
