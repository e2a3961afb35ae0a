/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What each interval of a tape is like, as a vector of numbers from its schedule.
 */
#ifndef SCHEDTAPE_VECTORS_H
#define SCHEDTAPE_VECTORS_H

#include <stddef.h>
#include <stdint.h>

#include <schedtape.h>

#include "common/clusters.h"
#include "common/selection.h"
#include "timeline/edges.h"

#define INTERVALS_MOST	20000

/**
 * enum vectors_kind - what a number of a vector is about
 * @VECTORS_CPU: CPU time of a class of tasks
 * @VECTORS_BURSTS, @VECTORS_SLEEPS: how many of a class were about so long
 * @VECTORS_EDGES: how often a class woke another one
 * @VECTORS_FORKS: how often a class forked another one
 * @VECTORS_SYSCALLS: how often a class slept in a system call
 * @VECTORS_COUNTS: what another event counted, as a share of the most in an interval
 */
enum vectors_kind {
	VECTORS_CPU,
	VECTORS_BURSTS,
	VECTORS_SLEEPS,
	VECTORS_EDGES,
	VECTORS_FORKS,
	VECTORS_SYSCALLS,
	VECTORS_COUNTS,
	VECTORS_KINDS,
};

/**
 * struct interval - a part of the recording
 * @number: from 0 on; of a sample: that of the interval which ended when this one began
 * @begin, @end: from @begin to before @end, ns of the tape's clock
 * @known: the ns of it in which the session was not paused
 * @weight: for how much of the whole it counts: @known, or what its event counted
 * @sums: of all numbers of a kind: CPU time of the selected tasks in ns, how many of all else
 * @phase: number of the phase; SCHEDTAPE_NONE: the session was paused all the time
 */
struct interval {
	uint64_t number;
	uint64_t begin;
	uint64_t end;
	uint64_t known;
	uint64_t weight;
	uint64_t sums[VECTORS_KINDS];
	uint32_t phase;
};

/**
 * struct vectors - the intervals of a tape
 * @selection: which tasks count
 * @intervals: @nr of them, by time, each from the end of the one before
 * @words: words of names: (number of the word before, four characters)
 * @places: (name of the grandparent, name of the parent): numbers of the names' last words
 * @classes: (place, name)
 * @names: by number of the last word, in room for @room_names
 * @dims: what numbers there are: (kind and class, what else)
 * @cells: the numbers that are not 0: (interval, number in @dims)
 * @values: by number in @cells
 * @order: the numbers of cells, by interval
 * @tasks: by index, in room for @room_tasks
 * @scales: by kind: what its numbers are divided by at least, in a ns
 */
struct vectors {
	const struct selection *selection;
	struct interval *intervals;
	uint32_t nr;
	struct schedtape_edges words;
	struct schedtape_edges places;
	struct schedtape_edges classes;
	char (*names)[STAPE_COMM_LEN];
	size_t room_names;
	struct schedtape_edges dims;
	struct schedtape_edges cells;
	uint64_t *values;
	size_t room_values;
	uint32_t *order;
	struct vectors_task *tasks;
	size_t room_tasks;
	double scales[VECTORS_KINDS];
};

/*
 * Cuts the time from @start to before @stop, ns of the tape's clock, into intervals of @length; the
 * last one may be shorter.  @vectors: all 0 but @selection.  Returns 0 or -errno.
 */
int vectors_cut(struct vectors *vectors, uint64_t start, uint64_t stop, uint64_t length,
		struct schedtape_error *err);
/* The same with @nr given ends of intervals, by time, all but the last one. */
int vectors_cut_at(struct vectors *vectors, uint64_t start, uint64_t stop, const uint64_t *ends,
		   size_t nr, struct schedtape_error *err);
/*
 * Lets an interval differ by what an event counted.  @share: of the most in an interval.  Before
 * vectors_read().  Returns 0 or -ENOMEM.
 */
int vectors_add_count(struct vectors *vectors, uint32_t interval, uint32_t event, double share);
/*
 * Reads a tape, after vectors_cut().  @timeline: receives the timeline, which the caller frees.
 * Returns 0 or -errno.
 */
int vectors_read(struct vectors *vectors, struct schedtape_tape *tape,
		 struct schedtape_timeline **timeline, struct schedtape_error *err);
/*
 * Calls @take, interval by interval, for each number of an interval's vector that is not 0, as it
 * is compared with those of other intervals: from 0 to 1.  @dim: 0 stands for what the interval's
 * CPU time is short of that of the busiest one.
 */
void vectors_each(const struct vectors *vectors,
		  void (*take)(void *arg, uint32_t interval, uint32_t dim, double value),
		  void *arg);
/*
 * Adds up the CPU time of tasks by their names.  @sums: room for vectors->words.nr numbers, all 0;
 * @phase: only in intervals of this phase
 */
void vectors_add_names(const struct vectors *vectors, uint32_t phase, uint64_t *sums);
/* Returns the points of all intervals, which the caller frees; NULL: no memory. */
struct point *vectors_project(const struct vectors *vectors);
void vectors_free(struct vectors *vectors);

#endif /* SCHEDTAPE_VECTORS_H */
