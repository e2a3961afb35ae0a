// SPDX-License-Identifier: GPL-2.0-only
#include "common/destination.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/error.h"
#include "common/output.h"
#include "common/signals.h"
#include "common/standard.h"
#include "tape/meta.h"

#define LINKS_MAX	40	/* that the kernel follows */
#define WAIT_MS		20	/* between two looks for a FIFO's reader */

/* -- links ----------------------------------------------------------------- */

static void strip_slashes(char *path)
{
	size_t length = strlen(path);

	while (length > 1 && path[length - 1] == '/')
		path[--length] = '\0';
}

static char *folder_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return !slash ? strdup(".") : strndup(path, slash == path ? 1 : slash - path);
}

/* Returns "/dev/fd/N" if @path is a link in /proc/self/fd, and NULL otherwise. */
static char *descriptor_name(const char *path)
{
	char *folder = folder_of(path), *name = NULL;
	char *real = folder ? realpath(folder, NULL) : NULL, *own = realpath("/proc/self/fd", NULL);
	const char *slash = strrchr(path, '/');

	if (slash && real && own && !strcmp(real, own) &&
	    asprintf(&name, "/dev/fd%s", slash) >= 0 && tape_writer_descriptor(name) < 0) {
		free(name);
		name = NULL;
	}
	free(own);
	free(real);
	free(folder);
	return name;
}

/*
 * Applies the kernel's rule of fs.protected_symlinks, because the kernel does not see that this
 * program follows the link: in a folder such as /tmp, a link of another user is a trap.
 */
static int check_owner(const char *folder, const struct stat *link)
{
	struct stat st;

	if (stat(folder, &st))
		return -errno;
	/* Sticky, and writable by all. */
	return (st.st_mode & 01002) == 01002 &&
	       link->st_uid != geteuid() && link->st_uid != st.st_uid ? -EACCES : 0;
}

/*
 * Returns where a link leads that is open with O_PATH; NULL: *ret is -errno, or 0 if @fd is no
 * link.
 */
static char *read_link(int fd, const char *path, int *ret)
{
	const char *slash = strrchr(path, '/');
	char text[PATH_MAX], *folder, *target = NULL;
	struct statfs fs;
	struct stat st;
	ssize_t length;

	*ret = 0;
	if (fstat(fd, &st) || fstatfs(fd, &fs)) {
		*ret = -errno;
		return NULL;
	}
	/* The text of a link to an open file of another process may be no path. */
	if (!S_ISLNK(st.st_mode) || fs.f_type == PROC_SUPER_MAGIC)
		return NULL;
	folder = folder_of(path);
	*ret = folder ? check_owner(folder, &st) : -ENOMEM;
	free(folder);
	length = readlinkat(fd, "", text, sizeof(text));
	if (!*ret && length < 0)
		*ret = -errno;
	if (*ret)
		return NULL;
	if (*text == '/')
		slash = NULL;
	if (asprintf(&target, "%.*s%.*s", slash ? (int)(slash - path + 1) : 0, path, (int)length,
		     text) >= 0)
		return target;
	*ret = -ENOMEM;
	return NULL;
}

/* Follows one link.  Returns as read_link(). */
static char *follow(const char *path, int *ret)
{
	char *target;
	int fd;

	*ret = 0;
	if (tape_writer_descriptor(path) >= 0)
		return NULL;
	target = descriptor_name(path);
	if (target)
		return target;
	fd = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0) {
		*ret = errno == ENOENT ? 0 : -errno;
		return NULL;
	}
	target = read_link(fd, path, ret);
	close(fd);
	return target;
}

/* Returns 0 or -errno.  *path: allocated, replaced by what its links lead to. */
static int follow_all(char **path)
{
	char *target;
	int links, ret;

	for (links = 0; links <= LINKS_MAX; links++) {
		strip_slashes(*path);
		target = follow(*path, &ret);
		if (!target)
			return ret;
		free(*path);
		*path = target;
	}
	return -ELOOP;
}

/* -- what is there --------------------------------------------------------- */

static bool is_same(const struct stat *st, int fd)
{
	struct stat other;

	return !fstat(fd, &other) && other.st_dev == st->st_dev && other.st_ino == st->st_ino;
}

static int check_descriptor(const char *name, int fd, struct schedtape_error *err)
{
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0 || standard_was_missing(fd))
		return schedtape_fail(err, -EBADF, "%s: is not open; open it in the shell, with "
				      "%d> FILE", name, fd);
	if ((flags & O_ACCMODE) == O_RDONLY || flags & O_PATH)
		return schedtape_fail(err, -EBADF, "%s: is not open for writing; open it in the "
				      "shell, with %d> FILE", name, fd);
	/* A command, or its child that outlives it, would keep the readers of a pipe waiting. */
	if (fd > STDERR_FILENO)
		fcntl(fd, F_SETFD, FD_CLOEXEC);
	return 0;
}

/* Returns 0 or -errno.  Sets *is_stdout if the output goes where standard output goes. */
static int check(const char *name, const char *path, bool *is_stdout, struct schedtape_error *err)
{
	int fd = tape_writer_descriptor(path), ret;
	struct stat st;

	*is_stdout = fd == STDOUT_FILENO;
	ret = fd < 0 ? 0 : check_descriptor(name, fd, err);
	if (ret)
		return ret;
	if (fd < 0 ? stat(path, &st) : fstat(fd, &st))
		return errno == ENOENT ? 0 : schedtape_fail(err, -errno, "%s: %s; name another "
							    "file", name, strerror(errno));
	if (S_ISBLK(st.st_mode))
		return schedtape_fail(err, -EINVAL, "%s: is a block device; name a file or a pipe",
				      name);
	/* A file gets another name, or is a directory; a device keeps nothing that could mix. */
	if (S_ISCHR(st.st_mode) || (fd < 0 && !destination_is_stream(path)))
		return 0;
	if (is_same(&st, STDERR_FILENO))
		return schedtape_fail(err, -EINVAL, "%s: standard error goes there, too, and "
				      "its messages would mix with the output; redirect it with 2> FILE",
				      name);
	*is_stdout = is_same(&st, STDOUT_FILENO);
	return 0;
}

char *destination_find(const char *name, struct schedtape_error *err)
{
	char *path = strdup(name);
	bool is_stdout = false;
	int ret;

	if (!path) {
		schedtape_fail(err, -ENOMEM, "out of memory");
		return NULL;
	}
	ret = follow_all(&path);
	if (ret)
		schedtape_fail(err, ret, "%s: %s; name another file", name, strerror(-ret));
	else
		ret = check(name, path, &is_stdout, err);
	if (ret) {
		free(path);
		return NULL;
	}
	return is_stdout ? memcpy(path, "-", sizeof("-")) : path;
}

void destination_option(char **path, const char *name, const struct argp_state *state)
{
	struct schedtape_error err;

	free(*path);
	*path = destination_find(name, &err);
	if (!*path)
		argp_failure(state, CMD_FAILURE, 0, "%s", err.text);
}

bool destination_is_stream(const char *path)
{
	struct stat st;

	return tape_writer_descriptor(path) >= 0 ||
	       (!stat(path, &st) && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode));
}

static bool is_fifo(const char *path)
{
	struct stat st;

	return tape_writer_descriptor(path) < 0 && !stat(path, &st) && S_ISFIFO(st.st_mode);
}

/*
 * Opens a FIFO when it has a reader: open() alone would wait for that, and signals_open() has
 * blocked the signals.  Returns the descriptor or -errno.
 */
static int open_fifo(const char *path, struct schedtape_error *err)
{
	int fd;

	for (;;) {
		fd = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
		if (fd >= 0 || errno != ENXIO)
			break;
		if (signals_pending())
			return schedtape_fail(err, -EINTR, "%s: no process has opened it to read "
					      "the tape", path);
		poll(NULL, 0, WAIT_MS);
	}
	if (fd < 0 || fcntl(fd, F_SETFL, 0))
		return schedtape_fail(err, -errno, "%s: %s; name another file", path,
				      strerror(errno));
	return fd;
}

int destination_create(const char *path, struct json_object *meta,
		       const struct schedtape_writer_options *options,
		       struct schedtape_writer **writer, struct schedtape_error *err)
{
	int fd, ret;

	if (!is_fifo(path))
		return tape_writer_create(path, meta, options, writer, err);
	fd = open_fifo(path, err);
	if (fd < 0)
		return fd;
	ret = tape_writer_create_at(fd, path, meta, options, writer, err);
	close(fd);
	return ret;
}
