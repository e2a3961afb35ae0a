// SPDX-License-Identifier: GPL-2.0-only
#include "record/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/sched-attr.h"
#include "common/process.h"

/* With SCHED_RESET_ON_FORK this process has lost what the recorder was started with. */
static void keep_priority(const struct sched_attributes *before)
{
	if (before->flags & SCHED_ATTR_RESET_ON_FORK)
		sched_attr_set(before);
}

static void child_main(char **command, bool to_stderr, const struct sched_attributes *before,
		       int go, int error)
{
	int code, fd;
	char c;

	/* Without a byte the recorder has failed before child_go(). */
	if (read(go, &c, 1) != 1)
		_exit(1);
	signals_restore();
	keep_priority(before);
	if (to_stderr)
		dup2(STDERR_FILENO, STDOUT_FILENO);
	for (fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (standard_was_missing(fd))
			close(fd);
	execvp(command[0], command);
	code = errno;
	if (write(error, &code, sizeof(code)) < 0)
		_exit(126);
	_exit(127);
}

/* Returns the state of a process from /proc, or 0 if that cannot be read. */
static char state_of(pid_t pid)
{
	char path[32], state = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	file = fopen(path, "re");
	if (!file)
		return 0;
	/* The child has this program's name, so the first ")" ends it. */
	if (fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
		state = 0;
	fclose(file);
	return state;
}

/*
 * Waits until the child sleeps, for 100 ms at most, so that the recording begins with its
 * wake-up.  If the child was still running then, its replay would have one wake-up more, because
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

int child_fork(struct child *child, char **command, bool to_stderr)
{
	struct sched_attributes before = { 0 };
	int go[2], error[2];

	sched_attr_get(&before);
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
		child_main(command, to_stderr, &before, go[0], error[1]);
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
	child->gone = true;
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
	if (!child->gone && !child->ended)
		child->ended = waitpid(child->pid, &child->status, 0) == child->pid;
	if (!child->ended)
		kill(child->pid, SIGTERM);
}
