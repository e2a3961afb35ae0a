// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Records of a tape, as they come from the file.  Every length is checked
 * against the file and the format's limits before anything is allocated.
 */
#define _FILE_OFFSET_BITS 64
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tape-read.h"

#define BLOCK	65536	/* bytes at a time, where a record isn't needed whole */

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

/* On failure, too, the caller calls tape_file_close(). */
int tape_file_open(struct tape_file *file, const char *path, struct schedtape_error *err)
{
	struct stat st;
	int code;

	file->fd = -1;
	file->path = strdup(strcmp(path, "-") ? path : "standard input");
	file->zstd = ZSTD_createDCtx();
	file->sum = XXH64_createState();
	file->capacity = BLOCK;
	file->buffer = malloc(file->capacity);
	if (!file->path || !file->zstd || !file->sum || !file->buffer)
		return schedtape_fail(err, -ENOMEM, "out of memory");

	if (strcmp(path, "-"))
		/* Without O_NONBLOCK it would wait for a writer of a FIFO. */
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
	ZSTD_freeDCtx(file->zstd);
	XXH64_freeState(file->sum);
	free(file->buffer);
	free(file->path);
}

/* Fewer than @bytes: the file ends there.  -errno. */
ssize_t tape_file_read(struct tape_file *file, void *to, size_t bytes, uint64_t offset)
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

static int file_read_all(struct tape_file *file, void *to, size_t bytes, uint64_t offset,
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

int tape_head_read(struct tape_file *file, uint64_t offset, struct tape_head *head,
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
	/* Only padding may be missing. */
	head->next = bytes < file->size - offset ? offset + bytes : file->size;
	return 0;
}

/* Only the checksum, of a record of any size. */
int tape_head_check(struct tape_file *file, const struct tape_head *head, const char **why)
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
	XXH64_reset(file->sum, 0);
	XXH64_update(file->sum, &rec, sizeof(rec));

	for (; left; left -= now, at += now) {
		now = left < BLOCK ? left : BLOCK;
		ret = file_read_all(file, file->buffer, now, at, why);
		if (ret)
			return ret;
		XXH64_update(file->sum, file->buffer, now);
	}

	if (XXH64_digest(file->sum) == head->sum)
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

static int file_reserve(struct tape_file *file, size_t bytes)
{
	unsigned char *buffer;

	if (bytes <= file->capacity)
		return 0;
	buffer = realloc(file->buffer, bytes);
	if (!buffer)
		return -ENOMEM;
	file->buffer = buffer;
	file->capacity = bytes;
	return 0;
}

int tape_payload_read(struct tape_file *file, const struct tape_head *head, void *to,
		      const char **why)
{
	size_t at = sizeof(struct tape_record) + head->extra;
	size_t raw = head->raw;
	int ret;

	*why = tape_head_limits(head);
	if (*why)
		return -EBADMSG;
	ret = file_reserve(file, at + head->stored);
	if (ret)
		return ret;
	ret = file_read_all(file, file->buffer, at + head->stored, head->offset, why);
	if (ret)
		return ret;

	memset(file->buffer + offsetof(struct tape_record, sum), 0, sizeof(uint64_t));
	*why = "wrong checksum";
	if (XXH64(file->buffer, at + head->stored, 0) != head->sum)
		return -EBADMSG;

	if (head->flags & TAPE_ZSTD) {
		*why = "its payload cannot be decompressed";
		if (ZSTD_decompressDCtx(file->zstd, to, raw, file->buffer + at,
					head->stored) != raw)
			return -EBADMSG;
	} else {
		memcpy(to, file->buffer + at, raw);
	}
	return 0;
}
