/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The lines of the table.
 */
#ifndef SCHEDTAPE_STAT_PRINT_H
#define SCHEDTAPE_STAT_PRINT_H

#include "common/groups.h"
#include "common/sheet.h"
#include "stat/counts.h"

extern const struct sheet_column stat_columns[];

/* Makes a line for each group that has events, and the total.  Returns 0 or -ENOMEM. */
int stat_fill(struct sheet *sheet, const struct counts *counts, struct groups *groups);

#endif /* SCHEDTAPE_STAT_PRINT_H */
