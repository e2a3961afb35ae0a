/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A request that takes long, under the lock of its session: a child sends a filter-add that names a
 * process of many threads as often as a request may.
 */
#ifndef SELFTESTS_LONG_REQUEST_H
#define SELFTESTS_LONG_REQUEST_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "child.h"

/* Tasks of the process that the request names. */
#define ST_LONG_TASKS	512

struct st_long_answer;

/**
 * struct st_long_request - the request
 * @pid: the child that sends it, on CPU 0
 * @crowd: the process that it names
 * @answer: shared with the child
 */
struct st_long_request {
	pid_t pid;
	struct st_child crowd;
	struct st_long_answer *answer;
};

/* Forks a process of ST_LONG_TASKS threads.  Returns false if that fails. */
bool st_long_crowd(struct st_child *crowd);
/*
 * Sends the request to a session, which has the process in its filter already, and returns when the
 * kernel works on it.  @last: the process that the request names last, 0: none.  Returns false if
 * something fails.
 */
bool st_long_request_begin(struct st_long_request *request, uint32_t session, pid_t last);
/*
 * Makes the caller a realtime task on the child's CPU.  So until st_long_request_end() the request
 * goes on, and the lock is released, only while the caller and its children sleep.
 */
bool st_long_request_hold(struct st_long_request *request);
/* Returns the CPU time that the child has used so far. */
uint64_t st_long_request_time(const struct st_long_request *request);
/*
 * Lets the child end, and waits for it.  Returns the kernel's answer, or -EINTR if the child was
 * killed.  @text: NULL, or returned: the kernel's message.  @time: NULL, or returned: what
 * st_long_request_time() was at the answer.
 */
int st_long_request_end(struct st_long_request *request, char text[256], uint64_t *time);
/* Kills what is left. */
void st_long_request_kill(struct st_long_request *request);

#endif /* SELFTESTS_LONG_REQUEST_H */
