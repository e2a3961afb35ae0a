// SPDX-License-Identifier: GPL-2.0-only
#include "replay/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/first-line.h"
#include "base/list.h"
#include "common/output.h"
#include "common/signals.h"
#include "module/cgroup.h"

#define WAIT_MS		100		/* between two looks for a signal */

/*
 * Forks without an exit signal, so that a wait for any child is a wait for players and does
 * not return this process, which ends after them.
 */
static pid_t fork_aside(void)
{
	return syscall(SYS_clone, 0UL, NULL, NULL, NULL, NULL);
}

/* -- the process that kills the players ------------------------------------ */

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

/* -- what sessions need ---------------------------------------------------- */

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
static void start_orphan(const struct stage *stage, uint32_t number, int fd)
{
	pid_t pid = fork();

	if (!pid) {
		tell(fd, stage_spawn(stage, number));
		_exit(0);
	}
	if (pid < 0)
		tell(fd, -EAGAIN);
	else
		waitpid(pid, NULL, 0);
	tell(fd, 0);
}

/* Ends when the controller has closed the other end, or has died. */
static void hold(const struct stage *stage, int nice, int fd)
{
	sigset_t all;
	uint32_t number;

	/* Keep no descriptor of the session of the module, which ends with the last one. */
	stage_close_others(stage, fd);
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	setsid();
	set_nice(stage->cast, nice);
	while (recv(fd, &number, sizeof(number), 0) == sizeof(number))
		start_orphan(stage, number, fd);
	_exit(0);
}

/* -- sessions -------------------------------------------------------------- */

static int begin_session(struct sessions *sessions, const struct stage *stage,
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
		hold(stage, task->autogroup_nice, ends[1]);
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

/*
 * Starts the process of a root of the program in its session.  It becomes a child of this process,
 * which has to be a subreaper.  Returns its PID or -errno.
 */
static pid_t spawn_in_session(struct sessions *sessions, const struct stage *stage,
			      uint32_t number)
{
	const struct schedtape_program_task *task = &stage->cast->program->tasks[number];
	const struct session *session;
	int32_t pid, ret;
	size_t i;

	for (i = 0; i < sessions->n && sessions->list[i].autogroup != task->autogroup; i++)
		;
	ret = i < sessions->n ? 0 : begin_session(sessions, stage, task);
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

static void end_sessions(struct sessions *sessions)
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

/* -- the players' processes ------------------------------------------------ */

static pid_t spawn(struct processes *processes, uint32_t number)
{
	const struct player_cast *cast = processes->stage->cast;

	if (cast->autogroups && cast->program->tasks[number].autogroup)
		return spawn_in_session(&processes->sessions, processes->stage, number);
	return stage_spawn(processes->stage, number);
}

/* Makes room for one more process. */
static bool has_room(struct processes *processes)
{
	uint32_t *pids = schedtape_list_grow(processes->pids, processes->nr,
					     &processes->pid_capacity, sizeof(*pids));
	uint32_t *tasks = schedtape_list_grow(processes->tasks, processes->nr,
					      &processes->task_capacity, sizeof(*tasks));

	processes->pids = pids ? pids : processes->pids;
	processes->tasks = tasks ? tasks : processes->tasks;
	return pids && tasks;
}

static int start_one(struct processes *processes, uint32_t number)
{
	const struct schedtape_program_task *tasks = processes->stage->cast->program->tasks;
	pid_t pid = has_room(processes) ? spawn(processes, number) : -ENOMEM;
	uint32_t i;

	if (pid == -EINTR)
		return pid;
	if (pid < 0) {
		out_error(NULL, "cannot start a player: %s", strerror(-pid));
		return pid;
	}
	processes->tasks[processes->nr] = number;
	processes->pids[processes->nr++] = pid;
	processes->none_left = false;
	processes->players++;
	for (i = tasks[number].threads; i != SCHEDTAPE_NONE; i = tasks[i].sibling)
		processes->players++;
	return 0;
}

static uint64_t due(const struct processes *processes, uint32_t root)
{
	const struct schedtape_program *program = processes->stage->cast->program;

	return program->tasks[program->roots[root]].due;
}

int processes_begin(struct processes *processes, const struct stage *stage)
{
	const struct schedtape_program *program = stage->cast->program;
	uint32_t i;
	int ret = 0;

	*processes = (struct processes){ .stage = stage };
	for (i = 0; i < program->nr_roots && !ret; i++)
		if (!due(processes, i))
			ret = start_one(processes, program->roots[i]);
	return ret ? ret : processes_start_due(processes, 0, STAPE_REPLAY_SPEED_ONE);
}

int processes_start_due(struct processes *processes, uint64_t time, uint32_t speed)
{
	const struct schedtape_program *program = processes->stage->cast->program;
	uint64_t until = time + SCHEDTAPE_AHEAD_NS / STAPE_REPLAY_SPEED_ONE * speed, when;
	uint32_t root;
	int ret = 0;

	/* Also start one beyond @until that waits for its time, so the replay never looks stuck. */
	for (; processes->next < program->nr_roots && processes->latest <= until && !ret;
	     processes->next++) {
		root = program->roots[processes->next];
		when = due(processes, processes->next);
		if (!when)
			continue;
		if (schedtape_program_begin(program, root)->kind == SCHEDTAPE_OP_WAIT_UNTIL)
			processes->latest = when;
		ret = start_one(processes, root);
	}
	return ret;
}

bool processes_to_come(const struct processes *processes)
{
	return processes->next < processes->stage->cast->program->nr_roots;
}

/* A process that reached the end of its program, or of the replay, has the status 0. */
static void take_end(struct processes *processes, uint32_t pid, int status)
{
	size_t i;

	for (i = 0; i < processes->nr && processes->pids[i] != pid; i++)
		;
	if (i == processes->nr)
		return;
	if (status && !processes->died.pid)
		processes->died = (struct process_death){ pid, processes->tasks[i], status };
	processes->nr--;
	processes->pids[i] = processes->pids[processes->nr];
	processes->tasks[i] = processes->tasks[processes->nr];
}

/* Also returns orphans of players, because the controller is their subreaper. */
void processes_reap(struct processes *processes, bool all)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, all ? 0 : WNOHANG)) > 0)
		take_end(processes, pid, status);
	if (pid < 0 && errno == ECHILD)
		processes->none_left = true;
}

void processes_free(struct processes *processes)
{
	end_sessions(&processes->sessions);
	free(processes->pids);
	free(processes->tasks);
}
