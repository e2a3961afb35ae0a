/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Prints the report of a tape.
 */
#ifndef SCHEDTAPE_REPORT_PRINT_H
#define SCHEDTAPE_REPORT_PRINT_H

#include "common/sheet.h"
#include "report/sums.h"

/* The columns of the table. */
extern const struct sheet_column report_columns[];

/* Fills the table, and its total.  @tasks: of the timeline.  Returns 0 or -ENOMEM. */
int report_fill(struct sheet *sheet, const struct groups *groups,
		const struct report_sum *of_groups, const struct schedtape_task *tasks);
/* Prints a table of the edges of selected tasks. */
void report_print_edges(const struct schedtape_timeline *timeline,
			const struct selection *selection);
/* The same as a list in JSON. */
void report_json_edges(const struct schedtape_timeline *timeline,
		       const struct selection *selection);
/*
 * Prints the list "tasks" of JSON, with all that is known of each task, in the order of the table's
 * rows, of which each is a task.
 */
void report_json_tasks(const struct sheet *sheet, const struct schedtape_task *tasks);

#endif /* SCHEDTAPE_REPORT_PRINT_H */
