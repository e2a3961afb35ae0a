/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The part of info about other tracepoints, which were recorded beside scheduling.
 */
#ifndef SCHEDTAPE_INFO_SAMPLES_H
#define SCHEDTAPE_INFO_SAMPLES_H

#include <schedtape.h>

struct json_object;

/* Prints how many events they have, behind @print_key; nothing if the tape has no tracepoints. */
void info_samples_print(struct schedtape_tape *tape, void (*print_key)(const char *key));
/* Adds them, each with its filter, and how many events they have. */
void info_samples_json(struct schedtape_tape *tape, struct json_object *root);

#endif /* SCHEDTAPE_INFO_SAMPLES_H */
