// SPDX-License-Identifier: LGPL-2.1-or-later
#include "machine/cgroup-watch.h"

#include <inttypes.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/list.h"
#include "machine/cgroup-watched.h"
#include "tape/format.h"

#define MOST_GONE	65536
#define MOST_LOOKS	65536	/* some 400 bytes each */
#define CHANGES		(IN_MODIFY | IN_CREATE | IN_DELETE | IN_ONLYDIR)

/* -- looks ------------------------------------------------------------------- */

/* Is there room on the tape?  @all: leave none for the entries at the end. */
static bool has_room(const struct schedtape_cgroup_watch *watch, bool all)
{
	return watch->entries + SCHEDTAPE_CGROUP_RECORD + (all ? 0 : SCHEDTAPE_MAX_CGROUPS) <=
	       TAPE_MAX_CGROUPS;
}

/*
 * Puts a cgroup on the tape.  @all: also if its quota is the one that is on the tape.  Without it,
 * leaves room for the entries at the end.
 */
static int put(struct schedtape_cgroup_watch *watch, struct schedtape_cgroup_record *record,
	       struct schedtape_cgroup_watched *cgroup, bool all, struct schedtape_error *err)
{
	uint64_t began = schedtape_now();
	char max[SCHEDTAPE_QUOTA_LEN];
	struct json_object *stat;

	/* The past needs its own look, because this one is only on the tape. */
	cgroup->changed = cgroup->changed && watch->keeps;
	schedtape_cgroup_read_quota(watch->mount, cgroup->path, max);
	if (!all && cgroup->named && !strcmp(max, cgroup->max))
		return 0;
	if (!has_room(watch, all))
		return 0;
	stat = schedtape_cgroup_read_counts(watch->mount, cgroup->path);
	if (!stat)
		return 0;
	memcpy(cgroup->max, max, sizeof(max));
	if (!record->list)
		record->began = began;
	return schedtape_cgroup_record_add(record, cgroup, cgroup->max, stat, err);
}

/* Puts the paths of cgroups on the tape that were removed before their files could be read. */
static int put_gone(struct schedtape_cgroup_watch *watch, struct schedtape_cgroup_record *record,
		    struct schedtape_error *err)
{
	int ret = 0;
	size_t i;

	if (watch->keeps)
		return 0;
	for (i = 0; i < watch->nr_gone && !ret; i++) {
		if (watch->gone[i].named || !has_room(watch, false))
			continue;
		if (!record->list)
			record->began = watch->gone[i].removed;
		ret = schedtape_cgroup_record_add(record, &watch->gone[i], "", NULL, err);
	}
	schedtape_cgroup_drop_gone(watch, watch->nr_gone);
	return ret;
}

/* Ends a record: with the cgroups that are gone, unless @ret says that it has failed already. */
static int end_record(struct schedtape_cgroup_watch *watch, struct schedtape_cgroup_record *record,
		      int ret, struct schedtape_error *err)
{
	if (!ret)
		ret = put_gone(watch, record, err);
	if (!ret)
		ret = schedtape_cgroup_record_put(record, err);
	json_object_put(record->list);
	return ret;
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

static bool has(const struct schedtape_cgroup_watched *cgroups, size_t n, uint64_t id)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (cgroups[i].id == id)
			return true;
	return false;
}

static bool is_known(const struct schedtape_cgroup_watch *watch, uint64_t id)
{
	return has(watch->cgroups, watch->nr, id) || has(watch->gone, watch->nr_gone, id);
}

/* Returns where an id is noted.  Ids may be multiples of a number, because files have some, too. */
static uint64_t *met(struct schedtape_cgroup_watch *watch, uint64_t id)
{
	return &watch->met[(id * 0x9e3779b97f4a7c15ULL >> 32) % SCHEDTAPE_CGROUPS_MET];
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

	if (has(watch->cgroups, watch->nr, id))
		return true;
	return watch->nr < SCHEDTAPE_MAX_CGROUPS && add(arg, folder, path, id);
}

void schedtape_cgroup_drop_gone(struct schedtape_cgroup_watch *watch, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		watch->nr_looks -= watch->gone[i].nr_looks;
		schedtape_cgroup_free(&watch->gone[i]);
	}
	watch->nr_gone -= n;
	if (n)
		memmove(watch->gone, watch->gone + n, watch->nr_gone * sizeof(*watch->gone));
}

/* Remembers a cgroup that was removed, if no tape has all of it.  Takes its memory. */
static void add_gone(struct schedtape_cgroup_watch *watch, struct schedtape_cgroup_watched *cgroup)
{
	struct schedtape_cgroup_watched *gone = NULL;

	if (watch->nr_gone == MOST_GONE)
		schedtape_cgroup_drop_gone(watch, MOST_GONE / 4);
	if (watch->keeps || !cgroup->named)
		gone = schedtape_list_grow(watch->gone, watch->nr_gone, &watch->gone_room,
					   sizeof(*gone));
	if (!gone) {
		*met(watch, cgroup->id) = cgroup->id;
		watch->nr_looks -= cgroup->nr_looks;
		schedtape_cgroup_free(cgroup);
		return;
	}
	watch->gone = gone;
	cgroup->removed = schedtape_now();
	gone[watch->nr_gone++] = *cgroup;
	watch->changed = true;
}

/* Watches a cgroup no longer, because it was removed. */
static void forget(struct schedtape_cgroup_watch *watch, size_t i)
{
	/* The kernel keeps the folder's watch, although the folder is gone. */
	if (watch->cgroups[i].wd >= 0)
		inotify_rm_watch(watch->fd, watch->cgroups[i].wd);
	/* With a tape, the paths are those of the filter, and no others are added. */
	if (watch->keeps)
		schedtape_cgroup_paths_remove(&watch->places.in, watch->cgroups[i].path);
	add_gone(watch, &watch->cgroups[i]);
	watch->nr--;
	memmove(&watch->cgroups[i], &watch->cgroups[i + 1],
		(watch->nr - i) * sizeof(*watch->cgroups));
}

static void forget_path(struct schedtape_cgroup_watch *watch, const char *path)
{
	size_t i;

	for (i = 0; i < watch->nr && strcmp(watch->cgroups[i].path, path); i++)
		;
	if (i < watch->nr)
		forget(watch, i);
}

/* Returns false also if another cgroup has the path now. */
static bool is_there(const struct schedtape_cgroup_watch *watch,
		     const struct schedtape_cgroup_watched *cgroup)
{
	char folder[PATH_MAX];
	struct stat st;

	return schedtape_cgroup_file(watch->mount, cgroup->path, "", folder) &&
	       !lstat(folder, &st) && st.st_ino == cgroup->id;
}

/* Forgets cgroups that were removed.  @all: looks also at those whose removal inotify reports. */
static void find_gone(struct schedtape_cgroup_watch *watch, bool all)
{
	size_t i;

	for (i = watch->nr; i-- > 0; )
		if ((all || watch->cgroups[i].wd < 0) && !is_there(watch, &watch->cgroups[i]))
			forget(watch, i);
	/* A folder that was removed before it got a watch is no reason to look at all for ever. */
	watch->blind = false;
	for (i = 0; i < watch->nr; i++)
		watch->blind = watch->blind || watch->cgroups[i].wd < 0;
}

/* Some changes were lost: looks at everything. */
static void start_over(struct schedtape_cgroup_watch *watch)
{
	size_t i;

	find_gone(watch, true);
	for (i = 0; i < watch->nr; i++)
		watch->cgroups[i].changed = true;
	watch->changed = true;
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
		forget_path(watch, path);
	else
		schedtape_cgroup_places_walk(&watch->places, watch->mount, path, add_new, watch);
}

/* -- cgroups that the module has named ---------------------------------------- */

static const char *path_of(const struct schedtape_cgroup_watched *cgroups, size_t n, uint64_t id)
{
	while (n-- > 0)
		if (cgroups[n].id == id)
			return cgroups[n].path;
	return NULL;
}

/* Finds the path of a cgroup by its id, which may have gone.  Returns false if it is not known. */
static bool find_path(const struct schedtape_cgroup_watch *watch, uint64_t id, char path[PATH_MAX])
{
	const char *known = path_of(watch->cgroups, watch->nr, id);
	struct schedtape_cgroup cgroup = { 0 };
	struct schedtape_error err;
	char name[32];
	size_t i, len;

	known = known ? known : path_of(watch->gone, watch->nr_gone, id);
	if (known) {
		snprintf(path, PATH_MAX, "%s", known);
		return true;
	}
	for (i = 0; i < watch->nr_made && watch->made[i].id != id; i++)
		;
	if (i < watch->nr_made) {
		if (!find_path(watch, watch->made[i].parent, path))
			return false;
		len = strcmp(path, "/") ? strlen(path) : 0;
		return snprintf(path + len, PATH_MAX - len, "/%s", watch->made[i].name) <
		       (int)(PATH_MAX - len);
	}
	snprintf(name, sizeof(name), "id:%" PRIu64, id);
	if (schedtape_cgroup_find(name, &cgroup, &err) || !cgroup.path)
		return false;
	snprintf(path, PATH_MAX, "%s", cgroup.path);
	free(cgroup.path);
	return true;
}

static void free_made(struct schedtape_cgroup_watch *watch)
{
	while (watch->nr_made)
		free(watch->made[--watch->nr_made].name);
}

/* Takes those that nobody has seen for removed: only their paths come onto the tape. */
static void take_made(struct schedtape_cgroup_watch *watch)
{
	struct schedtape_cgroup_watched cgroup;
	char path[PATH_MAX];
	size_t i;

	for (i = 0; i < watch->nr_made; i++) {
		if (is_known(watch, watch->made[i].id) ||
		    !find_path(watch, watch->made[i].id, path))
			continue;
		cgroup = (struct schedtape_cgroup_watched){
			.id = watch->made[i].id, .path = strdup(path), .wd = -1,
		};
		if (cgroup.path)
			add_gone(watch, &cgroup);
		*met(watch, cgroup.id) = cgroup.id;
	}
	free_made(watch);
}

void schedtape_cgroup_watch_made(struct schedtape_cgroup_watch *watch, uint64_t id,
				 uint64_t parent, const char *name)
{
	struct schedtape_cgroup_made *made;
	size_t i;

	for (i = 0; i < watch->nr_made; i++)
		if (watch->made[i].id == id)
			return;
	if (!*watch->mount || *met(watch, id) == id || watch->nr_made == SCHEDTAPE_MAX_CGROUPS)
		return;
	made = schedtape_list_grow(watch->made, watch->nr_made, &watch->made_room, sizeof(*made));
	if (!made)
		return;
	watch->made = made;
	made[watch->nr_made] = (struct schedtape_cgroup_made){ id, parent, strdup(name) };
	watch->nr_made += !!made[watch->nr_made].name;
	watch->changed = true;
}

void schedtape_cgroup_take_changes(struct schedtape_cgroup_watch *watch, bool blind)
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
	if (blind && watch->blind)
		find_gone(watch, false);
	take_made(watch);
}

void schedtape_cgroup_watch_meet(struct schedtape_cgroup_watch *watch, uint64_t id)
{
	struct schedtape_cgroup cgroup = { 0 };
	struct schedtape_error err;
	char name[32];

	if (!id || *met(watch, id) == id)
		return;
	*met(watch, id) = id;
	if (is_known(watch, id))
		return;
	/* Inotify may have reported it already, and there may be room for it then. */
	schedtape_cgroup_take_changes(watch, false);
	if (is_known(watch, id) || watch->nr >= SCHEDTAPE_MAX_CGROUPS)
		return;
	snprintf(name, sizeof(name), "id:%" PRIu64, id);
	/* Without a path, it is gone. */
	if (schedtape_cgroup_find(name, &cgroup, &err) || !cgroup.path)
		return;
	schedtape_cgroup_paths_add(&watch->places.in, cgroup.path);
	schedtape_cgroup_places_walk(&watch->places, watch->mount, "", add_new, watch);
	/* It went meanwhile, so its removal will not remove the path. */
	if (!has(watch->cgroups, watch->nr, id))
		schedtape_cgroup_paths_remove(&watch->places.in, cgroup.path);
	free(cgroup.path);
}

/* -- the watch --------------------------------------------------------------- */

void schedtape_cgroup_watch_open(struct schedtape_cgroup_watch *watch, const char *mount,
				 const struct schedtape_filter *filter)
{
	*watch = (struct schedtape_cgroup_watch){ .fd = -1, .most_looks = MOST_LOOKS };
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
	struct schedtape_cgroup_record record = {
		.writer = writer, .entries = &watch->entries,
	};
	int ret = 0;
	size_t i;

	schedtape_cgroup_take_changes(watch, true);
	for (i = 0; i < watch->nr && !ret; i++)
		ret = put(watch, &record, &watch->cgroups[i], true, err);
	return end_record(watch, &record, ret, err);
}

int schedtape_cgroup_watch_look(struct schedtape_cgroup_watch *watch, bool blind,
				struct schedtape_writer *writer, struct schedtape_error *err)
{
	struct schedtape_cgroup_record record = {
		.writer = writer, .entries = &watch->entries,
	};
	int ret = 0;
	size_t i;

	schedtape_cgroup_take_changes(watch, blind);
	if (!watch->changed && !(blind && watch->blind))
		return 0;
	watch->changed = false;
	for (i = 0; i < watch->nr && !ret; i++)
		if (watch->cgroups[i].changed || (blind && watch->cgroups[i].wd < 0))
			ret = put(watch, &record, &watch->cgroups[i], false, err);
	return end_record(watch, &record, ret, err);
}

struct json_object *schedtape_cgroup_watch_describe(struct schedtape_cgroup_watch *watch)
{
	const struct schedtape_cgroup_watched *cgroup;
	struct json_object *list;
	char folder[PATH_MAX];

	if (!*watch->mount)
		return NULL;
	list = json_object_new_array();
	schedtape_cgroup_take_changes(watch, true);
	for (cgroup = watch->cgroups; cgroup < watch->cgroups + watch->nr; cgroup++)
		if (is_there(watch, cgroup) &&
		    schedtape_cgroup_file(watch->mount, cgroup->path, "", folder))
			json_object_array_add(list, schedtape_cgroup_describe(folder, cgroup->path,
									      cgroup->id));
	return list;
}

void schedtape_cgroup_watch_renew(struct schedtape_cgroup_watch *watch)
{
	size_t i;

	watch->entries = 0;
	for (i = 0; i < watch->nr; i++)
		watch->cgroups[i].named = false;
	for (i = 0; i < watch->nr_gone; i++)
		watch->gone[i].named = false;
}

void schedtape_cgroup_watch_close(struct schedtape_cgroup_watch *watch)
{
	schedtape_cgroup_drop_gone(watch, watch->nr_gone);
	free(watch->gone);
	free_made(watch);
	free(watch->made);
	while (watch->nr)
		schedtape_cgroup_free(&watch->cgroups[--watch->nr]);
	free(watch->cgroups);
	schedtape_cgroup_places_free(&watch->places);
	if (watch->fd >= 0)
		close(watch->fd);
	*watch = (struct schedtape_cgroup_watch){ .fd = -1 };
}
