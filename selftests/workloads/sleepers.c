// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: THREADS threads that sleep until the process is killed.  They are for filters
 * with many tasks, and need little memory: all of them have the same stack, and all write the
 * same to it.
 */
#include <sched.h>

#include "work.h"

static int sleep_on(void *arg)
{
	for (;;)
		pause();
	return !!arg;
}

int main(int argc, char **argv)
{
	static const int flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND |
				 CLONE_THREAD | CLONE_SYSVSEM;
	static char stack[65536] __attribute__((aligned(64)));
	long threads = work_arg(argc, argv, 1, 1, 1000000, "THREADS"), i;

	for (i = 0; i < threads; i++)
		if (clone(sleep_on, stack + sizeof(stack), flags, NULL) < 0)
			err(1, "thread %ld", i);
	printf("threads=%ld\n", threads);
	fflush(stdout);
	pause();
	return 0;
}
