// SPDX-License-Identifier: GPL-2.0-only
/*
 * Cgroups for a test.
 */
#include "cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

static char mounted[] = "/tmp/schedtape-cgroup.XXXXXX";
static char top[128];

static void path_of(char *path, const char *name, const char *file)
{
	snprintf(path, PATH_MAX, "%s/%s/%s", top, name, file);
}

bool st_cgroup_begin(void)
{
	if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    !mkdtemp(mounted) || mount("cgroup2", mounted, "cgroup2", 0, NULL)) {
		printf("# no cgroups: %s\n", strerror(errno));
		return false;
	}
	snprintf(top, sizeof(top), "%s/schedtape-test-%d", mounted, getpid());
	return !mkdir(top, 0755);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)ftw;
	if (type == FTW_DP)
		rmdir(path);
	return 0;
}

void st_cgroup_end(void)
{
	if (!*top)
		return;
	nftw(top, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	umount2(mounted, MNT_DETACH);
	rmdir(mounted);
}

uint64_t st_cgroup_make(const char *name)
{
	char path[PATH_MAX], *slash;
	struct stat st;

	path_of(path, name, "");
	for (slash = path + strlen(top) + 1; (slash = strchr(slash, '/')); *slash++ = '/') {
		*slash = '\0';
		if (mkdir(path, 0755) && errno != EEXIST)
			return 0;
	}
	/* A cgroup's id is its directory's inode. */
	return stat(path, &st) ? 0 : st.st_ino;
}

bool st_cgroup_remove(const char *name)
{
	char path[PATH_MAX];

	path_of(path, name, "");
	return !rmdir(path);
}

int st_cgroup_fd(const char *name)
{
	char path[PATH_MAX];
	int fd;

	path_of(path, name, "");
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

bool st_cgroup_write(const char *name, const char *file, const char *text)
{
	char path[PATH_MAX];
	bool done;
	int fd;

	path_of(path, name, file);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	done = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
	if (!done)
		printf("# %s: %s\n", path, strerror(errno));
	if (fd >= 0)
		close(fd);
	return done;
}

bool st_cgroup_read(const char *name, const char *file, char *text, size_t size)
{
	char path[PATH_MAX];
	ssize_t n;
	int fd;

	path_of(path, name, file);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, size - 1);
	if (fd >= 0)
		close(fd);
	if (n < 0) {
		printf("# %s: %s\n", path, strerror(errno));
		return false;
	}
	text[n] = '\0';
	return true;
}

bool st_cgroup_move(const char *name, pid_t pid)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", pid);
	return st_cgroup_write(name, "cgroup.procs", text);
}
