/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The command that a recording starts.
 */
#ifndef SCHEDTAPE_CHILD_H
#define SCHEDTAPE_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

/**
 * struct child - a command
 * @pid: 0: there is no command
 * @go: writing end of a pipe: a byte makes the child call exec
 * @gone: that byte was written
 * @error: reading end of a pipe: errno of a failed exec; a successful exec closes it
 * @status: as waitpid() returns it, once it has @ended
 */
struct child {
	pid_t pid;
	int go;
	int error;
	int status;
	bool ended;
	bool gone;
};

/*
 * Forks a child that waits for child_go() before it executes @command.  Returns 0 or -errno.
 * @to_stderr: its standard output is the standard error
 */
int child_fork(struct child *child, char **command, bool to_stderr);
/* Makes the child execute its command.  Returns 0 or -errno of the exec. */
int child_go(struct child *child);
/* Sets @ended and @status if the child has ended.  Does not wait. */
void child_reap(struct child *child);
/*
 * Sends SIGTERM to the command.  A child that still waits for child_go() ends by itself, and is
 * reaped.
 */
void child_end(struct child *child);

#endif /* SCHEDTAPE_CHILD_H */
