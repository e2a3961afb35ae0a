/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The lines of map: a column for each CPU, with the name of what runs there.
 */
#ifndef SCHEDTAPE_MAP_ROWS_H
#define SCHEDTAPE_MAP_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <schedtape.h>

#include "common/lines.h"
#include "common/select.h"
#include "common/task-table.h"
#include "common/time-text.h"
#include "map/names.h"
#include "map/others.h"

/**
 * struct cell - what a column shows
 * @cpu: its CPU
 * @task: number of the task that runs there, or SCHEDTAPE_NONE
 * @pid: its PID
 * @fresh: a line has to say which CPU it is of
 * @text: its name; or what its CPU did at its last event: ". " idle, "- " another task, "  " not
 *	known
 */
struct cell {
	uint32_t cpu;
	uint32_t task;
	uint32_t pid;
	bool fresh;
	char text[2];
};

/**
 * struct rows - the lines, and what they need
 * @compact: CPUs get a column with their first switch
 * @json: print JSON
 * @colors: print colours
 * @color_cpus: CPUs that are highlighted
 * @color_pids: tasks that are highlighted; if it is empty, each task has a colour of its own
 * @table: the tasks
 * @others: what CPUs do meanwhile that run none of them
 * @cells: @nr columns, from the left to the right
 * @hidden: a legend may be due
 * @unsure: a line has OTHERS_UNSURE; @explained: the legend says what that is
 * @begun: the head was printed
 */
struct rows {
	bool compact;
	bool json;
	bool colors;
	struct select_numbers color_cpus;
	struct select_numbers color_pids;
	struct lines lines;
	struct time_text time;
	struct task_table table;
	struct names names;
	struct others others;
	struct cell *cells;
	size_t nr;
	bool hidden;
	bool unsure;
	bool explained;
	bool begun;
};

/* Adds a column.  Returns 0 or -ENOMEM. */
int rows_add(struct rows *rows, uint32_t cpu);
/* Returns the column of a CPU, or NULL. */
struct cell *rows_find(const struct rows *rows, uint32_t cpu);
/* Prints what comes before all lines, once. */
void rows_begin(struct rows *rows);
/*
 * Lets a column show what a switch makes run.  @chosen: a task that the options select; others have
 * no name.  Returns 0 or -ENOMEM.
 */
int rows_set(struct rows *rows, struct cell *cell, const struct schedtape_event *ev, bool chosen);
/* Lets a column show what a CPU does that runs no task of the tape.  @kind: of the event */
void rows_show_other(struct cell *cell, unsigned int kind);
/* Lets a column show nothing, because of a loss or a pause. */
void rows_clear(struct cell *cell);
/*
 * Prints a line.  @cell: the column of the switch; @leaves: a selected task leaves the CPU, which
 * "-" shows in place of the task that follows
 */
void rows_print(struct rows *rows, const struct cell *cell, uint64_t time, bool leaves);
void rows_free(struct rows *rows);

#endif /* SCHEDTAPE_MAP_ROWS_H */
