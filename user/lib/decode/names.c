// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Finds what a format prints in place of numbers:
 *
 *	__print_symbolic(REC->vec, { 0, "HI" }, { 1, "TIMER" })
 *	REC->flags ? __print_flags(REC->flags, "|", { 0x1UL, "ONE" }, { 0x2UL, "TWO" }) : "none"
 */
#include "decode/point.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char symbolic[] = "__print_symbolic", flags[] = "__print_flags";

/* Skips a character, if it is next. */
static bool skip(const char **at, char c)
{
	decode_skip_blanks(at);
	if (**at != c)
		return false;
	++*at;
	return true;
}

/* Skips a text in quotes.  Returns its first character, or NULL: there is none. */
static const char *skip_text(const char **at, size_t *len)
{
	const char *begin;

	if (!skip(at, '"'))
		return NULL;
	for (begin = *at; **at && **at != '"'; ++*at)
		if (**at == '\\' && (*at)[1])
			++*at;
	*len = *at - begin;
	if (**at != '"')
		return NULL;
	++*at;
	return begin;
}

/* Skips an expression, up to one of @ends that is in no parentheses and no text. */
static void skip_expression(const char **at, const char *ends)
{
	unsigned int depth = 0;
	size_t len;

	for (; **at && (depth || !strchr(ends, **at)); ++*at) {
		depth += **at == '(';
		depth -= depth && **at == ')';
		if (**at != '"')
			continue;
		if (!skip_text(at, &len))
			return;
		--*at;
	}
}

/* Returns the first field of an expression that ends before @end; NULL: it has none. */
static struct schedtape_field *find_field(const struct decode_point *point, const char *at,
					  const char *end)
{
	const char *name = memmem(at, end - at, "REC->", 5);
	size_t i, len = 0;

	if (!name)
		return NULL;
	name += 5;
	while (decode_is_name(name[len]))
		len++;
	for (i = 0; i < point->info.n; i++)
		if (strlen(point->fields[i].name) == len &&
		    !strncmp(point->fields[i].name, name, len))
			return &point->fields[i];
	return NULL;
}

static int add_name(struct schedtape_field *field, uint64_t value, const char *name, size_t len)
{
	struct schedtape_value_name *names;
	char *copy = strndup(name, len);

	names = reallocarray((void *)field->names, field->nr_names + 1, sizeof(*names));
	if (names)
		field->names = names;
	if (!names || !copy) {
		free(copy);
		return -ENOMEM;
	}
	names[field->nr_names++] = (struct schedtape_value_name) { .value = value, .name = copy };
	return 0;
}

/* Reads "{ 1, "TIMER" }, ...".  A value that is no constant expression has no name. */
static int read_pairs(struct schedtape_field *field, const char **at)
{
	const char *name;
	uint64_t value;
	bool constant;
	size_t len;
	int ret = 0;

	while (!ret && skip(at, ',') && skip(at, '{')) {
		constant = decode_constant(at, &value);
		skip_expression(at, ",}");
		if (!skip(at, ','))
			return 0;
		name = skip_text(at, &len);
		if (!name)
			return 0;
		if (constant && field)
			ret = add_name(field, value, name, len);
		skip_expression(at, "}");
		skip(at, '}');
	}
	return ret;
}

static bool has_zero(const struct schedtape_field *field)
{
	size_t i;

	for (i = 0; i < field->nr_names; i++)
		if (!field->names[i].value)
			return true;
	return false;
}

/* Reads the arguments of __print_symbolic() or __print_flags(), and what no bits are called. */
static int read_call(const struct decode_point *point, const char **at, bool bits)
{
	const char *begin = *at, *delimiter = "", *none;
	struct schedtape_field *field;
	size_t len = 0;
	int ret;

	skip_expression(at, ",");
	field = find_field(point, begin, *at);
	if (bits)
		delimiter = skip(at, ',') ? skip_text(at, &len) : NULL;
	if (!delimiter)
		return 0;
	/* A format may print a field twice: the first one counts. */
	if (field && (field->kind != SCHEDTAPE_FIELD_NUMBER || field->naming))
		field = NULL;
	if (field && bits) {
		field->delimiter = strndup(delimiter, len);
		if (!field->delimiter)
			return -ENOMEM;
	}
	if (field)
		field->naming = bits ? SCHEDTAPE_NAMING_BITS : SCHEDTAPE_NAMING_VALUES;
	ret = read_pairs(field, at);
	if (ret || !field || !bits || !skip(at, ')') || !skip(at, ':'))
		return ret;
	none = skip_text(at, &len);
	return none && !has_zero(field) ? add_name(field, 0, none, len) : 0;
}

int decode_names(struct decode_point *point, const char *format)
{
	const char *at = strstr(format, "\nprint fmt:");
	size_t len;
	int ret = 0;

	at = at ? at : "";
	while (*at && !ret) {
		if (*at == '"') {
			skip_text(&at, &len);
		} else if (!strncmp(at, symbolic, strlen(symbolic)) ||
			   !strncmp(at, flags, strlen(flags))) {
			bool bits = at[8] == 'f';

			/* The name may end with _u64. */
			at += strcspn(at, "(,\"");
			if (*at == '(') {
				at++;
				ret = read_call(point, &at, bits);
			}
		} else {
			at++;
		}
	}
	return ret;
}

void decode_names_free(struct schedtape_field *field)
{
	size_t i;

	for (i = 0; i < field->nr_names; i++)
		free((char *)field->names[i].name);
	free((void *)field->names);
	if (field->naming == SCHEDTAPE_NAMING_BITS)
		free((char *)field->delimiter);
	free((char *)field->name);
}
