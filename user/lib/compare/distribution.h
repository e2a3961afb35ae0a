/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Distributions of lengths, in steps of 3 %, so that many lengths need little memory.
 */
#ifndef SCHEDTAPE_DIST_H
#define SCHEDTAPE_DIST_H

#include <stddef.h>
#include <stdint.h>

/**
 * struct schedtape_dist - a distribution
 * @few: the step of each length, as long as there are few; NULL: @steps is used
 * @steps: number of lengths in each step
 * @nr: number of lengths
 */
struct schedtape_dist {
	uint16_t *few;
	uint64_t *steps;
	uint64_t nr;
};

/* Adds a length.  0 or -ENOMEM. */
int schedtape_dist_add(struct schedtape_dist *dist, uint64_t length);
/* Adds all lengths of @other.  0 or -ENOMEM. */
int schedtape_dist_merge(struct schedtape_dist *dist, const struct schedtape_dist *other);
/* Returns the two-sample Kolmogorov-Smirnov statistic; NAN: one of the two is empty. */
double schedtape_dist_distance(const struct schedtape_dist *a, const struct schedtape_dist *b);
void schedtape_dist_free(struct schedtape_dist *dist);

#endif /* SCHEDTAPE_DIST_H */
