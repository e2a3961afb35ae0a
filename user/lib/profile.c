// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What the lengths of a tape's tasks are like, and in which order they wake each
 * other.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <schedtape.h>

#include "dist.h"

/**
 * struct habits - of one life
 * @lengths: distributions
 * @slept: when it fell asleep, 0: unknown
 * @woke_cpu: CPU time that it had used when it was woken
 */
struct habits {
	struct schedtape_dist lengths[SCHEDTAPE_NR_LENGTHS];
	uint64_t slept;
	uint64_t woke_cpu;
};

struct wake {
	uint32_t waker;
	uint32_t wakee;
};

struct schedtape_profile {
	struct habits *habits;		/* by life */
	uint32_t room;
	struct wake *wakes;
	size_t nr_wakes;
	size_t max_wakes;
	uint64_t first;			/* when something happened first, and last */
	uint64_t last;
};

/* -- what the timeline tells ----------------------------------------------- */

static void touch(struct schedtape_profile *profile, uint64_t time)
{
	if (!profile->first || time < profile->first)
		profile->first = time;
	if (time > profile->last)
		profile->last = time;
}

static int on_born(void *arg, const struct schedtape_life *life,
		   const struct schedtape_life *parent, uint64_t time)
{
	struct schedtape_profile *profile = arg;
	uint32_t room = profile->room ? 2 * profile->room : 64;
	struct habits *habits;

	if (parent)
		touch(profile, time);
	while (room <= life->index)
		room *= 2;
	if (life->index < profile->room)
		return 0;
	habits = realloc(profile->habits, room * sizeof(*habits));
	if (!habits)
		return -ENOMEM;
	memset(habits + profile->room, 0, (room - profile->room) * sizeof(*habits));
	profile->habits = habits;
	profile->room = room;
	return 0;
}

/* Who sleeps may come to its end without being woken: no burst counts twice. */
static int end_burst(struct habits *habits, const struct schedtape_life *life)
{
	uint64_t length = life->cpu_time - habits->woke_cpu;

	if (life->cpu_time <= habits->woke_cpu)
		return 0;
	habits->woke_cpu = life->cpu_time;
	return schedtape_dist_add(&habits->lengths[SCHEDTAPE_BURSTS], length);
}

static int on_slept(void *arg, const struct schedtape_life *life, uint64_t time)
{
	struct schedtape_profile *profile = arg;
	struct habits *habits = &profile->habits[life->index];

	touch(profile, time);
	habits->slept = time;
	return end_burst(habits, life);
}

static int add_wake(struct schedtape_profile *profile, uint32_t waker, uint32_t wakee)
{
	size_t max = profile->max_wakes ? 2 * profile->max_wakes : 1024;
	struct wake *wakes;

	if (profile->nr_wakes == profile->max_wakes) {
		wakes = realloc(profile->wakes, max * sizeof(*wakes));
		if (!wakes)
			return -ENOMEM;
		profile->wakes = wakes;
		profile->max_wakes = max;
	}
	profile->wakes[profile->nr_wakes++] = (struct wake){ waker, wakee };
	return 0;
}

static int on_woke(void *arg, const struct schedtape_life *life,
		   const struct schedtape_life *waker, uint64_t ticket, uint64_t time)
{
	struct schedtape_profile *profile = arg;
	struct habits *habits = &profile->habits[life->index];
	int rc = 0;

	(void)ticket;
	touch(profile, time);
	if (habits->slept && time > habits->slept)
		rc = schedtape_dist_add(&habits->lengths[SCHEDTAPE_SLEEPS], time - habits->slept);
	habits->slept = 0;
	habits->woke_cpu = life->cpu_time;
	if (waker && !rc)
		rc = add_wake(profile, waker->index, life->index);
	return rc;
}

static int on_waited(void *arg, const struct schedtape_life *life, uint64_t latency,
		     uint64_t time)
{
	struct schedtape_profile *profile = arg;

	(void)time;
	return schedtape_dist_add(&profile->habits[life->index].lengths[SCHEDTAPE_LATENCIES],
				  latency);
}

static int on_exited(void *arg, const struct schedtape_life *life, uint64_t time)
{
	struct schedtape_profile *profile = arg;

	touch(profile, time);
	return end_burst(&profile->habits[life->index], life);
}

int schedtape_profile_run(struct schedtape_tape *tape, struct schedtape_timeline **timeline,
			  struct schedtape_profile **profile, struct schedtape_error *err)
{
	static const struct schedtape_timeline_ops ops = {
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
	/* Only then the timeline has not said why. */
	if (rc == -ENOMEM)
		schedtape_fail(err, rc, "not enough memory for what tasks are like");
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
			schedtape_dist_free(&profile->habits[i].lengths[length]);
	free(profile->habits);
	free(profile->wakes);
	free(profile);
}

uint64_t schedtape_profile_span(const struct schedtape_profile *profile)
{
	return profile->last - profile->first;
}

/* -- distances ------------------------------------------------------------- */

static const struct schedtape_dist *dist_of(const struct schedtape_profile *profile,
					    uint32_t life, enum schedtape_length length)
{
	static const struct schedtape_dist none;

	return life < profile->room ? &profile->habits[life].lengths[length] : &none;
}

double schedtape_profile_distance(const struct schedtape_profile *a,
				  const struct schedtape_profile *b,
				  const struct schedtape_pair *pair, enum schedtape_length length)
{
	return schedtape_dist_distance(dist_of(a, pair->a, length), dist_of(b, pair->b, length));
}

int schedtape_profile_total(const struct schedtape_profile *a, const struct schedtape_profile *b,
			    const struct schedtape_pair *pairs, size_t n,
			    double distances[SCHEDTAPE_NR_LENGTHS], struct schedtape_error *err)
{
	int length, rc = 0;
	size_t i;

	for (length = 0; length < SCHEDTAPE_NR_LENGTHS; length++) {
		struct schedtape_dist total_a = { 0 }, total_b = { 0 };

		for (i = 0; i < n && !rc; i++) {
			rc = schedtape_dist_merge(&total_a, dist_of(a, pairs[i].a, length));
			if (!rc)
				rc = schedtape_dist_merge(&total_b, dist_of(b, pairs[i].b, length));
		}
		distances[length] = schedtape_dist_distance(&total_a, &total_b);
		schedtape_dist_free(&total_a);
		schedtape_dist_free(&total_b);
	}
	return rc ? schedtape_fail(err, rc, "not enough memory to compare") : 0;
}

/* -- the order of wake-ups ------------------------------------------------- */

/**
 * struct placed - a wake-up between matched tasks
 * @waker, @wakee: numbers of pairs
 * @place: among all wake-ups of its tape
 */
struct placed {
	uint32_t waker;
	uint32_t wakee;
	uint64_t place;
};

static int by_edge(const void *left, const void *right)
{
	const struct placed *a = left, *b = right;

	if (a->waker != b->waker)
		return a->waker < b->waker ? -1 : 1;
	if (a->wakee != b->wakee)
		return a->wakee < b->wakee ? -1 : 1;
	return a->place < b->place ? -1 : a->place > b->place;
}

/* Those between matched tasks, the n-th of an edge behind the one before. */
static size_t place_all(const struct schedtape_profile *profile, const uint32_t *pair_of,
			size_t matched, struct placed *list)
{
	size_t i, n = 0;

	for (i = 0; i < profile->nr_wakes; i++) {
		uint32_t waker = pair_of[profile->wakes[i].waker];
		uint32_t wakee = pair_of[profile->wakes[i].wakee];

		if (waker < matched && wakee < matched)
			list[n++] = (struct placed){ waker, wakee, i };
	}
	if (n)
		qsort(list, n, sizeof(*list), by_edge);
	return n;
}

static bool same_edge(const struct placed *a, const struct placed *b)
{
	return a->waker == b->waker && a->wakee == b->wakee;
}

/*
 * The n-th wake-up along an edge of A is the n-th of B: B's places, in A's order.
 * NULL elements of A (UINT64_MAX) have no counterpart.
 */
static void join_places(const struct placed *a, size_t nr_a, const struct placed *b, size_t nr_b,
			uint64_t *places)
{
	size_t i = 0, j = 0;

	while (i < nr_a && j < nr_b) {
		if (same_edge(&a[i], &b[j])) {
			places[a[i++].place] = b[j++].place;
			continue;
		}
		/* One of the edges is over, or the other tape has it not at all. */
		if (a[i].waker < b[j].waker ||
		    (a[i].waker == b[j].waker && a[i].wakee < b[j].wakee))
			i++;
		else
			j++;
	}
}

/* Sorts, and counts the pairs that were in the wrong order. */
static uint64_t sort_places(uint64_t *places, uint64_t *scratch, size_t n)
{
	size_t half = n / 2, i = 0, j = half, k = 0;
	uint64_t wrong;

	if (n < 2)
		return 0;
	wrong = sort_places(places, scratch, half) +
		sort_places(places + half, scratch, n - half);
	while (i < half || j < n) {
		if (j == n || (i < half && places[i] <= places[j])) {
			scratch[k++] = places[i++];
		} else {
			wrong += half - i;
			scratch[k++] = places[j++];
		}
	}
	memcpy(places, scratch, n * sizeof(*places));
	return wrong;
}

static double share_of_wrong(uint64_t *places, uint64_t *scratch, size_t room)
{
	size_t i, n = 0;

	for (i = 0; i < room; i++)
		if (places[i] != UINT64_MAX)
			places[n++] = places[i];
	if (n < 2)
		return NAN;
	return sort_places(places, scratch, n) / (n * (n - 1.0) / 2);
}

/* The number of each life's pair. */
static uint32_t *number_pairs(const struct schedtape_pair *pairs, size_t n, size_t room, bool of_a)
{
	uint32_t *numbers = malloc((room + 1) * sizeof(*numbers));
	size_t i;

	for (i = 0; i < n && numbers; i++) {
		uint32_t life = of_a ? pairs[i].a : pairs[i].b;

		if (life < room)
			numbers[life] = i;
	}
	return numbers;
}

int schedtape_profile_order(const struct schedtape_profile *a, const struct schedtape_profile *b,
			    const struct schedtape_comparison *comparison, double *share,
			    struct schedtape_error *err)
{
	size_t matched = schedtape_comparison_distance(comparison)->matched, nr_a, nr_b, n;
	const struct schedtape_pair *pairs = schedtape_comparison_pairs(comparison, &n);
	uint32_t *pair_a = number_pairs(pairs, n, a->room, true);
	uint32_t *pair_b = number_pairs(pairs, n, b->room, false);
	struct placed *list_a = malloc((a->nr_wakes + 1) * sizeof(*list_a));
	struct placed *list_b = malloc((b->nr_wakes + 1) * sizeof(*list_b));
	uint64_t *places = malloc((a->nr_wakes + 1) * sizeof(*places));
	uint64_t *scratch = malloc((a->nr_wakes + 1) * sizeof(*scratch));
	int rc = -ENOMEM;

	if (pair_a && pair_b && list_a && list_b && places && scratch) {
		memset(places, 0xff, a->nr_wakes * sizeof(*places));
		nr_a = place_all(a, pair_a, matched, list_a);
		nr_b = place_all(b, pair_b, matched, list_b);
		join_places(list_a, nr_a, list_b, nr_b, places);
		*share = share_of_wrong(places, scratch, a->nr_wakes);
		rc = 0;
	}
	free(pair_a);
	free(pair_b);
	free(list_a);
	free(list_b);
	free(places);
	free(scratch);
	return rc ? schedtape_fail(err, rc, "not enough memory to compare") : 0;
}
