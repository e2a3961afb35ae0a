/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of schedtape phases share.
 */
#ifndef SCHEDTAPE_PHASES_INTERNAL_H
#define SCHEDTAPE_PHASES_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <schedtape.h>

#include "common/selection.h"
#include "timeline/edges.h"

/*
 * Sebastiano Vigna, splitmix64, 2015: numbers that look random, and are the same each time on every
 * machine.  @state: any number, which the call changes
 */
static inline uint64_t phases_random(uint64_t *state)
{
	uint64_t z = (*state += 0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

/* Returns such a number from 0 to below 1. */
static inline double phases_random_share(uint64_t *state)
{
	return (double)(phases_random(state) >> 11) / (1ULL << 53);
}

/* -- vectors.c: what each interval is like --------------------------------- */

#define INTERVALS_MOST	20000

/* Dimensions of a projected vector, as SimPoint has them. */
#define POINT_DIMS	15

/**
 * struct point - the projected vector of an interval
 */
struct point {
	double at[POINT_DIMS];
};

/**
 * enum vectors_kind - what a number of a vector is about
 * @VECTORS_CPU: CPU time of a class of tasks
 * @VECTORS_BURSTS, @VECTORS_SLEEPS: how many of a class were about so long
 * @VECTORS_EDGES: how often a class woke another one
 * @VECTORS_FORKS: how often a class forked another one
 * @VECTORS_SYSCALLS: how often a class slept in a system call
 */
enum vectors_kind {
	VECTORS_CPU,
	VECTORS_BURSTS,
	VECTORS_SLEEPS,
	VECTORS_EDGES,
	VECTORS_FORKS,
	VECTORS_SYSCALLS,
	VECTORS_KINDS,
};

/**
 * struct interval - a part of the recording
 * @begin, @end: from @begin to before @end, ns of the tape's clock
 * @known: the ns of it in which the session was not paused
 * @sums: of all numbers of a kind: CPU time of the selected tasks in ns, how many of all else
 * @phase: number of the phase; SCHEDTAPE_NONE: the session was paused all the time
 */
struct interval {
	uint64_t begin;
	uint64_t end;
	uint64_t known;
	uint64_t sums[VECTORS_KINDS];
	uint32_t phase;
};

/**
 * struct vectors - the intervals of a tape
 * @selection: which tasks count
 * @length: of an interval, ns; the last one may be shorter
 * @intervals: @nr of them, by time
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
	uint64_t length;
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
 * Reads a tape, and cuts it from @start to before @stop, ns of its clock.  @vectors: all 0 but
 * @selection and @length.  @timeline: receives the timeline, which the caller frees.  Returns 0 or
 * -errno.
 */
int vectors_read(struct vectors *vectors, struct schedtape_tape *tape, uint64_t start,
		 uint64_t stop, struct schedtape_timeline **timeline, struct schedtape_error *err);
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

/* -- cluster.c: intervals that are alike ----------------------------------- */

/**
 * struct clusters - groups of points
 * @k: number of groups
 * @centres: of each
 * @of: by point: its group
 * @error: sum of the squares of all points' distances from their centres
 */
struct clusters {
	uint32_t k;
	struct point *centres;
	uint32_t *of;
	double error;
};

/*
 * Groups @n points, in @least to @most groups, both from 1 to @n.  Groups may be fewer if there are
 * fewer points that differ.  The caller frees the groups.  Returns 0 or -ENOMEM.
 */
int clusters_find(struct clusters *clusters, const struct point *points, uint32_t n,
		  uint32_t least, uint32_t most);
/* Returns the square of the distance of two points. */
double clusters_distance(const struct point *a, const struct point *b);
void clusters_free(struct clusters *clusters);

#endif /* SCHEDTAPE_PHASES_INTERNAL_H */
