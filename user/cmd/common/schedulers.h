/* SPDX-License-Identifier: GPL-2.0-only */
/* The schedulers that a tape's ordinary tasks had, for info and diff. */
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
 * All schedulers of a tape in order: "fair, then ext (simple), then fair".  Schedulers that come
 * and go between two looks are "ext (not seen)"; those after the eighth are "others".
 */
#define SCHEDULERS_TEXT_LEN	2048
const char *schedulers_text(char buffer[SCHEDULERS_TEXT_LEN], struct schedtape_tape *tape);

/* Compares all schedulers of two tapes.  An unknown one differs from no other. */
bool schedulers_differ(struct schedtape_tape *a, struct schedtape_tape *b);

/* Prints a line for each, none if the tape has no record.  @print_key: prints a line's key. */
void schedulers_print(struct schedtape_tape *tape, void (*print_key)(const char *key));
void schedulers_json(struct schedtape_tape *tape, struct json_object *to);

#endif /* SCHEDTAPE_CMD_SCHEDULERS_H */
