// SPDX-License-Identifier: GPL-2.0-only
#include "replay/kill-on-exit.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void guard_main(int fd, void (*clean)(void *arg), void *arg)
{
	sigset_t all;
	char c;

	/* A Ctrl-C is for the controller. */
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	setpgid(0, 0);
	/* Nobody writes: it returns when the last writer has gone. */
	while (read(fd, &c, 1) < 0 && errno == EINTR)
		;
	if (clean)
		clean(arg);
	kill(0, SIGKILL);
	_exit(0);
}

/*
 * As fork(2), but its end gives no signal: who waits for any child waits for players,
 * and not for this one, which ends behind them.
 */
static pid_t fork_aside(void)
{
	return syscall(SYS_clone, 0UL, NULL, NULL, NULL, NULL);
}

int guard_start(struct guard *guard, void (*clean)(void *arg), void *arg)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	guard->pid = fork_aside();
	if (!guard->pid) {
		close(ends[1]);
		guard_main(ends[0], clean, arg);
	}
	close(ends[0]);
	guard->fd = ends[1];
	if (guard->pid < 0) {
		close(guard->fd);
		guard->pid = 0;
		return -EAGAIN;
	}
	/* Here as well: players join the group before it may have done so. */
	setpgid(guard->pid, guard->pid);
	return 0;
}

void guard_end(struct guard *guard)
{
	if (!guard->pid)
		return;
	kill(-guard->pid, SIGKILL);
	waitpid(guard->pid, NULL, __WCLONE);
	close(guard->fd);
	guard->pid = 0;
}
