// SPDX-License-Identifier: GPL-2.0-only
#include "record/daemon.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/output.h"
#include "common/process.h"

/* Waits until the child has begun, or ended without that.  Returns the caller's exit status. */
static int wait_for_child(pid_t pid, int from_child)
{
	int status = 0;
	ssize_t n;
	char c;

	do {
		n = read(from_child, &c, 1);
	} while (n < 0 && errno == EINTR);
	if (n == 1)
		return 0;
	if (waitpid(pid, &status, 0) != pid)
		return CMD_FAILURE;
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	out_error(NULL, "--daemon: the recorder was killed by signal %d before it began",
		  WTERMSIG(status));
	return CMD_FAILURE;
}

/* Closes what the caller has open, so that nobody waits for the end of a pipe or for a lock. */
static void close_files(int but)
{
	if (but > STDERR_FILENO + 1)
		close_range(STDERR_FILENO + 1, but - 1, 0);
	close_range(but + 1, ~0U, 0);
}

int daemon_start(struct daemon *daemon, const struct daemon_options *options)
{
	int fds[2], ret;
	pid_t pid;

	daemon->options = options;
	log_use_journal();
	if (!options->background)
		return 0;
	if (pipe2(fds, O_CLOEXEC)) {
		ret = -errno;
		out_error(NULL, "--daemon: %s", strerror(-ret));
		return ret;
	}
	pid = fork();
	if (pid > 0) {
		close(fds[1]);
		exit(wait_for_child(pid, fds[0]));
	}
	ret = pid < 0 ? -errno : 0;
	close(fds[0]);
	daemon->caller = fds[1];
	if (ret) {
		out_error(NULL, "--daemon: %s", strerror(-ret));
		return ret;
	}
	if (!options->keep_files)
		close_files(fds[1]);
	signals_take_hangups();
	return 0;
}

int daemon_open(struct daemon *daemon)
{
	const struct daemon_options *options = daemon->options;
	int ret = 0;

	if (options->pidfile)
		ret = pidfile_open(&daemon->pidfile, options->pidfile);
	if (!ret && options->background)
		ret = log_open(&daemon->log, options->log);
	return ret;
}

int daemon_begun(struct daemon *daemon)
{
	int null;

	if (!daemon->options->background)
		return 0;
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (null < 0) {
		out_error("/dev/null", "%s", strerror(errno));
		return -EIO;
	}
	/*
	 * Not before: until now, Ctrl-C ends the caller and this process.  The working directory
	 * stays, because paths may be relative.
	 */
	setsid();
	dup2(null, STDIN_FILENO);
	dup2(null, STDOUT_FILENO);
	close(null);
	log_take_over(&daemon->log);
	/* SIGPIPE is ignored: see signals_survive_writes(). */
	if (write(daemon->caller, "", 1) != 1) {
		out_error(NULL, "--daemon: the process that waited for the start was killed: "
			  "nothing is recorded");
		return -EPIPE;
	}
	close(daemon->caller);
	daemon->caller = -1;
	return 0;
}

void daemon_reopen(struct daemon *daemon)
{
	log_reopen(&daemon->log);
}

void daemon_close(struct daemon *daemon)
{
	pidfile_close(&daemon->pidfile);
	log_close(&daemon->log);
	if (daemon->caller >= 0)
		close(daemon->caller);
	daemon->caller = -1;
}
