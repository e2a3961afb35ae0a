/* SPDX-License-Identifier: GPL-2.0-only */
/* The part of info about a recording's clocks, and about overwritten events. */
#ifndef SCHEDTAPE_INFO_CLOCK_H
#define SCHEDTAPE_INFO_CLOCK_H

#include <schedtape.h>

struct json_object;

/* @print_key: prints the key that begins a line. */
void info_clock_print(struct schedtape_tape *tape, void (*print_key)(const char *key));
void info_clock_json(struct schedtape_tape *tape, struct json_object *to);

#endif /* SCHEDTAPE_INFO_CLOCK_H */
