/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shared by the workloads. Each does something of a known shape and prints its numbers as
 * key=value, a line each.
 */
#ifndef WORKLOADS_WORK_H
#define WORKLOADS_WORK_H

#include <err.h>
#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static inline uint64_t work_clock(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

/* Uses @ns of CPU time, however long that takes. */
static inline void work_burn(uint64_t ns)
{
	uint64_t end = work_clock(CLOCK_THREAD_CPUTIME_ID) + ns;

	while (work_clock(CLOCK_THREAD_CPUTIME_ID) < end)
		;
}

/* Forks a process.  Returns its PID in the parent, 0 in the child. */
static inline pid_t work_fork(void)
{
	pid_t pid = fork();

	if (pid < 0)
		err(1, "fork");
	return pid;
}

/* Forks @count processes in turn: each ends, and is reaped before the next. */
static inline void work_forks(long count)
{
	int status;
	pid_t pid;

	while (count--) {
		pid = work_fork();
		if (!pid)
			_exit(0);
		if (waitpid(pid, &status, 0) != pid || status)
			errx(1, "a child failed");
	}
}

/* Returns argument number @n, which must exist and be within the bounds. */
static inline long work_arg(int argc, char **argv, int n, long min, long max, const char *usage)
{
	char *end;
	long value;

	if (argc <= n)
		errx(2, "usage: %s %s", argv[0], usage);
	errno = 0;
	value = strtol(argv[n], &end, 10);
	if (errno || end == argv[n] || *end || value < min || value > max)
		errx(2, "'%s' is not a number from %ld to %ld; usage: %s %s", argv[n], min, max,
		     argv[0], usage);
	return value;
}

#endif /* WORKLOADS_WORK_H */
