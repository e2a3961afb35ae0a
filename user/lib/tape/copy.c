// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Copies a tape into one file.  The tape may be a directory, truncated or corrupt.
 * Records are copied unchanged.  Only META and END may be new: META no longer names
 * other files, but describes what was missing, and END counts it.  Chunks of another time than the
 * caller wants are left out.
 */
#define _FILE_OFFSET_BITS 64
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "base/error.h"
#include "base/sized.h"
#include "tape/bytes.h"
#include "tape/copy.h"
#include "tape/cursors.h"
#include "tape/format.h"
#include "tape/losses.h"
#include "tape/meta.h"
#include "tape/records.h"
#include "tape/tape.h"
#include "tape/write.h"

/**
 * struct copy - a copy being made
 * @order: indices of the chunks, in the order of the copy
 * @total, @done: bytes, for the progress
 * @marked: bytes of the copy before the last PROGRESS record
 */
struct copy {
	struct schedtape_tape *tape;
	struct schedtape_writer *writer;
	struct schedtape_copy_options options;
	size_t *order;
	uint64_t total;
	uint64_t done;
	uint64_t marked;
};

static int copy_progress(struct copy *copy, uint64_t bytes, struct schedtape_error *err)
{
	int ret = 0;

	copy->done += bytes;
	if (copy->options.progress)
		ret = copy->options.progress(copy->options.arg, copy->done, copy->total);
	return ret ? schedtape_fail(err, ret, "the copy was ended: %s", strerror(-ret)) : 0;
}

int tape_copy_read(struct schedtape_tape *tape, struct tape_index *index, bool recover,
		   struct tape_head *head, struct schedtape_error *err)
{
	const struct tape_file *file = &tape->files[index->file];
	const char *why;
	int ret;

	if (index->damaged)
		return -EBADMSG;
	ret = tape_head_read(file, index->offset, head, &why);
	if (!ret)
		ret = tape_record_read(file, &tape->decoder, head, &why);
	if (!ret)
		return 0;
	if (ret != -EBADMSG)
		why = strerror(-ret);
	if (ret == -EBADMSG && recover) {
		tape_note(tape, "%sbyte %" PRIu64 ": damaged chunk: %s", file->name,
			  index->offset, why);
		index->damaged = true;
	}
	return schedtape_fail(err, ret, "%s: chunk at byte %" PRIu64 ": %s", file->path,
			      index->offset, why);
}

/* -- the time that is copied ------------------------------------------------ */

static bool is_part(const struct copy *copy)
{
	return copy->options.from || copy->options.to;
}

/* Do all of the chunk's events come after the time that is copied? */
static bool is_behind(const struct copy *copy, const struct tape_index *index)
{
	return copy->options.to && index->cpu != STAPE_CPU_NONE &&
	       tape_clocks_ns(&copy->tape->clocks, index->time) > copy->options.to;
}

static bool is_left_out(const struct copy *copy, const struct tape_index *index)
{
	return is_behind(copy, index) ||
	       (index->cpu != STAPE_CPU_NONE &&
		tape_clocks_ns(&copy->tape->clocks, index->end) < copy->options.from);
}

/*
 * Counts events behind the time that is copied as lost.  The pages' numbers show that others are
 * missing before it.
 */
static void lose_rest(const struct copy *copy, const struct tape_cursor *c,
		      struct schedtape_cpu *cpu)
{
	const struct tape_index *index;
	size_t i;

	for (i = c->chunks_first; i < c->chunks_end; i++) {
		index = &copy->tape->index[i];
		if (index->damaged || !is_behind(copy, index))
			continue;
		tape_lost_add(cpu, index->events, index->time, index->end);
		cpu->events -= index->events;
	}
}

/* -- what was missing ------------------------------------------------------ */

/*
 * Returns the time from which on the copy is complete.  If no end record has it, this is the
 * latest begin of a CPU's oldest page.
 */
static uint64_t window_of(const struct schedtape_tape *tape)
{
	const struct tape_index *index = tape->index;
	uint64_t window = 0;
	size_t i, at;

	if (tape->ended || !tape_is_overwritten(tape))
		return tape->window;
	for (i = 0; i < tape->nr_cursors; i++) {
		at = tape->cursors[i].chunks_first;
		while (at < tape->cursors[i].chunks_end && index[at].damaged)
			at++;
		if (at < tape->cursors[i].chunks_end && index[at].seq && index[at].time > window)
			window = index[at].time;
	}
	return window;
}

static int put_new_end(struct copy *copy, struct schedtape_error *err)
{
	const struct schedtape_tape *tape = copy->tape;
	struct schedtape_end end = {
		.start_time = tape->end.began,
		.stop_time = tape->end.stop_time,
		.window_start = window_of(tape),
		.ended_by = tape->end.ended_by,
	};
	struct schedtape_cpu *cpus = calloc(tape->nr_cpus + 1, sizeof(*cpus));
	const struct tape_cursor *c;
	struct json_object *object;
	size_t i;
	int ret;

	if (!cpus)
		return schedtape_fail(err, -ENOMEM, "out of memory");
	for (i = 0; i < tape->nr_cpus; i++)
		cpus[i] = tape->cpus[i];
	for (i = 0; i < tape->nr_cursors; i++) {
		c = &tape->cursors[i];
		tape_lost_count(tape, c, &cpus[c->end - tape->cpus]);
		lose_rest(copy, c, &cpus[c->end - tape->cpus]);
	}
	end.cpus = cpus;
	end.nr_cpus = tape->nr_cpus;
	object = tape_end_json(&end);
	ret = tape_writer_json(copy->writer, TAPE_END, object, err);
	json_object_put(object);
	free(cpus);
	return ret;
}

/* -- copying --------------------------------------------------------------- */

static int put_bytes(struct schedtape_writer *writer, const void *bytes, size_t n,
		     struct schedtape_error *err)
{
	static const unsigned char zeros[TAPE_ALIGN];
	struct iovec iov[2] = {
		{ .iov_base = (void *)bytes, .iov_len = n },
		{ .iov_base = (void *)zeros, .iov_len = tape_padding(n) },
	};

	return tape_writer_put(writer, iov, 2, err);
}

int tape_copy_record(const struct schedtape_tape *tape, const struct tape_head *head,
		     struct schedtape_writer *writer, struct schedtape_error *err)
{
	return put_bytes(writer, tape->decoder.buffer,
			 sizeof(struct tape_record) + head->extra + head->stored, err);
}

int tape_copy_header(const struct schedtape_tape *tape, uint16_t minor,
		     struct schedtape_writer *writer, struct schedtape_error *err)
{
	const struct tape_file *file = &tape->files[0];
	unsigned char bytes[TAPE_MAX_HEADER];
	struct tape_header header;
	ssize_t got = tape_file_read(file, bytes, file->header, 0);

	if (got != file->header)
		return schedtape_fail(err, got < 0 ? got : -EIO, "%s: cannot be read",
				      file->path);
	memcpy(&header, bytes, sizeof(header));
	if (le16toh(header.minor) < minor) {
		header.minor = htole16(minor);
		header.sum = 0;
		memcpy(bytes, &header, sizeof(header));
		header.sum = htole64(XXH64(bytes, file->header, 0));
		memcpy(bytes, &header, sizeof(header));
	}
	return put_bytes(writer, bytes, file->header, err);
}

struct json_object *tape_copy_meta(const struct schedtape_tape *tape, struct schedtape_error *err)
{
	struct json_object *meta = NULL;

	if (json_object_deep_copy(tape->meta, &meta, NULL)) {
		schedtape_fail(err, -ENOMEM, "out of memory");
		return NULL;
	}
	json_object_object_del(meta, "streams");
	json_object_object_del(meta, "stream");
	if (tape->damage[0])
		json_object_object_add(meta, "recovered", json_object_new_string(tape->damage));
	return meta;
}

static int put_meta(struct copy *copy, struct schedtape_error *err)
{
	struct json_object *meta = tape_copy_meta(copy->tape, err);
	int ret;

	if (!meta)
		return -ENOMEM;
	ret = tape_writer_json(copy->writer, TAPE_META, meta, err);
	json_object_put(meta);
	return ret;
}

/* META and PROGRESS are always new.  END comes last; it is new with @recover, and for a part. */
static bool is_wanted(const struct copy *copy, const struct tape_other *other, bool end)
{
	const struct tape_file *files = copy->tape->files;

	switch (other->type) {
	case TAPE_META:
	case TAPE_PROGRESS:
		return false;
	case TAPE_END:
		return end && !files[other->file].stream;
	case TAPE_CLOCK:
		/* Streams have copies of the main file's records. */
		return !end && (!files[other->file].stream || files[0].stream);
	}
	return !end;
}

int tape_copy_other(struct schedtape_tape *tape, const struct tape_other *other, bool recover,
		    struct schedtape_writer *writer, struct schedtape_error *err)
{
	const struct tape_file *file = &tape->files[other->file];
	struct tape_head head;
	const char *why;
	int ret;

	ret = tape_head_read(file, other->offset, &head, &why);
	if (!ret)
		ret = tape_record_read(file, &tape->decoder, &head, &why);
	if (!ret)
		return tape_copy_record(tape, &head, writer, err);
	if (ret == -EBADMSG && recover) {
		tape_note(tape, "%sbyte %" PRIu64 ": %s", file->name, other->offset, why);
		return 0;
	}
	return schedtape_fail(err, ret, "%s: byte %" PRIu64 ": %s", file->path, other->offset,
			      ret == -EBADMSG ? why : strerror(-ret));
}

static int put_others(struct copy *copy, bool end, struct schedtape_error *err)
{
	const struct schedtape_tape *tape = copy->tape;
	size_t i;
	int ret = 0;

	for (i = 0; i < tape->nr_others && !ret; i++)
		if (is_wanted(copy, &tape->others[i], end))
			ret = tape_copy_other(copy->tape, &tape->others[i],
					      copy->options.recover, copy->writer, err);
	return ret;
}

/* No chunk that follows has an event before @time. */
static int put_progress(struct copy *copy, uint64_t time, struct schedtape_error *err)
{
	struct schedtape_progress progress = {
		.size = sizeof(progress),
		.time = time,
		.start_time = copy->tape->end.began,
		.window_start = window_of(copy->tape),
	};

	copy->marked = copy->writer->bytes;
	return schedtape_writer_progress(copy->writer, &progress, err);
}

static int put_chunks(struct copy *copy, struct schedtape_error *err)
{
	struct tape_index *index;
	struct tape_head head;
	size_t i;
	int ret;

	ret = put_progress(copy, 0, err);
	for (i = 0; i < copy->tape->nr_index && !ret; i++) {
		index = &copy->tape->index[copy->order[i]];
		if (is_left_out(copy, index))
			continue;
		ret = tape_copy_read(copy->tape, index, copy->options.recover, &head, err);
		if (ret == -EBADMSG && copy->options.recover) {
			ret = 0;
			continue;
		}
		if (!ret && copy->writer->bytes - copy->marked >= SCHEDTAPE_PROGRESS_BYTES)
			ret = put_progress(copy, index->time, err);
		if (!ret)
			ret = tape_copy_record(copy->tape, &head, copy->writer, err);
		if (!ret)
			ret = copy_progress(copy, head.next - head.offset, err);
	}
	return ret;
}

static int put_all(struct copy *copy, struct schedtape_error *err)
{
	int ret = tape_copy_header(copy->tape, 0, copy->writer, err);

	if (!ret)
		ret = put_meta(copy, err);
	if (!ret)
		ret = put_others(copy, false, err);
	if (!ret)
		ret = put_chunks(copy, err);
	if (ret)
		return ret;
	return copy->options.recover || is_part(copy) ? put_new_end(copy, err) :
							put_others(copy, true, err);
}

/* -- the copy -------------------------------------------------------------- */

static int order_compare(const void *one, const void *two, void *arg)
{
	size_t i = *(const size_t *)one, k = *(const size_t *)two;
	const struct tape_index *a = (const struct tape_index *)arg + i;
	const struct tape_index *b = (const struct tape_index *)arg + k;

	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	return i < k ? -1 : i > k;
}

size_t *tape_copy_order(const struct schedtape_tape *tape)
{
	size_t *order = calloc(tape->nr_index + 1, sizeof(*order));
	size_t i;

	if (!order)
		return NULL;
	for (i = 0; i < tape->nr_index; i++)
		order[i] = i;
	if (tape->nr_index)
		qsort_r(order, tape->nr_index, sizeof(*order), order_compare, tape->index);
	return order;
}

int schedtape_tape_copy(struct schedtape_tape *tape, const char *path,
			const struct schedtape_copy_options *options, uint64_t *bytes,
			struct schedtape_error *err)
{
	struct copy copy = {
		.tape = tape,
		.total = schedtape_tape_bytes(tape),
	};
	int ret, closed;

	ret = sized_get(&copy.options, sizeof(copy.options), options, "the options of a copy", err);
	if (ret)
		return ret;
	if (tape->stream)
		return schedtape_fail(err, -ESPIPE, "%s: a pipe cannot be copied: save it in a "
				      "file instead", tape->path);
	if (tape->damage[0] && !copy.options.recover)
		return schedtape_fail(err, -EBADMSG, "%s: %s", tape->path, tape->damage);
	/* Ends the thread that merges ahead, which uses the same decoder. */
	ret = schedtape_tape_rewind(tape, err);
	if (ret)
		return ret;
	copy.order = tape_copy_order(tape);
	if (!copy.order)
		return schedtape_fail(err, -ENOMEM, "out of memory");
	ret = tape_writer_new(path, -1, 0, &copy.writer, err);
	if (!ret) {
		ret = put_all(&copy, err);
		*bytes = copy.writer->bytes;
		closed = schedtape_writer_close(copy.writer, ret ? NULL : err);
		ret = ret ? ret : closed;
	}
	free(copy.order);
	return ret;
}
