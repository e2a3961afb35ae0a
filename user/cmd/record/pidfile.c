// SPDX-License-Identifier: GPL-2.0-only
/*
 * The file is made and locked under a temporary name, so that a reader never finds an incomplete
 * one.  The lock is one of fcntl(2), for writing: a user who can only read the file can lock it
 * for reading, which does not count.
 */
#include "record/pidfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/output.h"

#define TRIES	10	/* other recorders may replace the file at the same time */

/* -- locks ----------------------------------------------------------------- */

/* Locks a file.  Returns 0; the PID of the process that has locked it for writing; -errno. */
static int lock_file(int fd)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

	if (!fcntl(fd, F_SETLK, &lock))
		return 0;
	if (errno != EAGAIN && errno != EACCES)
		return -errno;
	if (fcntl(fd, F_GETLK, &lock))
		return -errno;
	if (lock.l_type != F_WRLCK)
		return 0;
	/* A process of another PID namespace has the PID 0 here. */
	return lock.l_pid > 0 ? lock.l_pid : -EBUSY;
}

static bool has_name(int fd, const char *path)
{
	struct stat file, named;

	return !fstat(fd, &file) && !lstat(path, &named) && file.st_dev == named.st_dev &&
	       file.st_ino == named.st_ino;
}

/* -- the old file ---------------------------------------------------------- */

/* Returns true for a file that has a number and perhaps a newline, or nothing. */
static bool is_pidfile(int fd)
{
	char text[32];
	struct stat st;
	ssize_t n;
	size_t digits;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		return false;
	n = read(fd, text, sizeof(text) - 1);
	if (n < 0)
		return false;
	text[n] = '\0';
	digits = strspn(text, "0123456789");
	return (size_t)n == digits || (digits && (size_t)n == digits + 1 && text[digits] == '\n');
}

static int say_busy(const char *path, int pid)
{
	if (pid > 0)
		out_error(path, "the recorder with PID %d has this pidfile: end it, or name "
			  "another file", pid);
	else
		out_error(path, "another recorder has this pidfile: end it, or name another file");
	return -EBUSY;
}

/* Replaces the file @old.  Returns 0; -EAGAIN: it is gone; -errno after a message. */
static int replace(int old, const char *path, const char *temporary)
{
	int ret;

	if (!is_pidfile(old)) {
		out_error(path, "this is no pidfile, so it is not replaced: name another file");
		return -EEXIST;
	}
	ret = lock_file(old);
	if (ret > 0 || ret == -EBUSY)
		return say_busy(path, ret);
	if (!ret && !has_name(old, path))
		return -EAGAIN;
	if (!ret && rename(temporary, path))
		ret = -errno;
	if (ret)
		out_error(path, "%s", strerror(-ret));
	return ret;
}

/* Gives the new file its name.  Returns as replace() does. */
static int name_file(const char *path, const char *temporary)
{
	int old, ret;

	old = open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (old >= 0) {
		ret = replace(old, path, temporary);
		close(old);
		return ret;
	}
	ret = -errno;
	if (ret == -ENOENT) {
		if (!renameat2(AT_FDCWD, temporary, AT_FDCWD, path, RENAME_NOREPLACE))
			return 0;
		ret = errno == EEXIST ? -EAGAIN : -errno;
	}
	if (ret != -EAGAIN)
		out_error(path, "%s", strerror(-ret));
	return ret;
}

/* -- the new file ---------------------------------------------------------- */

/* Makes the file, and locks it before others can open it.  Returns its descriptor or -errno. */
static int make(const char *temporary)
{
	int fd;

	/* A process of this PID may have left it. */
	unlink(temporary);
	fd = open(temporary, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	if (!lock_file(fd) && dprintf(fd, "%d\n", getpid()) > 0 && !fchmod(fd, 0644))
		return fd;
	close(fd);
	unlink(temporary);
	return -EIO;
}

int pidfile_open(struct pidfile *pidfile, const char *path)
{
	int fd, ret = -ENOMEM, tries = TRIES;
	char *temporary;

	if (asprintf(&temporary, "%s.%d", path, getpid()) < 0)
		return ret;
	fd = make(temporary);
	if (fd < 0) {
		out_error(path, "cannot be written: %s", strerror(-fd));
		free(temporary);
		return fd;
	}
	do {
		ret = name_file(path, temporary);
	} while (ret == -EAGAIN && --tries);
	if (ret == -EAGAIN)
		ret = say_busy(path, 0);
	if (ret) {
		unlink(temporary);
		close(fd);
	} else {
		pidfile->path = path;
		pidfile->fd = fd;
	}
	free(temporary);
	return ret;
}

void pidfile_close(struct pidfile *pidfile)
{
	if (pidfile->fd < 0)
		return;
	if (has_name(pidfile->fd, pidfile->path))
		unlink(pidfile->path);
	close(pidfile->fd);
	pidfile->fd = -1;
}
