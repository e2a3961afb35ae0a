/* SPDX-License-Identifier: GPL-2.0-only */
/* The files of a recorder's tape. */
#ifndef SCHEDTAPE_RECORDER_TAPE_H
#define SCHEDTAPE_RECORDER_TAPE_H

#include "record/recording.h"

/* Makes one file, or a directory with a file for each of the recorder's streamers. */
int recorder_tape_open(struct recorder *recorder, const struct recorder_options *options,
		       struct schedtape_error *err);
/*
 * Makes the file of the next tape, after two samples of the clocks.  @window: the time of the
 * session's clock from which on it will be complete
 */
int recorder_tape_next(struct recorder *recorder, uint64_t window, struct schedtape_error *err);
/*
 * Describes again in META what may have changed since the last tape.  It takes a while with many
 * cgroups or CPUs, so it comes before the moment at which that tape ends or a snapshot is taken.
 */
void recorder_tape_renew(struct recorder *recorder);
/*
 * Makes the file of a tape that has its name only when it is complete.  @file: the caller calls
 * parts_drop() in any case
 */
int recorder_tape_create(struct recorder *recorder, struct parts_file *file,
			 struct schedtape_writer **writer, struct schedtape_error *err);
/* Does that for the last one, if @renames in overwrite mode, when the session is about to stop. */
int recorder_tape_begin_last(struct recorder *recorder, struct schedtape_error *err);
/* Samples the clocks. */
int recorder_tape_sample(struct recorder *recorder, struct schedtape_error *err);
/*
 * Does that, and writes the sample to the tape, unless @past keeps it.  @all: to each of its files
 */
int recorder_tape_clock(struct recorder *recorder, bool all, struct schedtape_error *err);
/*
 * Writes how far the tape has come: all pages from before the last sample of the clocks are on it.
 * @begin: none are
 */
int recorder_tape_progress(struct recorder *recorder, bool begin, struct schedtape_error *err);
/* Writes the recording's times and counts.  @window_start: 0: no event was overwritten. */
int recorder_tape_end(struct recorder *recorder, uint64_t window_start,
		      struct schedtape_error *err);
/*
 * Ends a tape while the session goes on.  @ended_by: why, see struct schedtape_end.  @window: where
 * the next one begins.  @failed: 0; -errno: the tape could not be written, so its end is not
 * written either, and this is returned
 */
int recorder_tape_end_early(struct recorder *recorder, const char *ended_by, uint64_t window,
			    int failed, struct schedtape_error *err);
/* Adds to the totals of a tape what its end says. */
void recorder_tape_count(struct recorder *recorder, const struct schedtape_end *end);
/* Adds the totals of a tape to those of the tapes before it. */
void recorder_tape_add_totals(struct recorder *recorder);
/* Counts as lost what is on no tape, after the session has stopped, if none could be begun. */
void recorder_tape_missing(struct recorder *recorder);
/* Closes all files, with a message if that fails. */
int recorder_tape_close(struct recorder *recorder);
/*
 * For errors that the disk may cause: prints only the first one of a tape, because others follow
 * it.  Returns @ret.
 */
int recorder_failed(struct recorder *recorder, int ret, const struct schedtape_error *err);
/* Something is missing, but the recording goes on: its exit status says so.  @ret: 0 or -errno */
void recorder_missed(struct recorder *recorder, int ret);

#endif /* SCHEDTAPE_RECORDER_TAPE_H */
