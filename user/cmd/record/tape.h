/* SPDX-License-Identifier: GPL-2.0-only */
/* The files of a recorder's tape. */
#ifndef SCHEDTAPE_RECORDER_TAPE_H
#define SCHEDTAPE_RECORDER_TAPE_H

#include "record/recording.h"

/* Makes one file, or a directory with a file for each of the recorder's streamers. */
int recorder_tape_open(struct recorder *recorder, const struct recorder_options *options,
		       struct schedtape_error *err);
/* Writes a sample of the clocks to the tape; @all: to each of its files. */
int recorder_tape_clock(struct recorder *recorder, bool all, struct schedtape_error *err);
/*
 * Writes how far the tape has come: all pages from before the last sample of the clocks are on it.
 * @begin: none are
 */
int recorder_tape_progress(struct recorder *recorder, bool begin, struct schedtape_error *err);
/* Writes the recording's times and counts.  @window_start: 0: no event was overwritten. */
int recorder_tape_end(struct recorder *recorder, uint64_t window_start,
		      struct schedtape_error *err);
/* Closes all files, with a message if that fails. */
int recorder_tape_close(struct recorder *recorder);

#endif /* SCHEDTAPE_RECORDER_TAPE_H */
