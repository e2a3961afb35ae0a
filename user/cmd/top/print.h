/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows an interval as a table, or as JSON.
 */
#ifndef SCHEDTAPE_TOP_PRINT_H
#define SCHEDTAPE_TOP_PRINT_H

#include "common/sheet.h"
#include "machine/cgroup-tree.h"
#include "top/interval.h"

/* The columns of the table. */
extern const struct sheet_column top_columns[];

/**
 * struct top_view - what is shown of an interval
 * @by: what a line is of
 * @selection: which tasks
 * @cgroups: names of cgroups, NULL: they have none
 * @sheet: how the lines are sorted, and which columns there are
 * @time: how times are printed
 */
struct top_view {
	enum groups_by by;
	struct selection selection;
	const struct schedtape_cgroup_table *cgroups;
	struct sheet_options sheet;
	struct time_text time;
};

/*
 * Makes the sorted table, and its total.  Notes which names of the selection tasks have now or had
 * before.  Returns 0 or -ENOMEM.  The caller frees the table.
 */
int top_fill(struct sheet *sheet, const struct interval *interval, struct top_view *view);
/* Writes the line above the table: when, how long, how many events. */
#define TOP_HEAD	256
const char *top_head(char buffer[TOP_HEAD], const struct interval *interval,
		     const struct sheet *sheet, struct time_text *time);
/* Prints the table with that line. */
void top_print(const struct interval *interval, const struct sheet *sheet, struct time_text *time);
/* Prints one object in a line. */
void top_print_json(const struct interval *interval, const struct sheet *sheet);

#endif /* SCHEDTAPE_TOP_PRINT_H */
