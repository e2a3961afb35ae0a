/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The figures that reports print of lengths of time.
 */
#ifndef SCHEDTAPE_FIGURES_H
#define SCHEDTAPE_FIGURES_H

#include "base/histogram.h"
#include "common/delays.h"
#include "common/sheet.h"

/* Returns a part of a whole as a value of SHEET_SHARE; 0 of nothing. */
static inline uint64_t figures_share(uint64_t part, uint64_t whole)
{
	return whole ? (double)part * 1000000 / whole + 0.5 : 0;
}

/* Sets four values of a row that follow each other: median, 95 %, 99 %, and the longest. */
static inline void figures_set(union sheet_value *values, const struct schedtape_histogram *lengths)
{
	values[0].n = schedtape_histogram_quantile(lengths, 50, 100);
	values[1].n = schedtape_histogram_quantile(lengths, 95, 100);
	values[2].n = schedtape_histogram_quantile(lengths, 99, 100);
	values[3].n = lengths->worst;
}

/**
 * struct figures_columns - which columns of a sheet are those of delays
 * @median: the first of the four that figures_set() sets
 * @worst_at: when the longest delay began
 * @worst_cpu: on which CPU it ended
 * @average: the average
 * @nr, @sum: how many delays there are, and their sum
 */
struct figures_columns {
	unsigned int median;
	unsigned int worst_at;
	unsigned int worst_cpu;
	unsigned int average;
	unsigned int nr;
	unsigned int sum;
};

/* Sets these values of a row.  Without a delay, all but @nr and @sum are SHEET_NONE. */
void figures_delays(union sheet_value *row, const struct figures_columns *columns,
		    const struct delays_sum *sum);

#endif /* SCHEDTAPE_FIGURES_H */
