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
 * @pid: 0: there is none
 * @go: writing end: a byte lets it exec
 * @error: reading end: the errno of a failed exec; the exec closes it
 * @status: as of waitpid(), once it has @ended
 */
struct child {
	pid_t pid;
	int go;
	int error;
	int status;
	bool ended;
};

/* Forks it; it waits for child_go(). */
int child_fork(struct child *child, char **command);
/* Lets it exec; -errno of the exec. */
int child_go(struct child *child);
/* Has it ended? */
void child_reap(struct child *child);
/* One that waits still for child_go() ends, another one gets a SIGTERM. */
void child_end(struct child *child);

#endif /* SCHEDTAPE_CHILD_H */
