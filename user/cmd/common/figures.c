// SPDX-License-Identifier: GPL-2.0-only
#include "common/figures.h"

void figures_delays(union sheet_value *row, const struct figures_columns *columns,
		    const struct delays_sum *sum)
{
	const struct schedtape_histogram *delays = &sum->delays;
	const union sheet_value none = { .n = SHEET_NONE };
	unsigned int i;

	row[columns->nr].n = delays->nr;
	row[columns->sum].n = delays->sum;
	if (delays->nr) {
		figures_set(&row[columns->median], delays);
		row[columns->worst_at].n = sum->worst_begin;
		row[columns->worst_cpu].n = sum->worst_cpu;
		row[columns->average].n = delays->sum / delays->nr;
		return;
	}
	for (i = 0; i < 4; i++)
		row[columns->median + i] = none;
	row[columns->worst_at] = none;
	row[columns->worst_cpu] = none;
	row[columns->average] = none;
}
