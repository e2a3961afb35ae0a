/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a recording does from its beginning to its end.
 */
#ifndef SCHEDTAPE_RECORDER_H
#define SCHEDTAPE_RECORDER_H

#include "record/internal.h"

/* These functions return 0, or -errno after a message. */
int recorder_open(struct recorder *recorder, struct schedtape_client *client,
		  const struct recorder_options *options);
int recorder_start(struct recorder *recorder);
/* The recording has begun: from now on the previous tape is not restored. */
void recorder_begun(struct recorder *recorder);
int recorder_add(struct recorder *recorder, const uint32_t *pids, size_t n);
/*
 * Writes descriptions of the current tasks, or keeps them in overwrite mode.  In that mode with
 * streams, recorder_stop() writes them.
 */
int recorder_describe_tasks(struct recorder *recorder);
/* Writes which tasks of a replayed tape the recorded tasks play. */
int recorder_add_players(struct recorder *recorder, const struct schedtape_player *players,
			 size_t n);
/*
 * Moves the rings' pages to the tape, and once a second also the partly filled pages.  In overwrite
 * mode only descriptions are moved.
 */
int recorder_tick(struct recorder *recorder);
/* The session was paused: moves what other tracepoints had before. */
int recorder_paused(struct recorder *recorder);
/* Returns after how many ms recorder_tick() has to be called even if no ring is full. */
int recorder_wait(const struct recorder *recorder);
/*
 * Returns a descriptor that is readable after quotas of cgroups were changed; -1: there is none.
 * recorder_cgroups_changed() writes them to the tape.  Otherwise recorder_tick() does, later.
 */
int recorder_cgroups_fd(const struct recorder *recorder);
int recorder_cgroups_changed(struct recorder *recorder);
/* Returns true if the session has stopped. */
bool recorder_stopped(struct recorder *recorder);
/* Stops the session and moves the remaining pages. */
int recorder_stop(struct recorder *recorder);
/*
 * Ends and closes the tape, closes the session, and prints the result unless @quiet.
 * @keep: false: nothing was recorded, so the tape is removed.
 */
int recorder_close(struct recorder *recorder, bool keep, bool quiet);

#endif /* SCHEDTAPE_RECORDER_H */
