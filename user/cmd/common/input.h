/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The tape that a command reads.
 */
#ifndef SCHEDTAPE_INPUT_H
#define SCHEDTAPE_INPUT_H

#include <schedtape.h>

#include "common/lines.h"

/* Opens a tape.  NULL, with a message: it cannot be opened. */
struct schedtape_tape *cmd_open_tape(const char *path);
/*
 * Runs a tape into a timeline, and warns of corrupt pages, which are left out.  NULL, with a
 * message: it cannot be run.
 */
struct schedtape_timeline *cmd_run_timeline(struct schedtape_tape *tape);
/*
 * Calls @take for each event from here on, as long as it returns 0 and there is a reader of the
 * output; >0: this is enough, -ENOMEM: no memory.  Warns of corrupt pages, which are left out,
 * after the lines so far.  @lines: may be NULL.  Returns 0, or CMD_FAILURE after a message.
 */
int cmd_read_events(struct schedtape_tape *tape, struct lines *lines,
		    int (*take)(void *arg, const struct schedtape_event *ev), void *arg);
/* Warns of corrupt pages. */
void cmd_warn_damage(const struct schedtape_timeline *timeline);
/* Warns if the tape has no events.  Returns true then. */
bool cmd_warn_empty(struct schedtape_tape *tape, const char *path);
/* Closes the tape, and warns if a part that was read is truncated or corrupt. */
void cmd_close_tape(struct schedtape_tape *tape, const char *path);

/* Sums over all CPUs. */
uint64_t cmd_count_events(const struct schedtape_end *end);
/* Returns the number of CPUs that recorded or lost anything. */
size_t cmd_count_cpus(const struct schedtape_end *end);
uint64_t cmd_count_lost(const struct schedtape_end *end);

#endif /* SCHEDTAPE_INPUT_H */
