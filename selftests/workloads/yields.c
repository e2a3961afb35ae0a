// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: THREADS threads yield to each other, COUNT times in all: a switch costs little more
 * than itself.  Each runs for a random time in between, so that a recording of it cannot be
 * compressed to almost nothing.
 */
#include "clones.h"

static long left;
static int done[2];

static int run(void *arg)
{
	uint64_t noise = 88172645463325252 + (long)arg;
	volatile unsigned int spins;

	for (;;) {
		/* A random number, by xorshift. */
		noise ^= noise << 13;
		noise ^= noise >> 7;
		noise ^= noise << 17;
		for (spins = noise % 128; spins; spins--)
			;
		if (!--left && write(done[1], "", 1) != 1)
			_exit(1);
		sched_yield();
	}
	return 0;
}

int main(int argc, char **argv)
{
	const char *usage = "THREADS COUNT";
	long threads = work_arg(argc, argv, 1, 2, 1000000, usage);
	char end;

	left = work_arg(argc, argv, 2, 1, LONG_MAX, usage);
	if (pipe(done))
		err(1, "pipe");
	clones_start(threads, run);
	if (read(done[0], &end, 1) != 1)
		err(1, "read");
	return 0;
}
