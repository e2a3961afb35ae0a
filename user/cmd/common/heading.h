/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Prints the lines before a report: they name the tape, and say which events it misses.
 */
#ifndef SCHEDTAPE_HEADING_H
#define SCHEDTAPE_HEADING_H

#include <schedtape.h>

#include "common/lines.h"
#include "common/time-text.h"

/**
 * struct heading - what the lines say besides what every tape has at hand
 * @pauses: when the session was paused, @nr_pauses times
 */
struct heading {
	size_t nr_tasks;
	const struct schedtape_range *pauses;
	size_t nr_pauses;
};

/*
 * Prints the lines with "#", and an empty one.  @path: of the tape; @times: how times are printed,
 * NULL: as seconds of the tape's clock
 */
void heading_print(const char *path, struct schedtape_tape *tape,
		   const struct schedtape_timeline *timeline, struct time_text *times);
/* Prints the same as members of the object that out_json_begin() has begun. */
void heading_json(const char *path, struct schedtape_tape *tape,
		  const struct schedtape_timeline *timeline);
/* The same for a command that has no timeline. */
void heading_print_own(const char *path, struct schedtape_tape *tape,
		       const struct heading *heading, struct time_text *times);
void heading_json_own(const char *path, struct schedtape_tape *tape,
		      const struct heading *heading);

/* -- losses and pauses, where they are ------------------------------------- */

/* Puts "# LOST: 12 events, CPU 3, from 1.000000 to 2.000000".  @ev: a loss or a pause. */
void gap_lines_text(struct lines *lines, struct time_text *time, const struct schedtape_event *ev);
/* Puts an object. */
void gap_lines_json(struct lines *lines, const struct schedtape_event *ev);

#endif /* SCHEDTAPE_HEADING_H */
