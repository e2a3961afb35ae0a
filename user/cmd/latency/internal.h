/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The parts of schedtape latency that a test calls: the lines of the report, and the histogram of
 * all delays.
 */
#ifndef SCHEDTAPE_LATENCY_H
#define SCHEDTAPE_LATENCY_H

#include "common/delays.h"
#include "common/groups.h"
#include "common/sheet.h"

extern const struct sheet_column latency_columns[];

/*
 * Makes a line for each group that has run or waited, and the total.  @all: returned: the delays
 * of all lines.  Returns 0 or -ENOMEM.
 */
int latency_fill(struct sheet *sheet, const struct delays *delays, struct groups *groups,
		 struct schedtape_histogram *all);
void latency_print_histogram(const struct schedtape_histogram *all);
/* Prints the member "histogram": the buckets that have delays. */
void latency_json_histogram(const struct schedtape_histogram *all);

#endif /* SCHEDTAPE_LATENCY_H */
