// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Transposes blocks of eight words as matrices of bytes: exchanges halves, then
 * quarters, then eighths (Hacker's Delight, 7-3, does so with bits).  To join columns, which
 * each reader of a tape does, has to be faster: it takes blocks of 16 words.
 */
#include "tape/columns.h"

#include <endian.h>
#include <stdint.h>
#include <string.h>

static inline void exchange(uint64_t *a, uint64_t *b, unsigned int shift, uint64_t mask)
{
	uint64_t differ = (*a >> shift ^ *b) & mask;

	*b ^= differ;
	*a ^= differ << shift;
}

static inline void transpose(uint64_t *row)
{
	unsigned int i;

	for (i = 0; i < 4; i++)
		exchange(&row[i], &row[i + 4], 32, 0x00000000ffffffff);
	for (i = 0; i < 8; i += i & 1 ? 3 : 1)
		exchange(&row[i], &row[i + 2], 16, 0x0000ffff0000ffff);
	for (i = 0; i < 8; i += 2)
		exchange(&row[i], &row[i + 1], 8, 0x00ff00ff00ff00ff);
}

/* Transposes eight rows, @from_step bytes apart, into rows at @to. */
static inline void move_block(unsigned char *to, size_t to_step, const unsigned char *from,
			      size_t from_step)
{
	uint64_t row[TAPE_COLUMNS];
	unsigned int i;

	/* Make byte 0 the first one in memory, independent of this machine's byte order. */
	for (i = 0; i < TAPE_COLUMNS; i++) {
		memcpy(&row[i], from + i * from_step, sizeof(row[i]));
		row[i] = le64toh(row[i]);
	}
	transpose(row);
	for (i = 0; i < TAPE_COLUMNS; i++) {
		row[i] = htole64(row[i]);
		memcpy(to + i * to_step, &row[i], sizeof(row[i]));
	}
}

void tape_columns_split(unsigned char *columns, const unsigned char *words, size_t bytes)
{
	size_t column = bytes / TAPE_COLUMNS, at;

	for (at = 0; at < column; at += sizeof(uint64_t))
		move_block(columns + at, column, words + at * TAPE_COLUMNS, sizeof(uint64_t));
}

/* The compiler makes these one instruction each, on x86-64 and on arm64. */
typedef uint8_t vector __attribute__((vector_size(16)));

static inline vector mix_first(vector a, vector b)
{
	return __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22,
				       7, 23);
}

static inline vector mix_last(vector a, vector b)
{
	return __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30,
				       15, 31);
}

/*
 * Mixes the bytes of the first four vectors with those of the last four, as cards are shuffled:
 * the number of a byte is rotated by a bit.
 */
static inline void mix(vector *to, const vector *from)
{
	size_t i;

	for (i = 0; i < TAPE_COLUMNS / 2; i++) {
		to[2 * i] = mix_first(from[i], from[i + TAPE_COLUMNS / 2]);
		to[2 * i + 1] = mix_last(from[i], from[i + TAPE_COLUMNS / 2]);
	}
}

/* Makes 16 words.  To rotate a byte's number by 3 bits exchanges its column and its place in it. */
static inline void join_block(unsigned char *words, const unsigned char *columns, size_t column)
{
	vector a[TAPE_COLUMNS], b[TAPE_COLUMNS];
	unsigned int i;

	for (i = 0; i < TAPE_COLUMNS; i++)
		memcpy(&a[i], columns + i * column, sizeof(a[i]));
	mix(b, a);
	mix(a, b);
	mix(b, a);
	memcpy(words, b, sizeof(b));
}

void tape_columns_join(unsigned char *words, const unsigned char *columns, size_t bytes)
{
	size_t column = bytes / TAPE_COLUMNS, at = 0;

	for (; at + sizeof(vector) <= column; at += sizeof(vector))
		join_block(words + at * TAPE_COLUMNS, columns + at, column);
	if (at < column)
		move_block(words + at * TAPE_COLUMNS, sizeof(uint64_t), columns + at, column);
}
