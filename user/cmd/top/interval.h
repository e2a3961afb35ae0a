/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the tasks did in an interval.
 */
#ifndef SCHEDTAPE_TOP_INTERVAL_H
#define SCHEDTAPE_TOP_INTERVAL_H

#include <stddef.h>
#include <stdint.h>

#include "common/delays.h"
#include "common/groups.h"

/**
 * struct interval_counts - how often a task, or a group of them, did something
 * @switches: it came off a CPU
 * @preemptions: of these: while it was runnable
 * @wakeups: it got a CPU after it was woken
 * @migrations: it moved to another CPU
 */
struct interval_counts {
	uint64_t switches;
	uint64_t preemptions;
	uint64_t wakeups;
	uint64_t migrations;
};

/**
 * struct interval_sum - what a task did on a CPU
 * @task: its number in the interval
 * @delays: its time on the CPU, and its delays
 */
struct interval_sum {
	uint32_t task;
	uint32_t cpu;
	struct delays_sum delays;
	struct interval_counts counts;
};

/**
 * struct interval - sums of all tasks
 * @begin, @end: ns of CLOCK_MONOTONIC
 * @events: number of events
 * @lost: number of events that are missing, as far as it is known
 * @tasks: @nr_tasks that have a sum or lead the process of one
 * @sums: @nr_sums of them
 */
struct interval {
	uint64_t begin;
	uint64_t end;
	uint64_t events;
	uint64_t lost;
	struct groups_task *tasks;
	size_t nr_tasks;
	struct interval_sum *sums;
	size_t nr_sums;
};

/* Frees what the interval has. */
void interval_free(struct interval *interval);

#endif /* SCHEDTAPE_TOP_INTERVAL_H */
