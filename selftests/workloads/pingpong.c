// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: two processes send a byte to and fro through two pipes, ROUNDS times: 2 *
 * ROUNDS wake-ups, each of one by the other.  With PAIRS, so many pairs do that, each pair on
 * a CPU of its own, with a policy under which a wakee does not preempt its waker.  With the word
 * "other" instead, the second process has that name.
 */
#include <sched.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "../qemu/plugin/mark.h"
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

/* Returns the duration in ns; @name: of the second process, or NULL; @other: that process. */
static uint64_t play_pair(long rounds, const char *name, pid_t *other)
{
	int to[2], fro[2], status;
	uint64_t begun;
	pid_t child;

	if (pipe(to) || pipe(fro))
		err(1, "pipe");
	child = work_fork();
	/*
	 * Each process closes the other's pipe ends, so that its read() returns 0 when the other
	 * process is killed.
	 */
	close(child ? to[0] : to[1]);
	close(child ? fro[1] : fro[0]);
	if (!child) {
		if (name)
			prctl(PR_SET_NAME, name);
		play(to[0], fro[1], rounds, 0);
		_exit(0);
	}
	/* One round first, so that both have started. */
	play(fro[0], to[1], 1, 1);
	mark("on pingpong");
	begun = work_clock(CLOCK_MONOTONIC);
	play(fro[0], to[1], rounds - 1, 1);
	begun = work_clock(CLOCK_MONOTONIC) - begun;
	mark("off");
	if (waitpid(child, &status, 0) != child || status)
		errx(1, "the other player failed");
	*other = child;
	return begun;
}

static void stay_on(int cpu)
{
	struct sched_param param = { 0 };
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		err(1, "CPU %d", cpu);
	if (sched_setscheduler(0, SCHED_BATCH, &param))
		err(1, "SCHED_BATCH");
}

static void play_pairs(long pairs, long rounds)
{
	uint64_t begun = work_clock(CLOCK_MONOTONIC);
	int status, failed = 0;
	pid_t other;
	long i;

	for (i = 0; i < pairs; i++) {
		pid_t child = work_fork();

		if (!child) {
			stay_on(i);
			play_pair(rounds, NULL, &other);
			exit(0);
		}
	}
	for (i = 0; i < pairs; i++)
		failed |= wait(&status) < 0 || status;
	if (failed)
		errx(1, "a pair failed");
	printf("ns=%llu\n", (unsigned long long)(work_clock(CLOCK_MONOTONIC) - begun));
}

int main(int argc, char **argv)
{
	const char *usage = "ROUNDS [PAIRS | other]", *name = NULL;
	long rounds = work_arg(argc, argv, 1, 1, LONG_MAX, usage);
	uint64_t ns;
	pid_t other;

	if (argc == 3 && !strcmp(argv[2], "other")) {
		name = argv[2];
	} else if (argc > 2) {
		play_pairs(work_arg(argc, argv, 2, 1, CPU_SETSIZE, usage), rounds);
		return 0;
	}
	ns = play_pair(rounds, name, &other);
	printf("rounds=%ld\nplayer=%d\nplayer2=%d\nns=%llu\n", rounds, getpid(), other,
	       (unsigned long long)ns);
	return 0;
}
