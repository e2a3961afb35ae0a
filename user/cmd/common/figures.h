/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The figures that reports print of lengths of time.
 */
#ifndef SCHEDTAPE_FIGURES_H
#define SCHEDTAPE_FIGURES_H

#include "base/histogram.h"
#include "common/sheet.h"

/* Sets four values of a row that follow each other: median, 95 %, 99 %, and the longest. */
static inline void figures_set(union sheet_value *values, const struct schedtape_histogram *lengths)
{
	values[0].n = schedtape_histogram_quantile(lengths, 50, 100);
	values[1].n = schedtape_histogram_quantile(lengths, 95, 100);
	values[2].n = schedtape_histogram_quantile(lengths, 99, 100);
	values[3].n = lengths->worst;
}

#endif /* SCHEDTAPE_FIGURES_H */
