// SPDX-License-Identifier: GPL-2.0-only
#include "record/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/list.h"
#include "common/output.h"

#define NAMES	1000	/* that are tried, of one microsecond each */

bool parts_parse(struct parts *parts, const char *text)
{
	if (!strcmp(text, "signal"))
		parts->end = PARTS_SIGNAL;
	else if (units_size(text, 0, &parts->bytes))
		parts->end = PARTS_SIZE;
	else if (units_time(text, 0, &parts->ms))
		parts->end = PARTS_TIME;
	else
		return false;
	return true;
}

/* -- when ------------------------------------------------------------------ */

void parts_begin(struct parts *parts)
{
	parts->begun = now_ms();
}

bool parts_due(const struct parts *parts, uint64_t bytes)
{
	if (parts->end == PARTS_SIZE)
		return bytes >= parts->bytes;
	return parts->end == PARTS_TIME && now_ms() - parts->begun >= parts->ms;
}

int parts_wait(const struct parts *parts, int most)
{
	return parts->end == PARTS_TIME ? ms_until(parts->begun + parts->ms, most) : most;
}

/* -- names ----------------------------------------------------------------- */

/* Returns PATH.20261127T124501.123456Z, which the caller frees, or NULL. */
static char *name_at(const char *path, const struct timespec *time)
{
	char text[32], *name;
	struct tm utc;

	if (!gmtime_r(&time->tv_sec, &utc))
		return NULL;
	strftime(text, sizeof(text), "%Y%m%dT%H%M%S", &utc);
	if (asprintf(&name, "%s.%s.%06ldZ", path, text, time->tv_nsec / 1000) < 0)
		return NULL;
	return name;
}

/* Names a file that has no name, unless another one has it. */
static int link_new(int fd, const char *name)
{
	char path[32];

	/* Without /proc, if this process has the right to do that. */
	if (!linkat(fd, "", AT_FDCWD, name, AT_EMPTY_PATH))
		return 0;
	if (errno == EEXIST)
		return -EEXIST;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return linkat(AT_FDCWD, path, AT_FDCWD, name, AT_SYMLINK_FOLLOW) ? -errno : 0;
}

/* Renames a file unless another one has the name.  Some file systems cannot do both in one. */
static int rename_new(const char *path, const char *name)
{
	if (!renameat2(AT_FDCWD, path, AT_FDCWD, name, RENAME_NOREPLACE))
		return 0;
	if (errno != EINVAL)
		return -errno;
	if (!access(name, F_OK))
		return -EEXIST;
	return rename(path, name) ? -errno : 0;
}

/*
 * Names a tape PATH.TIME.  @from: its name until now; NULL: it has none, and is open as @fd.
 * Returns the new name, which the caller frees, or NULL.
 */
static char *name_new(const char *path, int fd, const char *from, struct timespec time, int *ret)
{
	char *name = NULL;
	int tries = NAMES;

	do {
		free(name);
		name = name_at(path, &time);
		*ret = !name ? -ENOMEM : from ? rename_new(from, name) : link_new(fd, name);
		time.tv_nsec += 1000;
		if (time.tv_nsec >= 1000000000) {
			time.tv_nsec -= 1000000000;
			time.tv_sec++;
		}
	} while (*ret == -EEXIST && --tries);
	if (!*ret)
		return name;
	free(name);
	return NULL;
}

/* @fd, @from: see name_new() */
static int keep(struct parts *parts, const char *path, int fd, const char *from, uint64_t bytes,
		struct schedtape_error *err)
{
	struct timespec now;
	struct part *kept;
	char *name;
	int ret;

	kept = schedtape_list_grow(parts->kept, parts->nr, &parts->room, sizeof(*kept));
	if (!kept)
		return schedtape_fail(err, -ENOMEM, "out of memory");
	parts->kept = kept;
	clock_gettime(CLOCK_REALTIME, &now);
	name = name_new(path, fd, from, now, &ret);
	if (!name)
		return schedtape_fail(err, ret, "%s: cannot be %s: %s", path,
				      from ? "renamed" : "named", strerror(-ret));
	kept[parts->nr++] = (struct part){ .path = name, .bytes = bytes };
	return 0;
}

int parts_name(struct parts *parts, const char *path, uint64_t bytes, struct schedtape_error *err)
{
	return keep(parts, path, -1, path, bytes, err);
}

void parts_keep_old(const char *path, struct backup *backup)
{
	struct stat st;
	char *name;
	int ret;

	if (!backup->old || stat(backup->old, &st))
		return;
	name = name_new(path, -1, backup->old, st.st_mtim, &ret);
	if (name)
		backup_moved(backup);
	else
		out_warning(backup->old, "cannot be renamed: %s", strerror(-ret));
	free(name);
}

/* -- files without a name -------------------------------------------------- */

/* For file systems that make no files without names. */
static int create_named(struct parts_file *file, const char *path)
{
	if (asprintf(&file->path, "%s.XXXXXX", path) < 0) {
		file->path = NULL;
		return -ENOMEM;
	}
	file->fd = mkostemp(file->path, O_CLOEXEC);
	if (file->fd >= 0)
		return 0;
	free(file->path);
	file->path = NULL;
	return -errno;
}

int parts_create(struct parts_file *file, const char *path, struct schedtape_error *err)
{
	char *copy = strdup(path);
	int ret;

	if (!copy)
		return schedtape_fail(err, -ENOMEM, "out of memory");
	file->path = NULL;
	file->fd = open(dirname(copy), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
	ret = file->fd < 0 ? -errno : 0;
	free(copy);
	if (ret == -EOPNOTSUPP || ret == -EISDIR || ret == -EINVAL)
		ret = create_named(file, path);
	return ret ? schedtape_fail(err, ret, "%s: %s", path, strerror(-ret)) : 0;
}

int parts_keep(struct parts *parts, const char *path, const char *trigger, struct parts_file *file,
	       uint64_t bytes, struct schedtape_error *err)
{
	char *name = NULL;
	int ret;

	if (trigger && asprintf(&name, "%s.%s", path, trigger) < 0)
		return schedtape_fail(err, -ENOMEM, "out of memory");
	ret = keep(parts, trigger ? name : path, file->fd, file->path, bytes, err);
	if (trigger)
		free(name);
	if (ret)
		return ret;
	free(file->path);
	file->path = NULL;
	return 0;
}

char *parts_name_merged(const char *path, struct parts_file *file, struct schedtape_error *err)
{
	char *merged, *name = NULL;
	struct timespec now;
	int ret = -ENOMEM;

	clock_gettime(CLOCK_REALTIME, &now);
	if (asprintf(&merged, "%s.merged", path) < 0)
		merged = NULL;
	if (merged)
		name = name_new(merged, file->fd, file->path, now, &ret);
	free(merged);
	if (!name) {
		schedtape_fail(err, ret, "%s: the merged tape cannot be named: %s", path,
			       strerror(-ret));
		return NULL;
	}
	free(file->path);
	file->path = NULL;
	return name;
}

void parts_drop(struct parts_file *file)
{
	if (file->fd >= 0)
		close(file->fd);
	if (file->path)
		unlink(file->path);
	free(file->path);
	*file = (struct parts_file)PARTS_NO_FILE;
}

/* -- which are kept -------------------------------------------------------- */

void parts_pin(struct parts *parts, bool pinned)
{
	size_t i;

	for (i = 0; i < parts->nr; i++)
		parts->kept[i].pinned = pinned;
}

static bool is_too_much(const struct parts *parts, size_t files, uint64_t bytes)
{
	return (parts->max_files && files > parts->max_files) ||
	       (parts->max_bytes && bytes > parts->max_bytes);
}

static void remove_part(struct part *part)
{
	/* Its user may have moved it away. */
	if (unlink(part->path) && errno != ENOENT)
		out_warning(part->path, "cannot be removed: %s", strerror(errno));
	free(part->path);
}

void parts_prune(struct parts *parts)
{
	size_t i, kept = 0, files = parts->nr;
	uint64_t bytes = 0;

	for (i = 0; i < parts->nr; i++)
		bytes += parts->kept[i].bytes;
	for (i = 0; i < parts->nr; i++) {
		struct part *part = &parts->kept[i];

		if (part->pinned || i == parts->nr - 1 || !is_too_much(parts, files, bytes)) {
			parts->kept[kept++] = *part;
			continue;
		}
		files--;
		bytes -= part->bytes;
		remove_part(part);
	}
	parts->nr = kept;
}

const char *parts_last(const struct parts *parts)
{
	return parts->kept[parts->nr - 1].path;
}

void parts_free(struct parts *parts)
{
	while (parts->nr)
		free(parts->kept[--parts->nr].path);
	free(parts->kept);
	parts->kept = NULL;
	parts->room = 0;
}
