// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Returns the samples of other tracepoints.  Each CPU has a sequence of SAMPLES records, of which
 * one is in memory at a time.
 */
#define _FILE_OFFSET_BITS 64
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/list.h"
#include "tape/bytes.h"
#include "tape/format.h"
#include "tape/records.h"
#include "tape/samples.h"
#include "tape/tape.h"

/**
 * struct place - a SAMPLES record
 */
struct place {
	uint64_t offset;
	uint32_t file;
	uint32_t cpu;
};

/**
 * struct source - the samples of one CPU
 * @next, @end: places of its records that are not read yet
 * @raw: payload of the record in memory
 * @at, @left: the next entry, and the bytes from there on
 * @sample: the next one
 * @over: there is none
 */
struct source {
	size_t next;
	size_t end;
	unsigned char *raw;
	size_t room;
	const unsigned char *at;
	size_t left;
	struct schedtape_sample sample;
	bool over;
};

/**
 * struct schedtape_samples - a position in the samples of a tape
 * @places: of the records, by CPU, then by place in the files
 * @held: bytes of the sources' memory
 * @taken: the source whose sample the caller has; NULL: none
 */
struct schedtape_samples {
	struct schedtape_tape *tape;
	struct tape_decoder decoder;
	struct place *places;
	size_t nr_places;
	size_t places_capacity;
	struct source *sources;
	size_t nr_sources;
	uint64_t held;
	struct source *taken;
};

/* -- records --------------------------------------------------------------- */

static void note(struct schedtape_samples *samples, const struct place *place, const char *why)
{
	tape_note(samples->tape, "%sbyte %" PRIu64 ": damaged SAMPLES record: %s",
		  samples->tape->files[place->file].name, place->offset, why);
}

/* A small tape must not need much memory. */
static int reserve(struct schedtape_samples *samples, struct source *source, uint32_t bytes,
		   const char **why)
{
	*why = "with it, samples would be larger than a tape of this size has them";
	if (samples->held - source->room + bytes > tape_room(schedtape_tape_bytes(samples->tape)))
		return -EBADMSG;
	samples->held -= source->room;
	source->raw = schedtape_list_renew(source->raw, bytes + 1, &source->room, 1);
	samples->held += source->room;
	return source->raw ? 0 : -ENOMEM;
}

static int read_payload(struct schedtape_samples *samples, struct source *source,
			const struct place *place, const char **why)
{
	const struct tape_file *file = &samples->tape->files[place->file];
	struct tape_head head;
	int ret;

	ret = tape_head_read(file, place->offset, &head, why);
	if (!ret) {
		*why = tape_head_limits(&head);
		ret = *why ? -EBADMSG : 0;
	}
	if (ret)
		return ret;
	ret = reserve(samples, source, head.raw, why);
	if (ret)
		return ret;
	ret = tape_payload_read(file, &samples->decoder, &head, source->raw, why);
	source->at = source->raw;
	source->left = ret ? 0 : head.raw;
	return ret;
}

/* Takes the next entry.  False: it is impossible. */
static bool unpack(struct source *source, uint32_t cpu)
{
	struct tape_sample entry;
	uint32_t size;

	if (source->left < sizeof(entry))
		return false;
	memcpy(&entry, source->at, sizeof(entry));
	size = le32toh(entry.size);
	if (size > source->left || size < sizeof(entry) || size % TAPE_ALIGN ||
	    le32toh(entry.bytes) > size - sizeof(entry))
		return false;
	source->sample = (struct schedtape_sample) {
		.time = le64toh(entry.time),
		.lost = le64toh(entry.lost),
		.cpu = cpu,
		.pid = le32toh(entry.pid),
		.tid = le32toh(entry.tid),
		.bytes = le32toh(entry.bytes),
		.data = source->at + sizeof(entry),
	};
	source->at += size;
	source->left -= size;
	return true;
}

/* Goes to the next sample of a CPU.  0 or -errno. */
static int advance(struct schedtape_samples *samples, struct source *source)
{
	const struct place *place;
	const char *why;
	int ret;

	for (;;) {
		place = &samples->places[source->next - !!source->left];
		if (source->left && unpack(source, place->cpu))
			return 0;
		if (source->left)
			note(samples, place, "its content is impossible");
		source->left = 0;
		source->over = source->next == source->end;
		if (source->over)
			return 0;
		place = &samples->places[source->next++];
		ret = read_payload(samples, source, place, &why);
		if (ret == -EBADMSG)
			note(samples, place, why);
		else if (ret)
			return ret;
	}
}

/* -- opening --------------------------------------------------------------- */

static int compare(const void *one, const void *two)
{
	const struct place *a = one, *b = two;

	if (a->cpu != b->cpu)
		return a->cpu < b->cpu ? -1 : 1;
	if (a->file != b->file)
		return a->file < b->file ? -1 : 1;
	return a->offset < b->offset ? -1 : a->offset > b->offset;
}

/*
 * Reads what the head of a record says of its samples, and the CPU into @place.  0, -EBADMSG with
 * *@why, or another -errno.
 */
static int read_extra(const struct schedtape_tape *tape, struct place *place,
		      struct tape_samples *extra, const char **why)
{
	const struct tape_file *file = &tape->files[place->file];
	struct tape_head head;
	ssize_t got;
	size_t bytes;
	int ret;

	ret = tape_head_read(file, place->offset, &head, why);
	if (ret)
		return ret;
	*why = "its header is impossible";
	if (head.extra < TAPE_SAMPLES_LEAST)
		return -EBADMSG;
	/* An older writer has not counted what it dropped. */
	extra->dropped = 0;
	bytes = head.extra < sizeof(*extra) ? TAPE_SAMPLES_LEAST : sizeof(*extra);
	got = tape_file_read(file, extra, bytes, place->offset + sizeof(struct tape_record));
	if (got < (ssize_t)bytes)
		return got < 0 ? got : -EBADMSG;
	place->cpu = le32toh(extra->cpu);
	return place->cpu < TAPE_MAX_CPUS ? 0 : -EBADMSG;
}

/*
 * Goes to the next SAMPLES record from the other record *@at on, and reads its head.  Returns 1;
 * 0: there is none; -EBADMSG with *@why: it is damaged, but the next one may not be; -errno.
 */
static int next_record(const struct schedtape_tape *tape, size_t *at, struct place *place,
		       struct tape_samples *extra, const char **why)
{
	const struct tape_other *other;
	int ret;

	while (*at < tape->nr_others) {
		other = &tape->others[(*at)++];
		if (other->type != TAPE_SAMPLES)
			continue;
		*place = (struct place) { .offset = other->offset, .file = other->file };
		ret = read_extra(tape, place, extra, why);
		return ret ? ret : 1;
	}
	return 0;
}

static int find_places(struct schedtape_samples *samples)
{
	struct place place, *places;
	struct tape_samples extra;
	const char *why;
	size_t at = 0;
	int ret;

	while ((ret = next_record(samples->tape, &at, &place, &extra, &why))) {
		if (ret == -EBADMSG) {
			note(samples, &place, why);
			continue;
		}
		if (ret < 0)
			return ret;
		places = schedtape_list_grow(samples->places, samples->nr_places,
					     &samples->places_capacity, sizeof(*places));
		if (!places)
			return -ENOMEM;
		samples->places = places;
		places[samples->nr_places++] = place;
	}
	if (samples->nr_places)
		qsort(samples->places, samples->nr_places, sizeof(place), compare);
	return 0;
}

int tape_count_samples(const struct schedtape_tape *tape, struct tape_sample_counts *counts)
{
	struct tape_samples extra;
	struct place place;
	const char *why;
	size_t at = 0;
	int ret;

	*counts = (struct tape_sample_counts){ 0 };
	while ((ret = next_record(tape, &at, &place, &extra, &why))) {
		if (ret == -EBADMSG)
			continue;
		if (ret < 0)
			return ret;
		counts->samples += le32toh(extra.samples);
		counts->lost += le64toh(extra.lost);
		counts->dropped += le64toh(extra.dropped);
	}
	return 0;
}

static int make_sources(struct schedtape_samples *samples)
{
	size_t i, n = 0;
	int ret = 0;

	for (i = 0; i < samples->nr_places; i++)
		n += !i || samples->places[i].cpu != samples->places[i - 1].cpu;
	samples->sources = calloc(n + 1, sizeof(*samples->sources));
	if (!samples->sources)
		return -ENOMEM;
	for (i = 0; i < samples->nr_places; i++) {
		if (!i || samples->places[i].cpu != samples->places[i - 1].cpu)
			samples->sources[samples->nr_sources++].next = i;
		samples->sources[samples->nr_sources - 1].end = i + 1;
	}
	for (i = 0; i < n && !ret; i++)
		ret = advance(samples, &samples->sources[i]);
	return ret;
}

static int fail(const struct schedtape_samples *samples, int ret, struct schedtape_error *err)
{
	return schedtape_fail(err, ret, "%s: %s", samples->tape->path, strerror(-ret));
}

int schedtape_samples_open(struct schedtape_tape *tape, struct schedtape_samples **samples,
			   struct schedtape_error *err)
{
	struct schedtape_samples *s;
	int ret;

	*samples = NULL;
	if (tape->stream)
		return schedtape_fail(err, -ESPIPE, "%s: a pipe's samples cannot be read: save it "
				      "in a file", tape->path);
	s = calloc(1, sizeof(*s));
	if (!s)
		return schedtape_fail(err, -ENOMEM, "out of memory");
	s->tape = tape;
	ret = tape_decoder_init(&s->decoder);
	if (!ret)
		ret = find_places(s);
	if (!ret)
		ret = make_sources(s);
	if (ret) {
		fail(s, ret, err);
		schedtape_samples_close(s);
		return ret;
	}
	*samples = s;
	return 0;
}

/* -- reading --------------------------------------------------------------- */

int schedtape_samples_next(struct schedtape_samples *samples, struct schedtape_sample *sample,
			   struct schedtape_error *err)
{
	struct source *first = NULL;
	int ret = 0;
	size_t i;

	if (samples->taken)
		ret = advance(samples, samples->taken);
	samples->taken = NULL;
	if (ret)
		return fail(samples, ret, err);
	for (i = 0; i < samples->nr_sources; i++)
		if (!samples->sources[i].over &&
		    (!first || samples->sources[i].sample.time < first->sample.time))
			first = &samples->sources[i];
	if (!first)
		return 0;
	samples->taken = first;
	*sample = first->sample;
	return 1;
}

void schedtape_samples_close(struct schedtape_samples *samples)
{
	size_t i;

	if (!samples)
		return;
	for (i = 0; i < samples->nr_sources; i++)
		free(samples->sources[i].raw);
	free(samples->sources);
	free(samples->places);
	tape_decoder_exit(&samples->decoder);
	free(samples);
}
