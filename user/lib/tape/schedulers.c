// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The schedulers of a tape, once all its files are read.
 */
#include <stdlib.h>
#include <string.h>

#include "tape/schedulers.h"
#include "tape/tape.h"

static int scheduler_compare(const void *one, const void *two)
{
	const struct schedtape_scheduler *a = one, *b = two;

	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	return a->after < b->after ? -1 : a->after > b->after;
}

static bool is_same(const struct schedtape_scheduler *a, const struct schedtape_scheduler *b)
{
	return a->enable_seq == b->enable_seq && !strcmp(a->state, b->state) &&
	       !strcmp(a->ops, b->ops);
}

/* Sorts them by time, and joins records that are about the same scheduler and no change. */
void tape_schedulers_finish(struct schedtape_tape *tape)
{
	struct schedtape_scheduler *all = tape->schedulers;
	size_t i, n = 0;

	if (!tape->nr_schedulers)
		return;
	qsort(all, tape->nr_schedulers, sizeof(*all), scheduler_compare);
	for (i = 1; i < tape->nr_schedulers; i++) {
		if (!n && !all[i].after) {
			/* It corrects the first record, and gets its time. */
			all[i].time = all[n].time;
			all[n] = all[i];
		} else if (is_same(&all[n], &all[i])) {
			all[n].nr_rejected = all[i].nr_rejected;
		} else {
			all[++n] = all[i];
		}
	}
	tape->nr_schedulers = n + 1;
}
