// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The distributions of lengths of a tape's tasks, and the order in which the tasks wake
 * each other.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <schedtape.h>

#include "base/error.h"
#include "base/store.h"
#include "compare/compare.h"
#include "compare/distance.h"

#define WALK_STEP	(1U << 18)	/* wake-ups that a walk may keep in memory */
#define NO_ROOM		"not enough memory, or room in TMPDIR or /var/tmp, "

/**
 * struct habits - the profile of one task
 * @lengths: its distributions
 * @slept: when it fell asleep, 0: unknown
 * @woke_cpu: CPU time that it had used at its last wake-up, or at the end of its last burst
 */
struct habits {
	struct schedtape_histogram lengths[SCHEDTAPE_NR_LENGTHS];
	uint64_t slept;
	uint64_t woke_cpu;
};

struct wake {
	uint32_t waker;
	uint32_t wakee;
};

struct schedtape_profile {
	struct habits *habits;		/* by task */
	uint32_t room;
	struct schedtape_store wakes;	/* struct wake, in their order */
	uint64_t first;			/* times of the first and the last callback */
	uint64_t last;
};

/* -- callbacks of the timeline --------------------------------------------- */

static void touch(struct schedtape_profile *profile, uint64_t time)
{
	if (!profile->first || time < profile->first)
		profile->first = time;
	if (time > profile->last)
		profile->last = time;
}

static int on_born(void *arg, const struct schedtape_task *task,
		   const struct schedtape_task *parent, uint64_t time)
{
	struct schedtape_profile *profile = arg;
	uint32_t room = profile->room ? 2 * profile->room : 64;
	struct habits *habits;

	if (parent)
		touch(profile, time);
	while (room <= task->index)
		room *= 2;
	if (task->index < profile->room)
		return 0;
	habits = realloc(profile->habits, room * sizeof(*habits));
	if (!habits)
		return -ENOMEM;
	memset(habits + profile->room, 0, (room - profile->room) * sizeof(*habits));
	profile->habits = habits;
	profile->room = room;
	return 0;
}

/* Counts no burst twice: a sleeping task may end without a wake-up. */
static int end_burst(struct habits *habits, const struct schedtape_task *task)
{
	uint64_t length = task->cpu_time - habits->woke_cpu;

	if (task->cpu_time <= habits->woke_cpu)
		return 0;
	habits->woke_cpu = task->cpu_time;
	return schedtape_histogram_add(&habits->lengths[SCHEDTAPE_BURSTS], length);
}

static int on_slept(void *arg, const struct schedtape_task *task, uint64_t time)
{
	struct schedtape_profile *profile = arg;
	struct habits *habits = &profile->habits[task->index];

	touch(profile, time);
	habits->slept = time;
	return end_burst(habits, task);
}

static int add_wake(struct schedtape_profile *profile, uint32_t waker, uint32_t wakee)
{
	const struct wake wake = { waker, wakee };

	return schedtape_store_append(&profile->wakes, &wake, sizeof(wake));
}

static int on_woke(void *arg, const struct schedtape_task *task,
		   const struct schedtape_task *waker, uint64_t ticket, uint64_t time)
{
	struct schedtape_profile *profile = arg;
	struct habits *habits = &profile->habits[task->index];
	int rc = 0;

	(void)ticket;
	touch(profile, time);
	if (habits->slept && time > habits->slept)
		rc = schedtape_histogram_add(&habits->lengths[SCHEDTAPE_SLEEPS],
					     time - habits->slept);
	habits->slept = 0;
	habits->woke_cpu = task->cpu_time;
	if (waker && !rc)
		rc = add_wake(profile, waker->index, task->index);
	return rc;
}

static int on_waited(void *arg, const struct schedtape_task *task, uint64_t delay,
		     uint64_t time)
{
	struct schedtape_profile *profile = arg;

	(void)time;
	return schedtape_histogram_add(&profile->habits[task->index].lengths[SCHEDTAPE_DELAYS],
				  delay);
}

static int on_exited(void *arg, const struct schedtape_task *task, uint64_t time)
{
	struct schedtape_profile *profile = arg;

	touch(profile, time);
	return end_burst(&profile->habits[task->index], task);
}

int schedtape_profile_run(struct schedtape_tape *tape, struct schedtape_timeline **timeline,
			  struct schedtape_profile **profile, struct schedtape_error *err)
{
	static const struct schedtape_timeline_ops ops = {
		.size = sizeof(ops),
		.born = on_born,
		.slept = on_slept,
		.woke = on_woke,
		.waited = on_waited,
		.exited = on_exited,
	};
	int rc;

	*timeline = NULL;
	*profile = calloc(1, sizeof(**profile));
	if (!*profile)
		return schedtape_fail(err, -ENOMEM, "not enough memory");
	rc = schedtape_timeline_run(tape, &ops, *profile, timeline, err);
	/* The timeline has set @err in every other case. */
	if (rc == -ENOMEM || rc == -ENOSPC)
		schedtape_fail(err, rc, NO_ROOM "for what tasks are like");
	if (rc) {
		schedtape_profile_free(*profile);
		*profile = NULL;
	}
	return rc;
}

void schedtape_profile_free(struct schedtape_profile *profile)
{
	uint32_t i;
	int length;

	if (!profile)
		return;
	for (i = 0; i < profile->room; i++)
		for (length = 0; length < SCHEDTAPE_NR_LENGTHS; length++)
			schedtape_histogram_free(&profile->habits[i].lengths[length]);
	free(profile->habits);
	schedtape_store_free(&profile->wakes);
	free(profile);
}

uint64_t schedtape_profile_span(const struct schedtape_profile *profile)
{
	return profile->last - profile->first;
}

/* -- distances ------------------------------------------------------------- */

static const struct schedtape_histogram *lengths_of(const struct schedtape_profile *profile,
						    uint32_t task, enum schedtape_length length)
{
	static const struct schedtape_histogram none;

	return task < profile->room ? &profile->habits[task].lengths[length] : &none;
}

double schedtape_profile_distance(const struct schedtape_profile *a,
				  const struct schedtape_profile *b,
				  const struct schedtape_pair *pair, enum schedtape_length length)
{
	return schedtape_lengths_distance(lengths_of(a, pair->a, length),
					  lengths_of(b, pair->b, length));
}

int schedtape_profile_total(const struct schedtape_profile *a, const struct schedtape_profile *b,
			    const struct schedtape_pair *pairs, size_t n,
			    double distances[SCHEDTAPE_NR_LENGTHS], struct schedtape_error *err)
{
	int length, rc = 0;
	size_t i;

	for (length = 0; length < SCHEDTAPE_NR_LENGTHS; length++) {
		struct schedtape_histogram total_a = { 0 }, total_b = { 0 };

		for (i = 0; i < n && !rc; i++) {
			rc = schedtape_histogram_merge(&total_a, lengths_of(a, pairs[i].a, length));
			if (!rc)
				rc = schedtape_histogram_merge(&total_b,
							       lengths_of(b, pairs[i].b, length));
		}
		distances[length] = schedtape_lengths_distance(&total_a, &total_b);
		schedtape_histogram_free(&total_a);
		schedtape_histogram_free(&total_b);
	}
	return rc ? schedtape_fail(err, rc, "not enough memory to compare") : 0;
}

/* -- the order of wake-ups ------------------------------------------------- */

/**
 * struct course - the wake-ups along an edge between matched tasks
 * @first: index in @list of the edge's first place in B
 * @nr: number of its places
 * @met: number of A's wake-ups along it so far
 */
struct course {
	uint64_t first;
	uint64_t nr;
	uint64_t met;
};

/**
 * struct order - the order of A's wake-ups in B
 * @comparison: the comparison of the two tapes
 * @edges: its edges
 * @nr_edges: number of @edges
 * @courses: one for each edge
 * @list: B's places, edge by edge
 * @places: B's places, in A's order
 * @scratch: room for as many places, to sort them
 *
 * A place is the index of a wake-up among all wake-ups of B.
 */
struct order {
	const struct schedtape_comparison *comparison;
	const struct schedtape_edge_pair *edges;
	size_t nr_edges;
	struct course *courses;
	struct schedtape_store list;
	struct schedtape_store places;
	struct schedtape_store scratch;
};

/* Drops the places from memory from time to time, while a walk passes them. */
static void passed(const struct order *order, uint64_t n)
{
	if (n % WALK_STEP)
		return;
	schedtape_store_let_go(&order->list);
	schedtape_store_let_go(&order->places);
	schedtape_store_let_go(&order->scratch);
}

/* Grows the store step by step, so that a large one moves into a file. */
static int add_places(struct schedtape_store *store, uint64_t n)
{
	uint64_t step;
	int rc = 0;

	for (; n && !rc; n -= step) {
		step = n < 4096 ? n : 4096;
		rc = schedtape_store_add(store, sizeof(uint64_t), step);
	}
	return rc;
}

/* Returns the course of the @i-th wake-up; NULL: its tasks are not both matched. */
static struct course *course_of(const struct order *order,
				const struct schedtape_profile *profile, const uint32_t *pair_of,
				uint64_t i)
{
	const struct wake *wake = (struct wake *)profile->wakes.memory + i;
	const struct schedtape_edge_pair *edge;

	if (i % WALK_STEP == 0)
		schedtape_store_let_go(&profile->wakes);
	passed(order, i);
	edge = schedtape_comparison_edge(order->comparison, pair_of[wake->waker],
					 pair_of[wake->wakee]);
	return edge ? &order->courses[edge - order->edges] : NULL;
}

static int list_places(struct order *order, const struct schedtape_profile *b,
		       const uint32_t *pair_of)
{
	struct course *course;
	uint64_t i, n = 0;
	int rc;

	for (i = 0; i < order->nr_edges; i++) {
		order->courses[i].first = n;
		n += order->edges[i].b;
	}
	rc = add_places(&order->list, n);
	for (i = 0; i < b->wakes.nr && !rc; i++) {
		course = course_of(order, b, pair_of, i);
		if (course && course->nr < order->edges[course - order->courses].b)
			((uint64_t *)order->list.memory)[course->first + course->nr++] = i;
	}
	return rc;
}

/* Matches the n-th wake-up along an edge in A with the n-th in B, if there is one. */
static int join_places(struct order *order, const struct schedtape_profile *a,
		       const uint32_t *pair_of)
{
	const uint64_t *list = order->list.memory;
	struct course *course;
	int rc = 0;
	uint64_t i;

	for (i = 0; i < a->wakes.nr && !rc; i++) {
		course = course_of(order, a, pair_of, i);
		if (!course || course->met == course->nr)
			continue;
		rc = schedtape_store_append(&order->places, &list[course->first + course->met],
					    sizeof(*list));
		course->met++;
	}
	return rc ? rc : add_places(&order->scratch, order->places.nr);
}

/* Sorts @n places from @first on.  Returns how many pairs were in the wrong order. */
static uint64_t sort_places(const struct order *order, uint64_t first, uint64_t n)
{
	uint64_t *places = (uint64_t *)order->places.memory + first;
	uint64_t *scratch = order->scratch.memory;
	uint64_t half = n / 2, i = 0, j = half, k = 0, wrong;

	if (n < 2)
		return 0;
	wrong = sort_places(order, first, half) + sort_places(order, first + half, n - half);
	while (i < half || j < n) {
		if (j == n || (i < half && places[i] <= places[j])) {
			scratch[k++] = places[i++];
		} else {
			wrong += half - i;
			scratch[k++] = places[j++];
		}
		passed(order, k);
	}
	for (k = 0; k < n; passed(order, ++k))
		places[k] = scratch[k];
	return wrong;
}

static double share_of_wrong(const struct order *order)
{
	uint64_t n = order->places.nr;

	return n < 2 ? NAN : sort_places(order, 0, n) / (n * (n - 1.0) / 2);
}

/* Returns an array with the number of each task's pair; SCHEDTAPE_NONE: it is in none. */
static uint32_t *number_pairs(const struct schedtape_pair *pairs, size_t n, size_t room, bool of_a)
{
	uint32_t *numbers = malloc((room + 1) * sizeof(*numbers));
	size_t i;

	if (numbers)
		memset(numbers, 0xff, room * sizeof(*numbers));
	for (i = 0; i < n && numbers; i++) {
		uint32_t task = of_a ? pairs[i].a : pairs[i].b;

		if (task < room)
			numbers[task] = i;
	}
	return numbers;
}

int schedtape_profile_order(const struct schedtape_profile *a, const struct schedtape_profile *b,
			    const struct schedtape_comparison *comparison, double *share,
			    struct schedtape_error *err)
{
	struct order order = { .comparison = comparison };
	const struct schedtape_pair *pairs;
	uint32_t *pair_a, *pair_b;
	int rc = -ENOMEM;
	size_t n;

	order.edges = schedtape_comparison_edges(comparison, &order.nr_edges);
	order.courses = calloc(order.nr_edges + 1, sizeof(*order.courses));
	pairs = schedtape_comparison_pairs(comparison, &n);
	pair_a = number_pairs(pairs, n, a->room, true);
	pair_b = number_pairs(pairs, n, b->room, false);
	if (order.courses && pair_a && pair_b)
		rc = list_places(&order, b, pair_b);
	if (!rc)
		rc = join_places(&order, a, pair_a);
	if (!rc)
		*share = share_of_wrong(&order);
	free(pair_a);
	free(pair_b);
	free(order.courses);
	schedtape_store_free(&order.list);
	schedtape_store_free(&order.places);
	schedtape_store_free(&order.scratch);
	return rc ? schedtape_fail(err, rc, NO_ROOM "to compare") : 0;
}
