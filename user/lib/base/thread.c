// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base/thread.h"

#include <sched.h>
#include <signal.h>
#include <unistd.h>

unsigned int schedtape_thread_cpus(void)
{
	cpu_set_t cpus;

	/* This fails if the machine has more CPUs than the set: then use all. */
	if (sched_getaffinity(0, sizeof(cpus), &cpus))
		return sysconf(_SC_NPROCESSORS_ONLN);
	return CPU_COUNT(&cpus);
}

int schedtape_thread_start(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *arg),
			   void *arg)
{
	sigset_t all, before;
	int code;

	/* The new thread inherits the blocked signals. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	code = pthread_create(thread, attr, run, arg);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return -code;
}
