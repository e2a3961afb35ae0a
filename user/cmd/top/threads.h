/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SCHEDTAPE_TOP_THREADS_H
#define SCHEDTAPE_TOP_THREADS_H

#include <pthread.h>
#include <signal.h>

/* Starts a thread with all signals blocked, so that the main thread gets them.  0 or -errno. */
static inline int thread_start(pthread_t *thread, void *(*run)(void *arg), void *arg)
{
	sigset_t all, before;
	int code;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	code = pthread_create(thread, NULL, run, arg);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return -code;
}

#endif /* SCHEDTAPE_TOP_THREADS_H */
