/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * schedtape map: rows.c prints the lines, a column for each CPU, with the name of what runs there.
 */
#ifndef SCHEDTAPE_MAP_INTERNAL_H
#define SCHEDTAPE_MAP_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <schedtape.h>

#include "common/lines.h"
#include "common/select.h"
#include "common/task-table.h"
#include "common/time-text.h"

/* -- names of tasks -------------------------------------------------------- */

/*
 * Names of two characters for tasks: A0 to Z0, A1 to Z1 and so on up to Z9, as perf sched map has
 * them, and then Aa to ZZ.  After ZZ they are used again.
 */
#define NAMES_MOST	(26 * (10 + 26 + 26))

/**
 * struct name - of a task
 * @comm: the name of the task when its legend was last due
 * @number: of its name; it has that name as long as it is its owner
 * @due: its legend is due: which task the name is of
 */
struct name {
	char comm[STAPE_COMM_LEN];
	uint16_t number;
	bool due;
};

/**
 * struct names - the names of all tasks
 * @owners: by number of a name: number of the task that has it, plus 1; 0: none
 * @next: number of the next name
 * @tasks: by number of the task, @nr of them
 */
struct names {
	uint32_t owners[NAMES_MOST];
	uint32_t next;
	struct name *tasks;
	size_t nr;
};

/*
 * Returns the name of a task, which may be a new one; NULL: no memory.  Its legend is due if the
 * name is new, or @comm has changed.  The name is valid until the next call.
 */
struct name *names_get(struct names *names, uint32_t task, const char comm[STAPE_COMM_LEN]);
/* Writes the two characters of a name. */
void names_write(const struct name *name, char text[2]);
void names_free(struct names *names);

/* -- CPUs without a task of the tape --------------------------------------- */

/*
 * What CPUs do that run no task of the tape.  The tape has that afterwards, so a pass through the
 * tape finds it out before the lines are printed.
 */
#define OTHERS_IDLE	'.'
#define OTHERS_BUSY	'-'
#define OTHERS_UNSURE	'?'	/* one of the two */
#define OTHERS_UNKNOWN	' '	/* perhaps even a task of the tape; or the CPU is offline */

/**
 * struct others_part - a time in which a CPU did not what its last event says
 * @from, @to: after @from, up to @to
 * @sign: what it did: OTHERS_*
 */
struct others_part {
	uint64_t from;
	uint64_t to;
	char sign;
};

/**
 * struct others_cpu - a CPU
 * @parts: @nr of them, by time
 * @at: the first one that is not over at the present line
 * @from: during the first pass: since when the CPU has run no task of the tape, or when the last
 *	event said what it did
 * @sign: what its last event said; 0: it runs a task of the tape
 */
struct others_cpu {
	struct others_part *parts;
	size_t nr;
	size_t room;
	size_t at;
	uint64_t from;
	char sign;
};

/**
 * struct others - all CPUs
 * @cpus: by number, @nr of them
 * @blind: the tape does not have that
 */
struct others {
	struct others_cpu *cpus;
	size_t nr;
	bool blind;
};

/* Reads a tape, and rewinds it if need be.  Returns 0, or an error of the tape. */
int others_read(struct others *others, struct schedtape_tape *tape, struct schedtape_error *err);

/* -- lines ----------------------------------------------------------------- */

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
int rows_add_column(struct rows *rows, uint32_t cpu);
/* Returns the column of a CPU, or NULL. */
struct cell *rows_find_column(const struct rows *rows, uint32_t cpu);
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

#endif /* SCHEDTAPE_MAP_INTERNAL_H */
