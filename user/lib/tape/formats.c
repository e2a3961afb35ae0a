// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Reads a tape's FORMATS records: which other tracepoints it has samples of.  Their checksums are
 * right, but their content may still be impossible.
 */
#define _FILE_OFFSET_BITS 64
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "base/list.h"
#include "tape/format.h"
#include "tape/formats.h"
#include "tape/json.h"
#include "tape/tape.h"

/* Returns a copy of a text, or NULL: it is missing, or there is no memory for it. */
static char *get_text(struct json_object *object, const char *key)
{
	struct json_object *value;

	if (!json_object_object_get_ex(object, key, &value) ||
	    !json_object_is_type(value, json_type_string))
		return NULL;
	return strdup(json_object_get_string(value));
}

static void free_format(const struct schedtape_format *format)
{
	free((char *)format->system);
	free((char *)format->name);
	free((char *)format->format);
	free((char *)format->filter);
}

/* The kernel's names are parts of identifiers.  What prints them relies on their length. */
static bool is_name(const char *text)
{
	size_t len = text ? strlen(text) : 0, i;

	for (i = 0; i < len; i++)
		if (!isalnum((unsigned char)text[i]) && !strchr("_.-", text[i]))
			return false;
	return len && len <= TAPE_MAX_POINT_NAME;
}

static int add_format(struct schedtape_tape *tape, struct json_object *object)
{
	struct schedtape_format format = { 0 }, *formats;
	uint64_t id;

	if (tape->nr_formats == TAPE_MAX_FORMATS ||
	    !json_object_is_type(object, json_type_object) ||
	    !tape_json_number(object, "id", &id) || id > UINT16_MAX)
		return -EBADMSG;
	format.id = id;
	format.system = get_text(object, "system");
	format.name = get_text(object, "name");
	format.format = get_text(object, "format");
	format.filter = get_text(object, "filter");
	formats = schedtape_list_grow(tape->formats, tape->nr_formats, &tape->formats_capacity,
				      sizeof(*formats));
	if (formats)
		tape->formats = formats;
	if (formats && is_name(format.system) && is_name(format.name) && format.format) {
		formats[tape->nr_formats++] = format;
		return 0;
	}
	free_format(&format);
	return formats ? -EBADMSG : -ENOMEM;
}

static int add_formats(struct schedtape_tape *tape, struct json_object *object)
{
	struct json_object *list, *big;
	uint64_t bytes;
	size_t i, n;
	int ret = 0;

	if (!tape_json_number(object, "long_bytes", &bytes) || (bytes != 4 && bytes != 8) ||
	    !json_object_object_get_ex(object, "big_endian", &big) ||
	    !json_object_object_get_ex(object, "events", &list) ||
	    !json_object_is_type(list, json_type_array))
		return -EBADMSG;
	n = json_object_array_length(list);
	for (i = 0; i < n && !ret; i++)
		ret = add_format(tape, json_object_array_get_idx(list, i));
	if (ret)
		return ret;
	tape->formats_end.long_bytes = bytes;
	tape->formats_end.big_endian = json_object_get_boolean(big);
	return 0;
}

int tape_content_formats(struct schedtape_tape *tape, const char *text, size_t bytes)
{
	struct json_object *object = tape_json_parse(text, bytes);
	size_t before = tape->nr_formats;
	int ret = object ? add_formats(tape, object) : -EBADMSG;

	json_object_put(object);
	if (ret)
		tape_formats_forget(tape, before);
	return ret;
}

void tape_formats_forget(struct schedtape_tape *tape, size_t n)
{
	while (tape->nr_formats > n)
		free_format(&tape->formats[--tape->nr_formats]);
}

const struct schedtape_formats *schedtape_tape_formats(struct schedtape_tape *tape)
{
	tape->formats_end.size = sizeof(tape->formats_end);
	tape->formats_end.formats = tape->formats;
	tape->formats_end.n = tape->nr_formats;
	return &tape->formats_end;
}
