/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Prints the lines before a report: they name the tape, and say which events it misses.
 */
#ifndef SCHEDTAPE_HEADING_H
#define SCHEDTAPE_HEADING_H

#include <schedtape.h>

/* Prints the lines with "#", and an empty one.  @path: of the tape. */
void heading_print(const char *path, struct schedtape_tape *tape,
		   const struct schedtape_timeline *timeline);
/* Prints the same as members of the object that out_json_begin() has begun. */
void heading_json(const char *path, struct schedtape_tape *tape,
		  const struct schedtape_timeline *timeline);

#endif /* SCHEDTAPE_HEADING_H */
