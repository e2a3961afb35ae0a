// SPDX-License-Identifier: GPL-2.0-only
#include "common/samples.h"

#include "base/text.h"
#include "common/output.h"

#define TEXT_BYTES	8192	/* of a field in JSON */

int samples_advance(struct samples *samples)
{
	struct schedtape_error err;
	int ret = schedtape_samples_next(samples->reader, &samples->next, &err);

	samples->any = ret > 0;
	return ret < 0 ? out_failed(ret, &err) : 0;
}

int samples_decode(struct samples *samples, struct schedtape_tape *tape)
{
	const struct schedtape_formats *formats = schedtape_tape_formats(tape);
	struct schedtape_error err;

	if (!formats->n || samples->decoder)
		return 0;
	return out_failed(schedtape_decoder_new(formats, &samples->decoder, &err), &err);
}

int samples_begin(struct samples *samples, struct schedtape_tape *tape, const char *path)
{
	struct schedtape_error err;
	int ret;

	if (!schedtape_tape_formats(tape)->n)
		return 0;
	if (schedtape_tape_is_pipe(tape)) {
		out_warning(path, "a pipe: events of other tracepoints are left out; save it in a "
			    "file to see them");
		return 0;
	}
	ret = out_failed(schedtape_samples_open(tape, &samples->reader, &err), &err);
	if (!ret)
		ret = samples_decode(samples, tape);
	return ret ? ret : samples_advance(samples);
}

void samples_end(struct samples *samples)
{
	schedtape_samples_close(samples->reader);
	schedtape_decoder_free(samples->decoder);
}

const char *samples_name(const struct samples *samples)
{
	const struct schedtape_tracepoint *point;

	point = schedtape_decoder_find(samples->decoder, &samples->next);
	return point ? point->name : "?";
}

/* -- JSON ------------------------------------------------------------------ */

static struct json_object *make_number(const struct schedtape_field *field, uint64_t number)
{
	return field->is_signed ? json_object_new_int64(number) : json_object_new_uint64(number);
}

static struct json_object *make_value(const struct schedtape_field *field,
				      const struct schedtape_value *value)
{
	char safe[TEXT_BYTES], raw[TEXT_BYTES];
	struct json_object *list;
	size_t i;

	switch (field->kind) {
	case SCHEDTAPE_FIELD_NUMBER:
		return make_number(field, value->number);
	case SCHEDTAPE_FIELD_TEXT:
		snprintf(raw, sizeof(raw), "%.*s", (int)value->n, value->text);
		return json_object_new_string(text_safe(safe, sizeof(safe), raw));
	case SCHEDTAPE_FIELD_NUMBERS:
		list = json_object_new_array();
		for (i = 0; i < value->n; i++)
			json_object_array_add(list, make_number(field, value->numbers[i]));
		return list;
	}
	return NULL;
}

struct json_object *samples_json(struct samples *samples)
{
	const struct schedtape_tracepoint *point;
	const struct schedtape_value *values;
	struct json_object *object;
	int i, n;

	n = schedtape_decoder_values(samples->decoder, &samples->next, &values);
	if (n < 0)
		return NULL;
	point = schedtape_decoder_find(samples->decoder, &samples->next);
	object = json_object_new_object();
	for (i = 0; i < n; i++)
		json_object_object_add(object, point->fields[i].name,
				       make_value(&point->fields[i], &values[i]));
	return object;
}
