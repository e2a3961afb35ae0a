// SPDX-License-Identifier: GPL-2.0-only
#include "top/interval.h"

#include <stdlib.h>

void interval_free(struct interval *interval)
{
	size_t i;

	for (i = 0; i < interval->nr_sums; i++)
		schedtape_histogram_free(&interval->sums[i].delays.delays);
	free(interval->sums);
	free(interval->tasks);
	*interval = (struct interval){ 0 };
}
