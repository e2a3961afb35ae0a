/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Kills all players of a replay without the module, however its controller dies.
 */
#ifndef SCHEDTAPE_GUARD_H
#define SCHEDTAPE_GUARD_H

#include <sys/types.h>

/**
 * struct guard - a process that waits for the controller's end
 * @pid: of it, and of the process group that it kills; 0: there is none
 * @fd: it waits for the end of this
 */
struct guard {
	pid_t pid;
	int fd;
};

/* -errno. */
int guard_start(struct guard *guard);
/* Kills the group. */
void guard_end(struct guard *guard);

#endif /* SCHEDTAPE_GUARD_H */
