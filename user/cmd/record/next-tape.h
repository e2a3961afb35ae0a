/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * --switch-output: while a recording goes on, ends its tape and begins the next one.  In overwrite
 * mode takes a snapshot instead.
 *
 * If a tape cannot be written, an error says so, and the recording goes on with the next tape.
 */
#ifndef SCHEDTAPE_NEXT_TAPE_H
#define SCHEDTAPE_NEXT_TAPE_H

#include "record/recorder.h"

/*
 * Ends the tape and begins the next one, or takes a snapshot.  Returns the name of the tape that is
 * complete; NULL: there is none.  To be called after recorder_start().
 */
const char *next_tape(struct recorder *recorder, const struct cause *cause);
/* The same, because of what happens now and needs no text. */
const char *next_tape_now(struct recorder *recorder, const char *name);
/*
 * After something could not be written: ends the tape, so that only the rest of that is missing.
 * In overwrite mode nothing is written yet: notes the failure.
 * @failed: 0, or -errno after a message.  Returns 0; @failed, if the recording has only one tape.
 */
int next_tape_if(struct recorder *recorder, int failed);
/* Tries to begin a tape, when the last one has ended: then @recorder has no writer. */
void next_tape_begin(struct recorder *recorder);
/*
 * As recorder_tick().  Ends the tape when that is due, or when it cannot be written.  If the next
 * tape cannot be begun, tries again each second.
 */
int next_tape_tick(struct recorder *recorder);

/* As recorder_wait(): returns after how many ms next_tape_tick() has to be called. */
int next_tape_wait(const struct recorder *recorder);

#endif /* SCHEDTAPE_NEXT_TAPE_H */
