// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: uses WORK ms of CPU time every PERIOD ms, COUNT times; each period begins with a
 * timer's wake-up, on a grid that starts with the first one. With TASKS, so many processes do
 * that, each a little later than the one before.
 */
#include <sys/wait.h>

#include "../qemu/plugin/mark.h"
#include "work.h"

static long late;

static void run(uint64_t begin, uint64_t period, uint64_t work, long count)
{
	uint64_t next = begin;

	while (count--) {
		struct timespec t;

		next += period;
		/* A process that is late does not sleep. */
		late += work_clock(CLOCK_MONOTONIC) >= next;
		t.tv_sec = next / 1000000000;
		t.tv_nsec = next % 1000000000;
		while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
			;
		work_burn(work);
	}
}

static void run_tasks(long tasks, uint64_t period, uint64_t work, long count)
{
	uint64_t begin = work_clock(CLOCK_MONOTONIC);
	int status;
	pid_t pid;
	long i;

	for (i = 0; i < tasks; i++) {
		pid = work_fork();
		if (!pid) {
			run(begin + period * i / tasks, period, work, count);
			_exit(0);
		}
	}
	for (i = 0; i < tasks; i++)
		if (wait(&status) < 0 || status)
			errx(1, "a task failed");
}

int main(int argc, char **argv)
{
	static const char usage[] = "PERIOD_MS WORK_MS COUNT [TASKS]";
	uint64_t period = work_arg(argc, argv, 1, 1, 1000000, usage) * 1000000ull;
	uint64_t work = work_arg(argc, argv, 2, 0, 1000000, usage) * 1000000ull;
	long count = work_arg(argc, argv, 3, 1, LONG_MAX, usage);

	if (argc > 4) {
		long tasks = work_arg(argc, argv, 4, 1, 10000, usage);

		run_tasks(tasks, period, work, count);
		printf("tasks=%ld\nperiods=%ld\n", tasks, tasks * count);
		return 0;
	}
	mark("on periodic");
	run(work_clock(CLOCK_MONOTONIC), period, work, count);
	mark("off");
	printf("periods=%ld\nlate=%ld\ncpu_ns=%llu\n", count, late,
	       (unsigned long long)work_clock(CLOCK_PROCESS_CPUTIME_ID));
	return 0;
}
