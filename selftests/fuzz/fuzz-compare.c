// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: a comparison survives any events in the pages of two tapes, and finds that a
 * tape equals itself.
 */
#include <math.h>

#include "pages.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/**
 * struct side - a tape, and its timeline
 */
struct side {
	struct schedtape_tape *tape;
	struct schedtape_timeline *timeline;
	struct schedtape_profile *profile;
};

static void check_share(double share, bool same)
{
	if (!isnan(share) && (share < 0 || share > 1 || (same && share != 0)))
		abort();
}

static void check_same(const struct schedtape_distance *distance)
{
	if (distance->only_a || distance->only_b || distance->edges_differ ||
	    distance->edges_only_a || distance->edges_only_b || !distance->same_graph)
		abort();
}

static void check_lengths(const struct side *a, const struct side *b,
			  const struct schedtape_comparison *comparison)
{
	const struct schedtape_pair *pairs;
	double shares[SCHEDTAPE_NR_LENGTHS], order;
	size_t n, i, length;

	pairs = schedtape_comparison_pairs(comparison, &n);
	for (length = 0; length < SCHEDTAPE_NR_LENGTHS; length++)
		for (i = 0; i < n; i++)
			check_share(schedtape_profile_distance(a->profile, b->profile, &pairs[i],
							       length), a == b);
	if (schedtape_profile_total(a->profile, b->profile, pairs, n, shares, NULL) ||
	    schedtape_profile_order(a->profile, b->profile, comparison, &order, NULL))
		abort();
	for (length = 0; length < SCHEDTAPE_NR_LENGTHS; length++)
		check_share(shares[length], a == b);
	check_share(order, a == b);
}

static void compare(const struct side *a, const struct side *b)
{
	struct schedtape_comparison *comparison;

	if (schedtape_compare(a->timeline, b->timeline, &comparison, NULL))
		abort();
	if (a == b)
		check_same(schedtape_comparison_distance(comparison));
	check_lengths(a, b, comparison);
	schedtape_comparison_free(comparison);
}

/* The tasks of the first tape play those of the second one, in the opposite order. */
static void take_players(struct schedtape_tape *tape)
{
	size_t i, most = sizeof(tape->players) / sizeof(*tape->players);

	for (i = 0; i < tape->nr_tasks && i < most; i++)
		tape->players[tape->nr_players++] = (struct schedtape_player) {
			.time = tape->tasks[i].time,
			.pid = tape->tasks[i].pid,
			.task_pid = tape->tasks[tape->nr_tasks - 1 - i].pid,
		};
}

static void open_side(struct side *side, const uint8_t *data, size_t size, size_t first,
		      size_t pages, bool replay)
{
	side->tape = fake_new(0, 1000000);
	take_tasks(side->tape, data, size);
	if (replay)
		take_players(side->tape);
	if (pages)
		take_pages(side->tape, data + DESCRIPTIONS * DESCRIPTION_LEN +
			   first * STAPE_PAGE_SIZE, pages);
	if (schedtape_profile_run(side->tape, &side->timeline, &side->profile, NULL))
		abort();
}

static void close_side(struct side *side)
{
	schedtape_profile_free(side->profile);
	schedtape_timeline_free(side->timeline);
	fake_free(side->tape);
}

/* The same tasks are in both; the first half of the pages is A's. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t from = DESCRIPTIONS * DESCRIPTION_LEN, pages, half;
	struct side a, b;

	pages = size < from ? 0 : (size - from) / STAPE_PAGE_SIZE;
	half = pages / 2;
	open_side(&a, data, size, 0, half, true);
	open_side(&b, data, size, half, pages - half, false);
	compare(&a, &b);
	compare(&b, &b);
	close_side(&a);
	close_side(&b);
	return 0;
}
