/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * JSON of unknown origin: texts on a tape, and those of other programs.
 */
#ifndef SCHEDTAPE_TAPE_JSON_H
#define SCHEDTAPE_TAPE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json_object;

#define SCHEDTAPE_QUOTA_LEN	48	/* of two numbers, and a blank between them */

/* Returns NULL if the text is no JSON object, or too large, or if there is no memory for it. */
struct json_object *tape_json_parse(const char *text, size_t bytes);
/* Reads a number; false: it is missing, or no number, or negative. */
bool tape_json_number(struct json_object *object, const char *key, uint64_t *value);
/* Copies a text; false: it is missing, or no text, or too long. */
bool tape_json_text(struct json_object *object, const char *key, char *to, size_t size);
/*
 * Reads the member "max" of a cgroup in META or in a CGROUPS record, "20000 100000".  Without it
 * there was no quota, and both numbers are 0.  Returns false, also with zeros, if it is wrong.
 */
bool tape_json_quota(struct json_object *object, uint64_t *quota, uint64_t *period);

#endif /* SCHEDTAPE_TAPE_JSON_H */
