// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: three phases of MS each: it computes; two tasks wake each other; processes are
 * forked that compute. With "alone" there is one process: it computes; it sleeps often for a
 * moment; it computes and sleeps for a millisecond each. Before that it does a little of each.
 * Prints when each phase begins, and when the last one ends, ns of CLOCK_MONOTONIC.
 */
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>

#include "work.h"

static uint64_t now(void)
{
	return work_clock(CLOCK_MONOTONIC);
}

static void compute(uint64_t until)
{
	while (now() < until)
		;
}

static void doze(long ns)
{
	const struct timespec t = { .tv_nsec = ns };

	nanosleep(&t, NULL);
}

static void give(int fd, char byte)
{
	if (write(fd, &byte, 1) != 1)
		err(1, "write");
}

static char take(int fd)
{
	char byte;

	if (read(fd, &byte, 1) != 1)
		err(1, "read");
	return byte;
}

static void wait_for_child(void)
{
	int status;

	if (wait(&status) < 0 || status)
		errx(1, "a child failed");
}

static void wake_each_other(uint64_t until)
{
	int here[2], there[2];

	if (pipe(here) || pipe(there))
		err(1, "pipe");
	if (!work_fork()) {
		while (take(there[0]) != 'e')
			give(here[1], 'x');
		_exit(0);
	}
	while (now() < until) {
		give(there[1], 'x');
		take(here[0]);
		work_burn(20000);
	}
	give(there[1], 'e');
	wait_for_child();
}

static void fork_often(uint64_t until)
{
	while (now() < until) {
		if (!work_fork()) {
			prctl(PR_SET_NAME, "child");
			work_burn(500000);
			_exit(0);
		}
		wait_for_child();
	}
}

static void sleep_often(uint64_t until)
{
	while (now() < until) {
		work_burn(50000);
		doze(50000);
	}
}

static void sleep_long(uint64_t until)
{
	while (now() < until) {
		work_burn(1000000);
		doze(1000000);
	}
}

static void (*const many[])(uint64_t until) = { compute, wake_each_other, fork_often };
static void (*const one[])(uint64_t until) = { compute, sleep_often, sleep_long };

int main(int argc, char **argv)
{
	uint64_t ms = work_arg(argc, argv, 1, 1, 1000000, "MS [alone]");
	bool alone = argc > 2 && !strcmp(argv[2], "alone");
	uint64_t borders[4];
	int i;

	for (i = 0; i < 3; i++)
		(alone ? one : many)[i](now() + 1);
	borders[0] = now();
	for (i = 0; i < 3; i++) {
		(alone ? one : many)[i](borders[i] + ms * 1000000);
		borders[i + 1] = now();
	}
	printf("%llu %llu %llu %llu\n", (unsigned long long)borders[0],
	       (unsigned long long)borders[1], (unsigned long long)borders[2],
	       (unsigned long long)borders[3]);
	return 0;
}
