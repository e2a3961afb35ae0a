// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Compares two timelines: pairs of their tasks, and their wake-up graphs.
 */
#include "compare/compare.h"

#include <errno.h>
#include <stdlib.h>

#include "base/error.h"
#include "compare/match.h"
#include "timeline/edges.h"
#include "timeline/timeline.h"

/**
 * struct schedtape_comparison - two timelines side by side
 * @pair_a, @pair_b: for each task the number of its pair; SCHEDTAPE_NONE: it is left out
 * @edges: all edges of A, and those of B between matched tasks
 */
struct schedtape_comparison {
	struct schedtape_distance distance;
	struct schedtape_pair *pairs;
	uint32_t *pair_a;
	uint32_t *pair_b;
	struct schedtape_edge_pair *edges;
	size_t nr_edges;
};

/*
 * Returns true if the tape of @side has kernel threads that a replay, the tape of @other, has left
 * out.  A replay that plays one of them has left out none for being such.
 */
static bool lacks_kthreads(const struct match_side *other, const struct match_side *side,
			   const uint32_t *counterparts)
{
	uint32_t i;

	for (i = 0; i < side->nr; i++)
		if (counterparts[i] != SCHEDTAPE_NONE && schedtape_is_kthread(&side->tasks[i]))
			return false;
	return other->nr_players;
}

/* Adds pairs of one task: those of @side without counterpart.  Returns their number. */
static size_t list_unmatched(struct schedtape_comparison *c, struct schedtape_pair *pairs,
			     const struct match_side *side, const struct match_side *other,
			     const uint32_t *counterparts)
{
	bool lacks = lacks_kthreads(other, side, counterparts);
	bool of_a = counterparts == c->pair_a;
	size_t n = 0;
	uint32_t i;

	for (i = 0; i < side->nr; i++) {
		if (counterparts[i] != SCHEDTAPE_NONE)
			continue;
		if (lacks && schedtape_is_kthread(&side->tasks[i]))
			c->distance.kthreads++;
		else
			pairs[n++] = (struct schedtape_pair){ of_a ? i : SCHEDTAPE_NONE,
							      of_a ? SCHEDTAPE_NONE : i };
	}
	return n;
}

/* Turns @pair_a and @pair_b from counterparts into numbers of pairs. */
static void list_pairs(struct schedtape_comparison *c, const struct match_side *a,
		       const struct match_side *b)
{
	struct schedtape_distance *d = &c->distance;
	size_t n = 0;
	uint32_t i;

	for (i = 0; i < a->nr; i++)
		if (c->pair_a[i] != SCHEDTAPE_NONE)
			c->pairs[n++] = (struct schedtape_pair){ i, c->pair_a[i] };
	d->matched = n;
	d->only_a = list_unmatched(c, c->pairs + n, a, b, c->pair_a);
	n += d->only_a;
	d->only_b = list_unmatched(c, c->pairs + n, b, a, c->pair_b);
	n += d->only_b;

	for (i = 0; i < n; i++) {
		if (c->pairs[i].a != SCHEDTAPE_NONE)
			c->pair_a[c->pairs[i].a] = i;
		if (c->pairs[i].b != SCHEDTAPE_NONE)
			c->pair_b[c->pairs[i].b] = i;
	}
}

/* These return the counterpart of a task, or SCHEDTAPE_NONE. */
static uint32_t to_b(const struct schedtape_comparison *c, uint32_t a)
{
	return c->pair_a[a] == SCHEDTAPE_NONE ? SCHEDTAPE_NONE : c->pairs[c->pair_a[a]].b;
}

static uint32_t to_a(const struct schedtape_comparison *c, uint32_t b)
{
	return c->pair_b[b] == SCHEDTAPE_NONE ? SCHEDTAPE_NONE : c->pairs[c->pair_b[b]].a;
}

static void add_edge(struct schedtape_comparison *c, uint32_t waker, uint32_t wakee,
		     uint64_t a, uint64_t b)
{
	c->edges[c->nr_edges++] = (struct schedtape_edge_pair){ waker, wakee, a, b };
}

static void edge_of_a(struct schedtape_comparison *c, const struct schedtape_edge *edge,
		      const struct schedtape_edge *edges_b, size_t nr_b)
{
	struct schedtape_distance *d = &c->distance;
	uint32_t waker = to_b(c, edge->waker), wakee = to_b(c, edge->wakee);
	const struct schedtape_edge *other;
	uint64_t count;

	if (c->pair_a[edge->waker] == SCHEDTAPE_NONE || c->pair_a[edge->wakee] == SCHEDTAPE_NONE)
		return;
	d->woken_a += edge->count;
	other = waker == SCHEDTAPE_NONE || wakee == SCHEDTAPE_NONE ? NULL :
		schedtape_edges_find(edges_b, nr_b, waker, wakee);
	count = other ? other->count : 0;
	d->woken_same += count < edge->count ? count : edge->count;
	if (count == edge->count)
		d->edges_same++;
	else if (count)
		d->edges_differ++;
	else
		d->edges_only_a++;
	add_edge(c, c->pair_a[edge->waker], c->pair_a[edge->wakee], edge->count, count);
}

static void edge_of_b(struct schedtape_comparison *c, const struct schedtape_edge *edge,
		      const struct schedtape_edge *edges_a, size_t nr_a)
{
	uint32_t waker = to_a(c, edge->waker), wakee = to_a(c, edge->wakee);

	if (waker == SCHEDTAPE_NONE || wakee == SCHEDTAPE_NONE)
		return;
	c->distance.woken_b += edge->count;
	if (schedtape_edges_find(edges_a, nr_a, waker, wakee))
		return;
	c->distance.edges_only_b++;
	add_edge(c, c->pair_b[edge->waker], c->pair_b[edge->wakee], 0, edge->count);
}

static int by_waker(const void *left, const void *right)
{
	const struct schedtape_edge_pair *a = left, *b = right;

	if (a->waker != b->waker)
		return a->waker < b->waker ? -1 : 1;
	return a->wakee < b->wakee ? -1 : a->wakee > b->wakee;
}

static int compare_edges(struct schedtape_comparison *c, const struct schedtape_timeline *a,
			 const struct schedtape_timeline *b)
{
	const struct schedtape_edge *edges_a, *edges_b;
	struct schedtape_distance *d = &c->distance;
	size_t nr_a, nr_b, i;

	edges_a = schedtape_timeline_edges(a, &nr_a);
	edges_b = schedtape_timeline_edges(b, &nr_b);
	c->edges = calloc(nr_a + nr_b + 1, sizeof(*c->edges));
	if (!c->edges)
		return -ENOMEM;
	for (i = 0; i < nr_a; i++)
		edge_of_a(c, &edges_a[i], edges_b, nr_b);
	for (i = 0; i < nr_b; i++)
		edge_of_b(c, &edges_b[i], edges_a, nr_a);
	if (c->nr_edges)
		qsort(c->edges, c->nr_edges, sizeof(*c->edges), by_waker);
	d->same_graph = !d->only_a && !d->edges_differ && !d->edges_only_a && !d->edges_only_b;
	return 0;
}

static struct match_side side_of(const struct schedtape_timeline *timeline)
{
	return (struct match_side) {
		.tasks = timeline->set.tasks,
		.nr = timeline->set.nr,
		.players = timeline->players,
		.nr_players = timeline->nr_players,
	};
}

/**
 * schedtape_compare() - compare two timelines
 * @a: the original
 * @b: the other one
 * @comparison: result, to be freed with schedtape_comparison_free()
 * @err: may be NULL
 */
int schedtape_compare(const struct schedtape_timeline *a, const struct schedtape_timeline *b,
		      struct schedtape_comparison **comparison, struct schedtape_error *err)
{
	const struct match_side side_a = side_of(a), side_b = side_of(b);
	const size_t nr_a = side_a.nr, nr_b = side_b.nr;
	struct schedtape_comparison *c;
	int rc = -ENOMEM;

	*comparison = NULL;
	c = calloc(1, sizeof(*c));
	if (!c)
		goto fail;
	c->pairs = calloc(nr_a + nr_b + 1, sizeof(*c->pairs));
	c->pair_a = calloc(nr_a + 1, sizeof(*c->pair_a));
	c->pair_b = calloc(nr_b + 1, sizeof(*c->pair_b));
	if (!c->pairs || !c->pair_a || !c->pair_b)
		goto fail;
	rc = schedtape_match(&side_a, &side_b, c->pair_a, c->pair_b);
	if (rc)
		goto fail;
	list_pairs(c, &side_a, &side_b);
	rc = compare_edges(c, a, b);
	if (rc)
		goto fail;
	*comparison = c;
	return 0;

fail:
	schedtape_comparison_free(c);
	return schedtape_fail(err, rc, "not enough memory to compare");
}

/**
 * schedtape_comparison_free() - free a comparison
 * @comparison: may be NULL
 */
void schedtape_comparison_free(struct schedtape_comparison *comparison)
{
	if (!comparison)
		return;
	free(comparison->pairs);
	free(comparison->pair_a);
	free(comparison->pair_b);
	free(comparison->edges);
	free(comparison);
}

const struct schedtape_distance *
schedtape_comparison_distance(const struct schedtape_comparison *comparison)
{
	return &comparison->distance;
}

const struct schedtape_pair *
schedtape_comparison_pairs(const struct schedtape_comparison *comparison, size_t *n)
{
	const struct schedtape_distance *d = &comparison->distance;

	*n = d->matched + d->only_a + d->only_b;
	return comparison->pairs;
}

const struct schedtape_edge_pair *
schedtape_comparison_edges(const struct schedtape_comparison *comparison, size_t *n)
{
	*n = comparison->nr_edges;
	return comparison->edges;
}

const struct schedtape_edge_pair *
schedtape_comparison_edge(const struct schedtape_comparison *comparison, uint32_t waker,
			  uint32_t wakee)
{
	const struct schedtape_edge_pair wanted = { .waker = waker, .wakee = wakee };

	return bsearch(&wanted, comparison->edges, comparison->nr_edges, sizeof(wanted), by_waker);
}
