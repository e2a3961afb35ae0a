// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Reads records of a tape from a file.  Every length is checked against the file
 * and the format's limits before memory is allocated.
 */
#define _FILE_OFFSET_BITS 64
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "tape/columns.h"
#include "tape/read.h"

#define BLOCK		65536	/* bytes at a time, to check a record without keeping it */
#define RECORD_MAX	(sizeof(struct tape_record) + TAPE_MAX_EXTRA + \
			 ZSTD_COMPRESSBOUND(TAPE_MAX_RAW))

static int file_type(const struct tape_file *file, const struct stat *st,
		     struct schedtape_error *err)
{
	if (S_ISREG(st->st_mode))
		return 0;
	if (S_ISDIR(st->st_mode))
		return schedtape_fail(err, -EISDIR, "%s: is a directory, not a tape", file->path);
	if (S_ISFIFO(st->st_mode) || S_ISSOCK(st->st_mode))
		return schedtape_fail(err, -ESPIPE, "%s: a tape cannot be read from a pipe; "
				      "save it in a file first", file->path);
	return schedtape_fail(err, -ESPIPE, "%s: a tape can only be read from a regular file",
			      file->path);
}

/* Opens a file.  The caller calls tape_file_close(), also on failure. */
int tape_file_open(struct tape_file *file, const char *path, struct schedtape_error *err)
{
	struct stat st;
	int code;

	file->fd = -1;
	file->path = strdup(strcmp(path, "-") ? path : "standard input");
	if (!file->path)
		return schedtape_fail(err, -ENOMEM, "out of memory");

	if (strcmp(path, "-"))
		/* Without O_NONBLOCK, open() of a FIFO would wait for its writer. */
		file->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	else
		file->fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);
	if (file->fd < 0 || fstat(file->fd, &st)) {
		code = -errno;
		return schedtape_fail(err, code, "%s: %s", file->path, strerror(-code));
	}
	file->size = st.st_size;
	return file_type(file, &st, err);
}

void tape_file_close(struct tape_file *file)
{
	if (file->fd >= 0)
		close(file->fd);
	free(file->path);
}

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

/* Returns the bytes read, fewer than @bytes if the file ends there; or -errno. */
ssize_t tape_file_read(const struct tape_file *file, void *to, size_t bytes, uint64_t offset)
{
	size_t done = 0;
	ssize_t ret;

	while (done < bytes) {
		ret = pread(file->fd, (char *)to + done, bytes - done, offset + done);
		if (ret < 0 && errno == EINTR)
			continue;
		if (ret < 0)
			return -errno;
		if (!ret)
			break;
		done += ret;
	}
	return done;
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

int tape_head_read(const struct tape_file *file, uint64_t offset, struct tape_head *head,
		   const char **why)
{
	struct tape_record rec;
	uint64_t bytes;
	int ret;

	if (file->size - offset < sizeof(rec)) {
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
	if (bytes > file->size - offset) {
		*why = "the tape ends within a record";
		return -EBADMSG;
	}
	bytes += tape_padding(bytes);
	/* At the end of the file, padding may be missing. */
	head->next = bytes < file->size - offset ? offset + bytes : file->size;
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
	if (bytes > RECORD_MAX)
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

int tape_payload_read(const struct tape_file *file, struct tape_decoder *decoder,
		      const struct tape_head *head, void *to, const char **why)
{
	const unsigned char *payload;
	size_t raw = head->raw;
	int ret;

	*why = tape_head_limits(head);
	if (*why)
		return -EBADMSG;
	ret = tape_record_read(file, decoder, head, why);
	if (ret)
		return ret;
	payload = decoder->buffer + sizeof(struct tape_record) + head->extra;
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
