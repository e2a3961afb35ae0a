// SPDX-License-Identifier: GPL-2.0-only
#include "sample/freezer.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "machine/cgroup-files.h"

/* A task that the kernel does not let go for so long is stuck. */
#define PATIENCE_MS	10000

/* -- the guardian ---------------------------------------------------------- */

/*
 * The end of the pipe comes when this process and criu, which inherits the pipe, have ended.  criu
 * has the tasks by ptrace, and would leave them frozen.
 */
static void __attribute__((noreturn)) guard(const char *cgroup, int pipe)
{
	char c;

	/* What ends this command must not end the guardian before it. */
	setsid();
	signal(SIGHUP, SIG_IGN);
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	prctl(PR_SET_NAME, "stape-thaw");
	/* A reader of a pipe that this process writes must not wait for the guardian's end. */
	if (pipe != STDIN_FILENO)
		dup3(pipe, STDIN_FILENO, 0);
	close_range(STDIN_FILENO + 1, ~0U, 0);
	while (read(STDIN_FILENO, &c, 1) < 0 && errno == EINTR)
		;
	schedtape_cgroup_write(cgroup, "cgroup.freeze", "0");
	_exit(0);
}

static int start_guardian(struct freezer *freezer)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	freezer->guardian = fork();
	if (!freezer->guardian) {
		close(ends[1]);
		guard(freezer->cgroup, ends[0]);
	}
	close(ends[0]);
	freezer->guard = ends[1];
	if (freezer->guardian >= 0)
		return 0;
	close(freezer->guard);
	return -errno;
}

static void end_guardian(struct freezer *freezer)
{
	close(freezer->guard);
	while (waitpid(freezer->guardian, NULL, 0) < 0 && errno == EINTR)
		;
}

/* -- freezing -------------------------------------------------------------- */

/* Reads cgroup.events.  Returns 1: all are frozen, 0: not yet, -ESRCH: there are none, -errno. */
static int read_events(int fd)
{
	char text[128] = "";
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);

	if (n < 0)
		return -errno;
	if (strstr(text, "populated 0"))
		return -ESRCH;
	return strstr(text, "frozen 1") ? 1 : 0;
}

static int wait_until_frozen(const char *cgroup)
{
	uint64_t end = schedtape_now() + PATIENCE_MS * 1000000ULL, at;
	char path[PATH_MAX];
	int fd, ret;

	snprintf(path, sizeof(path), "%s/cgroup.events", cgroup);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	for (;;) {
		struct pollfd event = { .fd = fd, .events = POLLPRI };

		ret = read_events(fd);
		at = schedtape_now();
		if (ret || at >= end)
			break;
		poll(&event, 1, (end - at) / 1000000 + 1);
	}
	close(fd);
	return ret > 0 ? 0 : ret ? ret : -ETIMEDOUT;
}

int freezer_freeze(struct freezer *freezer, const char *cgroup, struct schedtape_error *err)
{
	int ret;

	memset(freezer, 0, sizeof(*freezer));
	freezer->cgroup = cgroup;
	ret = start_guardian(freezer);
	if (ret)
		return schedtape_fail(err, ret, "no process to thaw the workload: %s",
				      strerror(-ret));
	freezer->since = schedtape_now();
	ret = schedtape_cgroup_write(cgroup, "cgroup.freeze", "1");
	if (!ret)
		ret = wait_until_frozen(cgroup);
	if (!ret)
		return 0;
	freezer_thaw(freezer);
	if (ret == -ESRCH)
		return schedtape_fail(err, ret, "the workload has ended");
	if (ret == -ETIMEDOUT)
		return schedtape_fail(err, ret, "%s has a task that does not freeze within %d s",
				      cgroup, PATIENCE_MS / 1000);
	return schedtape_fail(err, ret, "%s cannot be frozen: %s", cgroup, strerror(-ret));
}

uint64_t freezer_thaw(struct freezer *freezer)
{
	uint64_t pause;

	schedtape_cgroup_write(freezer->cgroup, "cgroup.freeze", "0");
	pause = schedtape_now() - freezer->since;
	end_guardian(freezer);
	return pause;
}
