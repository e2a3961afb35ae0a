// SPDX-License-Identifier: GPL-2.0-only
#include "guard.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
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

int guard_start(struct guard *guard, void (*clean)(void *arg), void *arg)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	guard->pid = fork();
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
	close(guard->fd);
	guard->pid = 0;
}
