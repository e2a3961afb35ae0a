// SPDX-License-Identifier: GPL-2.0-only
#include "sample/closed-files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <mntent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fanotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/list.h"
#include "machine/cgroup-files.h"
#include "module/cgroup.h"

/* Returns true if a file system has only files that the kernel makes. */
static bool is_kernels(const char *type)
{
	static const char * const types[] = {
		"autofs", "binfmt_misc", "bpf", "cgroup", "cgroup2", "configfs", "debugfs",
		"devpts", "efivarfs", "fusectl", "hugetlbfs", "mqueue", "nsfs", "proc", "pstore",
		"securityfs", "selinuxfs", "sysfs", "tracefs",
	};
	size_t i;

	for (i = 0; i < sizeof(types) / sizeof(*types); i++)
		if (!strcmp(type, types[i]))
			return true;
	return false;
}

/* Not an error if one cannot be watched: it may be none that the workload uses. */
static void mark_all(int fd)
{
	FILE *mounts = setmntent("/proc/self/mounts", "re");
	char buffer[2 * PATH_MAX];
	struct mntent entry;

	while (mounts && getmntent_r(mounts, &entry, buffer, sizeof(buffer)))
		if (!is_kernels(entry.mnt_type))
			fanotify_mark(fd, FAN_MARK_ADD | FAN_MARK_FILESYSTEM, FAN_CLOSE_WRITE,
				      AT_FDCWD, entry.mnt_dir);
	if (mounts)
		endmntent(mounts);
}

int closed_files_open(struct closed_files *files, const char *cgroup)
{
	char top[PATH_MAX];
	int ret = schedtape_cgroup_mount(top, sizeof(top), NULL);

	memset(files, 0, sizeof(*files));
	files->cgroup = cgroup;
	files->fd = -1;
	if (ret)
		return ret;
	files->top = strdup(strcmp(top, "/") ? top : "");
	if (!files->top)
		return -ENOMEM;
	files->fd = fanotify_init(FAN_CLOEXEC | FAN_NONBLOCK | FAN_UNLIMITED_QUEUE,
				  O_RDONLY | O_LARGEFILE | O_CLOEXEC | O_NOATIME);
	if (files->fd < 0)
		return -errno;
	mark_all(files->fd);
	return 0;
}

static bool is_below(const char *path, const char *folder)
{
	size_t len = strlen(folder);

	return !strncmp(path, folder, len) && (!path[len] || path[len] == '/');
}

/* Returns true if the process is in the workload's cgroup or below it, or is not there any more. */
static bool may_be_workload(const struct closed_files *files, pid_t pid)
{
	char path[PATH_MAX], folder[2 * PATH_MAX];

	/* 0: a process that is not in this PID namespace. */
	if (!pid || schedtape_cgroup_of(pid, path))
		return true;
	snprintf(folder, sizeof(folder), "%s%s", files->top, path);
	return is_below(folder, files->cgroup);
}

static int add(struct closed_files *files, const char *path)
{
	char **paths;
	size_t i;

	for (i = 0; i < files->n; i++)
		if (!strcmp(files->paths[i], path))
			return 0;
	paths = schedtape_list_grow(files->paths, files->n, &files->room, sizeof(*paths));
	if (!paths)
		return -ENOMEM;
	files->paths = paths;
	paths[files->n] = strdup(path);
	if (!paths[files->n])
		return -ENOMEM;
	files->n++;
	return 0;
}

static int take(struct closed_files *files, const struct fanotify_event_metadata *event)
{
	char link[64], path[PATH_MAX];
	struct stat st;
	ssize_t n;

	if (event->mask & FAN_Q_OVERFLOW)
		files->lost = true;
	if (event->fd < 0 || event->pid == getpid() || fstat(event->fd, &st) ||
	    !S_ISREG(st.st_mode) || !st.st_nlink || !may_be_workload(files, event->pid))
		return 0;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", event->fd);
	n = readlink(link, path, sizeof(path) - 1);
	if (n <= 0)
		return 0;
	path[n] = '\0';
	return add(files, path);
}

/* @each: NULL: the events are thrown away */
static int read_events(struct closed_files *files,
		       int (*each)(struct closed_files *files,
				   const struct fanotify_event_metadata *event))
{
	char buffer[1 << 14] __attribute__((aligned(__alignof__(struct fanotify_event_metadata))));
	const struct fanotify_event_metadata *event;
	ssize_t n;
	int ret = 0;

	while (files->fd >= 0 && !ret && (n = read(files->fd, buffer, sizeof(buffer))) > 0) {
		for (event = (void *)buffer; FAN_EVENT_OK(event, n);
		     event = FAN_EVENT_NEXT(event, n)) {
			if (!ret && each)
				ret = each(files, event);
			if (event->fd >= 0)
				close(event->fd);
		}
	}
	return ret;
}

int closed_files_read(struct closed_files *files)
{
	return read_events(files, take);
}

void closed_files_skip(struct closed_files *files)
{
	read_events(files, NULL);
}

void closed_files_free(struct closed_files *files)
{
	if (files->fd >= 0)
		close(files->fd);
	files->fd = -1;
	while (files->n)
		free(files->paths[--files->n]);
	free(files->paths);
	free(files->top);
	files->paths = NULL;
	files->top = NULL;
}
