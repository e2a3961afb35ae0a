/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is left to be done when a replay's controller dies, however it does.
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

/*
 * It calls @clean, which may be NULL, with @arg, and kills the group.  Of what is done to
 * memory from now on it knows what is shared.  Who starts it has nothing open that is to
 * end with the controller.  A waitpid() for any child does not know it.  -errno.
 */
int guard_start(struct guard *guard, void (*clean)(void *arg), void *arg);
/* Kills the group, waits for the guard, and does nothing else. */
void guard_end(struct guard *guard);

#endif /* SCHEDTAPE_GUARD_H */
