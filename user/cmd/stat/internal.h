/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of schedtape stat share.
 */
#ifndef SCHEDTAPE_STAT_INTERNAL_H
#define SCHEDTAPE_STAT_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <schedtape.h>

#include "common/groups.h"
#include "common/selection.h"
#include "common/sheet.h"
#include "common/task-table.h"
#include "timeline/edges.h"
#include "timeline/pauses.h"

/*
 * counts.c: counts the events of a tape by their type and by the task that was on the CPU, as perf
 * stat counts tracepoints.
 */

enum counts_type {
	COUNTS_SWITCH,
	COUNTS_WAKING,
	COUNTS_WAKEUP,
	COUNTS_WAKEUP_NEW,
	COUNTS_MIGRATE,
	COUNTS_THROTTLE,
	COUNTS_UNTHROTTLE,
	COUNTS_FORK,
	COUNTS_EXEC,
	COUNTS_EXIT,
	COUNTS_RENAME,
	COUNTS_SETPRIO,
	COUNTS_SETAFFINITY,
	COUNTS_TASK,
	COUNTS_TYPES,
};

/* Who was on the CPU: nobody, a task that is not recorded, or COUNTS_TASKS plus a task's number. */
enum counts_who {
	COUNTS_IDLE,
	COUNTS_OTHER,
	COUNTS_TASKS,
};

/**
 * struct counts_sum - events by type
 */
struct counts_sum {
	uint64_t n[COUNTS_TYPES];
};

/**
 * struct counts - all sums
 * @selection: --cpu and --time: what else is left out
 * @by_cpu: each task has a sum for each of its CPUs
 * @sums: by enum counts_who; with @by_cpu by number of the pair
 * @nr: number of @sums
 * @pairs: enum counts_who and CPU, with @by_cpu
 */
struct counts {
	const struct selection *selection;
	bool by_cpu;
	struct task_table table;
	struct schedtape_pauses pauses;
	struct counts_sum *sums;
	size_t nr;
	struct schedtape_edges pairs;
};

/* Takes an event, for a struct counts.  Returns 0 or -ENOMEM. */
int counts_take(void *arg, const struct schedtape_event *ev);
/* Adds @other to @sum. */
void counts_add(struct counts_sum *sum, const struct counts_sum *other);
/* Returns the number of events of all types. */
uint64_t counts_events(const struct counts_sum *sum);
void counts_free(struct counts *counts);

/* stat.c: the columns, for a test that compares columns. */
extern const struct sheet_column stat_columns[];

#endif /* SCHEDTAPE_STAT_INTERNAL_H */
