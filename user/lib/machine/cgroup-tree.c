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

#include "base/first-line.h"
#include "machine/cgroup-places.h"
#include "module/cgroup.h"
#include "tape/meta.h"

/* Reads the first line of a cgroup's file. */
static bool read_file(const char *folder, const char *name, char *line, size_t size)
{
	char path[PATH_MAX];

	return snprintf(path, sizeof(path), "%s/%s", folder, name) < (int)sizeof(path) &&
	       first_line_read(path, line, size);
}

/*
 * Describes settings that differ from those of a new cgroup, and the weight, which shows that
 * the cpu controller is enabled.
 */
static struct json_object *describe(const char *folder, const char *path, uint64_t id)
{
	struct json_object *object = json_object_new_object();
	char line[4096];

	json_object_object_add(object, "id", json_object_new_uint64(id));
	json_object_object_add(object, "path", json_object_new_string(path));
	if (read_file(folder, "cpu.weight", line, sizeof(line)))
		json_object_object_add(object, "weight", json_object_new_uint64(atoi(line)));
	if (read_file(folder, "cpu.idle", line, sizeof(line)) && atoi(line))
		json_object_object_add(object, "idle", json_object_new_boolean(true));
	if (read_file(folder, "cpu.max", line, sizeof(line)) && strncmp(line, "max ", 4))
		json_object_object_add(object, "max", json_object_new_string(line));
	if (read_file(folder, "cpuset.cpus", line, sizeof(line)) && *line)
		json_object_object_add(object, "cpus", json_object_new_string(line));
	return object;
}

/* Adds a cgroup to a list.  Returns false if the list is full. */
static bool add_description(void *arg, const char *folder, const char *path, uint64_t id)
{
	struct json_object *list = arg;

	json_object_array_add(list, describe(folder, path, id));
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
	if (json_object_object_get_ex(entry, "max", &value))
		state->max = json_object_get_string(value);
	if (json_object_object_get_ex(entry, "cpus", &value))
		state->cpus = json_object_get_string(value);
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

int schedtape_cgroup_table_read(struct schedtape_cgroup_table *table, struct schedtape_tape *tape)
{
	struct json_object *list = recorded(tape);
	size_t i, n = list ? json_object_array_length(list) : 0;

	table->nr = 0;
	table->by_id = calloc(n + 1, sizeof(*table->by_id));
	table->by_path = calloc(n + 1, sizeof(*table->by_path));
	if (!table->by_id || !table->by_path) {
		schedtape_cgroup_table_free(table);
		return -ENOMEM;
	}
	for (i = 0; i < n; i++)
		table->nr += read_entry(json_object_array_get_idx(list, i),
					&table->by_id[table->nr]);
	qsort(table->by_id, table->nr, sizeof(*table->by_id), compare_ids);
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
	const struct schedtape_cgroup_state wanted = { .id = id };

	return table->nr ? bsearch(&wanted, table->by_id, table->nr, sizeof(*table->by_id),
				   compare_ids) : NULL;
}

const struct schedtape_cgroup_state *
schedtape_cgroup_by_path(const struct schedtape_cgroup_table *table, const char *path)
{
	const struct schedtape_cgroup_state wanted = { .path = path }, *key = &wanted, **found;

	found = bsearch(&key, table->by_path, table->nr, sizeof(*table->by_path), compare_paths);
	return found ? *found : NULL;
}
