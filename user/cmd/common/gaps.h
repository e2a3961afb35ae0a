/* SPDX-License-Identifier: GPL-2.0-only */
/* The scheduler's settings that a tape lacks, and why, for info and diff. */
#ifndef SCHEDTAPE_CMD_GAPS_H
#define SCHEDTAPE_CMD_GAPS_H

#include <stdbool.h>
#include <stdint.h>

struct json_object;

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

#endif /* SCHEDTAPE_CMD_GAPS_H */
