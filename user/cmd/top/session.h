/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The session of top: a thread that records into a pipe, as record does.
 *
 *	session_start()
 *	session_stop()		or the recording ends by itself, with its last task
 *	session_join()		once the pipe was read to its end
 */
#ifndef SCHEDTAPE_TOP_SESSION_H
#define SCHEDTAPE_TOP_SESSION_H

#include <pthread.h>

#include "record/options.h"
#include "record/recorder.h"
#include "top/like.h"

/**
 * struct top_session - the thread and its recording
 * @options: what to record
 * @live_ms: how often what has come so far is written
 * @model: session whose tasks to record; 0: those of @options
 * @like: follows that one
 * @pipe: writing end of the pipe, until the thread has opened it
 * @stop: eventfd, readable when the recording shall end
 * @clock: enum stape_clock
 * @cpus: mask of the recorded CPUs; NULL: all
 * @ret: how the recording went, after session_join()
 */
struct top_session {
	struct record_options *options;
	long live_ms;
	uint32_t model;
	struct like like;
	int pipe;
	int stop;
	pthread_t thread;
	struct schedtape_client *client;
	struct recorder recorder;
	uint32_t clock;
	unsigned char *cpus;
	size_t cpus_bytes;
	int ret;
};

/*
 * Starts the thread, which writes to @pipe and closes it; @options, @live_ms, @model and @pipe are
 * set.  Returns 0 or -errno; the pipe is closed then, too.
 */
int session_start(struct top_session *session);
/* Ends the recording, from another thread. */
void session_stop(struct top_session *session);
/* Waits for the thread.  Returns 0, or -errno after a message. */
int session_join(struct top_session *session);

#endif /* SCHEDTAPE_TOP_SESSION_H */
