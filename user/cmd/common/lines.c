// SPDX-License-Identifier: GPL-2.0-only
#include "common/lines.h"

#include "common/output.h"

#define NUMBER_BYTES	24	/* digits of the largest number, and some more */

void lines_begin(struct lines *lines)
{
	lines_begin_file(lines, NULL);
}

void lines_begin_file(struct lines *lines, FILE *to)
{
	lines->to = to;
	lines->at = lines->buffer;
	lines->line = lines->buffer;
}

void lines_flush(struct lines *lines)
{
	size_t size = lines->at - lines->buffer;

	if (lines->to)
		fwrite(lines->buffer, 1, size, lines->to);
	else
		out_write(lines->buffer, size);
	lines->at = lines->buffer;
	lines->line = lines->buffer;
}

const char lines_pairs[201] =
	"00010203040506070809101112131415161718192021222324252627282930313233343536373839"
	"40414243444546474849505152535455565758596061626364656667686970717273747576777879"
	"8081828384858687888990919293949596979899";

void lines_number_slow(struct lines *lines, uint64_t number, unsigned int digits)
{
	/* The second half is only copied. */
	char text[2 * NUMBER_BYTES], *end = text + NUMBER_BYTES, *at = end;

	for (; number >= 100; number /= 100) {
		at -= 2;
		lines_pair(at, number % 100);
	}
	if (number >= 10) {
		at -= 2;
		lines_pair(at, number);
	} else {
		*--at = '0' + number;
	}
	while ((size_t)(end - at) < digits)
		*--at = '0';
	memcpy(lines->at, at, NUMBER_BYTES);
	lines->at += end - at;
}

void lines_signed(struct lines *lines, int64_t number)
{
	if (number < 0)
		lines_char(lines, '-');
	lines_number(lines, number < 0 ? -(uint64_t)number : (uint64_t)number);
}

void lines_quoted(struct lines *lines, const char *text)
{
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			lines_char(lines, '\\');
		lines_char(lines, *text);
	}
}
