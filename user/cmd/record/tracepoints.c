// SPDX-License-Identifier: GPL-2.0-only
#include "record/internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/list.h"
#include "common/output.h"

#define FORMAT_MAX	65536	/* bytes of a description; the kernel's have some thousand */
#define MAY_READ	"use sudo, give the recorder CAP_DAC_READ_SEARCH, or first: sudo mount " \
			"-o remount,mode=750,gid=$(id -g) /sys/kernel/tracing"

/* -- the options ----------------------------------------------------------- */

static int add_pattern(struct tracepoints *points, const char *text, size_t len)
{
	const char *colon = memchr(text, ':', len);
	struct tracepoint_pattern *patterns;

	if (!colon || colon == text || colon + 1 == text + len || memchr(text, '/', len))
		return -EINVAL;
	patterns = reallocarray(points->patterns, points->n + 1, sizeof(*patterns));
	if (!patterns)
		return -ENOMEM;
	points->patterns = patterns;
	patterns[points->n] = (struct tracepoint_pattern){ .text = strndup(text, len) };
	return patterns[points->n].text ? (points->n++, 0) : -ENOMEM;
}

int tracepoints_add(struct tracepoints *points, const char *text)
{
	int ret = 0;
	size_t len;

	for (; !ret; text += len + 1) {
		len = strcspn(text, ",");
		ret = add_pattern(points, text, len);
		if (!text[len])
			break;
	}
	return ret;
}

bool tracepoints_filter(struct tracepoints *points, const char *filter)
{
	if (points->n)
		points->patterns[points->n - 1].filter = filter;
	return points->n;
}

/* -- tracefs --------------------------------------------------------------- */

/* Opens the folder of all tracepoints.  Returns a descriptor, or -errno after a message. */
static int open_events(const char **path)
{
	static const char *const paths[] = {
		"/sys/kernel/tracing/events", "/sys/kernel/debug/tracing/events",
	};
	size_t i;
	int fd = -1, error;

	for (i = 0; i < 2 && fd < 0; i++) {
		*path = paths[i];
		fd = open(*path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (fd < 0 && errno != ENOENT)
			break;
	}
	if (fd >= 0)
		return fd;
	error = errno;
	if (error == EACCES)
		out_error(*path, "only root may read it: " MAY_READ);
	else
		out_error(paths[0], "%s: first: sudo mount -t tracefs nodev "
			  "/sys/kernel/tracing", strerror(error));
	return -error;
}

/*
 * Reads a file of at most FORMAT_MAX bytes, of which the kernel gives a page at a time.  The caller
 * frees it.  NULL, with errno.
 */
static char *read_text(int folder, const char *system, const char *name, const char *file)
{
	char path[PATH_MAX], *text = NULL;
	ssize_t got = -1;
	size_t len = 0;
	int fd;

	snprintf(path, sizeof(path), "%s/%s/%s", system, name, file);
	fd = openat(folder, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	text = malloc(FORMAT_MAX + 1);
	while (text && (got = read(fd, text + len, FORMAT_MAX - len)) > 0)
		len += got;
	close(fd);
	if (!got && len == FORMAT_MAX)
		errno = EFBIG;
	if (got || len == FORMAT_MAX) {
		free(text);
		return NULL;
	}
	text[len] = '\0';
	return text;
}

static int cannot_read(const char *path, const char *system, const char *name)
{
	int error = errno;

	out_error(path, "%s:%s cannot be read: %s%s", system, name, strerror(error),
		  error == EACCES ? ": " MAY_READ : "");
	return error ? -error : -EIO;
}

static bool is_found(const struct tracepoints *points, uint32_t id)
{
	size_t i;

	for (i = 0; i < points->nr_found; i++)
		if (points->found[i].id == id)
			return true;
	return false;
}

static int add(struct tracepoints *points, const struct schedtape_format *format)
{
	struct schedtape_format *found;

	found = schedtape_list_grow(points->found, points->nr_found, &points->capacity,
				    sizeof(*found));
	if (!found)
		return -ENOMEM;
	points->found = found;
	found[points->nr_found++] = *format;
	return 0;
}

static void free_format(const struct schedtape_format *format)
{
	free((char *)format->system);
	free((char *)format->name);
	free((char *)format->format);
}

/*
 * Adds a tracepoint, unless it is in the list already.  A folder without a file "id" is no
 * tracepoint, and is left out.
 */
static int add_one(struct tracepoints *points, int folder, const char *path, const char *system,
		   const char *name, const char *filter)
{
	char *id = read_text(folder, system, name, "id");
	struct schedtape_format format = { .filter = filter };
	int ret;

	if (!id)
		return errno == ENOENT || errno == ENOTDIR ? 0 : cannot_read(path, system, name);
	format.id = strtoul(id, NULL, 10);
	free(id);
	if (is_found(points, format.id))
		return 0;
	format.format = read_text(folder, system, name, "format");
	if (!format.format)
		return cannot_read(path, system, name);
	format.system = strdup(system);
	format.name = strdup(name);
	ret = format.system && format.name ? add(points, &format) : -ENOMEM;
	if (!ret)
		return 0;
	free_format(&format);
	out_error(NULL, "out of memory");
	return ret;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int all_names(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

/* Calls add_one() for what matches in the folder of a system. */
static int find_in(struct tracepoints *points, int folder, const char *path, const char *system,
		   const struct tracepoint_pattern *pattern)
{
	const char *glob = strchr(pattern->text, ':') + 1;
	struct dirent **names = NULL;
	int i, n, ret = 0;

	n = scandirat(folder, system, &names, all_names, by_name);
	if (n < 0)
		return errno == ENOTDIR ? 0 : cannot_read(path, system, glob);
	for (i = 0; i < n; i++) {
		if (!ret && !fnmatch(glob, names[i]->d_name, 0))
			ret = add_one(points, folder, path, system, names[i]->d_name,
				      pattern->filter);
		free(names[i]);
	}
	free(names);
	return ret;
}

static int find_pattern(struct tracepoints *points, int folder, const char *path,
			const struct tracepoint_pattern *pattern)
{
	char *glob = strndup(pattern->text, strcspn(pattern->text, ":"));
	size_t before = points->nr_found;
	struct dirent **systems = NULL;
	int i, n, ret = 0;

	n = glob ? scandirat(folder, ".", &systems, all_names, by_name) : -1;
	for (i = 0; i < n; i++) {
		if (!ret && !fnmatch(glob, systems[i]->d_name, 0))
			ret = find_in(points, folder, path, systems[i]->d_name, pattern);
		free(systems[i]);
	}
	free(systems);
	free(glob);
	if (n < 0)
		return cannot_read(path, pattern->text, "");
	if (ret || points->nr_found > before)
		return ret;
	out_error(NULL, "-e %s: the kernel has no such tracepoint, or another -e names it, too; "
		  "see the folders in %s", pattern->text, path);
	return -ENOENT;
}

/* -- filters --------------------------------------------------------------- */

/* Writes the filter of a tracepoint, and reads what the kernel makes of it. */
static char *try_filter(int instance, const struct schedtape_format *point)
{
	char path[PATH_MAX];
	int events, fd;
	char *text;

	snprintf(path, sizeof(path), "events/%s/%s/filter", point->system, point->name);
	fd = openat(instance, path, O_WRONLY | O_CLOEXEC);
	/* This fails, or else there is nothing to read. */
	if (fd < 0 || write(fd, point->filter, strlen(point->filter)) >= 0) {
		if (fd >= 0)
			close(fd);
		return NULL;
	}
	close(fd);
	events = openat(instance, "events", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	text = events < 0 ? NULL : read_text(events, point->system, point->name, "filter");
	if (events >= 0)
		close(events);
	return text;
}

/*
 * perf events only say that a filter is wrong.  An instance of tracefs says why, and has nothing to
 * do with what others trace.
 */
bool tracepoints_objection(const struct schedtape_format *point, char *reason, size_t size)
{
	static const char head[] = "parse_error: ";
	char path[64], *text = NULL, *at;
	bool found = false;
	int instance;

	snprintf(path, sizeof(path), "/sys/kernel/tracing/instances/schedtape-%d", getpid());
	if (mkdir(path, 0700))
		return false;
	instance = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (instance >= 0) {
		text = try_filter(instance, point);
		close(instance);
	}
	rmdir(path);
	at = text ? strstr(text, head) : NULL;
	if (at) {
		found = true;
		at += strlen(head);
		snprintf(reason, size, "%.*s", (int)strcspn(at, "\n"), at);
	}
	free(text);
	return found;
}

/* -- tracepoints ----------------------------------------------------------- */

int tracepoints_find(struct tracepoints *points)
{
	const char *path;
	int folder, ret = 0;
	size_t i;

	folder = open_events(&path);
	if (folder < 0)
		return folder;
	for (i = 0; i < points->n && !ret; i++)
		ret = find_pattern(points, folder, path, &points->patterns[i]);
	close(folder);
	return ret;
}

bool tracepoints_name(const struct tracepoints *points, const struct schedtape_format *point)
{
	size_t i, len = strlen(point->system);
	const char *text;

	for (i = 0; i < points->n; i++) {
		text = points->patterns[i].text;
		if (!strncmp(text, point->system, len) && text[len] == ':' &&
		    !strcmp(text + len + 1, point->name))
			return true;
	}
	return false;
}

void tracepoints_free(struct tracepoints *points)
{
	size_t i;

	for (i = 0; i < points->n; i++)
		free(points->patterns[i].text);
	free(points->patterns);
	for (i = 0; i < points->nr_found; i++)
		free_format(&points->found[i]);
	free(points->found);
	*points = (struct tracepoints){ 0 };
}
