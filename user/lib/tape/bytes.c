// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Reads the bytes of a file at any offset; or of a pipe, of which a window is in memory: it
 * begins at the record that the walk is at, and grows as far as a record needs.
 */
#define _FILE_OFFSET_BITS 64
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "tape/bytes.h"
#include "tape/format.h"

#define FIRST_ROOM	(1U << 18)	/* more than most records have */
/* A search for a valid record looks at a block of a window, and a whole record behind it. */
#define MOST_ROOM	(TAPE_MAX_RECORD + TAPE_BLOCK + TAPE_ALIGN)

/**
 * struct tape_pipe - a pipe, and a window of its bytes
 * @data: the window, with room for @room bytes
 * @start: offset of its first byte
 * @bytes: that are in it
 * @size: where the pipe has ended; UINT64_MAX: not yet
 */
struct tape_pipe {
	unsigned char *data;
	size_t room;
	uint64_t start;
	size_t bytes;
	uint64_t size;
};

/* -- opening --------------------------------------------------------------- */

static int pipe_new(struct tape_file *file, struct schedtape_error *err)
{
	file->pipe = calloc(1, sizeof(*file->pipe));
	if (!file->pipe)
		return schedtape_fail(err, -ENOMEM, "out of memory");
	file->pipe->size = UINT64_MAX;
	return 0;
}

static int file_type(struct tape_file *file, const struct stat *st, bool once,
		     struct schedtape_error *err)
{
	if (S_ISREG(st->st_mode))
		return 0;
	if (S_ISDIR(st->st_mode))
		return schedtape_fail(err, -EISDIR, "%s: is a directory, not a tape", file->path);
	if (!S_ISFIFO(st->st_mode) && !S_ISSOCK(st->st_mode))
		return schedtape_fail(err, -ESPIPE, "%s: a tape can only be read from a regular "
				      "file or a pipe", file->path);
	if (once)
		return pipe_new(file, err);
	return schedtape_fail(err, -ESPIPE, "%s: is a pipe, but this reads parts of a tape more "
			      "than once: save the tape in a file first", file->path);
}

/* Without O_NONBLOCK, open() of a FIFO waits for its writer: only a reader of pipes wants that. */
static int open_flags(const char *path, bool once)
{
	struct stat st;
	bool wait = once && !stat(path, &st) && S_ISFIFO(st.st_mode);

	return O_RDONLY | O_CLOEXEC | O_NOCTTY | (wait ? 0 : O_NONBLOCK);
}

/* Opens the file.  A handler of a signal may end the wait for a FIFO's writer. */
static int file_open(const struct tape_file *file, const char *path, bool once)
{
	const struct tape_interrupt *interrupt = file->interrupt;
	int fd, flags = open_flags(path, once);

	do {
		fd = open(path, flags);
		if (fd >= 0 || errno != EINTR)
			return fd;
	} while (interrupt->call && !interrupt->call(interrupt->arg));
	errno = EINTR;
	return fd;
}

int tape_file_open(struct tape_file *file, const char *path, bool once,
		   struct schedtape_error *err)
{
	struct stat st;
	int code;

	file->fd = -1;
	file->path = strdup(strcmp(path, "-") ? path : "standard input");
	if (!file->path)
		return schedtape_fail(err, -ENOMEM, "out of memory");

	if (strcmp(path, "-"))
		file->fd = file_open(file, path, once);
	else
		file->fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);
	if (file->fd < 0 || fstat(file->fd, &st)) {
		code = -errno;
		return schedtape_fail(err, code, "%s: %s", file->path, strerror(-code));
	}
	file->size = st.st_size;
	return file_type(file, &st, once, err);
}

void tape_file_close(struct tape_file *file)
{
	if (file->fd >= 0)
		close(file->fd);
	if (file->pipe)
		free(file->pipe->data);
	free(file->pipe);
	free(file->path);
}

/* -- pipes ----------------------------------------------------------------- */

uint64_t tape_file_size(const struct tape_file *file)
{
	return file->pipe ? file->pipe->size : file->size;
}

uint64_t tape_file_bytes(const struct tape_file *file)
{
	return file->pipe ? file->pipe->start + file->pipe->bytes : file->size;
}

void tape_file_stop(const struct tape_file *file)
{
	if (file->pipe)
		file->pipe->size = tape_file_bytes(file);
}

/* Most of the window is dropped before new bytes come, so little is moved. */
void tape_file_drop(const struct tape_file *file, uint64_t offset)
{
	struct tape_pipe *pipe = file->pipe;
	size_t gone;

	if (!pipe || offset <= pipe->start)
		return;
	gone = offset - pipe->start < pipe->bytes ? offset - pipe->start : pipe->bytes;
	/* Otherwise wait until a byte is moved once at most. */
	if (gone < pipe->bytes - gone)
		return;
	memmove(pipe->data, pipe->data + gone, pipe->bytes - gone);
	pipe->start += gone;
	pipe->bytes -= gone;
}

static int pipe_room(struct tape_pipe *pipe, size_t bytes)
{
	size_t room = pipe->room ? pipe->room : FIRST_ROOM;
	unsigned char *data;

	if (bytes > 2 * MOST_ROOM)
		return -E2BIG;
	while (room < bytes)
		room *= 2;
	if (room == pipe->room)
		return 0;
	data = realloc(pipe->data, room);
	if (!data)
		return -ENOMEM;
	pipe->data = data;
	pipe->room = room;
	return 0;
}

/* Returns what a wait that has failed returns. */
static int wait_failed(const struct tape_file *file, int error)
{
	const struct tape_interrupt *interrupt = file->interrupt;

	if (error != EINTR)
		return -error;
	return interrupt->call && interrupt->call(interrupt->arg) ? -EINTR : 0;
}

/* Reads what has come, as much as there is room for.  Waits if nothing has. */
static int pipe_read(const struct tape_file *file)
{
	struct pollfd poll_fd = { .fd = file->fd, .events = POLLIN };
	struct tape_pipe *pipe = file->pipe;
	ssize_t got;

	got = read(file->fd, pipe->data + pipe->bytes, pipe->room - pipe->bytes);
	/* Another process may have set O_NONBLOCK, which belongs to all that have the pipe. */
	if (got < 0 && errno == EAGAIN)
		return poll(&poll_fd, 1, -1) < 0 ? wait_failed(file, errno) : 0;
	if (got < 0)
		return wait_failed(file, errno);
	if (!got)
		pipe->size = pipe->start + pipe->bytes;
	pipe->bytes += got;
	return 0;
}

int tape_file_reach(const struct tape_file *file, uint64_t offset, uint64_t bytes)
{
	struct tape_pipe *pipe = file->pipe;
	int ret = 0;

	if (!pipe || offset + bytes <= pipe->start + pipe->bytes)
		return 0;
	ret = pipe_room(pipe, offset + bytes - pipe->start);
	while (!ret && pipe->size == UINT64_MAX && pipe->start + pipe->bytes < offset + bytes)
		ret = pipe_read(file);
	return ret;
}

static ssize_t pipe_copy(const struct tape_file *file, void *to, size_t bytes, uint64_t offset)
{
	struct tape_pipe *pipe = file->pipe;
	int ret = tape_file_reach(file, offset, bytes);
	uint64_t end;

	if (ret)
		return ret;
	end = pipe->start + pipe->bytes;
	if (offset < pipe->start)
		return -ESPIPE;
	if (offset >= end)
		return 0;
	if (bytes > end - offset)
		bytes = end - offset;
	memcpy(to, pipe->data + (offset - pipe->start), bytes);
	return bytes;
}

/* -- reading --------------------------------------------------------------- */

ssize_t tape_file_read(const struct tape_file *file, void *to, size_t bytes, uint64_t offset)
{
	size_t done = 0;
	ssize_t ret;

	if (file->pipe)
		return pipe_copy(file, to, bytes, offset);
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
