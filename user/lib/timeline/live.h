/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The timeline of a tape that still comes through a pipe, for callers that look at it meanwhile: in
 * the callbacks of schedtape_timeline_run(), and in the function that schedtape_tape_before_wait()
 * sets.  Only the tasks are valid then.
 */
#ifndef SCHEDTAPE_TIMELINE_LIVE_H
#define SCHEDTAPE_TIMELINE_LIVE_H

#include <schedtape.h>

/*
 * Takes it that the tape has no further events before @time, see tape_reached(): starts the tasks
 * that have been described so far, and the runs of those that have run since the start without an
 * event.  To be called before a wait for the pipe.  Returns 0, or what the run will return.
 */
int schedtape_timeline_reach(struct schedtape_timeline *tl, struct schedtape_tape *tape,
			     uint64_t time);

#endif /* SCHEDTAPE_TIMELINE_LIVE_H */
