/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Counts wake-ups by edge, in a hash that allocates memory for new edges only.
 */
#ifndef SCHEDTAPE_EDGES_H
#define SCHEDTAPE_EDGES_H

#include <schedtape.h>

#include "base/store.h"

/**
 * struct schedtape_edges - a set of edges, each with its wake-ups
 * @edges: in order of appearance, until schedtape_edges_sort()
 * @nr: number of @edges
 * @store: the memory of @edges
 * @slots: hash, open addressing: number in @edges plus 1, 0: free
 * @mask: slots minus 1; at least twice as many slots as edges
 */
struct schedtape_edges {
	struct schedtape_edge *edges;
	uint32_t nr;
	struct schedtape_store store;
	uint32_t *slots;
	uint32_t mask;
};

/* Gets the edge's number in @edges; adds it with no wake-ups if it is new.  0 or -ENOMEM. */
int schedtape_edges_number(struct schedtape_edges *set, uint32_t waker, uint32_t wakee,
			   uint32_t *number);
/* Counts one wake-up of @wakee by @waker.  0 or -ENOMEM. */
int schedtape_edges_add(struct schedtape_edges *set, uint32_t waker, uint32_t wakee);
/* Sorts by waker, then wakee, and frees the hash: no edges can be added afterwards. */
void schedtape_edges_sort(struct schedtape_edges *set);
void schedtape_edges_free(struct schedtape_edges *set);
/* Finds an edge among sorted ones; NULL: there is no such edge. */
const struct schedtape_edge *schedtape_edges_find(const struct schedtape_edge *edges, size_t n,
						  uint32_t waker, uint32_t wakee);

#endif /* SCHEDTAPE_EDGES_H */
