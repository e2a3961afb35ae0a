// SPDX-License-Identifier: GPL-2.0-only
#include "replay/kill-on-exit.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "replay/fork-aside.h"

static void kill_on_exit_main(int fd, void (*clean)(void *arg), void *arg)
{
	sigset_t all;
	char c;

	/* Ctrl-C is for the controller only. */
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	setpgid(0, 0);
	/* No process writes: read() returns when the last writing end is closed. */
	while (read(fd, &c, 1) < 0 && errno == EINTR)
		;
	if (clean)
		clean(arg);
	kill(0, SIGKILL);
	_exit(0);
}

int kill_on_exit_start(struct kill_on_exit *killer, void (*clean)(void *arg), void *arg)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	killer->pid = fork_aside();
	if (!killer->pid) {
		close(ends[1]);
		kill_on_exit_main(ends[0], clean, arg);
	}
	close(ends[0]);
	killer->fd = ends[1];
	if (killer->pid < 0) {
		close(killer->fd);
		killer->pid = 0;
		return -EAGAIN;
	}
	/* The child calls this too, but a player may join the group before the child runs. */
	setpgid(killer->pid, killer->pid);
	return 0;
}

void kill_on_exit_stop(const struct kill_on_exit *killer)
{
	kill(-killer->pid, SIGSTOP);
	/* It must still see the controller's end. */
	kill(killer->pid, SIGCONT);
}

void kill_on_exit_continue(const struct kill_on_exit *killer)
{
	kill(-killer->pid, SIGCONT);
}

void kill_on_exit_end(struct kill_on_exit *killer)
{
	if (!killer->pid)
		return;
	kill(-killer->pid, SIGKILL);
	waitpid(killer->pid, NULL, __WCLONE);
	close(killer->fd);
	killer->pid = 0;
}
