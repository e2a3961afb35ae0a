// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Converts between names of cgroups (version 2) and the kernel's numbers.
 */
#include "module/cgroup.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <mntent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/error.h"

/* FILEID_KERNFS of linux/exportfs.h: the handle is the cgroup's number. */
#define HANDLE_KERNFS	0xfe

int schedtape_cgroup_mount(char *path, size_t size, struct schedtape_error *err)
{
	FILE *mounts = setmntent("/proc/self/mounts", "re");
	char buffer[2 * PATH_MAX];
	struct mntent entry;
	bool found = false;

	while (mounts && !found && getmntent_r(mounts, &entry, buffer, sizeof(buffer)))
		found = !strcmp(entry.mnt_type, "cgroup2");
	if (found)
		snprintf(path, size, "%s", entry.mnt_dir);
	if (mounts)
		endmntent(mounts);
	return found ? 0 : schedtape_fail(err, -ENODEV,
					  "cgroups of version 2 are not mounted here");
}

/* Opens a folder, which must be in a cgroup2 file system.  Returns a descriptor or -errno. */
static int open_cgroup(const char *path)
{
	int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct statfs fs;

	if (fd < 0)
		return -errno;
	if (!fstatfs(fd, &fs) && fs.f_type == CGROUP2_SUPER_MAGIC)
		return fd;
	close(fd);
	return -ENOENT;
}

/* Returns the path of a cgroup's descriptor below @mount; NULL: it is not known. */
static char *path_of(int fd, const char *mount)
{
	size_t len = strcmp(mount, "/") ? strlen(mount) : 0;
	char link[64], path[PATH_MAX];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof(path) - 1);
	if (n < 0)
		return NULL;
	path[n] = '\0';
	if (strncmp(path, mount, len) || (path[len] && path[len] != '/'))
		return NULL;
	return strdup(path[len] ? path + len : "/");
}

static int find_by_path(const char *name, const char *mount, struct schedtape_cgroup *cgroup,
			struct schedtape_error *err)
{
	char path[2 * PATH_MAX];
	int fd = -ENOENT, ret = 0;
	struct stat st;

	snprintf(path, sizeof(path), "%s/%s", mount, name);
	if (*name == '/')
		fd = open_cgroup(name);
	if (fd < 0)
		fd = open_cgroup(path);
	if (fd < 0)
		return schedtape_fail(err, fd, "cgroup %s: there is none of that name below %s; "
				      "make it first, or give the name of a cgroup above it",
				      name, mount);
	if (fstat(fd, &st))
		ret = schedtape_fail(err, -errno, "cgroup %s: %s", name, strerror(errno));
	/* Where inode numbers have 64 bits, they are the kernel's numbers of cgroups. */
	cgroup->id = st.st_ino;
	cgroup->path = path_of(fd, mount);
	close(fd);
	return ret;
}

/*
 * Finds the path for messages, if this process may open handles.  Not an error otherwise:
 * the module checks whether the cgroup exists.
 */
static void look_up_path(const char *mount, struct schedtape_cgroup *cgroup)
{
	union {
		struct file_handle handle;
		char space[sizeof(struct file_handle) + sizeof(uint64_t)];
	} u = { .handle = { .handle_bytes = sizeof(uint64_t), .handle_type = HANDLE_KERNFS } };
	int dir = open(mount, O_RDONLY | O_DIRECTORY | O_CLOEXEC), fd = -1;

	memcpy(u.handle.f_handle, &cgroup->id, sizeof(uint64_t));
	if (dir >= 0)
		fd = open_by_handle_at(dir, &u.handle, O_PATH | O_CLOEXEC);
	if (fd >= 0) {
		cgroup->path = path_of(fd, mount);
		close(fd);
	}
	if (dir >= 0)
		close(dir);
}

static bool parse_id(const char *text, uint64_t *id)
{
	char *end;

	if (!strncmp(text, "id:", 3))
		text += 3;
	errno = 0;
	*id = strtoull(text, &end, 10);
	return isdigit((unsigned char)*text) && !*end && !errno && *id;
}

int schedtape_cgroup_find(const char *name, struct schedtape_cgroup *cgroup,
			  struct schedtape_error *err)
{
	char mount[PATH_MAX];
	int ret = schedtape_cgroup_mount(mount, sizeof(mount), err);

	if (ret)
		return ret;
	memset(cgroup, 0, sizeof(*cgroup));
	if (!parse_id(name, &cgroup->id))
		return find_by_path(name, mount, cgroup, err);
	look_up_path(mount, cgroup);
	return 0;
}
