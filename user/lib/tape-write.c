// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Writing tapes: records are appended with write(2), nothing is ever gone
 * back to, so that a pipe will do.  Every record leaves in one call, and what
 * a failed call has left behind of it is cut off again where that is possible.
 */
#define _FILE_OFFSET_BITS 64
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <json-c/json.h>
#include <xxhash.h>
#include <zstd.h>

#include "tape.h"

#define HEAD_MAX	(sizeof(struct tape_record) + sizeof(struct tape_chunk))
#define TASKS_BYTES	(1U << 20)	/* raw, of one TASKS record */

/**
 * struct schedtape_writer - a tape being written
 * @path: for errors
 * @bytes: in whole records
 * @failed: the tape ends within a record that couldn't be cut off, -errno:
 *	nothing may follow
 * @first_error: what schedtape_writer_close() returns
 * @zstd: NULL: nothing is compressed
 * @sum: state of a checksum, used within one function
 * @out: a compressed record, with its head
 * @bound: bytes that the payload in @out may have
 */
struct schedtape_writer {
	char *path;
	int fd;
	uint64_t bytes;
	int failed;
	int first_error;
	int level;
	ZSTD_CCtx *zstd;
	XXH64_state_t *sum;
	unsigned char *out;
	size_t bound;
};

/* -- output ---------------------------------------------------------------- */

/* Takes back the start of a record that couldn't be written whole. */
static int writer_cut(struct schedtape_writer *w, size_t written)
{
	struct stat st;
	off_t at;

	if (!written)
		return 0;
	if (fstat(w->fd, &st) || !S_ISREG(st.st_mode))
		return -ESPIPE;

	/* Not @bytes: standard output may have begun anywhere in its file. */
	at = lseek(w->fd, 0, SEEK_CUR);
	if (at < (off_t)written)
		return -ESPIPE;
	at -= written;
	if (ftruncate(w->fd, at) || lseek(w->fd, at, SEEK_SET) != at)
		return -errno;
	return 0;
}

static int writer_error(struct schedtape_writer *w, int code)
{
	if (!w->first_error)
		w->first_error = code;
	return code;
}

/* Writes @iov whole or, as far as possible, not at all.  Uses @iov up. */
static int writer_put(struct schedtape_writer *w, struct iovec *iov, int n,
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
	return schedtape_fail(err, writer_error(w, code), "%s: cannot write at byte %" PRIu64
			      ": %s", w->path, w->bytes + written, strerror(-code));
}

/* -- records --------------------------------------------------------------- */

static void record_head(struct tape_record *rec, enum tape_type type, size_t extra, size_t raw)
{
	memset(rec, 0, sizeof(*rec));
	memcpy(rec->magic, TAPE_RECORD_MAGIC, sizeof(rec->magic));
	rec->type = htole16(type);
	rec->extra = htole32(extra);
	rec->raw = htole32(raw);
}

/* @head: record header and extra, @bytes of them. */
static int writer_put_raw(struct schedtape_writer *w, void *head, size_t bytes,
			  const void *payload, size_t raw, struct schedtape_error *err)
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

	return writer_put(w, iov, 3, err);
}

static int writer_reserve(struct schedtape_writer *w, size_t raw)
{
	size_t bound = ZSTD_compressBound(raw);
	unsigned char *out;

	if (bound <= w->bound)
		return 0;
	out = realloc(w->out, HEAD_MAX + bound + TAPE_ALIGN);
	if (!out)
		return -ENOMEM;
	w->out = out;
	w->bound = bound;
	return 0;
}

static int writer_put_record(struct schedtape_writer *w, void *head, size_t bytes,
			     const void *payload, size_t raw, struct schedtape_error *err)
{
	struct tape_record *rec = head;
	struct iovec iov;
	size_t stored;

	/* Without memory to compress there is no reason to lose anything. */
	if (!w->zstd || writer_reserve(w, raw))
		return writer_put_raw(w, head, bytes, payload, raw, err);

	stored = ZSTD_compressCCtx(w->zstd, w->out + bytes, w->bound, payload, raw, w->level);
	if (ZSTD_isError(stored) || stored >= raw)
		return writer_put_raw(w, head, bytes, payload, raw, err);

	rec->flags = htole16(TAPE_ZSTD);
	rec->stored = htole32(stored);
	rec->sum = 0;
	memcpy(w->out, head, bytes);
	rec->sum = htole64(XXH64(w->out, bytes + stored, 0));
	memcpy(w->out, head, sizeof(*rec));
	memset(w->out + bytes + stored, 0, tape_padding(bytes + stored));

	iov.iov_base = w->out;
	iov.iov_len = bytes + stored + tape_padding(bytes + stored);
	return writer_put(w, &iov, 1, err);
}

static int writer_put_json(struct schedtape_writer *w, enum tape_type type,
			   struct json_object *object, struct schedtape_error *err)
{
	struct tape_record rec;
	const char *text;
	size_t length;

	text = json_object_to_json_string_ext(object, JSON_C_TO_STRING_PLAIN);
	if (!text)
		return schedtape_fail(err, writer_error(w, -ENOMEM), "%s: out of memory", w->path);
	length = strlen(text);
	if (length > (size_t)TAPE_MAX_RAW)
		return schedtape_fail(err, writer_error(w, -E2BIG),
				      "%s: a description of %zu bytes, more than the format's %d",
				      w->path, length, TAPE_MAX_RAW);
	record_head(&rec, type, 0, length);
	return writer_put_record(w, &rec, sizeof(rec), text, length, err);
}

/* -- the tape -------------------------------------------------------------- */

static int writer_open(struct schedtape_writer *w, const char *path, struct schedtape_error *err)
{
	if (strcmp(path, "-")) {
		w->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	} else if (isatty(STDOUT_FILENO)) {
		return schedtape_fail(err, -EINVAL, "%s: is a terminal; name a file or a pipe",
				      w->path);
	} else {
		/* A copy, so that closing it tells of errors. */
		w->fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
	}
	if (w->fd < 0) {
		int code = -errno;

		return schedtape_fail(err, code, "%s: %s", w->path, strerror(-code));
	}
	return 0;
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
	return writer_put(w, &iov, 1, err);
}

static void writer_free(struct schedtape_writer *w)
{
	if (w->fd >= 0)
		close(w->fd);
	ZSTD_freeCCtx(w->zstd);
	XXH64_freeState(w->sum);
	free(w->out);
	free(w->path);
	free(w);
}

static int options_level(const struct schedtape_writer_options *options, int *level,
			 struct schedtape_error *err)
{
	const unsigned char *at = (const unsigned char *)options;
	size_t i;

	*level = 0;
	if (!options)
		return 0;
	/* A later caller may know more options, but must not want them here. */
	for (i = sizeof(*options); i < options->size; i++)
		if (at[i])
			return schedtape_fail(err, -EINVAL, "this library is too old for a "
					      "tape writer's option that was asked for");
	if (options->size >= offsetof(struct schedtape_writer_options, level) + sizeof(*level))
		*level = options->level;
	if (*level > ZSTD_maxCLevel() || *level < ZSTD_minCLevel())
		return schedtape_fail(err, -EINVAL, "compression level %d: not one of zstd's, "
				      "which end with %d", *level, ZSTD_maxCLevel());
	return 0;
}

int schedtape_writer_create(const char *path, struct json_object *meta,
			    const struct schedtape_writer_options *options,
			    struct schedtape_writer **writer, struct schedtape_error *err)
{
	struct schedtape_writer *w;
	int ret;

	*writer = NULL;
	if (!json_object_is_type(meta, json_type_object))
		return schedtape_fail(err, -EINVAL, "%s: a tape's description is a JSON object",
				      path);
	w = calloc(1, sizeof(*w));
	if (!w)
		return schedtape_fail(err, -ENOMEM, "out of memory");
	w->fd = -1;

	ret = options_level(options, &w->level, err);
	if (ret)
		goto err_free;

	w->path = strdup(strcmp(path, "-") ? path : "standard output");
	w->sum = XXH64_createState();
	if (w->level)
		w->zstd = ZSTD_createCCtx();
	if (!w->path || !w->sum || (w->level && !w->zstd)) {
		ret = schedtape_fail(err, -ENOMEM, "out of memory");
		goto err_free;
	}

	ret = writer_open(w, path, err);
	if (ret)
		goto err_free;
	ret = writer_put_header(w, err);
	if (ret)
		goto err_free;
	ret = writer_put_json(w, TAPE_META, meta, err);
	if (ret)
		goto err_free;

	*writer = w;
	return 0;

err_free:
	writer_free(w);
	return ret;
}

static size_t task_bytes(const struct schedtape_task *task)
{
	size_t bytes = sizeof(struct tape_task) + task->affinity_bytes;

	return bytes + tape_padding(bytes);
}

static void task_pack(unsigned char *at, const struct schedtape_task *task)
{
	size_t size = task_bytes(task);
	struct tape_task entry = {
		.size = htole32(size),
		.fixed = htole32(sizeof(entry)),
		.time = htole64(task->time),
		.start_time = htole64(task->start_time),
		.cpu_time = htole64(task->cpu_time),
		.pid = htole32(task->pid),
		.tgid = htole32(task->tgid),
		.ppid = htole32(task->ppid),
		.ns_pid = htole32(task->ns_pid),
		.cpu = htole32(task->cpu),
		.state = htole32(task->state),
		.policy = htole32(task->policy),
		.nice = htole32((uint32_t)task->nice),
		.rt_priority = htole32(task->rt_priority),
		.affinity_bytes = htole32(task->affinity_bytes),
	};

	memcpy(entry.comm, task->comm, sizeof(entry.comm));
	memset(at, 0, size);
	memcpy(at, &entry, sizeof(entry));
	if (task->affinity_bytes)
		memcpy(at + sizeof(entry), task->affinity, task->affinity_bytes);
}

int schedtape_writer_tasks(struct schedtape_writer *writer,
			   const struct schedtape_task *tasks, size_t n,
			   struct schedtape_error *err)
{
	struct tape_record rec;
	size_t i, used = 0;
	unsigned char *raw;
	int ret = 0;

	raw = malloc(TASKS_BYTES);
	if (!raw)
		return schedtape_fail(err, writer_error(writer, -ENOMEM), "%s: out of memory",
				      writer->path);

	for (i = 0; i < n && !ret; i++) {
		if (tasks[i].affinity_bytes > TASKS_BYTES / 2) {
			ret = schedtape_fail(err, -EINVAL, "%s: affinity of task %u: %u bytes",
					     writer->path, tasks[i].pid, tasks[i].affinity_bytes);
			break;
		}
		task_pack(raw + used, &tasks[i]);
		used += task_bytes(&tasks[i]);
		if (i + 1 < n && used + task_bytes(&tasks[i + 1]) <= TASKS_BYTES)
			continue;
		record_head(&rec, TAPE_TASKS, 0, used);
		ret = writer_put_record(writer, &rec, sizeof(rec), raw, used, err);
		used = 0;
	}

	free(raw);
	return ret;
}

/* From the pages' headers alone: nothing else is looked at. */
static int chunk_head(struct schedtape_writer *w, struct tape_chunk *chunk,
		      const unsigned char *pages, size_t n, struct schedtape_error *err)
{
	struct stape_page_header first, h;
	uint64_t events = 0, lost = 0;
	size_t i;

	memcpy(&first, pages, sizeof(first));
	for (i = 0; i < n; i++) {
		memcpy(&h, pages + i * STAPE_PAGE_SIZE, sizeof(h));
		if (h.magic != STAPE_PAGE_MAGIC)
			return schedtape_fail(err, -EINVAL, "%s: page %zu of %zu is no ring page: "
					      "magic number 0x%08x", w->path, i, n, h.magic);
		if (h.cpu != first.cpu || h.seq != first.seq + i)
			return schedtape_fail(err, -EINVAL, "%s: page %" PRIu64 " of CPU %u does "
					      "not follow page %" PRIu64 " of CPU %u", w->path,
					      (uint64_t)h.seq, h.cpu, (uint64_t)(first.seq + i - 1),
					      first.cpu);
		events += h.events;
		lost += h.lost;
	}
	*chunk = (struct tape_chunk) {
		.cpu = htole32(first.cpu),
		.pages = htole32(n),
		.seq = htole64(first.seq),
		.time = htole64(first.time),
		.end = htole64(h.end),
		.events = htole64(events),
		.lost = htole64(lost),
	};
	return 0;
}

int schedtape_writer_pages(struct schedtape_writer *writer, const void *pages,
			   size_t n, struct schedtape_error *err)
{
	struct {
		struct tape_record rec;
		struct tape_chunk chunk;
	} head;
	const unsigned char *at = pages;
	size_t now;
	int ret;

	for (; n; n -= now, at += now * STAPE_PAGE_SIZE) {
		now = n < TAPE_MAX_PAGES ? n : TAPE_MAX_PAGES;
		record_head(&head.rec, TAPE_CHUNK, sizeof(head.chunk), now * STAPE_PAGE_SIZE);
		ret = chunk_head(writer, &head.chunk, at, now, err);
		if (ret)
			return ret;
		ret = writer_put_record(writer, &head, sizeof(head), at, now * STAPE_PAGE_SIZE,
					err);
		if (ret)
			return ret;
	}
	return 0;
}

uint64_t schedtape_writer_bytes(const struct schedtape_writer *writer)
{
	return writer->bytes;
}

static void add_number(struct json_object *object, const char *key, uint64_t value)
{
	json_object_object_add(object, key, json_object_new_uint64(value));
}

static struct json_object *end_json(const struct schedtape_end *end)
{
	struct json_object *object = json_object_new_object();
	struct json_object *cpus = json_object_new_array();
	struct json_object *cpu;
	size_t i;

	add_number(object, "start_time", end->start_time);
	add_number(object, "stop_time", end->stop_time);
	for (i = 0; i < end->nr_cpus; i++) {
		cpu = json_object_new_object();
		add_number(cpu, "cpu", end->cpus[i].cpu);
		add_number(cpu, "events", end->cpus[i].events);
		add_number(cpu, "lost", end->cpus[i].lost);
		add_number(cpu, "lost_first", end->cpus[i].lost_first);
		add_number(cpu, "lost_last", end->cpus[i].lost_last);
		json_object_array_add(cpus, cpu);
	}
	json_object_object_add(object, "cpus", cpus);
	return object;
}

int schedtape_writer_end(struct schedtape_writer *writer, const struct schedtape_end *end,
			 struct schedtape_error *err)
{
	struct json_object *object = end_json(end);
	int ret;

	ret = writer_put_json(writer, TAPE_END, object, err);
	json_object_put(object);
	return ret;
}

int schedtape_writer_close(struct schedtape_writer *writer, struct schedtape_error *err)
{
	int ret = writer->first_error;

	if (ret)
		schedtape_fail(err, ret, "%s: %s", writer->path, strerror(-ret));

	/* Some file systems tell only here that the disk is full. */
	if (close(writer->fd) && !ret) {
		ret = -errno;
		schedtape_fail(err, ret, "%s: cannot close: %s", writer->path, strerror(-ret));
	}
	writer->fd = -1;
	writer_free(writer);
	return ret;
}
