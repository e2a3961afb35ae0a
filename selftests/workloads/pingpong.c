// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: two processes send a byte to and fro through two pipes, ROUNDS
 * times: 2 * ROUNDS wake-ups, each of one by the other.
 */
#include <sys/wait.h>

#include "work.h"

static void play(int in, int out, long rounds, int first)
{
	char c = 'x';

	while (rounds--) {
		if (first && write(out, &c, 1) != 1)
			err(1, "write");
		if (read(in, &c, 1) != 1)
			err(1, "read");
		if (!first && write(out, &c, 1) != 1)
			err(1, "write");
	}
}

int main(int argc, char **argv)
{
	long rounds = work_arg(argc, argv, 1, 1, LONG_MAX, "ROUNDS");
	int to[2], fro[2], status;
	uint64_t begun;
	pid_t child;

	if (pipe(to) || pipe(fro))
		err(1, "pipe");
	child = fork();
	if (child < 0)
		err(1, "fork");
	if (!child) {
		play(to[0], fro[1], rounds, 0);
		_exit(0);
	}
	/* Once to and fro, so that both are there. */
	play(fro[0], to[1], 1, 1);
	begun = work_clock(CLOCK_MONOTONIC);
	play(fro[0], to[1], rounds - 1, 1);
	begun = work_clock(CLOCK_MONOTONIC) - begun;
	if (waitpid(child, &status, 0) != child || status)
		errx(1, "the other player failed");
	printf("rounds=%ld\nplayer=%d\nplayer2=%d\nns=%llu\n", rounds, getpid(), child,
	       (unsigned long long)begun);
	return 0;
}
