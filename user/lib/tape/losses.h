/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Counts the events that a tape misses.
 */
#ifndef SCHEDTAPE_TAPE_LOSSES_H
#define SCHEDTAPE_TAPE_LOSSES_H

#include <schedtape-tape.h>

#include "tape/cursors.h"

struct schedtape_tape;
struct tape_index;

/* Are pages with events missing before the first page, which has the number @seq? */
static inline bool tape_hole_first(const struct tape_cursor *c, uint64_t seq)
{
	if (c->live)
		return seq && !c->any_first;
	/* The stream of an overwritten ring may begin with any number. */
	return seq && c->missing && !c->end->overwritten && !c->any_first;
}

/*
 * tape_lost_fit() removes corrupt chunks with impossible headers from the sorted index.
 * tape_lost_init() sets missing events of all cursors and of the end.
 * tape_lost_add() adds lost events to a CPU, and extends the time of its losses to theirs.
 * tape_lost_count() adds missing events to @cpu, which has the counts of the end record.
 * tape_lost_update() updates the end after a chunk was found to be corrupt.
 * tape_lost_finish() counts what is missing of a cursor of a pipe, after its last chunk.
 */
void tape_lost_fit(struct schedtape_tape *tape);
int tape_lost_init(struct schedtape_tape *tape);
void tape_lost_add(struct schedtape_cpu *cpu, uint64_t events, uint64_t first, uint64_t last);
void tape_lost_count(const struct schedtape_tape *tape, const struct tape_cursor *c,
		     struct schedtape_cpu *cpu);
void tape_lost_update(struct schedtape_tape *tape, const struct tape_cursor *c);
void tape_lost_finish(struct schedtape_tape *tape, struct tape_cursor *c);
/* Adds a chunk to the sums of those before it. */
void tape_sums_add(struct tape_sums *sums, const struct tape_index *index);

#endif /* SCHEDTAPE_TAPE_LOSSES_H */
