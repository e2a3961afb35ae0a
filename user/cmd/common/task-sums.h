/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Adds up what tasks did: their CPU time, their delays, and how often they did something.  Fills
 * tables that have a line for each group of tasks.  report, latency and top are views of these
 * sums.
 */
#ifndef SCHEDTAPE_TASK_SUMS_H
#define SCHEDTAPE_TASK_SUMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <schedtape.h>

#include "common/delays.h"
#include "common/groups.h"
#include "common/sheet.h"

/**
 * struct task_counts - how often a task, or a group of them, did something
 * @bursts, @sleeps, @stops, @preemptions, @wakeups, @wakeups_by_task, @migrations: as in struct
 *	schedtape_task
 * @switches: it came off a CPU; only top counts these
 * @n: the same, those before @switches by the numbers of the bits of enum schedtape_count
 */
struct task_counts {
	union {
		struct {
			uint64_t bursts;
			uint64_t sleeps;
			uint64_t stops;
			uint64_t preemptions;
			uint64_t wakeups;
			uint64_t wakeups_by_task;
			uint64_t migrations;
			uint64_t switches;
		};
		uint64_t n[8];
	};
};

/**
 * struct task_sum - what one task did, or several
 * @delays: also has the CPU time
 */
struct task_sum {
	struct delays_sum delays;
	struct task_counts counts;
};

/**
 * struct task_sums - sums of tasks
 * @delays: their delays and CPU time
 * @part: only a part of the tape counts, or each CPU apart.  Else the timeline has the counts and
 *	the CPU time.
 * @whole: all of the tape counts, and not each CPU apart: then also tasks that did nothing
 * @counts: of that part, by the numbers of @delays
 * @nr: number of @counts
 */
struct task_sums {
	struct delays delays;
	bool part;
	bool whole;
	struct task_counts *counts;
	size_t nr;
};

/* Returns the counts with a number of @delays, which it makes if need be; NULL: no memory. */
struct task_counts *task_sums_counts(struct task_sums *sums, uint32_t number);
/* Takes what the timeline's counted() says.  Returns 0 or -ENOMEM. */
int task_sums_count(struct task_sums *sums, const struct schedtape_task *task, unsigned int events,
		    uint32_t cpu, uint64_t time);
/*
 * Returns the sum with a number of @delays.  The caller does not own its delays.  @tasks: of the
 * timeline; not needed with @part
 */
struct task_sum task_sums_get(const struct task_sums *sums, const struct schedtape_task *tasks,
			      size_t number);
/* Returns true if the sum is of anything.  On the whole tape each task counts. */
bool task_sums_shows(const struct task_sums *sums, const struct task_sum *sum);
void task_sums_free(struct task_sums *sums);

/**
 * struct group_sums - sums of groups
 * @sums: by number of the group, in room for @room; groups from there on have none
 */
struct group_sums {
	struct task_sum *sums;
	size_t room;
};

/*
 * Adds what a task did on a CPU to its group, and counts the task there; does nothing if the task
 * is not selected.  @cpu: only GROUPS_CPU looks at it.  Returns 0 or -ENOMEM.
 */
int group_sums_add(struct group_sums *to, struct groups *groups, uint32_t task, uint32_t cpu,
		   const struct task_sum *sum);
/* Adds all sums of tasks that are of anything.  Returns 0 or -ENOMEM. */
int group_sums_add_all(struct group_sums *to, struct groups *groups, const struct task_sums *sums,
		       const struct schedtape_task *tasks);

/**
 * struct group_view - how a table shows sums
 * @labels: the columns that groups_fill() sets
 * @fill: sets all others.  @group: NULL: it is the total; @arg: that of group_sums_fill().
 *	Returns 0 or -ENOMEM.
 */
struct group_view {
	struct groups_columns labels;
	int (*fill)(union sheet_value *row, const struct task_sum *sum,
		    const struct groups *groups, const struct group *group, const void *arg);
};

/*
 * Makes a line for each group that has tasks, and the total.  @total: all 0; receives the sum of
 * all groups.  The caller frees its delays.  Returns 0 or -ENOMEM.
 */
int group_sums_fill(struct sheet *sheet, const struct groups *groups,
		    const struct group_sums *sums, const struct group_view *view,
		    const void *arg, struct task_sum *total);
void group_sums_free(struct group_sums *sums);

#endif /* SCHEDTAPE_TASK_SUMS_H */
