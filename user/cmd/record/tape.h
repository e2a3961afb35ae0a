/* SPDX-License-Identifier: GPL-2.0-only */
/* The files of a recorder's tape. */
#ifndef SCHEDTAPE_RECORDER_TAPE_H
#define SCHEDTAPE_RECORDER_TAPE_H

#include "record/recorder.h"

/* Makes one file, or a directory with one for every streamer, which are there already. */
int recorder_tape_open(struct recorder *recorder, const struct recorder_options *options,
		       struct schedtape_error *err);
/* What the clocks say now: into the tape; @all: into each of its files. */
int recorder_tape_clock(struct recorder *recorder, bool all, struct schedtape_error *err);
/* What has become of the recording; 0 as @window_start: nothing was overwritten. */
int recorder_tape_end(struct recorder *recorder, uint64_t window_start,
		      struct schedtape_error *err);
/* Closes all files, and says what is wrong. */
int recorder_tape_close(struct recorder *recorder);

#endif /* SCHEDTAPE_RECORDER_TAPE_H */
