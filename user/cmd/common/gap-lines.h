/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Losses and pauses, in the output of commands that print a line an event.
 */
#ifndef SCHEDTAPE_GAP_LINES_H
#define SCHEDTAPE_GAP_LINES_H

#include <schedtape.h>

#include "common/lines.h"
#include "common/time-text.h"

/* Puts "# LOST: 12 events, CPU 3, from 1.000000 to 2.000000".  @ev: a loss or a pause. */
void gap_lines_text(struct lines *lines, struct time_text *time, const struct schedtape_event *ev);
/* Puts an object. */
void gap_lines_json(struct lines *lines, const struct schedtape_event *ev);

#endif /* SCHEDTAPE_GAP_LINES_H */
