/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The line on a terminal that shows the progress of a recording.
 */
#ifndef SCHEDTAPE_PROGRESS_H
#define SCHEDTAPE_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "record/recorder.h"

/**
 * struct progress - what was shown last
 * @off: show nothing: there is no terminal, or -q was given
 * @time: when, ms of CLOCK_MONOTONIC
 * @events: number of events until then
 */
struct progress {
	bool off;
	uint64_t time;
	uint64_t events;
};

void progress_begin(struct progress *progress, bool quiet);
/* May be called at any time; updates the line once a second.  @on: events are recorded now. */
void progress_show(struct progress *progress, const struct recorder *recorder, bool on);
/* Erases the line. */
void progress_end(const struct progress *progress);

#endif /* SCHEDTAPE_PROGRESS_H */
