/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A flight recorder: while the session overwrites its rings, and no tape is written, keeps what a
 * tape would need besides the rings.
 */
#ifndef SCHEDTAPE_FLIGHT_H
#define SCHEDTAPE_FLIGHT_H

#include "record/recording.h"

/* Makes @recorder->past.  To be called after its session has its rings. */
int flight_open(struct recorder *recorder, struct schedtape_error *err);
/* Notes the tasks that exist now.  Returns 0, or -errno after a message. */
int flight_note_tasks(struct recorder *recorder);
/* Watches the cgroups of tasks, also if the filter does not name them. */
void flight_meet(struct recorder *recorder, const struct schedtape_task_info *tasks, size_t n);
/* Moves descriptions from their ring to the past.  Returns as flight_note_tasks(). */
int flight_drain(struct recorder *recorder);
/*
 * Does that.  @sample: also samples the clocks.  @forget: also forgets what happened before the
 * oldest event in the rings.  Returns the same.
 */
int flight_tick(struct recorder *recorder, bool sample, bool forget);
/*
 * Writes what a tape needs besides the pages of CPUs, after flight_drain().  @window: the time of
 * the session's clock from which the tape is complete; 0: from the beginning.  @tasks: @n that
 * exist at the tape's end; may be NULL.  Returns 0 or -errno.
 */
int flight_write_past(struct recorder *recorder, struct schedtape_writer *writer, uint64_t window,
		      const struct schedtape_task_info *tasks, size_t n,
		      struct schedtape_error *err);

#endif /* SCHEDTAPE_FLIGHT_H */
