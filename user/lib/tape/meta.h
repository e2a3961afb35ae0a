/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A tape's META as a JSON object.  The public functions have it as text, so that programs do not
 * depend on json-c.  What END says of a replay.  And how far a live tape has come.
 */
#ifndef SCHEDTAPE_TAPE_META_H
#define SCHEDTAPE_TAPE_META_H

#include <schedtape-tape.h>

struct json_object;

/* Returns META, or an empty object if the tape has none.  It belongs to the tape. */
struct json_object *tape_meta(struct schedtape_tape *tape);
/* Returns the array "players" of END, NULL: END has none.  It belongs to the tape. */
struct json_object *tape_end_players(const struct schedtape_tape *tape);
/* Returns the list of CPUs that were recorded, "0-3,6"; NULL: all were. */
const char *tape_recorded_cpus(struct schedtape_tape *tape);
/* Returns whether the tape has idle times of CPUs (SCHEDTAPE_EV_IDLE), as all have since 2.11. */
bool tape_has_idle_times(const struct schedtape_tape *tape);
/* Returns whether the rings kept their newest events only ("overwrite" of META). */
bool tape_is_overwritten(const struct schedtape_tape *tape);
/*
 * In the function that schedtape_tape_before_wait() sets: returns the time, ns of CLOCK_MONOTONIC,
 * before which all events have been returned; 0: not known yet.
 */
uint64_t tape_reached(struct schedtape_tape *tape);
/* Returns the open descriptor that a writer's path names: "-", or "/dev/fd/N"; -1: a file. */
int tape_writer_descriptor(const char *path);
/* As schedtape_writer_create(). */
int tape_writer_create(const char *path, struct json_object *meta,
		       const struct schedtape_writer_options *options,
		       struct schedtape_writer **writer, struct schedtape_error *err);
/* As schedtape_writer_end().  @players: the array of that name, or NULL */
int tape_writer_end(struct schedtape_writer *writer, const struct schedtape_end *end,
		    struct json_object *players, struct schedtape_error *err);
/* As tape_writer_create(), but writes an open file, which stays open.  @path: its name in errors */
int tape_writer_create_at(int fd, const char *path, struct json_object *meta,
			  const struct schedtape_writer_options *options,
			  struct schedtape_writer **writer, struct schedtape_error *err);

#endif /* SCHEDTAPE_TAPE_META_H */
