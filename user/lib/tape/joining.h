/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Makes one tape of several that a recorder has written, one after the other: snapshots, or those
 * of --switch-output.  What two of them share is there once, and where events are missing between
 * them, there is a loss.  Needs memory for one tape at a time, as a reader does.
 */
#ifndef SCHEDTAPE_TAPE_JOINING_H
#define SCHEDTAPE_TAPE_JOINING_H

#include <schedtape-tape.h>

struct json_object;

/**
 * struct tape_join_options - how to join tapes
 * @fd: the new tape, an empty file that stays open; -1: the file is created
 * @level: level of zstd for chunks that change; 0: no compression
 * @progress: NULL, or called with @arg and the bytes of all tapes: if it returns -errno, that ends
 *	the join, and the partial file stays
 * @warn: NULL, or called with @arg for each tape that is truncated or corrupt
 */
struct tape_join_options {
	int fd;
	int level;
	int (*progress)(void *arg, uint64_t done, uint64_t total);
	void (*warn)(void *arg, const char *path, const char *damage);
	void *arg;
};

/**
 * struct tape_join_result - the new tape
 * @gaps: places between tapes where events are missing
 * @merged: what META says of the tapes, an array, which the caller puts
 */
struct tape_join_result {
	uint64_t bytes;
	uint64_t events;
	uint64_t lost;
	uint64_t gaps;
	struct json_object *merged;
};

/**
 * tape_join() - make one tape of several
 * @paths: the @n tapes, in any order; a tape that is there twice, or is part of another one, is
 *	used once
 * @output: path of the new tape; with @fd: its name in messages
 * @options: how
 * @result: set to what the new tape has, also after an error
 * @err: may be NULL
 *
 * Returns 0; -EXDEV: the tapes are not of one recording; -E2BIG: there are too many tasks for one
 * tape; another -errno: a tape cannot be read, or the new one cannot be written.
 */
int tape_join(const char * const *paths, size_t n, const char *output,
	      const struct tape_join_options *options, struct tape_join_result *result,
	      struct schedtape_error *err);

#endif /* SCHEDTAPE_TAPE_JOINING_H */
