/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Distributions of lengths, in steps of 3 %: little memory however many there are.
 */
#ifndef SCHEDTAPE_DIST_H
#define SCHEDTAPE_DIST_H

#include <stddef.h>
#include <stdint.h>

/**
 * struct schedtape_dist - how often which length was seen
 * @few: steps of the lengths, as long as they are few; NULL: there are @steps
 * @steps: how often each
 * @nr: lengths
 */
struct schedtape_dist {
	uint16_t *few;
	uint64_t *steps;
	uint64_t nr;
};

/* One more.  0 or -ENOMEM. */
int schedtape_dist_add(struct schedtape_dist *dist, uint64_t length);
/* All of another one.  0 or -ENOMEM. */
int schedtape_dist_merge(struct schedtape_dist *dist, const struct schedtape_dist *other);
/* Two-sample Kolmogorov-Smirnov statistic; NAN: one of them has no length. */
double schedtape_dist_distance(const struct schedtape_dist *a, const struct schedtape_dist *b);
void schedtape_dist_free(struct schedtape_dist *dist);

#endif /* SCHEDTAPE_DIST_H */
