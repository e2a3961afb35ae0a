/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SCHEDTAPE_COMPARE_H
#define SCHEDTAPE_COMPARE_H

#include <schedtape-timeline.h>

/* Returns the edge between two pairs of tasks, or NULL. */
const struct schedtape_edge_pair *
schedtape_comparison_edge(const struct schedtape_comparison *comparison, uint32_t waker,
			  uint32_t wakee);

#endif /* SCHEDTAPE_COMPARE_H */
