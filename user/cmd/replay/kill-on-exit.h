/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Kills the replay's process group when the controller dies, for whatever reason.
 */
#ifndef SCHEDTAPE_KILL_ON_EXIT_H
#define SCHEDTAPE_KILL_ON_EXIT_H

#include <sys/types.h>

/**
 * struct kill_on_exit - a process that waits for the controller's end
 * @pid: its PID, which is the number of the process group that it kills; 0: not started
 * @fd: writing end of a pipe; the process waits until all descriptors of it are closed
 */
struct kill_on_exit {
	pid_t pid;
	int fd;
};

/*
 * Starts the process.  When the controller ends, it calls @clean (which may be NULL) with @arg,
 * and kills the group.  It is a fork, so it sees later changes in shared memory only.  Call this
 * before opening a descriptor that has to close with the controller.  The process sends no exit
 * signal, so waitpid(-1) does not return it.  Returns 0 or -errno.
 */
int kill_on_exit_start(struct kill_on_exit *killer, void (*clean)(void *arg), void *arg);
/* Stops the other processes of the group, or lets them go on. */
void kill_on_exit_stop(const struct kill_on_exit *killer);
void kill_on_exit_continue(const struct kill_on_exit *killer);
/* Kills the group and waits for the process; @clean is not called. */
void kill_on_exit_end(struct kill_on_exit *killer);

#endif /* SCHEDTAPE_KILL_ON_EXIT_H */
