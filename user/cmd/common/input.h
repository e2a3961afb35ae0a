/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The tape that a command reads.
 */
#ifndef SCHEDTAPE_INPUT_H
#define SCHEDTAPE_INPUT_H

#include <schedtape.h>

#include "common/lines.h"

/* Opens a tape in files.  NULL, with a message: it cannot be opened. */
struct schedtape_tape *cmd_open_tape(const char *path);
/*
 * Opens a tape to read its events once: it may also come through a pipe.  Then the first Ctrl-C
 * does not end this process: it ends the recorder at the other end, whose tape is read to its end.
 */
struct schedtape_tape *cmd_open_tape_once(const char *path);
/* Returns true while the end of the recording is not known, because the tape is a pipe. */
bool cmd_tape_is_live(struct schedtape_tape *tape);
/*
 * Returns the highest number of a CPU that was online when the recording began, plus 1; 0: not
 * known.  While a tape is live, this is all that is known of its CPUs.
 */
uint32_t cmd_online_cpus(struct schedtape_tape *tape);
/*
 * Calls @take for each event from here on, as long as it returns 0 and there is a reader of the
 * output; >0: this is enough, -ENOMEM: no memory.  Warns of corrupt pages, which are left out,
 * after the lines so far.  Writes these before it waits for a pipe.  @lines: may be NULL.  Returns
 * 0, or CMD_FAILURE after a message.
 */
int cmd_read_events(struct schedtape_tape *tape, struct lines *lines,
		    int (*take)(void *arg, const struct schedtape_event *ev), void *arg);
/* Writes the lines so far, and standard output, before each wait for a pipe.  @lines: or NULL */
void cmd_write_before_wait(struct schedtape_tape *tape, struct lines *lines);
/* Warns of corrupt pages. */
void cmd_warn_damage(const struct schedtape_timeline *timeline);
/*
 * Returns true if the tape has no events but of idle time; false also if it came through a pipe and
 * has some.  Rewinds it.
 */
bool cmd_tape_is_empty(struct schedtape_tape *tape);
/* Warns if the tape has no such events, as far as that is known.  Returns true then. */
bool cmd_warn_empty(struct schedtape_tape *tape, const char *path);
/* Closes the tape, and warns if a part that was read is truncated or corrupt. */
void cmd_close_tape(struct schedtape_tape *tape, const char *path);

/* Sums over all CPUs. */
uint64_t cmd_count_events(const struct schedtape_end *end);
/* Returns the number of CPUs that recorded or lost anything. */
size_t cmd_count_cpus(const struct schedtape_end *end);
uint64_t cmd_count_lost(const struct schedtape_end *end);

/* -- what a tape contains -------------------------------------------------- */

/*
 * The times, tasks, cgroups and CPUs of a tape in a few words, for messages that an option selects
 * nothing of it.
 */

#define CONTENTS_LEN	256

/* "from 1.000000 to 9.000000 s (2026-11-24 12:00:00 to 12:00:08)" */
const char *contents_times(char buffer[CONTENTS_LEN], struct schedtape_tape *tape);
/*
 * "sh:100, make:101, ...": the last names of tasks, each name once.  If the tape is a pipe, the
 * names of its descriptions.  Rewinds the tape.
 */
const char *contents_tasks(char buffer[CONTENTS_LEN], struct schedtape_tape *tape);
/* "/, /a, /a/b, ..."; "no paths of cgroups" if there are none */
const char *contents_cgroups(char buffer[CONTENTS_LEN], struct schedtape_tape *tape);
/* "0-3" */
const char *contents_cpus(char buffer[CONTENTS_LEN], struct schedtape_tape *tape);

#endif /* SCHEDTAPE_INPUT_H */
