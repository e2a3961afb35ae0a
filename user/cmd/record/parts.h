/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The tapes of a recording with --switch-output: when each one ends, what its name is then, and
 * which ones are kept.
 */
#ifndef SCHEDTAPE_PARTS_H
#define SCHEDTAPE_PARTS_H

#include <schedtape.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/destination.h"

enum parts_end {
	PARTS_WHOLE,	/* the recording has one tape */
	PARTS_SIGNAL,
	PARTS_SIZE,
	PARTS_TIME,
};

/**
 * struct parts - when tapes end, and which ones there are
 * @end: what ends a tape, besides a signal
 * @bytes: with PARTS_SIZE: the size at which a tape ends
 * @ms: with PARTS_TIME: how long each tape takes
 * @max_files: how many tapes are kept; 0: all
 * @max_bytes: how large those that are kept may be together; 0: no limit.  The last one is always
 *	kept.
 * @kept: the @nr tapes that are kept, the oldest first
 *	A tape that is @pinned is being read: parts_prune() does not remove it.
 */
struct parts {
	enum parts_end end;
	uint64_t bytes;
	uint64_t ms;
	unsigned int max_files;
	uint64_t max_bytes;
	struct part {
		char *path;
		uint64_t bytes;
		bool pinned;
	} *kept;
	size_t nr;
	/* private: */
	size_t room;
	uint64_t begun;
};

/**
 * struct parts_file - a file for a tape that has its name only when it is complete
 * @fd: the file; -1: there is none
 * @path: its name until then; NULL: it has none, so that it is gone if this process is killed
 */
struct parts_file {
	int fd;
	char *path;
};

#define PARTS_NO_FILE	{ .fd = -1 }

/* Parses "signal", a size with B, K, M or G, or a time with a unit.  Returns false for others. */
bool parts_parse(struct parts *parts, const char *text);
/* A tape begins. */
void parts_begin(struct parts *parts);
/* Returns true if the tape, which has this size, has to end. */
bool parts_due(const struct parts *parts, uint64_t bytes);
/* Returns how long it is until a tape has to end, ms, @most at most. */
int parts_wait(const struct parts *parts, int most);
/* Makes a file in the folder of @path.  Returns 0 or -errno. */
int parts_create(struct parts_file *file, const char *path, struct schedtape_error *err);
/* Names a complete file PATH.TIME.  Returns 0 or -errno. */
int parts_keep(struct parts *parts, const char *path, struct parts_file *file, uint64_t bytes,
	       struct schedtape_error *err);
/*
 * Names a complete file PATH.merged.TIME, which is none of the tapes that are kept.  Returns the
 * name, which the caller frees, or NULL.
 */
char *parts_name_merged(const char *path, struct parts_file *file, struct schedtape_error *err);
/* Closes the file, and removes it unless it has been kept. */
void parts_drop(struct parts_file *file);
/* A tape has ended: renames it to PATH.TIME.  Returns 0; -errno: it has its name still. */
int parts_name(struct parts *parts, const char *path, uint64_t bytes, struct schedtape_error *err);
/*
 * Gives the previous tape, which a recorder that was killed has left, the name PATH.TIME by its
 * last change, so that the next one does not replace it.  Prints a warning if that fails.
 */
void parts_keep_old(const char *path, struct backup *backup);
/* Pins all tapes that are kept now, or none any more. */
void parts_pin(struct parts *parts, bool pinned);
/* Removes the oldest tapes that are not pinned, if there are too many. */
void parts_prune(struct parts *parts);
/* Returns the name of the last tape that has ended. */
const char *parts_last(const struct parts *parts);
void parts_free(struct parts *parts);

#endif /* SCHEDTAPE_PARTS_H */
