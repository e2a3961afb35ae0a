// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * All cgroups of version 2 as a tape has them: what a replay needs to make some of
 * them again.
 */
#include "client.h"

#include <fts.h>
#include <json-c/json.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "machine.h"

#define MAX_CGROUPS	16384	/* they all go into one record */

/* The first line of a cgroup's file, or false. */
static bool read_file(const char *folder, const char *name, char *line, size_t size)
{
	char path[PATH_MAX];

	return snprintf(path, sizeof(path), "%s/%s", folder, name) < (int)sizeof(path) &&
	       schedtape_machine_line(path, line, size);
}

/* Only what is not as it is in a new one, and the weight, which shows the controller. */
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

struct json_object *schedtape_cgroups_describe(void)
{
	char mount[PATH_MAX], *roots[] = { mount, NULL };
	struct schedtape_error err;
	struct json_object *list;
	const char *path;
	size_t len;
	FTSENT *at;
	FTS *tree;

	if (schedtape_cgroup_mount(mount, sizeof(mount), &err))
		return NULL;
	len = strcmp(mount, "/") ? strlen(mount) : 0;
	tree = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR | FTS_XDEV, NULL);
	if (!tree)
		return NULL;
	list = json_object_new_array();
	while ((at = fts_read(tree)) && json_object_array_length(list) < MAX_CGROUPS) {
		path = at->fts_path[len] ? at->fts_path + len : "/";
		if (at->fts_info == FTS_D)
			json_object_array_add(list, describe(at->fts_path, path,
							     at->fts_statp->st_ino));
	}
	fts_close(tree);
	return list;
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
	return state->path[0] == '/';
}

static struct json_object *recorded(struct schedtape_tape *tape)
{
	struct json_object *list;

	if (!json_object_object_get_ex(schedtape_tape_meta(tape), "cgroups", &list) ||
	    !json_object_is_type(list, json_type_array))
		return NULL;
	return list;
}

/* @path: NULL: by @id. */
static bool find(struct schedtape_tape *tape, uint64_t id, const char *path,
		 struct schedtape_cgroup_state *state)
{
	struct json_object *list = recorded(tape);
	size_t i, n = list ? json_object_array_length(list) : 0;

	for (i = 0; i < n; i++)
		if (read_entry(json_object_array_get_idx(list, i), state) &&
		    (path ? !strcmp(state->path, path) : state->id == id))
			return true;
	return false;
}

bool schedtape_cgroup_by_id(struct schedtape_tape *tape, uint64_t id,
			    struct schedtape_cgroup_state *state)
{
	return find(tape, id, NULL, state);
}

bool schedtape_cgroup_by_path(struct schedtape_tape *tape, const char *path,
			      struct schedtape_cgroup_state *state)
{
	return find(tape, 0, path, state);
}
