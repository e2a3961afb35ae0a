// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: COUNT processes in turn: each is forked, ends, and is reaped before the next.
 */
#include <sys/wait.h>

#include "../qemu/plugin/mark.h"
#include "work.h"

int main(int argc, char **argv)
{
	long count = work_arg(argc, argv, 1, 1, LONG_MAX, "COUNT"), i;
	int status;
	pid_t pid;

	mark("on forks");
	for (i = 0; i < count; i++) {
		pid = fork();
		if (pid < 0)
			err(1, "fork");
		if (!pid)
			_exit(0);
		if (waitpid(pid, &status, 0) != pid || status)
			errx(1, "a child failed");
	}
	mark("off");
	printf("forks=%ld\n", count);
	return 0;
}
