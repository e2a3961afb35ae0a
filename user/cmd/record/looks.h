/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Looks at what may change while a recording runs, and has no events: the scheduler of ordinary
 * tasks, and the quotas of cgroups.  While the rings are overwritten, what there was is kept in
 * memory, and flight_write_past() writes it.
 */
#ifndef SCHEDTAPE_LOOKS_H
#define SCHEDTAPE_LOOKS_H

#include "record/recording.h"

#define LOOKS_MS	1000	/* between two looks */

/* @filter: NULL: only a command is recorded */
void looks_open(struct recorder *recorder, const struct schedtape_filter *filter);
/* Writes what is there before the session starts, so that each later change is found. */
int looks_begin(struct recorder *recorder, struct schedtape_error *err);
/*
 * Writes what has changed since the last look.  @counts: while the rings are overwritten, also
 * notes how often quotas have throttled.
 */
int looks_again(struct recorder *recorder, bool counts, struct schedtape_error *err);
/* The same only of cgroups that the kernel has reported as changed. */
int looks_at_cgroups(struct recorder *recorder, struct schedtape_error *err);
/* The last look of a tape. */
int looks_end(struct recorder *recorder, struct schedtape_error *err);
/* Writes to the next tape what is there at its beginning.  Not for one of what was in memory. */
int looks_next(struct recorder *recorder, struct schedtape_error *err);
/* Writes to a tape of what was in memory what cgroups are now. */
int looks_alone(struct recorder *recorder, struct schedtape_writer *writer,
		struct schedtape_error *err);
/* Returns true if something may change that no descriptor reports. */
bool looks_needed(const struct recorder *recorder);
void looks_close(struct recorder *recorder);

#endif /* SCHEDTAPE_LOOKS_H */
