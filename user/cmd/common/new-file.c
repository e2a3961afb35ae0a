// SPDX-License-Identifier: GPL-2.0-only
#include "common/new-file.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "common/destination.h"
#include "tape/meta.h"

#define MOST_BEGIN	64	/* bytes that tell what is in a file */

/* Opens a new file beside the path, with a mode.  Its name is short, as the path's may be long. */
static int open_beside(struct new_file *file, const char *what, mode_t mode)
{
	const char *slash = strrchr(file->path, '/');
	char *name;
	int fd, rc;

	if (asprintf(&name, "%.*s.%s-XXXXXX", slash ? (int)(slash - file->path + 1) : 0,
		     file->path, what) < 0)
		return -ENOMEM;
	file->name = name;
	fd = mkstemp(name);
	if (fd < 0)
		return -errno;
	if (!fchmod(fd, mode))
		file->to = fdopen(fd, "w");
	if (file->to)
		return 0;
	rc = -errno;
	close(fd);
	unlink(name);
	return rc;
}

/* Is the file empty, or an earlier one of this kind? */
static bool is_kind(const char *path, const struct new_file_kind *kind)
{
	char text[MOST_BEGIN];
	FILE *from = fopen(path, "r");
	bool failed;
	size_t n;

	if (!from)
		return false;
	n = fread(text, 1, kind->length, from);
	failed = ferror(from);
	fclose(from);
	return !failed && (!n || (n == kind->length && !memcmp(text, kind->begin, n)));
}

/* Returns a file that the caller closes, or NULL with errno. */
static FILE *open_stream(const char *path)
{
	int fd = tape_writer_descriptor(path);
	FILE *to;

	if (fd < 0)
		return fopen(path, "w");
	fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	to = fd < 0 ? NULL : fdopen(fd, "w");
	if (!to && fd >= 0)
		close(fd);
	return to;
}

int new_file_open(struct new_file *file, const char *path, const struct new_file_kind *kind,
		  struct schedtape_error *err)
{
	mode_t mask = umask(0);
	struct stat st;
	bool there;

	umask(mask);
	*file = (struct new_file){ .to = NULL };
	if (destination_is_stream(path)) {
		file->to = open_stream(path);
		return file->to ? 0 : -errno;
	}
	there = !stat(path, &st);
	if (there && !is_kind(path, kind))
		return schedtape_fail(err, -EEXIST, "%s: this is no %s, so it is not replaced: "
				      "name another file", path, kind->what);
	file->path = strdup(path);
	if (!file->path)
		return -ENOMEM;
	return open_beside(file, kind->what, there ? st.st_mode & 0777 : 0666 & ~mask);
}

int new_file_close(struct new_file *file, int rc)
{
	errno = 0;
	if (file->to && fclose(file->to) && !rc)
		rc = new_file_error();
	if (file->name && !rc && rename(file->name, file->path))
		rc = -errno;
	if (file->name && file->to && rc)
		unlink(file->name);
	free(file->name);
	free(file->path);
	return rc;
}
