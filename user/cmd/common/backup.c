// SPDX-License-Identifier: GPL-2.0-only
#include "common/backup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <tape/format.h>

#include "base/error.h"
#include "common/destination.h"

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
