// SPDX-License-Identifier: GPL-2.0-only
/*
 * Cuts a tape into intervals, and describes each by numbers, from the schedule alone.  A class of
 * tasks is a name together with the names of parent and grandparent.
 */
#include "common/vectors.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/list.h"

/* The first number of a dimension has the kind above its class. */
#define KIND_SHIFT	28
#define KIND_CLASSES	0x10000000U

#define COUNTS_ONE	1000000		/* what VECTORS_COUNTS is a share of */

/**
 * struct vectors_task - what a task is, and does
 * @name, @parent, @grandparent: numbers of names
 * @class: number in @classes
 * @left_out: it is not selected
 * @burst: its CPU time when its burst began
 * @slept: when it fell asleep
 */
struct vectors_task {
	uint32_t name;
	uint32_t parent;
	uint32_t grandparent;
	uint32_t class;
	bool left_out;
	uint64_t burst;
	uint64_t slept;
};

/* -- classes of tasks ------------------------------------------------------ */

/* Gets the number of a name, which is that of its last word.  Returns 0 or -ENOMEM. */
static int find_name(struct vectors *vectors, const char comm[STAPE_COMM_LEN], uint32_t *name)
{
	uint32_t words[STAPE_COMM_LEN / 4];
	char (*names)[STAPE_COMM_LEN];
	size_t i;

	memcpy(words, comm, sizeof(words));
	*name = SCHEDTAPE_NONE;
	for (i = 0; i < STAPE_COMM_LEN / 4; i++)
		if (schedtape_edges_number(&vectors->words, *name, words[i], name))
			return -ENOMEM;
	names = schedtape_list_reach(vectors->names, *name, &vectors->room_names, sizeof(*names));
	if (!names)
		return -ENOMEM;
	vectors->names = names;
	memcpy(names[*name], comm, STAPE_COMM_LEN);
	return 0;
}

/* Finds the class of a task by its present name. */
static int set_class(struct vectors *vectors, const struct schedtape_task *task)
{
	struct vectors_task *known = &vectors->tasks[task->index];
	uint32_t place;
	int rc;

	rc = find_name(vectors, task->comm, &known->name);
	if (!rc)
		rc = schedtape_edges_number(&vectors->places, known->grandparent, known->parent,
					    &place);
	if (!rc)
		rc = schedtape_edges_number(&vectors->classes, place, known->name, &known->class);
	known->left_out = !selection_has_timeline_task(vectors->selection, task);
	return rc || known->class < KIND_CLASSES ? rc : -ENOMEM;
}

/* -- numbers --------------------------------------------------------------- */

/* Returns the number of the first interval that ends after a time; @nr: none does. */
static uint32_t first_after(const struct vectors *vectors, uint64_t time)
{
	uint32_t low = 0, high = vectors->nr, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (vectors->intervals[middle].end <= time)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Returns the part of @from to @to that is in the interval with a number; 0: none is. */
static uint64_t part_of(const struct vectors *vectors, uint32_t number, uint64_t from, uint64_t to)
{
	const struct interval *interval = &vectors->intervals[number];

	if (from < interval->begin)
		from = interval->begin;
	if (to > interval->end)
		to = interval->end;
	return to > from ? to - from : 0;
}

static int add(struct vectors *vectors, uint32_t interval, enum vectors_kind kind, uint32_t class,
	       uint32_t other, uint64_t value)
{
	uint32_t dim, cell;
	uint64_t *values;

	if (schedtape_edges_number(&vectors->dims, (uint32_t)kind << KIND_SHIFT | class, other,
				   &dim) ||
	    schedtape_edges_number(&vectors->cells, interval, dim, &cell))
		return -ENOMEM;
	values = schedtape_list_reach(vectors->values, cell, &vectors->room_values,
				      sizeof(*values));
	if (!values)
		return -ENOMEM;
	vectors->values = values;
	values[cell] += value;
	vectors->intervals[interval].sums[kind] += value;
	return 0;
}

static int count(struct vectors *vectors, uint64_t time, enum vectors_kind kind, uint32_t class,
		 uint32_t other)
{
	uint32_t number = first_after(vectors, time);

	if (number == vectors->nr || time < vectors->intervals[number].begin)
		return 0;
	return add(vectors, number, kind, class, other, 1);
}

/* Lengths of one number of binary digits are counted together. */
static int count_length(struct vectors *vectors, uint64_t time, enum vectors_kind kind,
			uint32_t class, uint64_t length)
{
	return count(vectors, time, kind, class, (64 - __builtin_clzll(length | 1)) / 2);
}

static int add_run(struct vectors *vectors, uint32_t class, const struct schedtape_run *run)
{
	uint32_t number = first_after(vectors, run->begin);
	uint64_t part;
	int rc = 0;

	for (; number < vectors->nr && !rc; number++) {
		if (vectors->intervals[number].begin >= run->end)
			break;
		part = part_of(vectors, number, run->begin, run->end);
		if (part)
			rc = add(vectors, number, VECTORS_CPU, class, 0, part);
	}
	return rc;
}

/* -- the timeline ---------------------------------------------------------- */

static int on_born(void *arg, const struct schedtape_task *task,
		   const struct schedtape_task *parent, uint64_t time)
{
	struct vectors *vectors = arg;
	struct vectors_task *tasks, *known, *forker;
	int rc;

	tasks = schedtape_list_reach(vectors->tasks, task->index, &vectors->room_tasks,
				     sizeof(*tasks));
	if (!tasks)
		return -ENOMEM;
	vectors->tasks = tasks;
	known = &tasks[task->index];
	*known = (struct vectors_task){ .parent = SCHEDTAPE_NONE, .grandparent = SCHEDTAPE_NONE };
	forker = parent ? &tasks[parent->index] : NULL;
	if (forker) {
		/* A thread stands where the thread that made it does. */
		known->parent = task->thread ? forker->parent : forker->name;
		known->grandparent = task->thread ? forker->grandparent : forker->parent;
	}
	rc = set_class(vectors, task);
	if (rc || !forker || known->left_out)
		return rc;
	return count(vectors, time, VECTORS_FORKS, forker->class, known->class);
}

static int on_renamed(void *arg, const struct schedtape_task *task, uint64_t time)
{
	(void)time;
	return set_class(arg, task);
}

static int on_woke(void *arg, const struct schedtape_task *task,
		   const struct schedtape_task *waker, uint64_t ticket, uint64_t time)
{
	struct vectors *vectors = arg;
	struct vectors_task *known = &vectors->tasks[task->index];
	int rc = 0;

	(void)ticket;
	known->burst = task->cpu_time;
	if (known->left_out)
		return 0;
	/* Otherwise the tape does not show since when it slept. */
	if (known->slept && known->slept < time)
		rc = count_length(vectors, time, VECTORS_SLEEPS, known->class, time - known->slept);
	if (rc)
		return rc;
	return count(vectors, time, VECTORS_EDGES,
		     waker ? vectors->tasks[waker->index].class : KIND_CLASSES - 1, known->class);
}

static int end_burst(struct vectors *vectors, const struct schedtape_task *task, uint64_t time)
{
	struct vectors_task *known = &vectors->tasks[task->index];

	known->slept = time;
	if (known->left_out || task->cpu_time == known->burst)
		return 0;
	return count_length(vectors, time, VECTORS_BURSTS, known->class,
			    task->cpu_time - known->burst);
}

static int on_slept(void *arg, const struct schedtape_task *task, uint64_t time)
{
	return end_burst(arg, task, time);
}

static int on_ran(void *arg, const struct schedtape_task *task, const struct schedtape_run *run)
{
	struct vectors *vectors = arg;
	struct vectors_task *known = &vectors->tasks[task->index];
	int rc;

	if (known->left_out)
		return 0;
	rc = add_run(vectors, known->class, run);
	if (rc || !run->woke || run->left_syscall == SCHEDTAPE_SYSCALL_UNKNOWN)
		return rc;
	return count(vectors, run->woke, VECTORS_SYSCALLS, known->class, run->left_syscall);
}

/* -- the whole tape -------------------------------------------------------- */

/* Makes @nr intervals, of which only the last one's end is known. */
static int make_intervals(struct vectors *vectors, uint64_t stop, uint64_t nr,
			  struct schedtape_error *err)
{
	uint64_t i;

	if (nr > INTERVALS_MOST)
		return schedtape_fail(err, -EINVAL,
				      "there are %" PRIu64 " intervals, more than %u: "
				      "lengthen them with --interval", nr, INTERVALS_MOST);
	vectors->intervals = calloc(nr, sizeof(*vectors->intervals));
	if (!vectors->intervals)
		return -ENOMEM;
	vectors->nr = nr;
	for (i = 0; i < nr; i++)
		vectors->intervals[i].number = i;
	vectors->intervals[nr - 1].end = stop;
	return 0;
}

int vectors_cut(struct vectors *vectors, uint64_t start, uint64_t stop, uint64_t length,
		struct schedtape_error *err)
{
	int rc = make_intervals(vectors, stop, (stop - start - 1) / length + 1, err);
	uint32_t i;

	for (i = 0; i < vectors->nr && !rc; i++) {
		vectors->intervals[i].begin = start + i * length;
		if (i)
			vectors->intervals[i - 1].end = vectors->intervals[i].begin;
	}
	return rc;
}

int vectors_cut_at(struct vectors *vectors, uint64_t start, uint64_t stop, const uint64_t *ends,
		   size_t nr, struct schedtape_error *err)
{
	int rc = make_intervals(vectors, stop, (uint64_t)nr + 1, err);
	uint32_t i;

	for (i = 0; i < vectors->nr && !rc; i++) {
		vectors->intervals[i].begin = i ? ends[i - 1] : start;
		if (i < nr)
			vectors->intervals[i].end = ends[i];
	}
	return rc;
}

int vectors_add_count(struct vectors *vectors, uint32_t interval, uint32_t event, double share)
{
	return add(vectors, interval, VECTORS_COUNTS, event, 0, share * COUNTS_ONE);
}

static void set_known(struct vectors *vectors, const struct schedtape_timeline *timeline)
{
	const struct schedtape_range *pauses;
	struct interval *interval;
	uint32_t number;
	size_t i, n;

	pauses = schedtape_timeline_pauses(timeline, &n);
	for (number = 0; number < vectors->nr; number++) {
		interval = &vectors->intervals[number];
		interval->known = interval->end - interval->begin;
	}
	for (i = 0; i < n; i++) {
		number = first_after(vectors, pauses[i].first);
		for (; number < vectors->nr; number++) {
			interval = &vectors->intervals[number];
			if (interval->begin >= pauses[i].last)
				break;
			interval->known -= part_of(vectors, number, pauses[i].first,
						   pauses[i].last);
		}
	}
}

/*
 * CPU time is compared with that of the busiest interval.  All else is divided by its sum in the
 * interval, so that it says how things were and not how many, but at least by the average: in a
 * quiet interval a few events say little.
 */
static void find_scales(struct vectors *vectors)
{
	const struct interval *interval;
	uint32_t i, nr;
	double rate;
	int kind;

	for (kind = 0; kind < VECTORS_KINDS; kind++) {
		for (i = nr = 0; i < vectors->nr; i++) {
			interval = &vectors->intervals[i];
			if (!interval->sums[kind] || !interval->known)
				continue;
			rate = (double)interval->sums[kind] / interval->known;
			if (kind != VECTORS_CPU)
				vectors->scales[kind] += rate;
			else if (rate > vectors->scales[kind])
				vectors->scales[kind] = rate;
			nr++;
		}
		if (nr && kind != VECTORS_CPU)
			vectors->scales[kind] /= nr;
	}
}

/* Sorts the cells by interval.  Returns 0 or -ENOMEM. */
static int sort_cells(struct vectors *vectors)
{
	uint32_t *next = calloc(vectors->nr + 1, sizeof(*next)), i;
	const struct schedtape_edge *cells = vectors->cells.edges;

	vectors->order = calloc(vectors->cells.nr + 1, sizeof(*vectors->order));
	if (!next || !vectors->order) {
		free(next);
		return -ENOMEM;
	}
	for (i = 0; i < vectors->cells.nr; i++)
		next[cells[i].waker + 1]++;
	for (i = 1; i < vectors->nr; i++)
		next[i] += next[i - 1];
	for (i = 0; i < vectors->cells.nr; i++)
		vectors->order[next[cells[i].waker]++] = i;
	free(next);
	return 0;
}

int vectors_read(struct vectors *vectors, struct schedtape_tape *tape,
		 struct schedtape_timeline **timeline, struct schedtape_error *err)
{
	static const struct schedtape_timeline_ops ops = {
		.size = sizeof(ops),
		.no_edges = true,
		.born = on_born,
		.renamed = on_renamed,
		.identified = on_renamed,
		.woke = on_woke,
		.slept = on_slept,
		.exited = on_slept,
		.ran = on_ran,
	};
	int rc = schedtape_timeline_run(tape, &ops, vectors, timeline, err);
	uint32_t i;

	if (rc)
		return rc;
	set_known(vectors, *timeline);
	for (i = 0; i < vectors->nr; i++)
		vectors->intervals[i].weight = vectors->intervals[i].known;
	find_scales(vectors);
	return sort_cells(vectors);
}

/* -- vectors to compare ---------------------------------------------------- */

/* What the numbers of a kind are worth: a model's time goes with CPU time, and forks are few. */
static const double weights[] = {
	[VECTORS_CPU] = 1,
	[VECTORS_BURSTS] = 0.5,
	[VECTORS_SLEEPS] = 0.5,
	[VECTORS_EDGES] = 0.5,
	[VECTORS_FORKS] = 0.25,
	[VECTORS_SYSCALLS] = 0.5,
	[VECTORS_COUNTS] = 0.5,
};

static enum vectors_kind kind_of(const struct vectors *vectors, uint32_t dim)
{
	return vectors->dims.edges[dim].waker >> KIND_SHIFT;
}

static double weigh(const struct vectors *vectors, const struct interval *interval,
		    enum vectors_kind kind, uint64_t value)
{
	double scale = vectors->scales[kind] * interval->known;

	if (kind == VECTORS_COUNTS)
		return (double)value / COUNTS_ONE * weights[kind];
	if (scale < interval->sums[kind])
		scale = interval->sums[kind];
	return scale > 0 ? value / scale * weights[kind] : 0;
}

void vectors_each(const struct vectors *vectors,
		  void (*take)(void *arg, uint32_t interval, uint32_t dim, double value),
		  void *arg)
{
	const struct interval *interval;
	const struct schedtape_edge *cell;
	uint32_t i, at = 0;

	for (i = 0; i < vectors->nr; i++) {
		interval = &vectors->intervals[i];
		take(arg, i, 0, weights[VECTORS_CPU] -
		     weigh(vectors, interval, VECTORS_CPU, interval->sums[VECTORS_CPU]));
		for (; at < vectors->cells.nr; at++) {
			cell = &vectors->cells.edges[vectors->order[at]];
			if (cell->waker != i)
				break;
			take(arg, i, cell->wakee + 1,
			     weigh(vectors, interval, kind_of(vectors, cell->wakee),
				   vectors->values[vectors->order[at]]));
		}
	}
}

/*
 * Adds a number, projected in a direction that is random, but the same each time: see
 * T. Sherwood et al., "Automatically characterizing large scale program behavior", 2002.
 */
static void project(void *arg, uint32_t interval, uint32_t dim, double value)
{
	struct point *points = arg;
	uint64_t state = dim;
	int i;

	for (i = 0; i < POINT_DIMS; i++)
		points[interval].at[i] += value * (2 * clusters_random_share(&state) - 1);
}

struct point *vectors_project(const struct vectors *vectors)
{
	struct point *points = calloc(vectors->nr, sizeof(*points));

	if (points)
		vectors_each(vectors, project, points);
	return points;
}

void vectors_add_names(const struct vectors *vectors, uint32_t phase, uint64_t *sums)
{
	const struct schedtape_edge *cell;
	uint32_t i, class;

	for (i = 0; i < vectors->cells.nr; i++) {
		cell = &vectors->cells.edges[i];
		if (vectors->intervals[cell->waker].phase != phase ||
		    kind_of(vectors, cell->wakee) != VECTORS_CPU)
			continue;
		class = vectors->dims.edges[cell->wakee].waker & (KIND_CLASSES - 1);
		sums[vectors->classes.edges[class].wakee] += vectors->values[i];
	}
}

void vectors_free(struct vectors *vectors)
{
	free(vectors->intervals);
	free(vectors->names);
	free(vectors->values);
	free(vectors->order);
	free(vectors->tasks);
	schedtape_edges_free(&vectors->words);
	schedtape_edges_free(&vectors->places);
	schedtape_edges_free(&vectors->classes);
	schedtape_edges_free(&vectors->dims);
	schedtape_edges_free(&vectors->cells);
}
