// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Reads records of a tape from a file.  Every length is checked against the file
 * and the format's limits before memory is allocated.
 */
#define _FILE_OFFSET_BITS 64
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tape/bytes.h"
#include "tape/columns.h"
#include "tape/format.h"
#include "tape/records.h"

#define BLOCK		65536	/* bytes at a time, to check a record without keeping it */

int tape_decoder_init(struct tape_decoder *decoder)
{
	decoder->zstd = ZSTD_createDCtx();
	decoder->sum = XXH64_createState();
	decoder->buffer = malloc(BLOCK);
	decoder->capacity = BLOCK;
	return decoder->zstd && decoder->sum && decoder->buffer ? 0 : -ENOMEM;
}

void tape_decoder_exit(struct tape_decoder *decoder)
{
	ZSTD_freeDCtx(decoder->zstd);
	XXH64_freeState(decoder->sum);
	free(decoder->buffer);
	free(decoder->columns);
}

static int file_read_all(const struct tape_file *file, void *to, size_t bytes, uint64_t offset,
			 const char **why)
{
	ssize_t got = tape_file_read(file, to, bytes, offset);

	if (got < 0)
		return got;
	if ((size_t)got == bytes)
		return 0;
	*why = "the file has become shorter";
	return -EBADMSG;
}

static const char *head_magic(const struct tape_record *rec)
{
	static const struct tape_record zeros;

	if (!memcmp(rec->magic, TAPE_RECORD_MAGIC, sizeof(rec->magic)))
		return NULL;
	if (!memcmp(rec, &zeros, sizeof(zeros)))
		return "zeros instead of a record";
	return "no record begins here";
}

/* Waits for all of a record.  A length of a pipe's record must not need more memory than this. */
static int head_reach(const struct tape_file *file, uint64_t offset, uint64_t bytes,
		      const char **why)
{
	if (!file->pipe || bytes <= TAPE_MAX_RECORD)
		return tape_file_reach(file, offset, bytes);
	*why = "too large to be read from a pipe";
	return -EBADMSG;
}

int tape_head_read(const struct tape_file *file, uint64_t offset, struct tape_head *head,
		   const char **why)
{
	struct tape_record rec;
	uint64_t bytes, size;
	int ret;

	ret = tape_file_reach(file, offset, sizeof(rec));
	if (ret)
		return ret;
	size = tape_file_size(file);
	if (size - offset < sizeof(rec)) {
		*why = "the tape ends within a record's header";
		return -EBADMSG;
	}
	ret = file_read_all(file, &rec, sizeof(rec), offset, why);
	if (ret)
		return ret;
	*why = head_magic(&rec);
	if (*why)
		return -EBADMSG;

	head->offset = offset;
	head->sum = le64toh(rec.sum);
	head->extra = le32toh(rec.extra);
	head->stored = le32toh(rec.stored);
	head->raw = le32toh(rec.raw);
	head->type = le16toh(rec.type);
	head->flags = le16toh(rec.flags);

	bytes = sizeof(rec) + (uint64_t)head->extra + head->stored;
	ret = head_reach(file, offset, bytes + tape_padding(bytes), why);
	if (ret)
		return ret;
	size = tape_file_size(file);
	if (bytes > size - offset) {
		*why = "the tape ends within a record";
		return -EBADMSG;
	}
	bytes += tape_padding(bytes);
	/* At the end of the file, padding may be missing. */
	head->next = bytes < size - offset ? offset + bytes : size;
	return 0;
}

/* Checks the checksum only, for a record of any size. */
int tape_head_check(const struct tape_file *file, struct tape_decoder *decoder,
		    const struct tape_head *head, const char **why)
{
	uint64_t at = head->offset + sizeof(struct tape_record);
	uint64_t left = (uint64_t)head->extra + head->stored;
	struct tape_record rec;
	size_t now;
	int ret;

	ret = file_read_all(file, &rec, sizeof(rec), head->offset, why);
	if (ret)
		return ret;
	rec.sum = 0;
	XXH64_reset(decoder->sum, 0);
	XXH64_update(decoder->sum, &rec, sizeof(rec));

	for (; left; left -= now, at += now) {
		now = left < BLOCK ? left : BLOCK;
		ret = file_read_all(file, decoder->buffer, now, at, why);
		if (ret)
			return ret;
		XXH64_update(decoder->sum, decoder->buffer, now);
	}

	if (XXH64_digest(decoder->sum) == head->sum)
		return 0;
	*why = "wrong checksum";
	return -EBADMSG;
}

const char *tape_head_limits(const struct tape_head *head)
{
	if (head->flags & ~TAPE_KNOWN_FLAGS)
		return "stored in a way that this version does not know";
	if (head->extra > TAPE_MAX_EXTRA || head->raw > TAPE_MAX_RAW ||
	    head->stored > ZSTD_COMPRESSBOUND(TAPE_MAX_RAW))
		return "larger than the format allows";
	if (!(head->flags & TAPE_ZSTD) && head->stored != head->raw)
		return "two lengths that contradict each other";
	return NULL;
}

static int decoder_reserve(struct tape_decoder *decoder, size_t bytes)
{
	unsigned char *buffer;

	if (bytes <= decoder->capacity)
		return 0;
	buffer = realloc(decoder->buffer, bytes);
	if (!buffer)
		return -ENOMEM;
	decoder->buffer = buffer;
	decoder->capacity = bytes;
	return 0;
}

int tape_record_read(const struct tape_file *file, struct tape_decoder *decoder,
		     const struct tape_head *head, const char **why)
{
	size_t bytes = sizeof(struct tape_record) + (size_t)head->extra + head->stored;
	uint64_t sum = 0;
	int ret;

	*why = "too large";
	if (bytes > TAPE_MAX_RECORD)
		return -EBADMSG;
	ret = decoder_reserve(decoder, bytes);
	if (ret)
		return ret;
	ret = file_read_all(file, decoder->buffer, bytes, head->offset, why);
	if (ret)
		return ret;

	memcpy(decoder->buffer + offsetof(struct tape_record, sum), &sum, sizeof(sum));
	*why = "wrong checksum";
	if (XXH64(decoder->buffer, bytes, 0) != head->sum)
		return -EBADMSG;
	sum = htole64(head->sum);
	memcpy(decoder->buffer + offsetof(struct tape_record, sum), &sum, sizeof(sum));
	return 0;
}

static int decoder_columns(struct tape_decoder *decoder, const unsigned char *payload,
			   const struct tape_head *head, void *to, const char **why)
{
	unsigned char *columns;

	*why = "its payload cannot be in columns";
	if (head->raw % (TAPE_COLUMNS * sizeof(uint64_t)))
		return -EBADMSG;
	if (decoder->columns_bytes < head->raw) {
		columns = realloc(decoder->columns, head->raw);
		if (!columns)
			return -ENOMEM;
		decoder->columns = columns;
		decoder->columns_bytes = head->raw;
	}
	*why = "its payload cannot be decompressed";
	if (ZSTD_decompressDCtx(decoder->zstd, decoder->columns, head->raw, payload,
				head->stored) != head->raw)
		return -EBADMSG;
	tape_columns_join(to, decoder->columns, head->raw);
	return 0;
}

int tape_payload_unpack(struct tape_decoder *decoder, const struct tape_head *head,
			const unsigned char *record, void *to, const char **why)
{
	const unsigned char *payload = record + sizeof(struct tape_record) + head->extra;
	size_t raw = head->raw;

	if (!(head->flags & TAPE_ZSTD)) {
		memcpy(to, payload, raw);
		return 0;
	}
	if (head->flags & TAPE_BY_COLUMNS)
		return decoder_columns(decoder, payload, head, to, why);
	*why = "its payload cannot be decompressed";
	return ZSTD_decompressDCtx(decoder->zstd, to, raw, payload, head->stored) == raw ?
	       0 : -EBADMSG;
}

int tape_payload_read(const struct tape_file *file, struct tape_decoder *decoder,
		      const struct tape_head *head, void *to, const char **why)
{
	int ret;

	*why = tape_head_limits(head);
	if (*why)
		return -EBADMSG;
	ret = tape_record_read(file, decoder, head, why);
	return ret ? ret : tape_payload_unpack(decoder, head, decoder->buffer, to, why);
}
