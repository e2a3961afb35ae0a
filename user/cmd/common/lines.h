/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Lines of output, made in a buffer without printf(), because a tape has millions of them.
 */
#ifndef SCHEDTAPE_LINES_H
#define SCHEDTAPE_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define LINES_BYTES	65536
#define LINES_MOST	16384	/* bytes of one line, at most */

/**
 * struct lines - lines that a file does not have yet
 * @to: NULL: standard output
 * @at: where the next byte goes in @buffer
 * @line: where the line began
 */
struct lines {
	FILE *to;
	char *at;
	char *line;
	char buffer[LINES_BYTES];
};

void lines_begin(struct lines *lines);
/* The same for lines of a file, of which the caller looks for errors. */
void lines_begin_file(struct lines *lines, FILE *to);
/* Gives all lines to the file. */
void lines_flush(struct lines *lines);

/* Ends a line.  All functions below rely on room for a line, which this keeps. */
static inline void lines_end(struct lines *lines)
{
	*lines->at++ = '\n';
	lines->line = lines->at;
	if (lines->at - lines->buffer > LINES_BYTES - LINES_MOST)
		lines_flush(lines);
}

static inline void lines_char(struct lines *lines, char c)
{
	*lines->at++ = c;
}

static inline void lines_text(struct lines *lines, const char *text, size_t len)
{
	memcpy(lines->at, text, len);
	lines->at += len;
}

/* For constant texts, of which the compiler knows the length. */
static inline void lines_put(struct lines *lines, const char *text)
{
	lines_text(lines, text, strlen(text));
}

static inline void lines_blanks(struct lines *lines, size_t n)
{
	memset(lines->at, ' ', n);
	lines->at += n;
}

/* Fills up with blanks to @width bytes since @from. */
static inline void lines_fill(struct lines *lines, const char *from, size_t width)
{
	size_t len = lines->at - from;

	if (len < width)
		lines_blanks(lines, width - len);
}

/* Moves what was put since @from to the right, if it is shorter than @width. */
static inline void lines_align(struct lines *lines, char *from, size_t width)
{
	size_t len = lines->at - from;

	if (len >= width)
		return;
	memmove(from + width - len, from, len);
	memset(from, ' ', width - len);
	lines->at = from + width;
}

/* "00" to "99", one behind the other */
extern const char lines_pairs[201];

/* Writes two digits. */
static inline void lines_pair(char *at, unsigned int number)
{
	memcpy(at, lines_pairs + 2 * number, 2);
}

/* Writes a number with at least @digits digits. */
void lines_number_slow(struct lines *lines, uint64_t number, unsigned int digits);

static inline void lines_number(struct lines *lines, uint64_t number)
{
	if (number < 10)
		lines_char(lines, '0' + number);
	else
		lines_number_slow(lines, number, 1);
}

/* Writes a number with blanks before it, if it is shorter than @width. */
static inline void lines_right(struct lines *lines, size_t width, uint64_t number)
{
	char *from = lines->at;

	lines_number(lines, number);
	lines_align(lines, from, width);
}

void lines_signed(struct lines *lines, int64_t number);

/* Puts a member of JSON with a number.  @key: ",\"pid\":" */
static inline void lines_count(struct lines *lines, const char *key, uint64_t value)
{
	lines_put(lines, key);
	lines_number(lines, value);
}

/* The same; LINES_NULL: null. */
#define LINES_NULL	UINT64_MAX
static inline void lines_count_or_null(struct lines *lines, const char *key, uint64_t value)
{
	lines_put(lines, key);
	if (value == LINES_NULL)
		lines_put(lines, "null");
	else
		lines_number(lines, value);
}

/* Puts a text of printable characters, with backslashes where JSON needs them. */
void lines_quoted(struct lines *lines, const char *text);

#endif /* SCHEDTAPE_LINES_H */
