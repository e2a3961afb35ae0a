// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: for LD_PRELOAD: players with the name $DIE_AS are killed by the signal $DIE_OF
 * before they join their replay, or exit if that is 0.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A player's process executes its program as the task. */
int execveat(int fd, const char *path, char *const argv[], char *const envp[], int flags)
{
	const char *name = getenv("DIE_AS"), *signal = getenv("DIE_OF");

	if (name && signal && !strcmp(argv[0], name)) {
		kill(getpid(), atoi(signal));
		_exit(0);
	}
	return syscall(SYS_execveat, fd, path, argv, envp, flags);
}
