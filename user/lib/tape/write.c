// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Writes tapes.  Records are appended with writev(2), and never changed later, so that
 * the tape may be a pipe.  Every record is written in one call.  If the call fails, the
 * partial record is truncated where that is possible.
 */
#define _FILE_OFFSET_BITS 64
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <json-c/json.h>

#include "base/error.h"
#include "base/sized.h"
#include "tape/columns.h"
#include "tape/json.h"
#include "tape/meta.h"
#include "tape/write.h"

#define HEAD_MAX	(sizeof(struct tape_record) + sizeof(struct tape_chunk))

/* -- output ---------------------------------------------------------------- */

/* Truncates a record that was only partly written. */
static int writer_cut(struct schedtape_writer *w, size_t written)
{
	struct stat st;
	off_t at;

	if (!written)
		return 0;
	if (fstat(w->fd, &st) || !S_ISREG(st.st_mode))
		return -ESPIPE;

	/* Don't use w->bytes, because standard output may have begun anywhere in its file. */
	at = lseek(w->fd, 0, SEEK_CUR);
	if (at < (off_t)written)
		return -ESPIPE;
	at -= written;
	if (ftruncate(w->fd, at) || lseek(w->fd, at, SEEK_SET) != at)
		return -errno;
	return 0;
}

int tape_writer_error(struct schedtape_writer *w, int code)
{
	if (!w->first_error)
		w->first_error = code;
	return code;
}

int tape_writer_put(struct schedtape_writer *w, struct iovec *iov, int n,
		    struct schedtape_error *err)
{
	size_t written = 0;
	ssize_t ret;
	int code;

	if (w->failed)
		return schedtape_fail(err, w->failed, "%s: ends within a record at byte %" PRIu64
				      " since an earlier error", w->path, w->bytes);

	while (n) {
		ret = writev(w->fd, iov, n);
		if (ret < 0 && errno == EINTR)
			continue;
		if (ret <= 0)
			goto err_write;
		written += ret;
		for (; n && (size_t)ret >= iov->iov_len; n--, iov++)
			ret -= iov->iov_len;
		if (n) {
			iov->iov_base = (char *)iov->iov_base + ret;
			iov->iov_len -= ret;
		}
	}
	w->bytes += written;
	return 0;

err_write:
	code = ret < 0 ? -errno : -EIO;
	if (writer_cut(w, written))
		w->failed = code;
	return schedtape_fail(err, tape_writer_error(w, code), "%s: cannot write at byte %" PRIu64
			      ": %s", w->path, w->bytes + written, strerror(-code));
}

/* -- records --------------------------------------------------------------- */

void tape_record_init(struct tape_record *rec, enum tape_type type, size_t extra, size_t raw)
{
	memset(rec, 0, sizeof(*rec));
	memcpy(rec->magic, TAPE_RECORD_MAGIC, sizeof(rec->magic));
	rec->type = htole16(type);
	rec->extra = htole32(extra);
	rec->raw = htole32(raw);
}

int tape_writer_plain(struct schedtape_writer *w, void *head, size_t bytes, const void *payload,
		      size_t raw, struct schedtape_error *err)
{
	static const unsigned char zeros[TAPE_ALIGN];
	struct tape_record *rec = head;
	struct iovec iov[3] = {
		{ .iov_base = head, .iov_len = bytes },
		{ .iov_base = (void *)payload, .iov_len = raw },
		{ .iov_base = (void *)zeros, .iov_len = tape_padding(bytes + raw) },
	};

	rec->flags = 0;
	rec->stored = htole32(raw);
	rec->sum = 0;
	XXH64_reset(w->sum, 0);
	XXH64_update(w->sum, head, bytes);
	XXH64_update(w->sum, payload, raw);
	rec->sum = htole64(XXH64_digest(w->sum));

	return tape_writer_put(w, iov, 3, err);
}

static int writer_reserve(struct schedtape_writer *w, size_t raw)
{
	size_t bound = ZSTD_compressBound(raw);
	unsigned char *out, *columns;

	if (bound <= w->bound)
		return 0;
	out = realloc(w->out, HEAD_MAX + bound + TAPE_ALIGN);
	if (!out)
		return -ENOMEM;
	w->out = out;
	columns = realloc(w->columns, raw);
	if (!columns)
		return -ENOMEM;
	w->columns = columns;
	w->bound = bound;
	return 0;
}

/* Compresses pages, each column of their words by itself.  Returns what zstd's functions do. */
static size_t writer_compress_pages(struct schedtape_writer *w, unsigned char *to,
				    const void *pages, size_t raw)
{
	size_t column = raw / TAPE_COLUMNS, stored = 0, now, i;

	tape_columns_split(w->columns, pages, raw);
	for (i = 0; i < TAPE_COLUMNS; i++) {
		now = ZSTD_compressCCtx(w->zstd, to + stored, w->bound - stored,
					w->columns + i * column, column, w->level);
		if (ZSTD_isError(now))
			return now;
		stored += now;
	}
	return stored;
}

int tape_writer_record(struct schedtape_writer *w, void *head, size_t bytes,
		       const void *payload, size_t raw, struct schedtape_error *err)
{
	struct tape_record *rec = head;
	bool pages = tape_type_has_pages(le16toh(rec->type));
	struct iovec iov;
	size_t stored;

	/* Without memory to compress, write the record uncompressed: no event is lost. */
	if (!w->zstd || writer_reserve(w, raw))
		return tape_writer_plain(w, head, bytes, payload, raw, err);

	if (pages)
		stored = writer_compress_pages(w, w->out + bytes, payload, raw);
	else
		stored = ZSTD_compressCCtx(w->zstd, w->out + bytes, w->bound, payload, raw,
					   w->level);
	if (ZSTD_isError(stored) || stored >= raw)
		return tape_writer_plain(w, head, bytes, payload, raw, err);

	rec->flags = htole16(TAPE_ZSTD | (pages ? TAPE_BY_COLUMNS : 0));
	rec->stored = htole32(stored);
	rec->sum = 0;
	memcpy(w->out, head, bytes);
	rec->sum = htole64(XXH64(w->out, bytes + stored, 0));
	memcpy(w->out, head, sizeof(*rec));
	memset(w->out + bytes + stored, 0, tape_padding(bytes + stored));

	iov.iov_base = w->out;
	iov.iov_len = bytes + stored + tape_padding(bytes + stored);
	return tape_writer_put(w, &iov, 1, err);
}

int tape_writer_json(struct schedtape_writer *w, enum tape_type type,
		     struct json_object *object, struct schedtape_error *err)
{
	struct tape_record rec;
	const char *text;
	size_t length;

	text = json_object_to_json_string_ext(object, JSON_C_TO_STRING_PLAIN);
	if (!text)
		return schedtape_fail(err, tape_writer_error(w, -ENOMEM), "%s: out of memory",
				      w->path);
	length = strlen(text);
	if (length > TAPE_MAX_RAW)
		return schedtape_fail(err, tape_writer_error(w, -E2BIG),
				      "%s: a description of %zu bytes, more than the format's %zu",
				      w->path, length, TAPE_MAX_RAW);
	tape_record_init(&rec, type, 0, length);
	return tape_writer_record(w, &rec, sizeof(rec), text, length, err);
}

/* -- the tape -------------------------------------------------------------- */

int tape_writer_descriptor(const char *path)
{
	static const char folder[] = "/dev/fd/";
	const size_t length = sizeof(folder) - 1;
	unsigned long fd;
	char *end;

	if (!strcmp(path, "-"))
		return STDOUT_FILENO;
	if (strncmp(path, folder, length) || path[length] < '0' || path[length] > '9')
		return -1;
	fd = strtoul(path + length, &end, 10);
	return *end || fd > INT_MAX ? -1 : (int)fd;
}

static int writer_open(struct schedtape_writer *w, const char *path, int fd,
		       struct schedtape_error *err)
{
	int code;

	if (fd < 0) {
		fd = tape_writer_descriptor(path);
		if (fd >= 0 && fd <= STDERR_FILENO && isatty(fd))
			return schedtape_fail(err, -EINVAL, "%s: is a terminal; name a file or a "
					      "pipe", w->path);
	}
	if (fd >= 0)
		/* Use a copy, so that close() reports errors, and the file keeps its contents. */
		w->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	else
		w->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, 0600);
	if (w->fd >= 0)
		return 0;
	code = -errno;
	return schedtape_fail(err, code, "%s: %s; name another file", w->path, strerror(-code));
}

static int writer_put_header(struct schedtape_writer *w, struct schedtape_error *err)
{
	struct tape_header header = {
		.major = htole16(TAPE_MAJOR),
		.minor = htole16(TAPE_MINOR),
		.size = htole32(sizeof(header)),
		.flags = htole32(__BYTE_ORDER == __BIG_ENDIAN ? TAPE_BIG_ENDIAN : 0),
	};
	struct iovec iov = { .iov_base = &header, .iov_len = sizeof(header) };

	memcpy(header.magic, TAPE_MAGIC, sizeof(header.magic));
	header.sum = htole64(XXH64(&header, sizeof(header), 0));
	return tape_writer_put(w, &iov, 1, err);
}

void tape_writer_free(struct schedtape_writer *w)
{
	if (w->fd >= 0)
		close(w->fd);
	ZSTD_freeCCtx(w->zstd);
	XXH64_freeState(w->sum);
	free(w->out);
	free(w->columns);
	free(w->path);
	free(w);
}

static int options_level(const struct schedtape_writer_options *options, int *level,
			 struct schedtape_error *err)
{
	struct schedtape_writer_options own;
	int ret = sized_get(&own, sizeof(own), options, "the tape writer's options", err);

	*level = own.level;
	if (!ret && (*level > ZSTD_maxCLevel() || *level < ZSTD_minCLevel()))
		ret = schedtape_fail(err, -EINVAL, "compression level %d: not one of zstd's, "
				     "which end with %d", *level, ZSTD_maxCLevel());
	return ret;
}

int tape_writer_new(const char *path, int fd, int level, struct schedtape_writer **writer,
		    struct schedtape_error *err)
{
	struct schedtape_writer *w = calloc(1, sizeof(*w));
	int ret;

	*writer = NULL;
	if (!w) {
		schedtape_fail(err, -ENOMEM, "out of memory");
		return -ENOMEM;
	}
	w->fd = -1;
	w->level = level;
	w->path = strdup(strcmp(path, "-") ? path : "standard output");
	w->sum = XXH64_createState();
	if (w->level)
		w->zstd = ZSTD_createCCtx();
	if (!w->path || !w->sum || (w->level && !w->zstd))
		ret = schedtape_fail(err, -ENOMEM, "out of memory");
	else
		ret = writer_open(w, path, fd, err);
	if (ret)
		tape_writer_free(w);
	else
		*writer = w;
	return ret;
}

int tape_writer_create_at(int fd, const char *path, struct json_object *meta,
			  const struct schedtape_writer_options *options,
			  struct schedtape_writer **writer, struct schedtape_error *err)
{
	struct schedtape_writer *w;
	int ret, level;

	*writer = NULL;
	if (!json_object_is_type(meta, json_type_object))
		return schedtape_fail(err, -EINVAL, "%s: a tape's description is a JSON object",
				      path);
	ret = options_level(options, &level, err);
	if (!ret)
		ret = tape_writer_new(path, fd, level, &w, err);
	if (ret)
		return ret;

	ret = writer_put_header(w, err);
	if (!ret)
		ret = tape_writer_json(w, TAPE_META, meta, err);
	if (ret)
		tape_writer_free(w);
	else
		*writer = w;
	return ret;
}

int tape_writer_create(const char *path, struct json_object *meta,
		       const struct schedtape_writer_options *options,
		       struct schedtape_writer **writer, struct schedtape_error *err)
{
	return tape_writer_create_at(-1, path, meta, options, writer, err);
}

int schedtape_writer_create(const char *path, const char *meta,
			    const struct schedtape_writer_options *options,
			    struct schedtape_writer **writer, struct schedtape_error *err)
{
	struct json_object *object = meta ? tape_json_parse(meta, strlen(meta)) : NULL;
	int ret = tape_writer_create(path, object, options, writer, err);

	json_object_put(object);
	return ret;
}

uint64_t schedtape_writer_bytes(const struct schedtape_writer *writer)
{
	return writer->bytes;
}

int schedtape_writer_close(struct schedtape_writer *writer, struct schedtape_error *err)
{
	int ret = writer->first_error;

	if (ret)
		schedtape_fail(err, ret, "%s: %s", writer->path, strerror(-ret));

	/* Some file systems report only here that the disk is full. */
	if (close(writer->fd) && !ret) {
		ret = -errno;
		schedtape_fail(err, ret, "%s: cannot close: %s", writer->path, strerror(-ret));
	}
	writer->fd = -1;
	tape_writer_free(writer);
	return ret;
}
