/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Merges events ahead of the caller.
 */
#ifndef SCHEDTAPE_TAPE_AHEAD_H
#define SCHEDTAPE_TAPE_AHEAD_H

struct schedtape_tape;
struct tape_merged;

/*
 * Merges in a thread of its own, from tape_ahead_start() to tape_ahead_stop().
 * tape_ahead_next() returns the next events, which are valid until the next call.  After a @ret
 * that is not 1, the thread has ended.
 */
void tape_ahead_start(struct schedtape_tape *tape);
const struct tape_merged *tape_ahead_next(struct schedtape_tape *tape);
void tape_ahead_stop(struct schedtape_tape *tape);

#endif /* SCHEDTAPE_TAPE_AHEAD_H */
