// SPDX-License-Identifier: GPL-2.0-only
#include "sample/internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/output.h"
#include "machine/cgroup-files.h"
#include "module/cgroup.h"

#define MOVE_PASSES	20
#define REMOVE_TRIES	250
#define REMOVE_PAUSE_NS	20000000

/* -- processes of a cgroup ------------------------------------------------- */

static int each_in(const char *folder, const char *file, int (*each)(pid_t pid, void *arg),
		   void *arg)
{
	char path[PATH_MAX + 32], line[32];
	FILE *list;
	int ret = 0;

	snprintf(path, sizeof(path), "%s/%s", folder, file);
	list = fopen(path, "re");
	while (list && !ret && fgets(line, sizeof(line), list))
		/* 0: a process that is not in this PID namespace. */
		if (atoi(line) > 0)
			ret = each(atoi(line), arg);
	if (list)
		fclose(list);
	return ret;
}

static int each_below(const char *folder, const char *file, int (*each)(pid_t pid, void *arg),
		      void *arg)
{
	int ret = each_in(folder, file, each, arg);
	char path[PATH_MAX];
	struct dirent *entry;
	DIR *dir;

	dir = ret ? NULL : opendir(folder);
	while (dir && !ret && (entry = readdir(dir))) {
		if (entry->d_type != DT_DIR || entry->d_name[0] == '.')
			continue;
		if (snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name) < PATH_MAX)
			ret = each_below(path, file, each, arg);
	}
	if (dir)
		closedir(dir);
	return ret;
}

int workload_each(const struct workload *workload, const char *file,
		  int (*each)(pid_t pid, void *arg), void *arg)
{
	return each_below(workload->path, file, each, arg);
}

bool workload_lives(const struct workload *workload)
{
	char text[256] = "";

	return workload->events >= 0 && pread(workload->events, text, sizeof(text) - 1, 0) > 0 &&
	       strstr(text, "populated 1");
}

/* -- families -------------------------------------------------------------- */

/* Returns the PID of a process's parent; 0: it has none here. */
static pid_t parent_of(pid_t pid)
{
	char path[32], line[128];
	pid_t parent = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	file = fopen(path, "re");
	while (file && !parent && fgets(line, sizeof(line), file))
		if (sscanf(line, "PPid: %d", &parent) == 1)
			break;
	if (file)
		fclose(file);
	return parent;
}

/* Returns true for a process and its descendants. */
static bool is_of(pid_t pid, pid_t ancestor)
{
	while (pid > 1 && pid != ancestor)
		pid = parent_of(pid);
	return pid == ancestor;
}

/* Stops at a process that is not of the family.  One that has just ended is no stranger. */
static int find_stranger(pid_t pid, void *arg)
{
	return !is_of(pid, *(pid_t *)arg) && parent_of(pid);
}

/* -- finding --------------------------------------------------------------- */

static int find_folder(char folder[PATH_MAX], pid_t pid)
{
	char path[PATH_MAX], mount[PATH_MAX / 2];
	struct schedtape_error err;
	int ret;

	ret = schedtape_cgroup_mount(mount, sizeof(mount), &err);
	if (ret)
		return out_failed(ret, &err);
	ret = schedtape_cgroup_of(pid, path);
	if (ret && ret != -ENODEV) {
		out_error(NULL, "-p %d: there is no such process", pid);
		return -ESRCH;
	}
	/* "/": the root, whose folder is the mount point. */
	if (ret || snprintf(folder, PATH_MAX - 64, "%s%s", mount,
			    path[1] ? path : "") >= PATH_MAX - 64) {
		out_error(NULL, "PID %d has no cgroup of version 2 here", pid);
		return -ENODEV;
	}
	return 0;
}

static bool is_root(const char *folder)
{
	char path[PATH_MAX + 32];

	snprintf(path, sizeof(path), "%s/cgroup.events", folder);
	return access(path, F_OK);
}

/* The folder found is that of a cgroup with other processes: chooses one below it. */
static void choose_below(struct workload *workload, const char *name)
{
	memcpy(workload->from, workload->path, sizeof(workload->from));
	snprintf(workload->path + strlen(workload->path), 64, "/%s%d", name, getpid());
	workload->made = true;
}

int workload_find(struct workload *workload, pid_t pid, bool child)
{
	int ret = find_folder(workload->path, pid);

	if (ret)
		return ret;
	if (!child && is_of(getpid(), pid)) {
		out_error(NULL, "-p %d: this command is its descendant: run it from elsewhere",
			  pid);
		return -EINVAL;
	}
	/* The root has other files, and all processes that have no other cgroup. */
	if (!child && !is_root(workload->path) &&
	    !workload_each(workload, "cgroup.procs", find_stranger, &pid))
		return 0;
	choose_below(workload, WORKLOAD_NAME);
	return 0;
}

int workload_find_new(struct workload *workload, const char *name)
{
	int ret = find_folder(workload->path, getpid());

	if (!ret)
		choose_below(workload, name);
	return ret;
}

/* -- moving ---------------------------------------------------------------- */

/**
 * struct move - processes on their way
 * @to: descriptor of the new cgroup's cgroup.procs
 * @ancestor: only this process and its descendants; 0: all
 * @moved: how many have been
 * @error: 0, or -errno of the first that could not be
 */
struct move {
	int to;
	pid_t ancestor;
	int moved;
	int error;
};

static int move_one(pid_t pid, void *arg)
{
	struct move *move = arg;
	char text[16];
	int len;

	if (move->ancestor && !is_of(pid, move->ancestor))
		return 0;
	len = snprintf(text, sizeof(text), "%d", pid);
	if (write(move->to, text, len) == len)
		move->moved++;
	else if (errno != ESRCH && !move->error)
		move->error = -errno;
	return 0;
}

static int open_procs(const char *folder)
{
	char path[PATH_MAX + 32];
	int fd;

	snprintf(path, sizeof(path), "%s/cgroup.procs", folder);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/*
 * Moves them until no further one is found, because they fork meanwhile.  A process whose first
 * thread has ended may stay listed.
 */
static int move_all(const char *from, const char *to, pid_t ancestor)
{
	struct move move = { .to = open_procs(to), .ancestor = ancestor };
	int before, passes = 0;

	if (move.to < 0)
		return move.to;
	do {
		before = move.moved;
		each_in(from, "cgroup.procs", move_one, &move);
	} while (move.moved > before && !move.error && ++passes < MOVE_PASSES);
	close(move.to);
	return move.error ? move.error : move.moved;
}

/* -- entering -------------------------------------------------------------- */

static int cannot_make(const struct workload *workload, int error)
{
	if (error == -EACCES || error == -EPERM || error == -EROFS)
		out_error(NULL, "%s: a cgroup cannot be made there: %s: use sudo, or a cgroup that "
			  "is delegated to this user", workload->from, strerror(-error));
	else
		out_error(NULL, "%s: %s", workload->path, strerror(-error));
	return error;
}

/* The kernel releases the lock when this process ends, however it does. */
static int lock(struct workload *workload)
{
	char path[PATH_MAX + 32];
	int ret;

	workload->fd = open(workload->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (workload->fd < 0) {
		ret = -errno;
		out_error(workload->path, "%s", strerror(-ret));
		return ret;
	}
	if (flock(workload->fd, LOCK_EX | LOCK_NB)) {
		ret = -errno;
		out_error(NULL, "%s is being sampled already", workload->path);
		return ret;
	}
	snprintf(path, sizeof(path), "%s/cgroup.events", workload->path);
	workload->events = open(path, O_RDONLY | O_CLOEXEC);
	return 0;
}

int workload_make(struct workload *workload)
{
	int ret;

	if (!mkdir(workload->path, 0755))
		return lock(workload);
	ret = -errno;
	workload->made = false;
	return cannot_make(workload, ret);
}

int workload_enter(struct workload *workload, pid_t pid)
{
	int ret;

	if (!workload->made)
		return lock(workload);
	ret = workload_make(workload);
	if (ret)
		return ret;
	ret = move_all(workload->from, workload->path, pid);
	return ret < 0 ? cannot_make(workload, ret) : ret;
}

int workload_enter_again(struct workload *workload)
{
	return lock(workload);
}

/* -- leaving --------------------------------------------------------------- */

/* Removes the cgroup and those that the workload has made below it. */
static int remove_below(const char *folder)
{
	char path[PATH_MAX];
	struct dirent *entry;
	DIR *dir = opendir(folder);

	while (dir && (entry = readdir(dir)))
		if (entry->d_type == DT_DIR && entry->d_name[0] != '.' &&
		    snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name) < PATH_MAX)
			remove_below(path);
	if (dir)
		closedir(dir);
	return rmdir(folder) ? -errno : 0;
}

int workload_leave(struct workload *workload)
{
	const struct timespec pause = { .tv_nsec = REMOVE_PAUSE_NS };
	int ret, tries, moved = 0;

	if (!workload->made)
		return 0;
	/* A process that ends stays in it for a moment. */
	for (tries = 0; tries < REMOVE_TRIES; tries++) {
		ret = move_all(workload->path, workload->from, 0);
		moved += ret > 0 ? ret : 0;
		if (ret >= 0)
			ret = remove_below(workload->path);
		if (!ret || (ret != -EBUSY && ret != -EAGAIN))
			break;
		nanosleep(&pause, NULL);
	}
	if (ret) {
		out_error(NULL, "%s cannot be removed: %s", workload->path, strerror(-ret));
		return ret;
	}
	workload->made = false;
	return moved;
}

void workload_close(struct workload *workload)
{
	if (workload->events >= 0)
		close(workload->events);
	if (workload->fd >= 0)
		close(workload->fd);
	*workload = (struct workload)WORKLOAD_CLOSED;
}
