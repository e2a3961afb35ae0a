// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Reads a tape's CGROUPS records.  Their checksums are right, but their content may still be
 * impossible.
 */
#define _FILE_OFFSET_BITS 64
#include "tape/cgroups.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "base/list.h"
#include "tape/format.h"
#include "tape/json.h"
#include "tape/tape.h"

static void get_counts(struct json_object *object, struct tape_cgroup *cgroup)
{
	struct json_object *stat;

	cgroup->counted = json_object_object_get_ex(object, "stat", &stat) &&
			  json_object_is_type(stat, json_type_object) &&
			  tape_json_number(stat, "nr_periods", &cgroup->periods) &&
			  tape_json_number(stat, "nr_throttled", &cgroup->throttled) &&
			  tape_json_number(stat, "throttled_usec", &cgroup->throttled_us);
}

/* Returns 0, -EBADMSG, or -ENOMEM.  On failure, @cgroup has no path. */
static int get_cgroup(struct json_object *object, struct tape_cgroup *cgroup)
{
	struct json_object *path;

	if (!json_object_is_type(object, json_type_object) ||
	    !tape_json_number(object, "id", &cgroup->id) ||
	    !tape_json_quota(object, &cgroup->quota, &cgroup->period))
		return -EBADMSG;
	get_counts(object, cgroup);
	if (!json_object_object_get_ex(object, "path", &path))
		return 0;
	if (!json_object_is_type(path, json_type_string) ||
	    json_object_get_string_len(path) >= PATH_MAX)
		return -EBADMSG;
	cgroup->path = strdup(json_object_get_string(path));
	return cgroup->path ? 0 : -ENOMEM;
}

static int add_cgroup(struct schedtape_tape *tape, const struct tape_cgroup *cgroup)
{
	struct tape_cgroup *cgroups;

	if (tape->nr_cgroups == TAPE_MAX_CGROUPS)
		return -EBADMSG;
	cgroups = schedtape_list_grow(tape->cgroups, tape->nr_cgroups, &tape->cgroups_capacity,
				      sizeof(*cgroups));
	if (!cgroups)
		return -ENOMEM;
	tape->cgroups = cgroups;
	cgroups[tape->nr_cgroups++] = *cgroup;
	return 0;
}

static int add_cgroups(struct schedtape_tape *tape, struct json_object *object)
{
	struct tape_cgroup times = { 0 }, cgroup;
	struct json_object *list;
	size_t i, n;
	int ret = 0;

	if (!tape_json_number(object, "began", &times.began) ||
	    !tape_json_number(object, "time", &times.time) || times.began > times.time ||
	    !json_object_object_get_ex(object, "cgroups", &list) ||
	    !json_object_is_type(list, json_type_array))
		return -EBADMSG;
	n = json_object_array_length(list);
	for (i = 0; i < n && !ret; i++) {
		cgroup = times;
		ret = get_cgroup(json_object_array_get_idx(list, i), &cgroup);
		if (!ret)
			ret = add_cgroup(tape, &cgroup);
		if (ret)
			free(cgroup.path);
	}
	return ret;
}

/* On failure no entry of the record is kept. */
int tape_content_cgroups(struct schedtape_tape *tape, const char *text, size_t bytes)
{
	struct json_object *object = tape_json_parse(text, bytes);
	size_t before = tape->nr_cgroups;
	int ret;

	if (!object)
		return -EBADMSG;
	ret = add_cgroups(tape, object);
	if (ret)
		tape_cgroups_forget(tape, before);
	json_object_put(object);
	return ret;
}

void tape_cgroups_forget(struct schedtape_tape *tape, size_t n)
{
	while (tape->nr_cgroups > n)
		free(tape->cgroups[--tape->nr_cgroups].path);
}

const struct tape_cgroup *tape_cgroups(struct schedtape_tape *tape, size_t *n)
{
	*n = tape->nr_cgroups;
	return tape->cgroups;
}
