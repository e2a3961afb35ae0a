// SPDX-License-Identifier: LGPL-2.1-or-later
#include "compare/distance.h"

#include <math.h>

double schedtape_lengths_distance(const struct schedtape_histogram *a,
				  const struct schedtape_histogram *b)
{
	uint64_t counts_a[HISTOGRAM_BUCKETS], counts_b[HISTOGRAM_BUCKETS], sum_a = 0, sum_b = 0;
	double most = 0, gap;
	unsigned int i;

	if (!a->nr || !b->nr)
		return NAN;
	schedtape_histogram_counts(a, counts_a);
	schedtape_histogram_counts(b, counts_b);
	for (i = 0; i < HISTOGRAM_BUCKETS; i++) {
		sum_a += counts_a[i];
		sum_b += counts_b[i];
		gap = fabs((double)sum_a / a->nr - (double)sum_b / b->nr);
		if (gap > most)
			most = gap;
	}
	return most;
}
