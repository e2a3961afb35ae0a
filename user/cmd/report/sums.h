/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Adds up what tasks did, on the whole tape or in the selected part of it.
 */
#ifndef SCHEDTAPE_REPORT_SUMS_H
#define SCHEDTAPE_REPORT_SUMS_H

#include "common/delays.h"
#include "common/groups.h"
#include "report/calls.h"

/**
 * struct report_counts - how often a task, or a group of them, did something
 * @bursts, @sleeps, @stops, @preemptions, @wakeups, @wakeups_by_task, @migrations: as in struct
 *	schedtape_task
 */
struct report_counts {
	uint64_t bursts;
	uint64_t sleeps;
	uint64_t stops;
	uint64_t preemptions;
	uint64_t wakeups;
	uint64_t wakeups_by_task;
	uint64_t migrations;
};

/**
 * struct report_sums - sums of tasks
 * @delays: their delays and CPU time
 * @part: only a part of the tape counts, or each CPU apart: then @counts are of runs that ended in
 *	it, with the wake-ups and migrations before each.  Else the timeline has the counts.
 * @counts: by the numbers of @delays
 * @nr: number of @counts
 * @calls: system calls that the tasks slept in; NULL: they do not count
 * @seen: by index of a task: its migrations up to its last run
 * @nr_seen: number of @seen
 */
struct report_sums {
	struct delays delays;
	bool part;
	struct report_counts *counts;
	size_t nr;
	struct calls *calls;
	uint64_t *seen;
	size_t nr_seen;
};

/* The sums of a group. */
struct report_sum {
	struct delays_sum delays;
	struct report_counts counts;
};

/* Callbacks of the timeline, for a struct report_sums. */
extern const struct schedtape_timeline_ops report_sums_ops;
/* The same, also with the edges. */
extern const struct schedtape_timeline_ops report_sums_edges_ops;

/*
 * Adds up the tasks of each group, and counts them.  @of_groups: set to an array with one for each
 * group, and @room for how many there is memory; report_sums_free_groups() frees it.  Returns 0 or
 * -ENOMEM.
 */
int report_sums_group(const struct report_sums *sums, struct groups *groups,
		      const struct schedtape_task *tasks, struct report_sum **of_groups,
		      size_t *room);
/* Returns the sums with a number, of which the caller does not own the delays. */
struct report_sum report_sum_of(const struct report_sums *sums, const struct schedtape_task *tasks,
				size_t number);
/* Returns true if the sums are of anything.  On the whole tape each task counts. */
bool report_sum_is_shown(const struct report_sums *sums, const struct report_sum *sum);
int report_sum_add(struct report_sum *sum, const struct report_sum *other);
void report_sums_free_groups(struct report_sum *of_groups, size_t n);
void report_sums_free(struct report_sums *sums);

#endif /* SCHEDTAPE_REPORT_SUMS_H */
