/* SPDX-License-Identifier: GPL-2.0-only */
/* Under which schedulers a tape's ordinary tasks ran, as info and diff say it. */
#ifndef SCHEDTAPE_CMD_SCHEDULERS_H
#define SCHEDTAPE_CMD_SCHEDULERS_H

#include <stdbool.h>

#include <schedtape.h>

struct json_object;

/* "fair", "ext (simple)", "ext (simple, partial)", "ext (simple, going on)", "not known" */
#define SCHEDULERS_NAME_LEN	192
const char *schedulers_name(char buffer[SCHEDULERS_NAME_LEN],
			    const struct schedtape_scheduler *scheduler);

/*
 * All of a tape, one behind the other: "fair, then ext (simple), then fair".  Schedulers
 * that come and go between two looks are "ext (not seen)"; of many, those behind the eighth
 * are "others".
 */
#define SCHEDULERS_TEXT_LEN	2048
const char *schedulers_text(char buffer[SCHEDULERS_TEXT_LEN], struct schedtape_tape *tape);

/* Compares all of them.  Where a tape does not say, there is no difference. */
bool schedulers_differ(struct schedtape_tape *a, struct schedtape_tape *b);

/* A line each for info, none if the tape does not say. @print_key: begins a line. */
void schedulers_print(struct schedtape_tape *tape, void (*print_key)(const char *key));
void schedulers_json(struct schedtape_tape *tape, struct json_object *to);

#endif /* SCHEDTAPE_CMD_SCHEDULERS_H */
