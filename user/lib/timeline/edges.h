/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Who woke whom, and how often: a hash that allocates for new pairs only.
 */
#ifndef SCHEDTAPE_EDGES_H
#define SCHEDTAPE_EDGES_H

#include <schedtape.h>

#include "base/store.h"

/**
 * struct schedtape_edges - a set of edges that counts
 * @edges: in order of appearance, until schedtape_edges_sort()
 * @nr: of them
 * @store: where @edges are
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

/* The pair's number in @edges, which may be new, without a wake-up.  0 or -ENOMEM. */
int schedtape_edges_number(struct schedtape_edges *set, uint32_t waker, uint32_t wakee,
			   uint32_t *number);
/* One more wake-up of @wakee by @waker.  0 or -ENOMEM. */
int schedtape_edges_add(struct schedtape_edges *set, uint32_t waker, uint32_t wakee);
/* By waker, then wakee.  The hash is gone afterwards: no more adding. */
void schedtape_edges_sort(struct schedtape_edges *set);
void schedtape_edges_free(struct schedtape_edges *set);
/* Of edges sorted as above; NULL: no such pair. */
const struct schedtape_edge *schedtape_edges_find(const struct schedtape_edge *edges, size_t n,
						  uint32_t waker, uint32_t wakee);

#endif /* SCHEDTAPE_EDGES_H */
