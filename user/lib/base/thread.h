/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Threads that leave signals to the thread that starts them.
 */
#ifndef SCHEDTAPE_BASE_THREAD_H
#define SCHEDTAPE_BASE_THREAD_H

#include <pthread.h>

/*
 * Starts a thread with all signals blocked, so that the caller's threads get them.  @attr: NULL:
 * none.  Returns 0 or -errno.
 */
int schedtape_thread_start(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *arg),
			   void *arg);
/* Returns how many CPUs this process may use. */
unsigned int schedtape_thread_cpus(void);

#endif /* SCHEDTAPE_BASE_THREAD_H */
