/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the files of this room share: the tracepoints of a decoder.
 */
#ifndef SCHEDTAPE_DECODE_POINT_H
#define SCHEDTAPE_DECODE_POINT_H

#include <ctype.h>
#include <string.h>

#include <schedtape-decode.h>

#define DECODE_DATA_MAX	65536	/* a place within data has 16 bits, and so has its length */

/**
 * struct decode_place - where a field is in a sample's data
 * @each: bytes of a number of an array; 0: its numbers cannot be read
 * @dynamic: there is the place of the value: 16 bits each for its length and its offset
 * @relative: this offset begins behind the field
 */
struct decode_place {
	uint32_t offset;
	uint32_t size;
	uint32_t each;
	bool dynamic;
	bool relative;
};

/**
 * struct decode_point - a tracepoint
 * @info: what the caller gets
 * @id: the data of its samples begin with it
 * @fields, @places: of its fields
 * @nr: number of both, also if the format is then found to be wrong
 * @needs: bytes that all fields take
 */
struct decode_point {
	struct schedtape_tracepoint info;
	uint32_t id;
	char *name;
	struct schedtape_field *fields;
	struct decode_place *places;
	size_t nr;
	size_t fields_capacity;
	size_t places_capacity;
	uint32_t needs;
};

/* Is a character part of a name of C? */
static inline bool decode_is_name(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static inline void decode_skip_blanks(const char **at)
{
	*at += strspn(*at, " \t\n");
}

/*
 * fields.c: parses the format of @point->id.  0, or -ENOMEM; a format that cannot be parsed is no
 * error.
 */
int decode_fields(struct decode_point *point, const char *format, uint32_t long_bytes);

/* names.c: finds the names of values in a format.  0 or -ENOMEM. */
int decode_names(struct decode_point *point, const char *format);
void decode_names_free(struct schedtape_field *field);

/* number.c: reads the constant expression at *@at, "(1UL << 3)".  False: it is something else. */
bool decode_constant(const char **at, uint64_t *value);

struct decode_texts;

/* text.c: makes texts.  Copies the formats, and parses one when a text needs it. */
struct decode_texts *decode_texts_new(const struct schedtape_formats *formats);
void decode_texts_free(struct decode_texts *texts);
/* Puts the text of a sample of the format @index into @text.  False: that cannot be parsed. */
bool decode_texts_make(struct decode_texts *texts, size_t index,
		       const struct schedtape_sample *sample, char *text, size_t size);

#endif /* SCHEDTAPE_DECODE_POINT_H */
