/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For info and diff: the schedulers that a tape's ordinary tasks had, and the scheduler's settings
 * that it lacks.
 */
#ifndef SCHEDTAPE_CMD_SCHEDULERS_H
#define SCHEDTAPE_CMD_SCHEDULERS_H

#include <stdbool.h>
#include <stdint.h>

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

/* -- settings that are missing -------------------------------------------- */

/**
 * struct gaps - settings that are not, or not completely, on a tape
 * @not_readable: reasons by name, of the tape's META; NULL: there are none
 * @cut: an object with the name of each setting that was cut
 * @left_out: number of settings that the tape had no room for
 */
struct gaps {
	struct json_object *not_readable;
	struct json_object *cut;
	uint64_t left_out;
};

/* @meta must outlive @gaps. */
void gaps_init(struct gaps *gaps, struct json_object *meta);
void gaps_free(struct gaps *gaps);

/* Returns why the setting, or a folder that it is in, was not readable, or NULL. */
const char *gaps_reason(const struct gaps *gaps, const char *name);
/* Returns true if the setting was cut. */
bool gaps_cut(const struct gaps *gaps, const char *name);

/* Adds 1 to the count that an object has for @key. */
void gaps_count(struct json_object *counts, const char *key);

/*
 * Prints all gaps, each kind after a separator, of which the first is @between.  Returns false
 * if there are no gaps.
 */
bool gaps_print(const struct gaps *gaps, const char *between);

#endif /* SCHEDTAPE_CMD_SCHEDULERS_H */
