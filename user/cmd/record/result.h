/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The result of a recording, as JSON and as lines on standard error.
 */
#ifndef SCHEDTAPE_RECORD_RESULT_H
#define SCHEDTAPE_RECORD_RESULT_H

#include "record/recording.h"

void result_print_json(const char *tape, const struct recorder *recorder);
/* Says what is on a tape that has ended, and warns of what is not. */
void result_say(const struct recorder *recorder, const char *path);
/* The same while the recording goes on, unless @quiet of the recorder. */
void result_say_early(const struct recorder *recorder, const char *path);
/* Says how much is missing, if the tape could not be written.  An error has said why. */
void result_say_missing(const struct recorder *recorder);

#endif /* SCHEDTAPE_RECORD_RESULT_H */
