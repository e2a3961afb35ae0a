// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Makes the records of other tracepoints: their formats, and samples.
 */
#define _FILE_OFFSET_BITS 64
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "base/error.h"
#include "base/sized.h"
#include "tape/samples.h"
#include "tape/write.h"

static struct json_object *format_json(const struct schedtape_format *format)
{
	struct json_object *object = json_object_new_object();

	json_object_object_add(object, "id", json_object_new_uint64(format->id));
	json_object_object_add(object, "system", json_object_new_string(format->system));
	json_object_object_add(object, "name", json_object_new_string(format->name));
	json_object_object_add(object, "format", json_object_new_string(format->format));
	if (format->filter)
		json_object_object_add(object, "filter", json_object_new_string(format->filter));
	return object;
}

int schedtape_writer_formats(struct schedtape_writer *writer,
			     const struct schedtape_formats *formats, struct schedtape_error *err)
{
	struct json_object *object, *list;
	struct schedtape_formats own;
	size_t i;
	int ret;

	ret = sized_get(&own, sizeof(own), formats, "the formats", err);
	if (ret)
		return ret;
	object = json_object_new_object();
	list = json_object_new_array();
	for (i = 0; i < own.n; i++)
		json_object_array_add(list, format_json(&own.formats[i]));
	json_object_object_add(object, "long_bytes", json_object_new_uint64(own.long_bytes));
	json_object_object_add(object, "big_endian", json_object_new_boolean(own.big_endian));
	json_object_object_add(object, "events", list);
	ret = tape_writer_json(writer, TAPE_FORMATS, object, err);
	json_object_put(object);
	return ret;
}

static size_t sample_bytes(const struct schedtape_sample *sample)
{
	size_t bytes = sizeof(struct tape_sample) + sample->bytes;

	return bytes + tape_padding(bytes);
}

/* Returns where the next entry begins. */
static unsigned char *pack(unsigned char *at, const struct schedtape_sample *sample)
{
	size_t size = sample_bytes(sample);
	struct tape_sample entry = {
		.size = htole32(size),
		.bytes = htole32(sample->bytes),
		.pid = htole32(sample->pid),
		.tid = htole32(sample->tid),
		.time = htole64(sample->time),
		.lost = htole64(sample->lost),
	};

	memset(at + size - TAPE_ALIGN, 0, TAPE_ALIGN);
	memcpy(at, &entry, sizeof(entry));
	memcpy(at + sizeof(entry), sample->data, sample->bytes);
	return at + size;
}

int tape_writer_samples(struct schedtape_writer *writer, uint32_t cpu,
			const struct schedtape_sample *samples, size_t n, uint64_t dropped,
			struct schedtape_error *err)
{
	struct {
		struct tape_record rec;
		struct tape_samples samples;
	} head = { 0 };
	unsigned char *raw, *at;
	size_t i, bytes = 0;
	uint64_t lost = 0;
	int ret;

	if (!n && !dropped)
		return 0;
	for (i = 0; i < n; i++) {
		if (samples[i].cpu != cpu)
			return schedtape_fail(err, -EINVAL, "%s: samples of CPUs %u and %u in one "
					      "record", writer->path, cpu, samples[i].cpu);
		bytes += sample_bytes(&samples[i]);
		lost += samples[i].lost;
	}
	if (bytes > TAPE_MAX_RAW)
		return schedtape_fail(err, -E2BIG, "%s: samples of %zu bytes in one record",
				      writer->path, bytes);
	raw = malloc(bytes + 1);
	if (!raw)
		return schedtape_fail(err, tape_writer_error(writer, -ENOMEM), "%s: out of memory",
				      writer->path);
	for (i = 0, at = raw; i < n; i++)
		at = pack(at, &samples[i]);
	tape_record_init(&head.rec, TAPE_SAMPLES, sizeof(head.samples), bytes);
	head.samples = (struct tape_samples) {
		.cpu = htole32(cpu),
		.samples = htole32(n),
		.time = htole64(n ? samples[0].time : 0),
		.end = htole64(n ? samples[n - 1].time : 0),
		.lost = htole64(lost),
		.dropped = htole64(dropped),
	};
	ret = tape_writer_plain(writer, &head, sizeof(head), raw, bytes, err);
	free(raw);
	return ret;
}

int schedtape_writer_samples(struct schedtape_writer *writer,
			     const struct schedtape_sample *samples, size_t n,
			     struct schedtape_error *err)
{
	return n ? tape_writer_samples(writer, samples[0].cpu, samples, n, 0, err) : 0;
}
