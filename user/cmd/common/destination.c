// SPDX-License-Identifier: GPL-2.0-only
#include "common/destination.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <tape/format.h>
#include <unistd.h>

#include <linux/magic.h>

#include "base/error.h"
#include "common/output.h"
#include "common/signals.h"
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

/* -- the previous tape ----------------------------------------------------- */

/* "data" and "data.N", see Documentation/tape-format.rst. */
static bool has_tape_name(const char *name)
{
	if (strncmp(name, "data", 4))
		return false;
	return !name[4] || (name[4] == '.' && name[5] &&
			    !name[5 + strspn(name + 5, "0123456789")]);
}

/* Returns true for a file of a tape, or an empty file of such a name, which may be removed. */
static bool is_tape_file(int dir, const char *name)
{
	char magic[sizeof(TAPE_MAGIC) - 1];
	struct stat st;
	ssize_t got;
	int fd;

	if (!has_tape_name(name))
		return false;
	fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return false;
	got = fstat(fd, &st) || !S_ISREG(st.st_mode) ? -1 : read(fd, magic, sizeof(magic));
	close(fd);
	return !got || (got == sizeof(magic) && !memcmp(magic, TAPE_MAGIC, sizeof(magic)));
}

/*
 * Calls @each, if not NULL, for all files of a tape directory.  Returns their number, 0: the
 * directory is empty, so it is no tape.  -EEXIST: it has other files.
 */
static int for_tape_files(const char *path, int (*each)(int dir, const char *name))
{
	DIR *dir = opendir(path);
	struct dirent *entry;
	int ret = 0, n = 0;

	if (!dir)
		return -errno;
	while (!ret && (entry = readdir(dir))) {
		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		n++;
		ret = is_tape_file(dirfd(dir), entry->d_name) ? 0 : -EEXIST;
		if (!ret && each)
			ret = each(dirfd(dir), entry->d_name);
	}
	closedir(dir);
	return ret ? ret : n;
}

static int remove_file(int dir, const char *name)
{
	return unlinkat(dir, name, 0) ? -errno : 0;
}

static int backup_remove(const char *path)
{
	struct stat st;
	int ret;

	if (lstat(path, &st))
		return errno == ENOENT ? 0 : -errno;
	if (!S_ISDIR(st.st_mode))
		return unlink(path) ? -errno : 0;
	ret = for_tape_files(path, NULL);
	if (ret >= 0)
		ret = for_tape_files(path, remove_file);
	if (ret < 0)
		return ret;
	return rmdir(path) ? -errno : 0;
}

/*
 * Returns the number of files that a new tape @path would replace, or -errno.  Streams are not
 * replaced.  Sets *empty if @path is an empty directory.
 */
static int replaced_files(const char *path, bool *empty)
{
	struct stat st;
	int ret;

	*empty = false;
	if (destination_is_stream(path) || stat(path, &st))
		return 0;
	if (!S_ISDIR(st.st_mode))
		return 1;
	ret = for_tape_files(path, NULL);
	*empty = !ret;
	return ret;
}

/* stat() of a tape to read; "-" is standard input. */
static int input_stat(const char *input, struct stat *st)
{
	return strcmp(input, "-") ? stat(input, st) : fstat(STDIN_FILENO, st);
}

static bool same_file(const char *input, const char *path)
{
	struct stat a, b;

	return !input_stat(input, &a) && !stat(path, &b) && a.st_dev == b.st_dev &&
	       a.st_ino == b.st_ino;
}

static bool is_in_the_way(const char *input, const char *output)
{
	char *folder = strdup(output), *from = strdup(input), *old = NULL;
	const char *home = from ? dirname(from) : NULL;
	bool is = false;

	if (folder && home && asprintf(&old, "%s.old", output) >= 0)
		is = same_file(input, output) || same_file(input, old) ||
		     same_file(home, output) || same_file(home, old) ||
		     same_file(input, dirname(folder));
	free(old);
	free(from);
	free(folder);
	return is;
}

int backup_refuse(const char *input, const char *output, struct schedtape_error *err)
{
	if (!strcmp(output, "-") || !is_in_the_way(input, output))
		return 0;
	return schedtape_fail(err, -EEXIST, "%s: would take the place of the tape that is read",
			      output);
}

static void backup_free(struct backup *backup)
{
	free(backup->old);
	free(backup->older);
	memset(backup, 0, sizeof(*backup));
}

/* Moves the tape that has the name @old out of the way, if there is one. */
static int move_older(struct backup *backup)
{
	struct stat st;
	char *older;
	int ret;

	if (lstat(backup->old, &st))
		return errno == ENOENT ? 0 : -errno;
	ret = S_ISDIR(st.st_mode) ? for_tape_files(backup->old, NULL) : 1;
	if (ret <= 0)
		return ret ? ret : -EEXIST;
	if (asprintf(&older, "%s.%d", backup->old, getpid()) < 0)
		return -ENOMEM;
	if (rename(backup->old, older)) {
		ret = -errno;
		free(older);
		return ret;
	}
	backup->older = older;
	return 0;
}

int backup_old(const char *path, struct backup *backup, struct schedtape_error *err)
{
	int ret;

	memset(backup, 0, sizeof(*backup));
	ret = replaced_files(path, &backup->was_empty);
	if (ret < 0)
		return schedtape_fail(err, ret, "%s: a directory that is not a tape; name another "
				      "file", path);
	backup->path = path;
	if (!ret)
		return 0;
	if (asprintf(&backup->old, "%s.old", path) < 0) {
		memset(backup, 0, sizeof(*backup));
		return schedtape_fail(err, -ENOMEM, "out of memory");
	}
	/* Before rename(), because a file cannot replace a directory. */
	ret = move_older(backup);
	if (!ret && rename(path, backup->old))
		ret = -errno;
	if (!ret)
		return 0;
	schedtape_fail(err, ret, "%s: cannot keep the old one as %s: %s; name another file",
		       path, backup->old,
		       ret == -EEXIST ? "a directory that is not a tape" : strerror(-ret));
	if (backup->older)
		rename(backup->older, backup->old);
	backup_free(backup);
	return ret;
}

void backup_done(struct backup *backup)
{
	if (backup->older)
		backup_remove(backup->older);
	backup_free(backup);
}

void backup_drop(struct backup *backup)
{
	if (backup->old)
		backup_remove(backup->old);
	backup_moved(backup);
}

void backup_moved(struct backup *backup)
{
	if (backup->older)
		rename(backup->older, backup->old);
	backup_free(backup);
}

void backup_undo(struct backup *backup)
{
	bool empty;

	/* The file or directory @path is the failed new tape. */
	if (backup->was_empty)
		for_tape_files(backup->path, remove_file);
	else if (backup->path && (replaced_files(backup->path, &empty) > 0 || empty))
		backup_remove(backup->path);
	if (backup->old)
		rename(backup->old, backup->path);
	if (backup->older)
		rename(backup->older, backup->old);
	backup_free(backup);
}
