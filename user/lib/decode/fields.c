// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Parses the fields of a format, one a line:
 *
 *	field:unsigned long args[6];	offset:16;	size:48;	signed:0;
 *	field:__data_loc char[] name;	offset:12;	size:4;	signed:0;
 *
 * An empty line is between the fields that all tracepoints have and the others.
 */
#include "decode/point.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"

#define FIELDS_MOST	1000	/* the kernel has tens */

/**
 * struct line - a line with a field
 * @type: "unsigned long", or "char[]"
 * @length: of "args[6]" the "6"; NULL: the name has no brackets
 */
struct line {
	const char *type, *name, *length;
	size_t type_len, name_len, length_len;
	uint32_t offset;
	uint32_t size;
	bool is_signed;
	bool dynamic;
	bool relative;
};

/* -- lines ------------------------------------------------------------------ */

/* Reads "\toffset:12;".  False: it is something else, or too large. */
static bool read_property(const char **at, const char *name, uint32_t *value)
{
	size_t len = strlen(name);
	unsigned long number;
	char *end;

	*at += strspn(*at, " \t");
	if (strncmp(*at, name, len) || !isdigit((unsigned char)(*at)[len]))
		return false;
	number = strtoul(*at + len, &end, 10);
	if (*end != ';' || number > 2UL * DECODE_DATA_MAX)
		return false;
	*value = number;
	*at = end + 1;
	return true;
}

static bool skip_word(struct line *line, const char *word)
{
	size_t len = strlen(word);

	if (line->type_len < len || strncmp(line->type, word, len))
		return false;
	line->type += len;
	line->type_len -= len;
	return true;
}

/* Takes apart "unsigned long args[6]", which is up to @end. */
static bool read_declaration(struct line *line, const char *at, const char *end)
{
	const char *bracket = end;

	while (end > at && end[-1] == ' ')
		end--;
	if (end > at && end[-1] == ']') {
		bracket = memchr(at, '[', end - at);
		if (!bracket)
			return false;
		line->length = bracket + 1;
		line->length_len = end - 1 - line->length;
		end = bracket;
	}
	line->name = end;
	while (line->name > at && decode_is_name(line->name[-1]))
		line->name--;
	line->name_len = end - line->name;
	line->type = at;
	line->type_len = line->name - at;
	while (line->type_len && line->type[line->type_len - 1] == ' ')
		line->type_len--;
	line->relative = skip_word(line, "__rel_loc ");
	line->dynamic = line->relative || skip_word(line, "__data_loc ");
	return line->name_len && line->type_len;
}

/* Reads a line behind "field:".  False: it is wrong. */
static bool read_line(struct line *line, const char *at)
{
	const char *end = at + strcspn(at, ";\n");
	uint32_t is_signed = 0;

	*line = (struct line) { 0 };
	if (*end != ';' || !read_declaration(line, at, end))
		return false;
	at = end + 1;
	if (!read_property(&at, "offset:", &line->offset) ||
	    !read_property(&at, "size:", &line->size))
		return false;
	read_property(&at, "signed:", &is_signed);
	line->is_signed = is_signed;
	return true;
}

/* -- types ------------------------------------------------------------------ */

static bool has_word(const struct line *line, const char *word)
{
	return memmem(line->type, line->type_len, word, strlen(word));
}

static bool is_number_size(unsigned long bytes)
{
	return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
}

/* Returns the size of a number by its type; 0: that is not known. */
static uint32_t size_of_type(const struct line *line, uint32_t long_bytes)
{
	static const struct {
		const char *word;
		uint32_t bytes;
	} types[] = {
		{ "*", 0 }, { "8", 1 }, { "char", 1 }, { "bool", 1 }, { "16", 2 }, { "short", 2 },
		{ "32", 4 }, { "64", 8 }, { "long long", 8 }, { "long", 0 }, { "size_t", 0 },
		{ "cpumask_t", 0 }, { "int", 4 },
	};
	size_t i;

	for (i = 0; i < sizeof(types) / sizeof(*types); i++)
		if (has_word(line, types[i].word))
			return types[i].bytes ? types[i].bytes : long_bytes;
	return 0;
}

/* Returns the size of a number of an array; 0: it has others. */
static uint32_t size_of_each(const struct line *line, uint32_t long_bytes)
{
	unsigned long n = line->length_len ? strtoul(line->length, NULL, 10) : 0;
	bool one = !line->length || !memchr(line->length, '[', line->length_len);

	if (has_word(line, "struct ") && !has_word(line, "*"))
		return 0;
	if (n && one)
		return is_number_size(line->size / n) ? line->size / n : 0;
	return size_of_type(line, long_bytes);
}

/* The kernel's texts are arrays of char: those of u8 and unsigned char are addresses and such. */
static bool is_text(const struct line *line)
{
	struct line type = *line;

	skip_word(&type, "const ");
	return (type.type_len == 4 && !strncmp(type.type, "char", 4)) ||
	       (type.type_len == 6 && !strncmp(type.type, "char[]", 6));
}

static uint32_t kind_of(const struct line *line, uint32_t each)
{
	bool array = line->dynamic ? has_word(line, "[]") : !!line->length;

	if (line->dynamic && (line->size != 4 || !array))
		return SCHEDTAPE_FIELD_OPAQUE;
	if (array && is_text(line))
		return SCHEDTAPE_FIELD_TEXT;
	if (array)
		return each ? SCHEDTAPE_FIELD_NUMBERS : SCHEDTAPE_FIELD_OPAQUE;
	return is_number_size(line->size) ? SCHEDTAPE_FIELD_NUMBER : SCHEDTAPE_FIELD_OPAQUE;
}

/* -- fields ----------------------------------------------------------------- */

/* Makes room for one more field. */
static int grow(struct decode_point *point)
{
	struct schedtape_field *fields;
	struct decode_place *places;

	fields = schedtape_list_grow(point->fields, point->nr, &point->fields_capacity,
				     sizeof(*fields));
	if (!fields)
		return -ENOMEM;
	point->fields = fields;
	places = schedtape_list_grow(point->places, point->nr, &point->places_capacity,
				     sizeof(*places));
	if (!places)
		return -ENOMEM;
	point->places = places;
	return 0;
}

static int add_field(struct decode_point *point, const struct line *line, uint32_t long_bytes)
{
	uint32_t each = size_of_each(line, long_bytes);
	struct schedtape_field field = {
		.name = strndup(line->name, line->name_len),
		.kind = kind_of(line, each),
		.is_signed = line->is_signed,
		.delimiter = "",
	};
	const struct decode_place place = {
		.offset = line->offset,
		.size = line->size,
		.each = each,
		.dynamic = line->dynamic,
		.relative = line->relative,
	};

	if (!field.name || grow(point)) {
		free((char *)field.name);
		return -ENOMEM;
	}
	point->fields[point->nr] = field;
	point->places[point->nr++] = place;
	return 0;
}

int decode_fields(struct decode_point *point, const char *format, uint32_t long_bytes)
{
	bool common = false, own = false, wrong = false;
	const char *at = strstr(format, "format:\n");
	struct line line;
	int ret = 0;

	at = at ? at + strlen("format:\n") : "";
	for (; *at && strncmp(at, "print fmt:", 10) && !ret && !wrong;
	     at = strchrnul(at, '\n'), at += *at == '\n') {
		own |= *at == '\n';
		if (*at == '\n')
			continue;
		/* libtraceevent would take other lines for fields, too. */
		wrong = strncmp(at, "\tfield:", 7) || point->nr == FIELDS_MOST ||
			!read_line(&line, at + 7);
		if (!wrong && line.offset + line.size > point->needs)
			point->needs = line.offset + line.size;
		common |= !own;
		if (!wrong && own)
			ret = add_field(point, &line, long_bytes);
	}
	point->info.decodes = common && !wrong;
	if (ret || !point->info.decodes)
		return ret;
	point->info.fields = point->fields;
	point->info.n = point->nr;
	return decode_names(point, format);
}
