// SPDX-License-Identifier: GPL-2.0-only
#include "common/lines.h"

#include <stdio.h>

void lines_begin(struct lines *lines)
{
	lines->at = lines->buffer;
	lines->line = lines->buffer;
}

void lines_flush(struct lines *lines)
{
	fwrite(lines->buffer, 1, lines->at - lines->buffer, stdout);
	lines_begin(lines);
}

void lines_number_slow(struct lines *lines, uint64_t number, unsigned int digits)
{
	char text[24], *end = text + sizeof(text), *at = end;
	unsigned int two;

	/* Two digits for each division. */
	while (number >= 10) {
		two = number % 100;
		number /= 100;
		*--at = '0' + two % 10;
		*--at = '0' + two / 10;
	}
	if (number || at == end)
		*--at = '0' + number;
	while ((size_t)(end - at) < digits)
		*--at = '0';
	lines_text(lines, at, end - at);
}

void lines_signed(struct lines *lines, int64_t number)
{
	if (number < 0)
		lines_char(lines, '-');
	lines_number(lines, number < 0 ? -(uint64_t)number : (uint64_t)number);
}
