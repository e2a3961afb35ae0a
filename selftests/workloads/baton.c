// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: THREADS threads pass a baton, HOPS times.  Each sleeps until it gets the baton, so a
 * hop is a waking, a wakeup and a switch.  Threads that were made one after the other don't follow
 * each other, so that what belongs to neighbours is not used together.
 */
#include <sys/eventfd.h>

#include "../qemu/plugin/mark.h"
#include "clones.h"

static long threads, step, hops;
static int *batons, done;

static void give(int fd)
{
	uint64_t one = 1;

	if (write(fd, &one, sizeof(one)) != sizeof(one))
		_exit(1);
}

static void take(int fd)
{
	uint64_t count;

	if (read(fd, &count, sizeof(count)) != sizeof(count))
		_exit(1);
}

static int run(void *arg)
{
	long self = (long)arg;

	for (;;) {
		take(batons[self]);
		if (!--hops) {
			give(done);
			/* It begins again where it was left. */
			take(batons[self]);
			hops--;
		}
		give(batons[(self + step) % threads]);
	}
	return 0;
}

static int make_event(void)
{
	int fd = eventfd(0, 0);

	if (fd < 0)
		err(1, "eventfd");
	return fd;
}

static long divisor(long a, long b)
{
	return b ? divisor(b, a % b) : a;
}

/* Passes the baton on @n times, from the thread @first.  Returns which thread is the next. */
static long pass(long first, long n)
{
	hops = n;
	give(batons[first]);
	take(done);
	return (first + (n - 1) % threads * step) % threads;
}

int main(int argc, char **argv)
{
	const char *usage = "THREADS HOPS";
	long n, i, next;
	uint64_t begun;

	threads = work_arg(argc, argv, 1, 2, 1000000, usage);
	n = work_arg(argc, argv, 2, 1, LONG_MAX / 2, usage);
	for (step = threads * 618 / 1000 | 1; divisor(threads, step) != 1; step += 2)
		;
	clones_allow(RLIMIT_NOFILE, threads + 100);
	batons = calloc(threads, sizeof(*batons));
	if (!batons)
		err(1, "calloc");
	done = make_event();
	for (i = 0; i < threads; i++)
		batons[i] = make_event();
	clones_start(threads, run);
	/* Each thread has to have slept once; then the emulator's caches get warm. */
	next = pass(0, threads + 1);
	mark("on warm");
	next = pass(next, 5000);
	mark("off");
	mark("on baton");
	begun = work_clock(CLOCK_MONOTONIC);
	pass(next, n);
	begun = work_clock(CLOCK_MONOTONIC) - begun;
	mark("off");
	printf("hops=%ld\nns=%llu\n", n, (unsigned long long)begun);
	return 0;
}
