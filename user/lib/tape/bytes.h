/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Files that a tape's records come from.  One may be a pipe.
 */
#ifndef SCHEDTAPE_TAPE_BYTES_H
#define SCHEDTAPE_TAPE_BYTES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <schedtape-page.h>

struct tape_pipe;

/**
 * struct tape_interrupt - what a wait for a pipe does when a signal has come
 * @call: NULL: the wait goes on; else it goes on if this returns 0
 * @arg: for @call
 */
struct tape_interrupt {
	int (*call)(void *arg);
	void *arg;
};

/**
 * struct tape_file - a file that records come from
 * @name: prefix for notes about the file: "data.3: "; "" if it is all of the tape
 * @size: bytes when it was opened; later ones are ignored.  See tape_file_size()
 * @pipe: it is a pipe, and this is the part of it that is in memory; NULL: it can seek
 * @interrupt: of the tape
 * @header: bytes of its header, behind which the records begin
 * @minor: the format's minor version, from its header
 * @offset: where the walk over its records is
 * @tried: bytes that the search for valid records has read
 * @described: it has a valid META
 * @ended: it has a valid end record
 * @stream: in a directory, it is not the main file
 */
struct tape_file {
	char *path;
	char name[24];
	int fd;
	uint64_t size;
	struct tape_pipe *pipe;
	const struct tape_interrupt *interrupt;
	uint32_t header;
	uint16_t minor;
	uint64_t offset;
	uint64_t tried;
	bool described;
	bool ended;
	bool stream;
};

/*
 * Opens a file.  The caller calls tape_file_close(), also on failure.
 * @once: it may be a pipe
 */
int tape_file_open(struct tape_file *file, const char *path, bool once,
		   struct schedtape_error *err);
void tape_file_close(struct tape_file *file);
/* Returns the bytes read, fewer than @bytes if the file ends there; or -errno. */
ssize_t tape_file_read(const struct tape_file *file, void *to, size_t bytes, uint64_t offset);
/*
 * Waits until a pipe has come to @offset + @bytes, or to its end.  0 or -errno; -EINTR: a signal
 * has ended the wait, and nothing of the pipe is lost.
 */
int tape_file_reach(const struct tape_file *file, uint64_t offset, uint64_t bytes);
/* Returns the file's size; UINT64_MAX: it is a pipe that has not come to its end. */
uint64_t tape_file_size(const struct tape_file *file);
/* Returns the file's size, or how many bytes of a pipe have come. */
uint64_t tape_file_bytes(const struct tape_file *file);
/* Drops the bytes of a pipe before @offset, which nobody may read then. */
void tape_file_drop(const struct tape_file *file, uint64_t offset);
/* Takes a pipe's end to be here, whatever may follow. */
void tape_file_stop(const struct tape_file *file);

#endif /* SCHEDTAPE_TAPE_BYTES_H */
