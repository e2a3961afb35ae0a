/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reads a tape from a pipe, while its events are returned.
 */
#ifndef SCHEDTAPE_TAPE_STREAM_H
#define SCHEDTAPE_TAPE_STREAM_H

#include "tape/cursors.h"

struct schedtape_tape;

/*
 * tape_stream_begin() reads as far as the first events; tape_stream_read() until more events may be
 * returned, or to the end.
 */
int tape_stream_begin(struct schedtape_tape *tape, struct schedtape_error *err);
int tape_stream_read(struct schedtape_tape *tape, struct schedtape_error *err);
/* Returns true if the cursor's event may be returned: no earlier one can come. */
bool tape_stream_ready(const struct schedtape_tape *tape, const struct tape_cursor *c);
/* Notes an event that is returned, and keeps time from going back.  @time: the session's */
void tape_stream_returns(struct schedtape_tape *tape, uint64_t time, struct schedtape_brief *ev);
/* -ESPIPE: an event was returned. */
int tape_stream_rewind(const struct schedtape_tape *tape, struct schedtape_error *err);
void tape_stream_exit(struct schedtape_tape *tape);

#endif /* SCHEDTAPE_TAPE_STREAM_H */
