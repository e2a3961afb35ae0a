/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Collects the delays of all tasks: each from when the task was woken or preempted until it got a
 * CPU.  And the columns in which reports print them.
 */
#ifndef SCHEDTAPE_DELAYS_H
#define SCHEDTAPE_DELAYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <schedtape.h>

#include "base/histogram.h"
#include "common/selection.h"
#include "common/sheet.h"
#include "timeline/edges.h"

/**
 * struct delays_sum - the delays of one task, or of several
 * @delays: all that are known
 * @runtime: time on a CPU, ns
 * @worst_begin: when the longest delay began, ns of the session's clock
 * @worst_cpu: on which CPU it ended
 */
struct delays_sum {
	struct schedtape_histogram delays;
	uint64_t runtime;
	uint64_t worst_begin;
	uint32_t worst_cpu;
};

/**
 * struct delays_pair - the last pair of a task, which is often the next one, too
 * @cpu: its CPU
 * @number: number of the pair plus 1; 0: there is none
 */
struct delays_pair {
	uint32_t cpu;
	uint32_t number;
};

/**
 * struct delays - all sums
 * @selection: --cpu and --time: what else is left out
 * @by_cpu: each task has a sum for each of its CPUs
 * @sums: by index of the task; with @by_cpu by number of the pair
 * @nr: number of @sums
 * @pairs: task and CPU, with @by_cpu
 * @last: by index of the task, with @by_cpu; @nr_last of them
 */
struct delays {
	const struct selection *selection;
	bool by_cpu;
	struct delays_sum *sums;
	size_t nr;
	struct schedtape_edges pairs;
	struct delays_pair *last;
	size_t nr_last;
};

/* Returns when the task began to wait for the CPU of a run; 0: it did not, or that is not known. */
uint64_t delays_since(const struct schedtape_run *run);
/* Callbacks of the timeline, for a struct delays. */
extern const struct schedtape_timeline_ops delays_ops;

/* The slow part of delays_number(). */
int delays_make_number(struct delays *delays, uint32_t task, uint32_t cpu, uint32_t *number);

/*
 * Finds the sum that an event of a task on a CPU belongs to, and makes it if there is none.
 * @number: set to that of the sum.  Returns 0 or -ENOMEM.
 */
static inline int delays_number(struct delays *delays, uint32_t task, uint32_t cpu,
				uint32_t *number)
{
	*number = task;
	if (!delays->by_cpu && task < delays->nr)
		return 0;
	if (task >= delays->nr_last || delays->last[task].cpu != cpu ||
	    !delays->last[task].number)
		return delays_make_number(delays, task, cpu, number);
	*number = delays->last[task].number - 1;
	return 0;
}

/*
 * Takes a run, as the callback does.  @number: set to that of its sum; SCHEDTAPE_NONE: it is left
 * out.  Returns 0 or -ENOMEM.
 */
int delays_run(struct delays *delays, const struct schedtape_task *task,
	       const struct schedtape_run *run, uint32_t *number);
/* Returns the index of the task of the sum @number, which need not exist. */
static inline uint32_t delays_task(const struct delays *delays, size_t number)
{
	return delays->by_cpu ? delays->pairs.edges[number].waker : number;
}

/* Returns its CPU; STAPE_CPU_NONE without @by_cpu. */
static inline uint32_t delays_cpu(const struct delays *delays, size_t number)
{
	return delays->by_cpu ? delays->pairs.edges[number].wakee : STAPE_CPU_NONE;
}

/* Adds a delay that began at @begin and ended on @cpu.  Returns 0 or -ENOMEM. */
int delays_note(struct delays_sum *sum, uint64_t delay, uint64_t begin, uint32_t cpu);
/* Adds @other to @sum.  Returns 0 or -ENOMEM. */
int delays_add(struct delays_sum *sum, const struct delays_sum *other);
void delays_free(struct delays *delays);

/**
 * struct delays_columns - which columns of a sheet are those of delays
 * @median: the first of the four that sheet_lengths() sets
 * @worst_at: when the longest delay began
 * @worst_cpu: on which CPU it ended
 * @average: the average
 * @nr, @sum: how many delays there are, and their sum
 */
struct delays_columns {
	unsigned int median;
	unsigned int worst_at;
	unsigned int worst_cpu;
	unsigned int average;
	unsigned int nr;
	unsigned int sum;
};

/* Sets these values of a row.  Without a delay, all but @nr and @sum are SHEET_NONE. */
void delays_fill(union sheet_value *row, const struct delays_columns *columns,
		 const struct delays_sum *sum);

#endif /* SCHEDTAPE_DELAYS_H */
