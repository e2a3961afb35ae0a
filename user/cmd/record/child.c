// SPDX-License-Identifier: GPL-2.0-only
#include "record/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/signals.h"
#include "record/recorder.h"

static void child_main(char **command, int go, int error)
{
	int code;
	char c;

	/* The recorder may fail before it lets us: then there is nothing to do. */
	if (read(go, &c, 1) != 1)
		_exit(1);
	signals_restore();
	recorder_leave();
	execvp(command[0], command);
	code = errno;
	if (write(error, &code, sizeof(code)) < 0)
		_exit(126);
	_exit(127);
}

/* The state that /proc tells of, 0: it does not. */
static char state_of(pid_t pid)
{
	char path[32], state = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	file = fopen(path, "re");
	if (!file)
		return 0;
	/* Its name is ours, and has no ")" but at its end. */
	if (fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
		state = 0;
	fclose(file);
	return state;
}

/*
 * Until it sleeps, if that does not take too long: then the recording begins with its
 * wake-up. One that was still running then would replay with a wake-up more, for which
 * its player has to wait for the start.
 */
static void wait_until_asleep(pid_t pid)
{
	int tries;
	char state;

	for (tries = 0; tries < 100; tries++) {
		state = state_of(pid);
		if (state != 'R' && state != 'D')
			break;
		usleep(1000);
	}
}

int child_fork(struct child *child, char **command)
{
	int go[2], error[2];

	if (pipe2(go, O_CLOEXEC))
		return -errno;
	if (pipe2(error, O_CLOEXEC)) {
		close(go[0]);
		close(go[1]);
		return -errno;
	}
	child->pid = fork();
	if (!child->pid) {
		close(go[1]);
		close(error[0]);
		child_main(command, go[0], error[1]);
	}
	close(go[0]);
	close(error[1]);
	child->go = go[1];
	child->error = error[0];
	if (child->pid < 0)
		return -errno;
	wait_until_asleep(child->pid);
	return 0;
}

int child_go(struct child *child)
{
	int code = 0;

	if (write(child->go, "", 1) != 1)
		return -errno;
	if (read(child->error, &code, sizeof(code)) != sizeof(code))
		code = 0;
	return -code;
}

void child_reap(struct child *child)
{
	if (child->pid > 0 && !child->ended)
		child->ended = waitpid(child->pid, &child->status, WNOHANG) == child->pid;
}

void child_end(struct child *child)
{
	if (child->pid <= 0)
		return;
	close(child->go);
	close(child->error);
	if (!child->ended)
		kill(child->pid, SIGTERM);
}
