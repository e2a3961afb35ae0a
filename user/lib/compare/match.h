/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which task of one timeline is which of another: PIDs differ from run to run.
 */
#ifndef SCHEDTAPE_MATCH_H
#define SCHEDTAPE_MATCH_H

#include <schedtape.h>

/*
 * @a_to_b, @b_to_a: for each task the other one's index or SCHEDTAPE_NONE, with
 * room for @nr_a and @nr_b of them.  0 or -ENOMEM.
 */
int schedtape_match(const struct schedtape_task *a, uint32_t nr_a,
		    const struct schedtape_task *b, uint32_t nr_b,
		    uint32_t *a_to_b, uint32_t *b_to_a);

#endif /* SCHEDTAPE_MATCH_H */
