/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Very many threads with small stacks.  They have no thread-local storage of their own, so they
 * call little more than system calls.
 */
#ifndef WORKLOADS_CLONES_H
#define WORKLOADS_CLONES_H

#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "work.h"

#define CLONES_STACK	8192

/* Starts @n threads, each with its number as the argument of @run. */
static inline void clones_start(long n, int (*run)(void *number))
{
	static const int flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND |
				 CLONE_THREAD | CLONE_SYSVSEM;
	char *stacks = mmap(NULL, n * CLONES_STACK, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	long i;

	if (stacks == MAP_FAILED)
		err(1, "stacks of %ld threads", n);
	for (i = 0; i < n; i++)
		if (clone(run, stacks + (i + 1) * CLONES_STACK, flags, (void *)i) < 0)
			err(1, "thread %ld", i);
}

/* Allows @n of @resource. */
static inline void clones_allow(int resource, rlim_t n)
{
	struct rlimit limit = { n, n };

	if (setrlimit(resource, &limit))
		err(1, "setrlimit");
}

#endif /* WORKLOADS_CLONES_H */
