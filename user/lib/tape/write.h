/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Internals of the writer: write.c puts records into the file, encode.c makes
 * them, copy.c takes them from other tapes.
 */
#ifndef SCHEDTAPE_TAPE_WRITE_H
#define SCHEDTAPE_TAPE_WRITE_H

#include <sys/uio.h>

#include <xxhash.h>
#include <zstd.h>

#include "tape/format.h"

struct json_object;

/**
 * struct schedtape_writer - a tape being written
 * @path: for error messages
 * @bytes: bytes of complete records
 * @failed: -errno: the tape ends within a record that couldn't be truncated, so nothing
 *	may follow
 * @first_error: schedtape_writer_close() returns it
 * @zstd: NULL: no compression
 * @sum: state of a checksum, used within one function
 * @out: a compressed record, with its head
 * @columns: pages by columns
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
	unsigned char *columns;
	size_t bound;
};

/* Opens the file, or a copy of @fd.  The caller then writes the file header. */
int tape_writer_new(const char *path, int fd, int level, struct schedtape_writer **writer,
		    struct schedtape_error *err);
/* Closes the file and frees the writer, without reporting errors. */
void tape_writer_free(struct schedtape_writer *w);
/* Records the first error, and returns @code. */
int tape_writer_error(struct schedtape_writer *w, int code);
/* Writes all of @iov; after an error, truncates the file if possible.  Modifies @iov. */
int tape_writer_put(struct schedtape_writer *w, struct iovec *iov, int n,
		    struct schedtape_error *err);
/* @head: record header and extra of @bytes, at most those of a chunk. */
int tape_writer_record(struct schedtape_writer *w, void *head, size_t bytes,
		       const void *payload, size_t raw, struct schedtape_error *err);
/* The same, without compression. */
int tape_writer_plain(struct schedtape_writer *w, void *head, size_t bytes, const void *payload,
		      size_t raw, struct schedtape_error *err);
int tape_writer_json(struct schedtape_writer *w, enum tape_type type,
		     struct json_object *object, struct schedtape_error *err);
struct json_object *tape_end_json(const struct schedtape_end *end);
void tape_record_init(struct tape_record *rec, enum tape_type type, size_t extra, size_t raw);

#endif /* SCHEDTAPE_TAPE_WRITE_H */
