// SPDX-License-Identifier: GPL-2.0-only
/*
 * A request that takes long.
 */
#include "long-request.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "child.h"
#include "prio.h"
#include "request.h"
#include "task.h"
#include "time-limit.h"

/* The child is in the kernel for sure when it has run for that long since @began. */
#define UNDER_WAY	5000000

/**
 * struct st_long_answer - what the child says
 * @began: its CPU time in ns when it was about to send the request; 0: it was not yet
 * @ended: its CPU time when it had the answer
 * @ret: the answer
 * @text: the kernel's message
 */
struct st_long_answer {
	volatile uint64_t began;
	uint64_t ended;
	int ret;
	char text[256];
};

static void *sleep_for_ever(void *arg)
{
	for (;;)
		pause();
	return arg;
}

static int become_many(void *arg)
{
	pthread_attr_t attr;
	pthread_t thread;
	int i, ret;

	(void)arg;
	ret = pthread_attr_init(&attr) ?: pthread_attr_setstacksize(&attr, PTHREAD_STACK_MIN);
	for (i = 1; i < ST_LONG_TASKS && !ret; i++)
		ret = pthread_create(&thread, &attr, sleep_for_ever, NULL);
	return ret;
}

bool st_long_crowd(struct st_child *crowd)
{
	return !st_child_fork(crowd, -1, become_many, NULL) && st_child_step(crowd);
}

static uint64_t cpu_time(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

static void ask(struct st_long_request *request, uint32_t session, pid_t last)
{
	struct st_long_answer *answer = request->answer;
	struct st_request q;
	int i;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	st_pin(0, 0);
	st_request_init(&q, STAPE_CMD_FILTER_ADD);
	q.sock = st_socket();
	q.family = st_family(q.sock, NULL);
	st_request_add_u32(&q, STAPE_A_SESSION_ID, session);
	for (i = !!last; i < STAPE_FILTER_OBJECTS_MAX; i++)
		st_request_add_u32(&q, STAPE_A_SESSION_PID, request->crowd.pid);
	if (last)
		st_request_add_u32(&q, STAPE_A_SESSION_PID, last);
	answer->began = cpu_time();
	answer->ret = st_request(&q);
	answer->ended = cpu_time();
	snprintf(answer->text, sizeof(answer->text), "%s", q.text);
	_exit(0);
}

uint64_t st_long_request_time(const struct st_long_request *request)
{
	struct st_usage usage;

	return st_usage(request->pid, &usage) ? 0 : usage.runtime;
}

static bool under_way(const struct st_long_request *request)
{
	unsigned int tries = 20000 * st_patience();

	while (tries--) {
		if (request->answer->began &&
		    st_long_request_time(request) > request->answer->began + UNDER_WAY)
			return true;
		usleep(1000);
	}
	printf("# the long request never began\n");
	return false;
}

bool st_long_request_begin(struct st_long_request *request, uint32_t session, pid_t last)
{
	memset(request, 0, sizeof(*request));
	request->answer = st_share(sizeof(*request->answer));
	request->answer->ret = -EINTR;
	/* The first filter-add of a session switches probes on, which takes long, too. */
	if (!st_long_crowd(&request->crowd) ||
	    st_request_u32(STAPE_CMD_FILTER_ADD, STAPE_A_SESSION_ID, session,
			   STAPE_A_SESSION_PID, request->crowd.pid))
		return false;
	request->pid = fork();
	if (!request->pid)
		ask(request, session, last);
	return request->pid > 0 && under_way(request);
}

bool st_long_request_hold(struct st_long_request *request)
{
	(void)request;
	return !st_pin(0, 0) && !st_set_policy(0, SCHED_FIFO, 1);
}

int st_long_request_end(struct st_long_request *request, char text[256], uint64_t *time)
{
	st_set_policy(0, SCHED_OTHER, 0);
	waitpid(request->pid, NULL, 0);
	request->pid = 0;
	if (text)
		memcpy(text, request->answer->text, sizeof(request->answer->text));
	if (time)
		*time = request->answer->ended;
	return request->answer->ret;
}

void st_long_request_kill(struct st_long_request *request)
{
	st_set_policy(0, SCHED_OTHER, 0);
	if (request->pid > 0) {
		kill(request->pid, SIGKILL);
		waitpid(request->pid, NULL, 0);
	}
	st_child_kill(&request->crowd);
}
