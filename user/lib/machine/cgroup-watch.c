// SPDX-License-Identifier: LGPL-2.1-or-later
#include "machine/cgroup-watch.h"

#include <errno.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/first-line.h"
#include "base/list.h"
#include "tape/write.h"

#define BLOCK	256	/* cgroups of a record, so that the times of each are close */
#define CHANGES	(IN_MODIFY | IN_CREATE | IN_DELETE | IN_ONLYDIR)

/**
 * struct schedtape_cgroup_watched - a cgroup that is watched
 * @id: the kernel's id
 * @path: below the root of the hierarchy
 * @max: its quota on the tape, as in cpu.max; "": none
 * @wd: of inotify; -1: it has no more watches
 * @named: its path is on the tape
 * @changed: its quota may be another one than @max
 */
struct schedtape_cgroup_watched {
	uint64_t id;
	char *path;
	char max[48];
	int wd;
	bool named;
	bool changed;
};

/**
 * struct block - entries of one record
 * @list: NULL: there are none
 * @began: before the first cgroup was read
 */
struct block {
	struct schedtape_cgroup_watch *watch;
	struct schedtape_writer *writer;
	struct json_object *list;
	uint64_t began;
};

/* -- the files of a cgroup --------------------------------------------------- */

static bool name_file(const struct schedtape_cgroup_watch *watch, const char *path,
		      const char *name, char *file)
{
	return snprintf(file, PATH_MAX, "%s%s/%s", watch->mount, path, name) < PATH_MAX;
}

/* Reads cpu.max.  Returns "" if there is no quota. */
static void read_quota(const struct schedtape_cgroup_watch *watch, const char *path, char *max,
		       size_t size)
{
	char file[PATH_MAX];

	if (!name_file(watch, path, "cpu.max", file) || !first_line_read(file, max, size) ||
	    !strncmp(max, "max ", 4))
		*max = '\0';
}

/* Returns the lines of cpu.stat, "nr_throttled 3"; NULL: the cgroup is gone. */
static struct json_object *read_counts(const struct schedtape_cgroup_watch *watch, const char *path)
{
	struct json_object *stat;
	char file[PATH_MAX], name[64];
	unsigned long long value;
	FILE *lines;

	lines = name_file(watch, path, "cpu.stat", file) ? fopen(file, "re") : NULL;
	if (!lines)
		return NULL;
	stat = json_object_new_object();
	while (fscanf(lines, "%63s %llu\n", name, &value) == 2)
		json_object_object_add(stat, name, json_object_new_uint64(value));
	fclose(lines);
	return stat;
}

static struct json_object *describe(struct schedtape_cgroup_watched *cgroup,
				    struct json_object *stat)
{
	struct json_object *object = json_object_new_object();

	json_object_object_add(object, "id", json_object_new_uint64(cgroup->id));
	if (!cgroup->named)
		json_object_object_add(object, "path", json_object_new_string(cgroup->path));
	if (*cgroup->max)
		json_object_object_add(object, "max", json_object_new_string(cgroup->max));
	json_object_object_add(object, "stat", stat);
	cgroup->named = true;
	return object;
}

/* -- records ----------------------------------------------------------------- */

static int put_block(struct block *block, struct schedtape_error *err)
{
	struct json_object *record;
	int ret;

	if (!block->list)
		return 0;
	record = json_object_new_object();
	json_object_object_add(record, "began", json_object_new_uint64(block->began));
	json_object_object_add(record, "time", json_object_new_uint64(schedtape_now()));
	block->watch->entries += json_object_array_length(block->list);
	json_object_object_add(record, "cgroups", block->list);
	block->list = NULL;
	ret = tape_writer_json(block->writer, TAPE_CGROUPS, record, err);
	json_object_put(record);
	return ret;
}

/*
 * Puts a cgroup on the tape.  @all: also if its quota is the one that is on the tape.  Without it,
 * leaves room for the entries at the end.
 */
static int put(struct block *block, struct schedtape_cgroup_watched *cgroup, bool all,
	       struct schedtape_error *err)
{
	uint64_t began = schedtape_now();
	char max[sizeof(cgroup->max)];
	struct json_object *stat;

	cgroup->changed = false;
	read_quota(block->watch, cgroup->path, max, sizeof(max));
	if (!all && cgroup->named && !strcmp(max, cgroup->max))
		return 0;
	if (block->watch->entries + BLOCK + (all ? 0 : SCHEDTAPE_MAX_CGROUPS) > TAPE_MAX_CGROUPS)
		return 0;
	stat = read_counts(block->watch, cgroup->path);
	if (!stat)
		return 0;
	memcpy(cgroup->max, max, sizeof(max));
	if (!block->list) {
		block->list = json_object_new_array();
		block->began = began;
	}
	json_object_array_add(block->list, describe(cgroup, stat));
	return json_object_array_length(block->list) < BLOCK ? 0 : put_block(block, err);
}

/* -- cgroups that come and go ------------------------------------------------ */

static struct schedtape_cgroup_watched *find(struct schedtape_cgroup_watch *watch, int wd)
{
	size_t i;

	for (i = 0; i < watch->nr; i++)
		if (watch->cgroups[i].wd == wd)
			return &watch->cgroups[i];
	return NULL;
}

/* Adds a cgroup that is not watched yet.  Returns false if there can be no more. */
static bool add(void *arg, const char *folder, const char *path, uint64_t id)
{
	struct schedtape_cgroup_watch *watch = arg;
	int wd = watch->fd < 0 ? -1 : inotify_add_watch(watch->fd, folder, CHANGES);
	struct schedtape_cgroup_watched *cgroups;
	char *copy;

	cgroups = schedtape_list_grow(watch->cgroups, watch->nr, &watch->room, sizeof(*cgroups));
	if (!cgroups)
		return false;
	watch->cgroups = cgroups;
	copy = strdup(path);
	if (!copy)
		return false;
	watch->blind = watch->blind || wd < 0;
	watch->changed = true;
	cgroups[watch->nr++] = (struct schedtape_cgroup_watched){
		.id = id, .path = copy, .wd = wd, .changed = true,
	};
	return watch->nr < SCHEDTAPE_MAX_CGROUPS;
}

static bool add_new(void *arg, const char *folder, const char *path, uint64_t id)
{
	struct schedtape_cgroup_watch *watch = arg;
	size_t i;

	for (i = 0; i < watch->nr; i++)
		if (watch->cgroups[i].id == id)
			return true;
	return watch->nr < SCHEDTAPE_MAX_CGROUPS && add(arg, folder, path, id);
}

/* Forgets a cgroup that was removed. */
static void forget(struct schedtape_cgroup_watch *watch, const char *path)
{
	size_t i;

	for (i = 0; i < watch->nr && strcmp(watch->cgroups[i].path, path); i++)
		;
	if (i == watch->nr)
		return;
	/* The kernel keeps the folder's watch, although the folder is gone. */
	if (watch->cgroups[i].wd >= 0)
		inotify_rm_watch(watch->fd, watch->cgroups[i].wd);
	free(watch->cgroups[i].path);
	watch->nr--;
	memmove(&watch->cgroups[i], &watch->cgroups[i + 1],
		(watch->nr - i) * sizeof(*watch->cgroups));
}

/* Some changes were lost: looks at everything. */
static void start_over(struct schedtape_cgroup_watch *watch)
{
	char folder[PATH_MAX];
	size_t i;

	watch->changed = true;
	for (i = watch->nr; i-- > 0; ) {
		watch->cgroups[i].changed = true;
		if (!name_file(watch, watch->cgroups[i].path, "", folder) || access(folder, F_OK))
			forget(watch, watch->cgroups[i].path);
	}
	schedtape_cgroup_places_walk(&watch->places, watch->mount, "", add_new, watch);
}

static void take_change(struct schedtape_cgroup_watch *watch, const struct inotify_event *event)
{
	struct schedtape_cgroup_watched *cgroup;
	char path[PATH_MAX];

	if (event->mask & IN_Q_OVERFLOW)
		start_over(watch);
	if (!event->len || (!(event->mask & IN_ISDIR) && strcmp(event->name, "cpu.max")))
		return;
	cgroup = find(watch, event->wd);
	if (!cgroup)
		return;
	if (!(event->mask & IN_ISDIR)) {
		cgroup->changed = true;
		watch->changed = true;
		return;
	}
	if (snprintf(path, sizeof(path), "%s/%s", strcmp(cgroup->path, "/") ? cgroup->path : "",
		     event->name) >= (int)sizeof(path))
		return;
	if (event->mask & IN_DELETE)
		forget(watch, path);
	else
		schedtape_cgroup_places_walk(&watch->places, watch->mount, path, add_new, watch);
}

static void take_changes(struct schedtape_cgroup_watch *watch)
{
	char buffer[16384] __attribute__((aligned(__alignof__(struct inotify_event))));
	const struct inotify_event *event;
	ssize_t n, at;

	while ((n = read(watch->fd, buffer, sizeof(buffer))) > 0) {
		for (at = 0; at < n; at += sizeof(*event) + event->len) {
			event = (const struct inotify_event *)(buffer + at);
			take_change(watch, event);
		}
	}
}

/* -- the watch --------------------------------------------------------------- */

void schedtape_cgroup_watch_open(struct schedtape_cgroup_watch *watch, const char *mount,
				 const struct schedtape_filter *filter)
{
	*watch = (struct schedtape_cgroup_watch){ .fd = -1 };
	if (!*mount)
		return;
	snprintf(watch->mount, sizeof(watch->mount), "%s", mount);
	watch->fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	schedtape_cgroup_places_find(&watch->places, filter);
	schedtape_cgroup_places_walk(&watch->places, mount, "", add, watch);
}

int schedtape_cgroup_watch_all(struct schedtape_cgroup_watch *watch,
			       struct schedtape_writer *writer, struct schedtape_error *err)
{
	struct block block = { .watch = watch, .writer = writer };
	int ret = 0;
	size_t i;

	take_changes(watch);
	for (i = 0; i < watch->nr && !ret; i++)
		ret = put(&block, &watch->cgroups[i], true, err);
	if (!ret)
		ret = put_block(&block, err);
	json_object_put(block.list);
	return ret;
}

int schedtape_cgroup_watch_look(struct schedtape_cgroup_watch *watch, bool blind,
				struct schedtape_writer *writer, struct schedtape_error *err)
{
	struct block block = { .watch = watch, .writer = writer };
	int ret = 0;
	size_t i;

	take_changes(watch);
	if (!watch->changed && !(blind && watch->blind))
		return 0;
	watch->changed = false;
	for (i = 0; i < watch->nr && !ret; i++)
		if (watch->cgroups[i].changed || (blind && watch->cgroups[i].wd < 0))
			ret = put(&block, &watch->cgroups[i], false, err);
	if (!ret)
		ret = put_block(&block, err);
	json_object_put(block.list);
	return ret;
}

void schedtape_cgroup_watch_close(struct schedtape_cgroup_watch *watch)
{
	while (watch->nr)
		free(watch->cgroups[--watch->nr].path);
	free(watch->cgroups);
	schedtape_cgroup_places_free(&watch->places);
	if (watch->fd >= 0)
		close(watch->fd);
	*watch = (struct schedtape_cgroup_watch){ .fd = -1 };
}
