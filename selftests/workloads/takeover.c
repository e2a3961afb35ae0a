// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: a thread executes COMMAND and so takes the PID of its process, which has THREADS
 * other threads besides the first one, all asleep.
 */
#include <pthread.h>

#include "work.h"

static void *stay(void *arg)
{
	pause();
	return arg;
}

static void *take_over(void *argv)
{
	execvp(*(char **)argv, argv);
	err(1, "%s", *(char **)argv);
}

int main(int argc, char **argv)
{
	static const char usage[] = "THREADS COMMAND [ARGUMENT...]";
	long threads = work_arg(argc, argv, 1, 0, 1000, usage);
	pthread_t thread;

	if (argc < 3)
		errx(2, "usage: takeover %s", usage);
	for (; threads >= 0; threads--)
		if (pthread_create(&thread, NULL, threads ? stay : take_over, argv + 2))
			errx(1, "no thread");
	pause();
	return 0;
}
