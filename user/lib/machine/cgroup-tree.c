// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Describes cgroups (version 2) on a tape, so that a replay can make them again.  Cgroups
 * without recorded tasks are left out, with their names.
 */
#include "machine/cgroup-tree.h"

#include <errno.h>
#include <json-c/json.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine/cgroup-places.h"
#include "machine/cgroup-watched.h"
#include "module/cgroup.h"
#include "tape/cgroups.h"
#include "tape/json.h"
#include "tape/meta.h"

/* Adds a cgroup to a list.  Returns false if the list is full. */
static bool add_description(void *arg, const char *folder, const char *path, uint64_t id)
{
	struct json_object *list = arg;

	json_object_array_add(list, schedtape_cgroup_describe(folder, path, id));
	return json_object_array_length(list) < SCHEDTAPE_MAX_CGROUPS;
}

struct json_object *schedtape_cgroups_describe(const struct schedtape_filter *filter)
{
	struct schedtape_cgroup_places places;
	struct json_object *list;
	struct schedtape_error err;
	char mount[PATH_MAX];
	int ret;

	if (schedtape_cgroup_mount(mount, sizeof(mount), &err))
		return NULL;
	list = json_object_new_array();
	schedtape_cgroup_places_find(&places, filter);
	ret = schedtape_cgroup_places_walk(&places, mount, "", add_description, list);
	schedtape_cgroup_places_free(&places);
	if (!ret)
		return list;
	json_object_put(list);
	return NULL;
}

/* Accepts "/", or names without "." and "..", so that the path stays below the root. */
static bool is_valid_path(const char *path)
{
	size_t parts, len;

	if (!strcmp(path, "/"))
		return true;
	if (strlen(path) >= PATH_MAX / 2)
		return false;
	for (parts = 0; *path; parts++, path += 1 + len) {
		if (*path != '/' || parts == SCHEDTAPE_CGROUP_PARTS)
			return false;
		len = strcspn(path + 1, "/");
		if (!len || (len == 1 && path[1] == '.') ||
		    (len == 2 && !strncmp(path + 1, "..", 2)))
			return false;
	}
	return parts;
}

/*
 * Returns a utilization clamp as the kernel writes it, "max" or a percentage; NULL: the entry has
 * none, or another text.
 */
static const char *clamp_of(struct json_object *entry, const char *key)
{
	struct json_object *value;
	const char *text;

	if (!json_object_object_get_ex(entry, key, &value) ||
	    !json_object_is_type(value, json_type_string))
		return NULL;
	text = json_object_get_string(value);
	return !strcmp(text, "max") || (*text && !text[strspn(text, "0123456789.")]) ? text : NULL;
}

static bool read_entry(struct json_object *entry, struct schedtape_cgroup_state *state)
{
	struct json_object *value;

	*state = (struct schedtape_cgroup_state){ 0 };
	if (!json_object_is_type(entry, json_type_object) ||
	    !json_object_object_get_ex(entry, "id", &value))
		return false;
	state->id = json_object_get_uint64(value);
	if (!json_object_object_get_ex(entry, "path", &value) ||
	    !json_object_is_type(value, json_type_string))
		return false;
	state->path = json_object_get_string(value);
	if (json_object_object_get_ex(entry, "weight", &value)) {
		state->weighs = true;
		state->weight = json_object_get_uint64(value);
	}
	if (json_object_object_get_ex(entry, "idle", &value))
		state->idle = json_object_get_boolean(value);
	/* A quota that is wrong is none. */
	tape_json_quota(entry, &state->quota, &state->period);
	if (json_object_object_get_ex(entry, "cpus", &value))
		state->cpus = json_object_get_string(value);
	state->clamp_min = clamp_of(entry, "uclamp_min");
	state->clamp_max = clamp_of(entry, "uclamp_max");
	return is_valid_path(state->path);
}

static struct json_object *recorded(struct schedtape_tape *tape)
{
	struct json_object *list;

	if (!json_object_object_get_ex(tape_meta(tape), "cgroups", &list) ||
	    !json_object_is_type(list, json_type_array))
		return NULL;
	return list;
}

static int compare_ids(const void *left, const void *right)
{
	const struct schedtape_cgroup_state *a = left, *b = right;

	return a->id < b->id ? -1 : a->id > b->id;
}

static int compare_paths(const void *left, const void *right)
{
	const struct schedtape_cgroup_state * const *a = left, * const *b = right;

	return strcmp((*a)->path, (*b)->path);
}

static struct schedtape_cgroup_state *find(const struct schedtape_cgroup_table *table, uint64_t id)
{
	const struct schedtape_cgroup_state wanted = { .id = id };

	return table->nr ? bsearch(&wanted, table->by_id, table->nr, sizeof(*table->by_id),
				   compare_ids) : NULL;
}

/* Adds the cgroups that only CGROUPS records have, because they were made during the recording. */
static void add_newer(struct schedtape_cgroup_table *table, const struct tape_cgroup *entries,
		      size_t n)
{
	size_t described = table->nr, i, nr = 0;
	struct schedtape_cgroup_state state;

	for (i = 0; i < n; i++) {
		state = (struct schedtape_cgroup_state){
			.id = entries[i].id, .path = entries[i].path, .newer = true,
		};
		if (!state.path || !is_valid_path(state.path) ||
		    (described && bsearch(&state, table->by_id, described, sizeof(state),
					  compare_ids)))
			continue;
		table->by_id[table->nr++] = state;
	}
	qsort(table->by_id, table->nr, sizeof(*table->by_id), compare_ids);
	/* Tapes that were merged may have the path of a cgroup several times. */
	for (i = 0; i < table->nr; i++)
		if (!i || table->by_id[i].id != table->by_id[i - 1].id)
			table->by_id[nr++] = table->by_id[i];
	table->nr = nr;
}

/* Gives newer cgroups the quotas that they had last; the entries may have any order. */
static void set_quotas(struct schedtape_cgroup_table *table, const struct tape_cgroup *entries,
		       size_t n)
{
	struct schedtape_cgroup_state *state;
	size_t i;

	for (i = 0; i < n; i++) {
		state = find(table, entries[i].id);
		if (!state || !state->newer || entries[i].time < state->time)
			continue;
		state->time = entries[i].time;
		state->quota = entries[i].quota;
		state->period = entries[i].period;
	}
}

int schedtape_cgroup_table_read(struct schedtape_cgroup_table *table, struct schedtape_tape *tape)
{
	struct json_object *list = recorded(tape);
	size_t i, n = list ? json_object_array_length(list) : 0, nr_entries;
	const struct tape_cgroup *entries = tape_cgroups(tape, &nr_entries);

	table->nr = 0;
	table->by_id = calloc(n + nr_entries + 1, sizeof(*table->by_id));
	table->by_path = calloc(n + nr_entries + 1, sizeof(*table->by_path));
	if (!table->by_id || !table->by_path) {
		schedtape_cgroup_table_free(table);
		return -ENOMEM;
	}
	for (i = 0; i < n; i++)
		table->nr += read_entry(json_object_array_get_idx(list, i),
					&table->by_id[table->nr]);
	qsort(table->by_id, table->nr, sizeof(*table->by_id), compare_ids);
	add_newer(table, entries, nr_entries);
	set_quotas(table, entries, nr_entries);
	for (i = 0; i < table->nr; i++)
		table->by_path[i] = &table->by_id[i];
	qsort(table->by_path, table->nr, sizeof(*table->by_path), compare_paths);
	return 0;
}

void schedtape_cgroup_table_free(struct schedtape_cgroup_table *table)
{
	free(table->by_id);
	free(table->by_path);
	*table = (struct schedtape_cgroup_table){ 0 };
}

const struct schedtape_cgroup_state *
schedtape_cgroup_by_id(const struct schedtape_cgroup_table *table, uint64_t id)
{
	return find(table, id);
}

const struct schedtape_cgroup_state *
schedtape_cgroup_by_path(const struct schedtape_cgroup_table *table, const char *path)
{
	const struct schedtape_cgroup_state wanted = { .path = path }, *key = &wanted, **found;

	found = bsearch(&key, table->by_path, table->nr, sizeof(*table->by_path), compare_paths);
	return found ? *found : NULL;
}
