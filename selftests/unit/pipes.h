/* SPDX-License-Identifier: GPL-2.0-only */
/* A pipe that a tape comes through: a thread writes it, in pieces of any size. */
#ifndef SELFTESTS_PIPES_H
#define SELFTESTS_PIPES_H

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/**
 * struct pipe - a pipe with a writer
 * @path: opens its reading end
 * @piece: bytes of a write
 */
struct pipe {
	char path[64];
	const unsigned char *data;
	size_t size;
	size_t piece;
	int ends[2];
	pthread_t thread;
};

static inline void *pipe_write(void *arg)
{
	struct pipe *pipe = arg;
	size_t done, now;
	ssize_t ret;

	for (done = 0; done < pipe->size; done += ret) {
		now = pipe->size - done < pipe->piece ? pipe->size - done : pipe->piece;
		ret = write(pipe->ends[1], pipe->data + done, now);
		/* The reader has had enough. */
		if (ret <= 0)
			break;
	}
	close(pipe->ends[1]);
	return NULL;
}

/* @data is used until pipe_end(). */
static inline void pipe_begin(struct pipe *pipe, const void *data, size_t size, size_t piece)
{
	signal(SIGPIPE, SIG_IGN);
	*pipe = (struct pipe) { .data = data, .size = size, .piece = piece };
	if (pipe2(pipe->ends, O_CLOEXEC) ||
	    pthread_create(&pipe->thread, NULL, pipe_write, pipe)) {
		perror("Bail out! pipe");
		exit(1);
	}
	snprintf(pipe->path, sizeof(pipe->path), "/proc/self/fd/%d", pipe->ends[0]);
}

/* Call it after the tape was closed. */
static inline void pipe_end(struct pipe *pipe)
{
	close(pipe->ends[0]);
	pthread_join(pipe->thread, NULL);
}

#endif /* SELFTESTS_PIPES_H */
