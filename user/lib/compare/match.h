/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Matches the tasks of two timelines, whose PIDs differ.
 */
#ifndef SCHEDTAPE_MATCH_H
#define SCHEDTAPE_MATCH_H

#include <schedtape.h>

/*
 * @a_to_b, @b_to_a: receive for each task the index of its counterpart or SCHEDTAPE_NONE;
 * they have room for @nr_a and @nr_b entries.  0 or -ENOMEM.
 */
int schedtape_match(const struct schedtape_task *a, uint32_t nr_a,
		    const struct schedtape_task *b, uint32_t nr_b,
		    uint32_t *a_to_b, uint32_t *b_to_a);

#endif /* SCHEDTAPE_MATCH_H */
