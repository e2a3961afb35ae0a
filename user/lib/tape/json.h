/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * JSON of unknown origin: texts on a tape, and those of other programs.
 */
#ifndef SCHEDTAPE_TAPE_JSON_H
#define SCHEDTAPE_TAPE_JSON_H

#include <stddef.h>

struct json_object;

/* Returns NULL if the text is no JSON object, or too large, or if there is no memory for it. */
struct json_object *tape_json_parse(const char *text, size_t bytes);

#endif /* SCHEDTAPE_TAPE_JSON_H */
