// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Counts wake-ups by edge.
 */
#include <errno.h>
#include <stdlib.h>

#include "timeline/edges.h"

#define FIRST_SLOTS	128

static uint32_t hash(uint32_t waker, uint32_t wakee)
{
	uint64_t key = ((uint64_t)waker << 32 | wakee) * 0x9e3779b97f4a7c15ULL;

	return key >> 32;
}

/* Returns the edge's slot, or the free one where it belongs. */
static uint32_t *slot_of(struct schedtape_edges *set, uint32_t waker, uint32_t wakee)
{
	uint32_t at = hash(waker, wakee);

	for (;; at++) {
		uint32_t *slot = &set->slots[at & set->mask];
		const struct schedtape_edge *edge;

		if (!*slot)
			return slot;
		edge = &set->edges[*slot - 1];
		if (edge->waker == waker && edge->wakee == wakee)
			return slot;
	}
}

static int grow(struct schedtape_edges *set)
{
	uint32_t n = set->slots ? 2 * (set->mask + 1) : FIRST_SLOTS;
	uint32_t *slots;
	uint32_t i;

	if (n > UINT32_MAX / 4)
		return -ENOMEM;
	slots = calloc(n, sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	free(set->slots);
	set->slots = slots;
	set->mask = n - 1;
	for (i = 0; i < set->nr; i++)
		*slot_of(set, set->edges[i].waker, set->edges[i].wakee) = i + 1;
	schedtape_store_let_go(&set->store);
	return 0;
}

int schedtape_edges_number(struct schedtape_edges *set, uint32_t waker, uint32_t wakee,
			   uint32_t *number)
{
	uint32_t *slot;
	int rc;

	if (set->nr >= set->mask / 2) {
		rc = grow(set);
		if (rc)
			return rc;
	}
	slot = slot_of(set, waker, wakee);
	if (!*slot) {
		rc = schedtape_store_add(&set->store, sizeof(*set->edges), 1);
		if (rc)
			return rc;
		set->edges = set->store.memory;
		set->edges[set->nr] = (struct schedtape_edge){ waker, wakee, 0 };
		*slot = ++set->nr;
	}
	*number = *slot - 1;
	return 0;
}

int schedtape_edges_add(struct schedtape_edges *set, uint32_t waker, uint32_t wakee)
{
	uint32_t number;
	int rc = schedtape_edges_number(set, waker, wakee, &number);

	if (!rc)
		set->edges[number].count++;
	return rc;
}

static int by_waker(const void *left, const void *right)
{
	const struct schedtape_edge *a = left, *b = right;

	if (a->waker != b->waker)
		return a->waker < b->waker ? -1 : 1;
	return a->wakee < b->wakee ? -1 : a->wakee > b->wakee;
}

void schedtape_edges_sort(struct schedtape_edges *set)
{
	free(set->slots);
	set->slots = NULL;
	if (set->nr)
		qsort(set->edges, set->nr, sizeof(*set->edges), by_waker);
}

void schedtape_edges_free(struct schedtape_edges *set)
{
	schedtape_store_free(&set->store);
	free(set->slots);
}

const struct schedtape_edge *schedtape_edges_find(const struct schedtape_edge *edges, size_t n,
						  uint32_t waker, uint32_t wakee)
{
	const struct schedtape_edge key = { .waker = waker, .wakee = wakee };

	return n ? bsearch(&key, edges, n, sizeof(key), by_waker) : NULL;
}
