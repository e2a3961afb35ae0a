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

/* Returns NULL if the text is no JSON object, or too large, or if there is no memory for it. */
struct json_object *tape_json_parse(const char *text, size_t bytes);
/* Reads a number; false: it is missing, or no number, or negative. */
bool tape_json_number(struct json_object *object, const char *key, uint64_t *value);
/* Copies a text; false: it is missing, or no text, or too long. */
bool tape_json_text(struct json_object *object, const char *key, char *to, size_t size);

#endif /* SCHEDTAPE_TAPE_JSON_H */
