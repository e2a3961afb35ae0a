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

/* -- settings that are missing --------------------------------------------- */

/**
 * struct missing_settings - settings that are not, or not completely, on a tape
 * @not_readable: reasons by name, of the tape's META; NULL: there are none
 * @cut: an object with the name of each setting that was cut
 * @left_out: number of settings that the tape had no room for
 */
struct missing_settings {
	struct json_object *not_readable;
	struct json_object *cut;
	uint64_t left_out;
};

/* @meta must outlive @missing. */
void missing_settings_init(struct missing_settings *missing, struct json_object *meta);
void missing_settings_free(struct missing_settings *missing);

/* Returns why the setting, or a folder that it is in, was not readable, or NULL. */
const char *missing_settings_reason(const struct missing_settings *missing, const char *name);
/* Returns true if the setting was cut. */
bool missing_settings_cut(const struct missing_settings *missing, const char *name);

/* Adds 1 to the count that an object has for @key. */
void missing_settings_count(struct json_object *counts, const char *key);

/*
 * Prints all of them, each kind after a separator, of which the first is @between.  Returns false
 * if nothing is missing.
 */
bool missing_settings_print(const struct missing_settings *missing, const char *between);

#endif /* SCHEDTAPE_CMD_SCHEDULERS_H */
