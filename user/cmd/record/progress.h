/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The line that tells on a terminal how a recording goes.
 */
#ifndef SCHEDTAPE_PROGRESS_H
#define SCHEDTAPE_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "record/recorder.h"

/**
 * struct progress - what was shown last
 * @off: there is no terminal, or nobody wants to know
 * @time: ms
 * @events: until then
 */
struct progress {
	bool off;
	uint64_t time;
	uint64_t events;
};

void progress_begin(struct progress *progress, bool quiet);
/* May be called at any time, and shows something once a second.  @on: recording now. */
void progress_show(struct progress *progress, const struct recorder *recorder, bool on);
/* Takes the line away. */
void progress_end(const struct progress *progress);

#endif /* SCHEDTAPE_PROGRESS_H */
