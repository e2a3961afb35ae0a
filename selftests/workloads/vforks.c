// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: COUNT times: WORK ms of CPU time, then a sleep in state D until a child has
 * ended that shares the memory, and that sleeps for SLEEP ms; 0: that only ends.
 */
#include <sys/wait.h>

#include "work.h"

int main(int argc, char **argv)
{
	static const char usage[] = "WORK_MS SLEEP_MS COUNT";
	uint64_t work = work_arg(argc, argv, 1, 0, 1000000, usage) * 1000000ull;
	long sleep = work_arg(argc, argv, 2, 0, 1000000, usage);
	long count = work_arg(argc, argv, 3, 1, LONG_MAX, usage), i;
	struct timespec t = { sleep / 1000, sleep % 1000 * 1000000 };
	int status;
	pid_t pid;

	for (i = 0; i < count; i++) {
		work_burn(work);
		pid = vfork();
		if (pid < 0)
			err(1, "vfork");
		if (!pid) {
			if (sleep)
				nanosleep(&t, NULL);
			_exit(0);
		}
		if (waitpid(pid, &status, 0) != pid || status)
			errx(1, "a child failed");
	}
	printf("vforks=%ld\n", count);
	return 0;
}
