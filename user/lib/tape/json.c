// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tape/json.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <json-c/json.h>
#include <json-c/json_visit.h>

#include "tape/format.h"

/* Limits objects, arrays and members, because each takes much more memory than bytes of text. */
static bool json_is_small(const char *text, size_t bytes)
{
	size_t lists = 0, commas = 0, i;
	bool quoted = false;

	for (i = 0; i < bytes; i++) {
		if (quoted && text[i] == '\\')
			i++;
		else if (text[i] == '"')
			quoted = !quoted;
		else if (quoted)
			continue;
		else if (text[i] == '{' || text[i] == '[')
			lists++;
		else if (text[i] == ',')
			commas++;
	}
	return lists <= TAPE_MAX_LISTS && commas <= TAPE_MAX_COMMAS;
}

/*
 * json-c reads numbers that JSON does not allow ("1.", "-.5", "NaN"), and prints their
 * original text.  Replaces that text by a valid one, and infinite numbers by null.
 */
static int make_number(struct json_object *value, int flags, struct json_object *parent,
		       const char *key, size_t *index, void *arg)
{
	(void)flags;
	(void)arg;
	if (!json_object_is_type(value, json_type_double))
		return JSON_C_VISIT_RETURN_CONTINUE;
	if (isfinite(json_object_get_double(value)))
		json_object_set_double(value, json_object_get_double(value));
	else if (key)
		json_object_object_add(parent, key, NULL);
	else
		json_object_array_put_idx(parent, *index, NULL);
	return JSON_C_VISIT_RETURN_SKIP;
}

struct json_object *tape_json_parse(const char *text, size_t bytes)
{
	struct json_object *object;
	struct json_tokener *tokener;

	if (!json_is_small(text, bytes))
		return NULL;
	tokener = json_tokener_new();
	if (!tokener)
		return NULL;
	object = json_tokener_parse_ex(tokener, text, bytes);
	if (object && (json_tokener_get_error(tokener) != json_tokener_success ||
		       !json_object_is_type(object, json_type_object))) {
		json_object_put(object);
		object = NULL;
	}
	if (object)
		json_c_visit(object, 0, make_number, NULL);
	json_tokener_free(tokener);
	return object;
}

bool tape_json_number(struct json_object *object, const char *key, uint64_t *value)
{
	struct json_object *number;

	if (!json_object_object_get_ex(object, key, &number) ||
	    !json_object_is_type(number, json_type_int) ||
	    json_object_get_int64(number) < 0)
		return false;
	*value = json_object_get_uint64(number);
	return true;
}

bool tape_json_text(struct json_object *object, const char *key, char *to, size_t size)
{
	struct json_object *text;

	if (!json_object_object_get_ex(object, key, &text) ||
	    !json_object_is_type(text, json_type_string) ||
	    strlen(json_object_get_string(text)) >= size)
		return false;
	snprintf(to, size, "%s", json_object_get_string(text));
	return true;
}

bool tape_json_quota(struct json_object *object, uint64_t *quota, uint64_t *period)
{
	char text[SCHEDTAPE_QUOTA_LEN], rest;

	*quota = 0;
	*period = 0;
	if (!json_object_object_get_ex(object, "max", NULL))
		return true;
	if (tape_json_text(object, "max", text, sizeof(text)) && !strchr(text, '-') &&
	    sscanf(text, "%" SCNu64 " %" SCNu64 "%c", quota, period, &rest) == 2 && *period)
		return true;
	*quota = 0;
	*period = 0;
	return false;
}
