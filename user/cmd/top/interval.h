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
#include "common/task-counts.h"

/**
 * struct interval_counts - how often a task, or a group of them, did something
 * @switches: it came off a CPU
 */
struct interval_counts {
	uint64_t switches;
	struct task_counts of_task;
};

/**
 * struct interval_sum - what a task did on a CPU
 * @task: its number in the interval
 * @cpu: the CPU, or STAPE_CPU_NONE
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
 * @events: number of events, without those that tell what CPUs without a task did
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
