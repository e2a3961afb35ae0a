// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Evaluates constant expressions of C, as formats have them: "0x10UL", "(( gfp_t)(1 << (5)))".
 */
#include "decode/point.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MOST	100	/* of parentheses; the kernel's formats have some 20 */

static bool read_binary(const char **at, uint64_t *value, unsigned int level, unsigned int depth);

static bool read_literal(const char **at, uint64_t *value)
{
	char *end;

	if (!isdigit((unsigned char)**at))
		return false;
	*value = strtoull(*at, &end, 0);
	*at = end + strspn(end, "uUlL");
	return true;
}

/* Skips "( unsigned long)".  False: this is no type. */
static bool skip_cast(const char **at)
{
	const char *in = *at + 1 + strspn(*at + 1, " ");

	if (isdigit((unsigned char)*in) || *in == ')')
		return false;
	while (isalnum((unsigned char)*in) || (*in && strchr("_* ", *in)))
		in++;
	if (*in != ')')
		return false;
	*at = in + 1;
	return true;
}

static bool read_unary(const char **at, uint64_t *value, unsigned int depth)
{
	char c;

	decode_skip_blanks(at);
	c = **at;
	if (depth == DEPTH_MOST)
		return false;
	if (c == '(' && skip_cast(at))
		return read_unary(at, value, depth + 1);
	if (c == '(') {
		++*at;
		if (!read_binary(at, value, 0, depth + 1))
			return false;
		decode_skip_blanks(at);
		if (**at != ')')
			return false;
		++*at;
		return true;
	}
	if (c == '-' || c == '~' || c == '+') {
		++*at;
		if (!read_unary(at, value, depth + 1))
			return false;
		*value = c == '-' ? -*value : c == '~' ? ~*value : *value;
		return true;
	}
	return read_literal(at, value);
}

/* Operators, those of a lower precedence first. */
static const char * const operators[] = { "|", "^", "&", "<< >>", "+ -", "*" };

#define LEVELS	(sizeof(operators) / sizeof(*operators))

/* Returns the operator at @at if it is of this level, or NULL. */
static const char *find_operator(const char *at, unsigned int level)
{
	const char *word = operators[level];
	size_t len;

	for (; word; word = strchr(word, ' ') ? strchr(word, ' ') + 1 : NULL) {
		len = strcspn(word, " ");
		if (!strncmp(at, word, len))
			return word;
	}
	return NULL;
}

static uint64_t combine(char operator, uint64_t left, uint64_t right)
{
	switch (operator) {
	case '|':
		return left | right;
	case '^':
		return left ^ right;
	case '&':
		return left & right;
	case '<':
		return right < 64 ? left << right : 0;
	case '>':
		return right < 64 ? left >> right : 0;
	case '+':
		return left + right;
	case '-':
		return left - right;
	}
	return left * right;
}

static bool read_binary(const char **at, uint64_t *value, unsigned int level, unsigned int depth)
{
	const char *operator;
	uint64_t right;

	if (level == LEVELS)
		return read_unary(at, value, depth);
	if (!read_binary(at, value, level + 1, depth))
		return false;
	for (;;) {
		decode_skip_blanks(at);
		operator = find_operator(*at, level);
		if (!operator)
			return true;
		*at += strcspn(operator, " ");
		if (!read_binary(at, &right, level + 1, depth))
			return false;
		*value = combine(*operator, *value, right);
	}
}

bool decode_constant(const char **at, uint64_t *value)
{
	return read_binary(at, value, 0, 0);
}
