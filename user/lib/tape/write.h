/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The writer's inside: write.c puts records into the file, encode.c makes
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
 * @path: for errors
 * @bytes: in whole records
 * @failed: the tape ends within a record that couldn't be cut off, -errno:
 *	nothing may follow
 * @first_error: what schedtape_writer_close() returns
 * @zstd: NULL: nothing is compressed
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

/* Opens the file.  The header is the next thing to write. */
int tape_writer_new(const char *path, int level, struct schedtape_writer **writer,
		    struct schedtape_error *err);
/* Closes without a word. */
void tape_writer_free(struct schedtape_writer *w);
/* Remembers the first error, and returns @code. */
int tape_writer_error(struct schedtape_writer *w, int code);
/* Writes @iov whole or, as far as possible, not at all.  Uses @iov up. */
int tape_writer_put(struct schedtape_writer *w, struct iovec *iov, int n,
		    struct schedtape_error *err);
/* @head: record header and extra, @bytes of them, at most a chunk's. */
int tape_writer_record(struct schedtape_writer *w, void *head, size_t bytes,
		       const void *payload, size_t raw, struct schedtape_error *err);
int tape_writer_json(struct schedtape_writer *w, enum tape_type type,
		     struct json_object *object, struct schedtape_error *err);
struct json_object *tape_end_json(const struct schedtape_end *end);
void tape_record_init(struct tape_record *rec, enum tape_type type, size_t extra, size_t raw);

#endif /* SCHEDTAPE_TAPE_WRITE_H */
