// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: the decoder of other tracepoints survives any format and any data, and its values
 * are within the data; texts are made of any data with formats as the kernel has them, because
 * libtraceevent does not survive others. The first byte of the input is the byte order, the size of
 * long, and whether formats are the kernel's; behind it is a format that ends with a 0; then data.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <schedtape.h>

#include "../unit/points.h"

#define BIG_ENDIAN_BIT	1
#define LONG_BIT	2
#define KERNEL_BIT	4

/* Reads each byte, so that the sanitizer detects an access beyond the data. */
static uint64_t sum_values(const struct schedtape_field *field, const struct schedtape_value *value)
{
	uint64_t sum = value->number;
	size_t i;

	for (i = 0; i < value->n; i++)
		sum += field->kind == SCHEDTAPE_FIELD_TEXT ? (unsigned char)value->text[i] :
		       value->numbers[i];
	return sum;
}

static uint64_t sum_names(const struct schedtape_field *field)
{
	uint64_t sum = strlen(field->name) + strlen(field->delimiter);
	size_t i;

	for (i = 0; i < field->nr_names; i++)
		sum += field->names[i].value + strlen(field->names[i].name);
	if (field->nr_names && !field->naming)
		abort();
	return sum;
}

static void decode(struct schedtape_decoder *decoder, const struct schedtape_sample *sample,
		   bool text)
{
	const struct schedtape_tracepoint *point = schedtape_decoder_find(decoder, sample);
	const struct schedtape_value *values;
	uint64_t sum = 0;
	size_t i;
	int n;

	n = schedtape_decoder_values(decoder, sample, &values);
	if (n >= 0 && (!point || !point->decodes || (size_t)n != point->n))
		abort();
	for (i = 0; point && i < point->n; i++)
		sum += sum_names(&point->fields[i]);
	for (i = 0; n > 0 && i < (size_t)n; i++)
		sum += sum_values(&point->fields[i], &values[i]);
	if (text)
		sum += strlen(schedtape_decoder_text(decoder, sample));
	/* So that the compiler does not remove the reads. */
	if (sum == UINT64_MAX)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct schedtape_format format = {
		.id = POINT_EXIT, .system = "system", .name = "name",
	};
	struct schedtape_formats formats = points_formats;
	struct schedtape_sample sample = { .time = 1 };
	struct schedtape_decoder *decoder;
	bool kernels;
	char *text;
	void *copy;

	if (!size)
		return 0;
	kernels = data[0] & KERNEL_BIT;
	formats.big_endian = data[0] & BIG_ENDIAN_BIT;
	formats.long_bytes = data[0] & LONG_BIT ? 4 : 8;
	text = strndup((const char *)data + 1, size - 1);
	format.format = text;
	if (!kernels) {
		formats.formats = &format;
		formats.n = 1;
	}
	sample.bytes = size - 1 - strlen(text);
	sample.bytes -= !!sample.bytes;
	/* Exactly that many bytes. */
	copy = malloc(sample.bytes ? sample.bytes : 1);
	if (sample.bytes)
		memcpy(copy, data + size - sample.bytes, sample.bytes);
	sample.data = copy;
	if (schedtape_decoder_new(&formats, &decoder, NULL))
		abort();
	decode(decoder, &sample, kernels);
	schedtape_decoder_free(decoder);
	free(copy);
	free(text);
	return 0;
}
