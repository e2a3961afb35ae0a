// SPDX-License-Identifier: GPL-2.0-only
#include "common/copy-file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

/* Gives a folder the owner and the mode of the one in the first @len bytes of @path. */
static int liken(const char *folder, const char *path, size_t len)
{
	char like[PATH_MAX];
	struct stat st;

	snprintf(like, sizeof(like), "%.*s", (int)len, path);
	if (!stat(like, &st) && (chown(folder, st.st_uid, st.st_gid) ||
				 chmod(folder, st.st_mode & 07777)))
		return -errno;
	return 0;
}

int copy_file_folders(const char *from, const char *to)
{
	size_t same_to = strlen(to), same_from = strlen(from), len;
	char folder[PATH_MAX], *at = folder;
	int ret;

	if (snprintf(folder, sizeof(folder), "%s", to) >= (int)sizeof(folder))
		return -ENAMETOOLONG;
	while (same_to && same_from && to[same_to - 1] == from[same_from - 1]) {
		same_to--;
		same_from--;
	}
	while ((at = strchr(at + 1, '/'))) {
		len = at - folder;
		*at = '\0';
		ret = mkdir(folder, 0755) ? -errno : 0;
		if (!ret && len > same_to)
			ret = liken(folder, from, same_from + len - same_to);
		if (ret && ret != -EEXIST)
			return ret;
		*at = '/';
	}
	return 0;
}

static int copy_range(int from, int to, off_t at, off_t end)
{
	ssize_t n;

	if (lseek(to, at, SEEK_SET) < 0)
		return -errno;
	while (at < end) {
		n = sendfile(to, from, &at, end - at);
		if (n < 0)
			return -errno;
		/* It is shorter than it was. */
		if (!n)
			return 0;
	}
	return 0;
}

static int copy_data(int from, int to, off_t size)
{
	off_t at = 0, end;
	int ret;

	if (!ioctl(to, FICLONE, from))
		return 0;
	if (ftruncate(to, size))
		return -errno;
	while (at < size) {
		at = lseek(from, at, SEEK_DATA);
		if (at < 0)
			return errno == ENXIO ? 0 : -errno;
		end = lseek(from, at, SEEK_HOLE);
		if (end < 0)
			return -errno;
		ret = copy_range(from, to, at, end);
		if (ret)
			return ret;
		at = end;
	}
	return 0;
}

int copy_file(const char *from, const char *to)
{
	int source = open(from, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), copy, ret;
	struct stat st;

	if (source < 0)
		return -errno;
	copy = -1;
	ret = fstat(source, &st) ? -errno : copy_file_folders(from, to);
	if (ret)
		goto out;
	copy = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (copy < 0) {
		ret = -errno;
		goto out;
	}
	ret = copy_data(source, copy, st.st_size);
	if (!ret && (fchown(copy, st.st_uid, st.st_gid) || fchmod(copy, st.st_mode & 07777) ||
		     futimens(copy, (struct timespec[]){ st.st_atim, st.st_mtim })))
		ret = -errno;
out:
	if (copy >= 0 && close(copy) && !ret)
		ret = -errno;
	close(source);
	return ret;
}
