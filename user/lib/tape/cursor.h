/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Goes over the events of one CPU.
 */
#ifndef SCHEDTAPE_TAPE_CURSOR_H
#define SCHEDTAPE_TAPE_CURSOR_H

#include <errno.h>

#include "tape/cursors.h"

struct schedtape_tape;

/*
 * What the cursor returns if the tape would have to change, because a chunk turns out to be
 * damaged, and the caller of the library has not come so far.
 */
#define TAPE_NOT_AHEAD	(-ERESTART)

/*
 * Moves to this CPU's next event.  Returns 1; 0: there are no more, or of a pipe, not yet; -errno.
 * Only the merge has a shorter way for most events.
 */
int tape_cursor_next(struct schedtape_tape *tape, struct tape_cursor *c,
		     struct schedtape_error *err);
void tape_cursor_rewind(const struct schedtape_tape *tape, struct tape_cursor *c);
/* Frees the cursor's memory, but not what of a pipe it has not loaded yet. */
void tape_cursor_exit(struct tape_cursor *c);

#endif /* SCHEDTAPE_TAPE_CURSOR_H */
