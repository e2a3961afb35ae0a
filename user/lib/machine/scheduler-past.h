/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The schedulers that were on, in memory, for tapes that are written later.
 */
#ifndef SCHEDTAPE_SCHEDULER_PAST_H
#define SCHEDTAPE_SCHEDULER_PAST_H

#include <stddef.h>

#include <schedtape.h>

#define SCHEDTAPE_SCHEDULERS_KEPT	64

struct schedtape_error;
struct schedtape_writer;

/**
 * struct schedtape_scheduler_past - schedulers that were seen
 * @seen: the @nr last ones, by time
 */
struct schedtape_scheduler_past {
	struct schedtape_scheduler seen[SCHEDTAPE_SCHEDULERS_KEPT];
	size_t nr;
};

/*
 * Adds what a look has seen.  If there is no room, the oldest is forgotten: readers tell from the
 * kernel's count that there were others.
 */
void schedtape_scheduler_past_add(struct schedtape_scheduler_past *past,
				  const struct schedtape_scheduler *seen);
/* Forgets those before @time, ns of CLOCK_MONOTONIC, but the one that was on then. */
void schedtape_scheduler_past_forget(struct schedtape_scheduler_past *past, uint64_t time);
/* Writes them, the first as the first one of the tape.  Returns 0 or -errno. */
int schedtape_scheduler_past_write(const struct schedtape_scheduler_past *past,
				   struct schedtape_writer *writer, struct schedtape_error *err);

#endif /* SCHEDTAPE_SCHEDULER_PAST_H */
