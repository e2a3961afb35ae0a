/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The files that processes have open or mapped, while they are frozen: criu writes their names and
 * no contents.
 */
#ifndef SCHEDTAPE_SAMPLE_OPEN_FILES_H
#define SCHEDTAPE_SAMPLE_OPEN_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <json-c/json.h>
#include <schedtape.h>

struct closed_files;
struct process_tree;

/**
 * struct open_file - a regular file
 * @written: it is open for writing, or mapped so that what is written there gets into the file, or
 *	was written and closed before
 * @closed: only the last
 */
struct open_file {
	char *path;
	uint64_t size;
	uint64_t mtime_ns;
	bool written;
	bool closed;
};

/**
 * struct open_stream - a pipe whose other end others have, or a terminal
 * @name: as criu knows it: "pipe:[12]", or "tty[8803:16]"
 * @fd: the lowest descriptor of it
 */
struct open_stream {
	char *name;
	int fd;
	bool reads;
	bool writes;
};

/**
 * struct open_files - what the processes have open
 * @kept: size of the written files
 */
struct open_files {
	struct open_file *files;
	size_t n;
	size_t room;
	struct open_stream *streams;
	size_t nr_streams;
	size_t room_streams;
	uint64_t kept;
};

/* Finds them, and those of @closed that are still there.  Returns 0 or -errno. */
int open_files_find(struct open_files *files, const struct process_tree *processes,
		    const struct closed_files *closed);
/*
 * Copies the written files below @folder, each to its path there.  Shares blocks where it can.
 * Closed ones that are as they were in @last, the folder of the last checkpoint, become links to
 * those.
 */
int open_files_keep(const struct open_files *files, const char *folder, const char *last,
		    struct schedtape_error *err);
/* Adds the members "files" and "streams".  @kept: the written ones were copied */
void open_files_describe(const struct open_files *files, bool kept, struct json_object *to);
void open_files_free(struct open_files *files);

#endif /* SCHEDTAPE_SAMPLE_OPEN_FILES_H */
