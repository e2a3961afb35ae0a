/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Adds up what tasks did, on the whole tape or in the selected part of it.
 */
#ifndef SCHEDTAPE_REPORT_SUMS_H
#define SCHEDTAPE_REPORT_SUMS_H

#include "common/delays.h"
#include "common/groups.h"
#include "common/task-counts.h"
#include "report/calls.h"

/**
 * struct report_sums - sums of tasks
 * @delays: their delays and CPU time
 * @part: only a part of the tape counts, or each CPU apart.  Else the timeline has the counts.
 * @whole: all of the tape counts, and not each CPU apart: then also tasks that did nothing
 * @counts: of that part, by the numbers of @delays
 * @nr: number of @counts
 * @calls: system calls that the tasks slept in; NULL: they do not count
 */
struct report_sums {
	struct delays delays;
	bool part;
	bool whole;
	struct task_counts *counts;
	size_t nr;
	struct calls *calls;
};

/* The sums of a group. */
struct report_sum {
	struct delays_sum delays;
	struct task_counts counts;
};

/* Returns the callbacks of the timeline, for a struct report_sums.  @edges: also make the edges */
struct schedtape_timeline_ops report_sums_ops(const struct report_sums *sums, bool edges);

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
