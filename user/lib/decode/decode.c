// SPDX-License-Identifier: LGPL-2.1-or-later
#include "decode/point.h"

#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/sized.h"
#include "base/text.h"

#define TEXT_BYTES	8192	/* with its end */

/**
 * struct schedtape_decoder - the tracepoints of a tape
 * @points: by index
 * @by_id: the same by id
 * @values: of the sample in hand; room for those of the tracepoint with most fields
 * @numbers: arrays among @values
 */
struct schedtape_decoder {
	struct decode_texts *texts;
	struct decode_point *points;
	const struct decode_point **by_id;
	size_t nr;
	bool swapped;
	struct schedtape_value *values;
	uint64_t numbers[DECODE_DATA_MAX];
	char text[TEXT_BYTES];
};

/* -- tracepoints ------------------------------------------------------------ */

static int compare(const void *one, const void *two)
{
	const struct decode_point *a = *(const struct decode_point **)one;
	const struct decode_point *b = *(const struct decode_point **)two;

	return a->id < b->id ? -1 : a->id > b->id;
}

static int add_point(struct decode_point *point, const struct schedtape_format *format,
		     uint32_t long_bytes)
{
	point->id = format->id;
	if (asprintf(&point->name, "%s:%s", format->system, format->name) < 0) {
		point->name = NULL;
		return -ENOMEM;
	}
	point->info.size = sizeof(point->info);
	point->info.name = point->name;
	return decode_fields(point, format->format, long_bytes);
}

static int add_points(struct schedtape_decoder *decoder, const struct schedtape_formats *formats)
{
	size_t most = 0;
	int ret = 0;

	decoder->points = calloc(formats->n + 1, sizeof(*decoder->points));
	decoder->by_id = calloc(formats->n + 1, sizeof(*decoder->by_id));
	if (!decoder->points || !decoder->by_id)
		return -ENOMEM;
	for (; decoder->nr < formats->n && !ret; decoder->nr++) {
		struct decode_point *point = &decoder->points[decoder->nr];

		point->info.index = decoder->nr;
		ret = add_point(point, &formats->formats[decoder->nr], formats->long_bytes);
		decoder->by_id[decoder->nr] = point;
		most = point->info.n > most ? point->info.n : most;
	}
	if (ret)
		return ret;
	qsort(decoder->by_id, decoder->nr, sizeof(*decoder->by_id), compare);
	decoder->values = calloc(most + 1, sizeof(*decoder->values));
	return decoder->values ? 0 : -ENOMEM;
}

int schedtape_decoder_new(const struct schedtape_formats *formats,
			  struct schedtape_decoder **decoder, struct schedtape_error *err)
{
	struct schedtape_formats own;
	int ret;

	*decoder = NULL;
	ret = sized_get(&own, sizeof(own), formats, "the formats", err);
	if (ret)
		return ret;
	*decoder = calloc(1, sizeof(**decoder));
	ret = *decoder ? add_points(*decoder, &own) : -ENOMEM;
	if (!ret) {
		(*decoder)->swapped = own.big_endian != (__BYTE_ORDER == __BIG_ENDIAN);
		(*decoder)->texts = decode_texts_new(&own);
		if ((*decoder)->texts)
			return 0;
		ret = -ENOMEM;
	}
	schedtape_decoder_free(*decoder);
	*decoder = NULL;
	return schedtape_fail(err, ret, "out of memory");
}

static void free_point(struct decode_point *point)
{
	size_t i;

	for (i = 0; i < point->nr; i++)
		decode_names_free(&point->fields[i]);
	free(point->fields);
	free(point->places);
	free(point->name);
}

void schedtape_decoder_free(struct schedtape_decoder *decoder)
{
	size_t i;

	if (!decoder)
		return;
	for (i = 0; i < decoder->nr; i++)
		free_point(&decoder->points[i]);
	free(decoder->points);
	free(decoder->by_id);
	free(decoder->values);
	decode_texts_free(decoder->texts);
	free(decoder);
}

const struct schedtape_tracepoint *
schedtape_decoder_tracepoint(const struct schedtape_decoder *decoder, size_t index)
{
	return index < decoder->nr ? &decoder->points[index].info : NULL;
}

/* -- numbers ---------------------------------------------------------------- */

/* Reads a number of 1, 2, 4 or 8 bytes, in the recording machine's byte order. */
static uint64_t number(const struct schedtape_decoder *decoder, const void *at, size_t bytes,
		       bool is_signed)
{
	const uint8_t *one = at;
	uint64_t eight;
	uint32_t four;
	uint16_t two;

	switch (bytes) {
	case 1:
		return is_signed ? (uint64_t)(int8_t)*one : *one;
	case 2:
		memcpy(&two, at, sizeof(two));
		two = decoder->swapped ? __builtin_bswap16(two) : two;
		return is_signed ? (uint64_t)(int16_t)two : two;
	case 4:
		memcpy(&four, at, sizeof(four));
		four = decoder->swapped ? __builtin_bswap32(four) : four;
		return is_signed ? (uint64_t)(int32_t)four : four;
	case 8:
		memcpy(&eight, at, sizeof(eight));
		return decoder->swapped ? __builtin_bswap64(eight) : eight;
	}
	return 0;
}

static const struct decode_point *find(const struct schedtape_decoder *decoder,
				       const struct schedtape_sample *sample)
{
	struct decode_point wanted;
	const struct decode_point *key = &wanted, **found;

	if (sample->bytes < sizeof(uint16_t))
		return NULL;
	wanted.id = number(decoder, sample->data, sizeof(uint16_t), false);
	found = bsearch(&key, decoder->by_id, decoder->nr, sizeof(key), compare);
	return found ? *found : NULL;
}

/* Returns the tracepoint of a sample; NULL: it cannot be decoded. */
static const struct decode_point *find_decodable(const struct schedtape_decoder *decoder,
						 const struct schedtape_sample *sample)
{
	const struct decode_point *point = find(decoder, sample);

	if (!point || !point->info.decodes || sample->bytes < point->needs ||
	    sample->bytes > DECODE_DATA_MAX)
		return NULL;
	return point;
}

const struct schedtape_tracepoint *
schedtape_decoder_find(const struct schedtape_decoder *decoder,
		       const struct schedtape_sample *sample)
{
	const struct decode_point *point = find(decoder, sample);

	return point ? &point->info : NULL;
}

/* -- values ----------------------------------------------------------------- */

/* Returns where a field's value is, and its size, within the sample's data. */
static const char *find_value(const struct schedtape_decoder *decoder,
			      const struct schedtape_sample *sample,
			      const struct decode_place *place, size_t *bytes)
{
	const char *data = sample->data;
	size_t at = place->offset;
	uint64_t where;

	*bytes = place->size;
	if (place->dynamic) {
		where = number(decoder, data + at, 4, false);
		*bytes = where >> 16;
		at = (where & 0xffff) + (place->relative ? at + place->size : 0);
	}
	if (at > sample->bytes)
		at = sample->bytes;
	if (*bytes > sample->bytes - at)
		*bytes = sample->bytes - at;
	return data + at;
}

/* Fields that overlap could have more numbers than there are bytes: the last ones are cut. */
static void set_numbers(struct schedtape_decoder *decoder, size_t *taken, const char *at,
			size_t bytes, uint32_t each, bool is_signed,
			struct schedtape_value *value)
{
	uint64_t *numbers = decoder->numbers + *taken;
	size_t i, n = each ? bytes / each : 0;

	if (n > DECODE_DATA_MAX - *taken)
		n = DECODE_DATA_MAX - *taken;
	for (i = 0; i < n; i++)
		numbers[i] = number(decoder, at + i * each, each, is_signed);
	value->numbers = numbers;
	value->n = n;
	*taken += n;
}

int schedtape_decoder_values(struct schedtape_decoder *decoder,
			     const struct schedtape_sample *sample,
			     const struct schedtape_value **values)
{
	const struct decode_point *point = find_decodable(decoder, sample);
	const struct schedtape_field *field;
	struct schedtape_value *value;
	size_t i, bytes, taken = 0;
	const char *at;

	*values = decoder->values;
	if (!point)
		return -EBADMSG;
	for (i = 0; i < point->info.n; i++) {
		field = &point->fields[i];
		value = &decoder->values[i];
		*value = (struct schedtape_value) { 0 };
		if (field->kind == SCHEDTAPE_FIELD_OPAQUE)
			continue;
		at = find_value(decoder, sample, &point->places[i], &bytes);
		if (field->kind == SCHEDTAPE_FIELD_NUMBER) {
			value->number = number(decoder, at, bytes, field->is_signed);
		} else if (field->kind == SCHEDTAPE_FIELD_TEXT) {
			value->text = at;
			value->n = strnlen(at, bytes);
		} else if (field->kind == SCHEDTAPE_FIELD_NUMBERS) {
			set_numbers(decoder, &taken, at, bytes, point->places[i].each,
				    field->is_signed, value);
		}
	}
	return point->info.n;
}

/* -- text ------------------------------------------------------------------- */

static const char *hex(struct schedtape_decoder *decoder, const struct schedtape_sample *sample)
{
	const unsigned char *data = sample->data;
	char *at = decoder->text;
	size_t i;

	*at = '\0';
	for (i = 0; i < sample->bytes && at + 4 < decoder->text + TEXT_BYTES; i++)
		at += sprintf(at, "%s%02x", i ? " " : "", data[i]);
	return decoder->text;
}

static void put_number(FILE *to, const struct schedtape_field *field, uint64_t number)
{
	fprintf(to, field->is_signed ? "%" PRId64 : "%" PRIu64, number);
}

static void put_value(FILE *to, const struct schedtape_field *field,
		      const struct schedtape_value *value)
{
	size_t i;

	fprintf(to, "%s=", field->name);
	switch (field->kind) {
	case SCHEDTAPE_FIELD_NUMBER:
		put_number(to, field, value->number);
		return;
	case SCHEDTAPE_FIELD_TEXT:
		fprintf(to, "%.*s", (int)value->n, value->text);
		return;
	case SCHEDTAPE_FIELD_NUMBERS:
		for (i = 0; i < value->n; i++) {
			fputc(i ? ',' : '{', to);
			put_number(to, field, value->numbers[i]);
		}
		fputs(i ? "}" : "{}", to);
		return;
	default:
		fputc('?', to);
	}
}

/* Makes "irq=9 name=eth0".  Returns NULL: there is no memory. */
static const char *list(struct schedtape_decoder *decoder, const struct decode_point *point,
			const struct schedtape_sample *sample)
{
	const struct schedtape_value *values;
	FILE *to = fmemopen(decoder->text, TEXT_BYTES, "w");
	int i, n;

	if (!to)
		return NULL;
	n = schedtape_decoder_values(decoder, sample, &values);
	for (i = 0; i < n; i++) {
		if (i)
			fputc(' ', to);
		put_value(to, &point->fields[i], &values[i]);
	}
	fclose(to);
	decoder->text[TEXT_BYTES - 1] = '\0';
	return text_safe(decoder->text, TEXT_BYTES, decoder->text);
}

const char *schedtape_decoder_text(struct schedtape_decoder *decoder,
				   const struct schedtape_sample *sample)
{
	const struct decode_point *point = find_decodable(decoder, sample);
	const char *text;

	if (point && decode_texts_make(decoder->texts, point->info.index, sample, decoder->text,
				       TEXT_BYTES))
		return decoder->text;
	text = point ? list(decoder, point, sample) : NULL;
	return text ? text : hex(decoder, sample);
}
