// SPDX-License-Identifier: GPL-2.0-only
#include "why/recorded.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include <json-c/json.h>

#include "tape/meta.h"

static bool flag(struct json_object *object, const char *key)
{
	struct json_object *value;

	return json_object_object_get_ex(object, key, &value) && json_object_get_boolean(value);
}

int recorded_read(struct recorded *recorded, struct schedtape_tape *tape)
{
	struct json_object *filter = NULL;

	json_object_object_get_ex(tape_meta(tape), "filter", &filter);
	recorded->all = flag(filter, "all") && flag(filter, "kthreads");
	return schedtape_cgroup_table_read(&recorded->cgroups, tape);
}

const char *recorded_quota(const struct recorded *recorded, uint64_t id)
{
	const struct schedtape_cgroup_state *cgroup;
	char path[PATH_MAX], *slash;

	cgroup = schedtape_cgroup_by_id(&recorded->cgroups, id);
	if (!cgroup || strlen(cgroup->path) >= sizeof(path))
		return NULL;
	memcpy(path, cgroup->path, strlen(cgroup->path) + 1);
	for (;;) {
		if (cgroup && cgroup->max)
			return cgroup->max;
		slash = strrchr(path, '/');
		if (!slash)
			return NULL;
		*slash = '\0';
		cgroup = schedtape_cgroup_by_path(&recorded->cgroups, path);
	}
}

double recorded_percent(const char *quota)
{
	unsigned long quota_us, period_us;

	if (!quota || sscanf(quota, "%lu %lu", &quota_us, &period_us) != 2 || !period_us)
		return -1;
	return 100.0 * quota_us / period_us;
}

void recorded_free(struct recorded *recorded)
{
	schedtape_cgroup_table_free(&recorded->cgroups);
}
