// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: a tree of processes, DEPTH levels below this one, WIDTH children
 * each; every process also makes and joins THREADS threads.
 */
#include <pthread.h>
#include <sys/wait.h>

#include "work.h"

static long threads;

static void *thread_main(void *arg)
{
	work_burn(100000);
	return arg;
}

static void make_threads(void)
{
	pthread_t thread;
	long i;

	for (i = 0; i < threads; i++)
		if (pthread_create(&thread, NULL, thread_main, NULL) ||
		    pthread_join(thread, NULL))
			errx(1, "cannot make a thread");
}

static void grow(long depth, long width)
{
	int status;
	pid_t pid;
	long i;

	make_threads();
	if (!depth)
		return;
	for (i = 0; i < width; i++) {
		pid = work_fork();
		if (!pid) {
			grow(depth - 1, width);
			_exit(0);
		}
	}
	for (i = 0; i < width; i++)
		if (wait(&status) < 0 || status)
			errx(1, "a child failed");
}

int main(int argc, char **argv)
{
	static const char usage[] = "DEPTH WIDTH [THREADS]";
	long depth = work_arg(argc, argv, 1, 0, 10, usage);
	long width = work_arg(argc, argv, 2, 1, 1000, usage);
	long level = 1, all = 1, i;

	if (argc > 3)
		threads = work_arg(argc, argv, 3, 0, 1000, usage);
	for (i = 0; i < depth; i++) {
		level *= width;
		all += level;
	}
	grow(depth, width);
	printf("processes=%ld\nforks=%ld\nthreads=%ld\n", all, all - 1, all * threads);
	return 0;
}
