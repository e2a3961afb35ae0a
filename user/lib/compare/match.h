/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Matches the tasks of two timelines, whose PIDs differ.
 */
#ifndef SCHEDTAPE_MATCH_H
#define SCHEDTAPE_MATCH_H

#include "compare/players.h"

/*
 * @a_to_b, @b_to_a: receive for each task the index of its counterpart or SCHEDTAPE_NONE;
 * they have room for all tasks of A and of B.  0 or -ENOMEM.
 */
int schedtape_match(const struct match_side *a, const struct match_side *b,
		    uint32_t *a_to_b, uint32_t *b_to_a);

#endif /* SCHEDTAPE_MATCH_H */
