/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Adds up what the tasks of a live tape do, one interval after the other.  A task that runs when an
 * interval ends has its time up to then in that interval, and the rest in the next one.
 */
#ifndef SCHEDTAPE_TOP_SUMS_H
#define SCHEDTAPE_TOP_SUMS_H

#include "top/interval.h"

/**
 * struct top_lane - a CPU
 * @task: index of the task that runs there; SCHEDTAPE_NONE: none
 * @since: from when on its time is not in a sum yet
 */
struct top_lane {
	uint32_t task;
	uint64_t since;
};

/**
 * struct top_sums - the interval so far
 * @begin: when it began, ns
 * @events, @lost: as in struct interval
 * @delays: time and delays of each task on each CPU, by number of the pair
 * @counts: by the same numbers; @nr_counts of them
 * @lanes: @nr_lanes CPUs
 * @all: selects all tasks
 * @rc: the first failure
 */
struct top_sums {
	uint64_t begin;
	uint64_t events;
	uint64_t lost;
	struct delays delays;
	struct interval_counts *counts;
	size_t nr_counts;
	struct top_lane *lanes;
	size_t nr_lanes;
	struct selection all;
	int rc;
};

/* Callbacks of the timeline, for a struct top_sums. */
extern const struct schedtape_timeline_ops top_sums_ops;

/* @begin: when the first interval begins, ns */
void top_sums_init(struct top_sums *sums, uint64_t begin);
/*
 * Ends the interval, moves its sums to @interval, and begins the next one.  @end: ns, not before
 * the last event.  Returns 0 or -ENOMEM.
 */
int top_sums_end(struct top_sums *sums, const struct schedtape_timeline *timeline, uint64_t end,
		 struct interval *interval);
void top_sums_free(struct top_sums *sums);

#endif /* SCHEDTAPE_TOP_SUMS_H */
