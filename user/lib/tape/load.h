/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Loads chunks ahead of the cursors.
 */
#ifndef SCHEDTAPE_TAPE_LOAD_H
#define SCHEDTAPE_TAPE_LOAD_H

#include "tape/cursors.h"

struct schedtape_tape;

/*
 * Puts the cursor's next chunk into its memory.  -EBADMSG: corrupt, see @why.  Threads load ahead,
 * from the first call on, until tape_load_stop().
 */
int tape_load(struct schedtape_tape *tape, struct tape_cursor *cursor, const char **why);
void tape_load_stop(struct schedtape_tape *tape);
/* Frees the cursor's chunk. */
void tape_load_let_go(struct tape_cursor *cursor);

#endif /* SCHEDTAPE_TAPE_LOAD_H */
