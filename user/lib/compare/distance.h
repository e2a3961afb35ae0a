/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How far two distributions of lengths are from each other.
 */
#ifndef SCHEDTAPE_DISTANCE_H
#define SCHEDTAPE_DISTANCE_H

#include "base/histogram.h"

/*
 * Returns the two-sample Kolmogorov-Smirnov statistic, in steps of one bucket; NAN: one of the
 * two is empty.
 */
double schedtape_lengths_distance(const struct schedtape_histogram *a,
				  const struct schedtape_histogram *b);

#endif /* SCHEDTAPE_DISTANCE_H */
