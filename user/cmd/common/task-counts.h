/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How often tasks did something: on the whole tape, or on some CPUs and in some of the time.
 */
#ifndef SCHEDTAPE_TASK_COUNTS_H
#define SCHEDTAPE_TASK_COUNTS_H

#include <stddef.h>
#include <stdint.h>

#include <schedtape.h>

/**
 * struct task_counts - the counts of a task, or of a group of them
 * @bursts, @sleeps, @stops, @preemptions, @wakeups, @wakeups_by_task, @migrations: as in struct
 *	schedtape_task
 * @n: the same, by the numbers of the bits of enum schedtape_count
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
		};
		uint64_t n[7];
	};
};

/* Counts what counted() of the timeline says.  @events: bits of enum schedtape_count */
static inline void task_counts_take(struct task_counts *counts, unsigned int events)
{
	for (; events; events &= events - 1)
		counts->n[__builtin_ctz(events)]++;
}

/* Returns the counts of the whole tape. */
static inline struct task_counts task_counts_of(const struct schedtape_task *task)
{
	return (struct task_counts){
		.bursts = task->bursts, .sleeps = task->sleeps, .stops = task->stops,
		.preemptions = task->preemptions, .wakeups = task->wakeups,
		.wakeups_by_task = task->wakeups_by_task, .migrations = task->migrations,
	};
}

static inline void task_counts_add(struct task_counts *counts, const struct task_counts *other)
{
	size_t i;

	for (i = 0; i < sizeof(counts->n) / sizeof(*counts->n); i++)
		counts->n[i] += other->n[i];
}

#endif /* SCHEDTAPE_TASK_COUNTS_H */
