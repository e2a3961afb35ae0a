// SPDX-License-Identifier: GPL-2.0-only
#include "replay/sessions.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "base/first-line.h"
#include "base/list.h"
#include "common/process.h"
#include "module/cgroup.h"
#include "replay/fork-aside.h"

#define WAIT_MS	100	/* between two looks for a signal */

/* -- what the kernel has --------------------------------------------------- */

/*
 * Returns true if a cgroup of version 2, or one above it, has a cpu.weight: then the first part of
 * its path has one.  In a namespace of cgroups the root has one, too, which is another cgroup's.
 */
static bool has_weight(const char *path)
{
	const int first = strcspn(path + 1, "/");
	struct schedtape_error err;
	char mount[PATH_MAX], root[PATH_MAX + 16], file[2 * PATH_MAX];

	if (schedtape_cgroup_mount(mount, sizeof(mount), &err))
		return false;
	snprintf(root, sizeof(root), "%s/cpu.weight", mount);
	snprintf(file, sizeof(file), "%s%.*s/cpu.weight", mount, first + 1, path);
	return !access(root, F_OK) || !access(file, F_OK);
}

/* @line: of /proc/self/cgroup: "0::/a/b", or of version 1 "4:cpu,cpuacct:/a/b" */
static bool is_weighed(char *line)
{
	char *list, *name;

	strsep(&line, ":");
	list = strsep(&line, ":");
	if (!line)
		return false;
	if (!*list)
		return has_weight(line);
	while ((name = strsep(&list, ",")))
		if (!strcmp(name, "cpu"))
			return strcmp(line, "/");
	return false;
}

/* A cgroup with a weight of its own takes precedence. */
static bool in_weighed_cgroup(void)
{
	FILE *file = fopen("/proc/self/cgroup", "re");
	char line[PATH_MAX];
	bool is = false;

	while (file && !is && fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = '\0';
		is = is_weighed(line);
	}
	if (file)
		fclose(file);
	return is;
}

const char *sessions_lack(void)
{
	char line[16];

	if (!first_line_read("/proc/sys/kernel/sched_autogroup_enabled", line, sizeof(line)))
		return "this kernel has no autogroups";
	if (strcmp(line, "1"))
		return "autogroups are switched off (/proc/sys/kernel/sched_autogroup_enabled)";
	if (in_weighed_cgroup())
		return "the cgroup of this process has a cpu.weight, so it is in no autogroup";
	return NULL;
}

/* -- the process that holds a session -------------------------------------- */

static void set_nice(const struct player_cast *cast, int nice)
{
	FILE *file;

	if (!nice)
		return;
	file = fopen("/proc/self/autogroup", "we");
	if (file)
		fprintf(file, "%d\n", nice);
	if (!file || fclose(file))
		dprintf(STDERR_FILENO, "%s: warning: nice value %d of an autogroup: %s\n",
			cast->command, nice, strerror(errno));
}

static void tell(int fd, int32_t pid)
{
	send(fd, &pid, sizeof(pid), MSG_NOSIGNAL);
}

/*
 * Starts a player from a process that ends at once: the player becomes a child of the controller,
 * also if it has ended by then.  Sends the player's PID or -errno, and then 0 when the player is
 * the controller's child, or if it could not be started.
 */
static void start_orphan(const struct player_cast *cast, uint32_t number, int fd)
{
	pid_t pid = fork();

	if (!pid) {
		tell(fd, player_spawn(cast, number));
		_exit(0);
	}
	if (pid < 0)
		tell(fd, -EAGAIN);
	else
		waitpid(pid, NULL, 0);
	tell(fd, 0);
}

/* Ends when the controller has closed the other end, or has died. */
static void hold(const struct player_cast *cast, int nice, int fd)
{
	sigset_t all;
	uint32_t number;

	/* Keep no descriptor of the session of the module, which ends with the last one. */
	player_close_others(cast, fd);
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	setsid();
	set_nice(cast, nice);
	while (recv(fd, &number, sizeof(number), 0) == sizeof(number))
		start_orphan(cast, number, fd);
	_exit(0);
}

/* -- the controller -------------------------------------------------------- */

static int begin(struct sessions *sessions, const struct player_cast *cast,
		 const struct schedtape_program_task *task)
{
	struct session *list;
	int ends[2];
	pid_t pid;

	list = schedtape_list_grow(sessions->list, sessions->n, &sessions->capacity,
				   sizeof(*list));
	if (!list)
		return -ENOMEM;
	sessions->list = list;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return -errno;
	pid = fork_aside();
	if (!pid)
		hold(cast, task->autogroup_nice, ends[1]);
	close(ends[1]);
	if (pid < 0) {
		close(ends[0]);
		return -EAGAIN;
	}
	list[sessions->n++] = (struct session){ task->autogroup, pid, ends[0] };
	return 0;
}

/* Its process may have been stopped, so a signal that ends the replay ends the wait, too. */
static int32_t hear(const struct session *session)
{
	struct pollfd wait = { .fd = session->fd, .events = POLLIN };
	int32_t pid;

	while (poll(&wait, 1, WAIT_MS) <= 0)
		if (signals_pending())
			return -EINTR;
	return recv(session->fd, &pid, sizeof(pid), 0) == sizeof(pid) ? pid : -ECHILD;
}

pid_t sessions_spawn(struct sessions *sessions, const struct player_cast *cast, uint32_t number)
{
	const struct schedtape_program_task *task = &cast->program->tasks[number];
	const struct session *session;
	int32_t pid, ret;
	size_t i;

	for (i = 0; i < sessions->n && sessions->list[i].autogroup != task->autogroup; i++)
		;
	ret = i < sessions->n ? 0 : begin(sessions, cast, task);
	if (ret)
		return ret;
	session = &sessions->list[i];
	if (send(session->fd, &number, sizeof(number), MSG_NOSIGNAL) < 0)
		return -errno;
	/* 0: the process between the two was killed. */
	pid = hear(session);
	if (!pid)
		return -ECHILD;
	ret = hear(session);
	return pid < 0 ? pid : ret < 0 ? ret : pid;
}

void sessions_end(struct sessions *sessions)
{
	size_t i;

	for (i = 0; i < sessions->n; i++) {
		close(sessions->list[i].fd);
		/* It has nothing left to do, and may have been stopped. */
		kill(sessions->list[i].pid, SIGKILL);
		waitpid(sessions->list[i].pid, NULL, __WCLONE);
	}
	free(sessions->list);
	*sessions = (struct sessions){ 0 };
}
