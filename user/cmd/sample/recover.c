// SPDX-License-Identifier: GPL-2.0-only
#include "sample/internal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/output.h"
#include "module/cgroup.h"
#include "tape/json.h"

/*
 * Takes the cgroup from the manifest.  Any user may have written that, so the cgroup must have a
 * name that sample gives, and its processes can only go to the cgroup above it.
 */
static int take(struct workload *workload, struct json_object *first, const char *path)
{
	char mount[PATH_MAX / 2], *name;
	struct schedtape_error err;
	int ret;

	ret = schedtape_cgroup_mount(mount, sizeof(mount), &err);
	if (ret)
		return out_failed(ret, &err);
	if (!tape_json_text(first, "cgroup_from", workload->from, sizeof(workload->from)))
		return 0;
	if (!tape_json_text(first, "cgroup", workload->path, sizeof(workload->path)))
		workload->path[0] = '\0';
	name = strrchr(workload->path, '/');
	if (!name || strncmp(workload->path, mount, strlen(mount)) ||
	    strstr(workload->path, "/../") || strncmp(name + 1, WORKLOAD_NAME,
						      strlen(WORKLOAD_NAME)) ||
	    strlen(workload->from) != (size_t)(name - workload->path) ||
	    strncmp(workload->from, workload->path, name - workload->path)) {
		out_error(path, "its cgroup is none that sample makes");
		return -EINVAL;
	}
	workload->made = true;
	return 0;
}

int sample_recover(const char *dir)
{
	struct workload workload = WORKLOAD_CLOSED;
	struct manifest manifest = MANIFEST_CLOSED;
	struct json_object *first;
	int ret, moved = 0;

	ret = manifest_open(&manifest, dir, &first);
	if (!ret)
		ret = take(&workload, first, manifest.path);
	if (!ret && workload.made && access(workload.path, F_OK))
		workload.made = false;
	if (!ret && workload.made)
		ret = workload_enter_again(&workload);
	if (!ret) {
		moved = workload_leave(&workload);
		ret = moved < 0 ? moved : 0;
	}
	if (!ret && !moved)
		fprintf(stderr, "[ %s: %s has left no process in a cgroup of its own ]\n",
			out_command(), dir);
	else if (!ret)
		fprintf(stderr, "[ %s: %d process%s moved back to %s ]\n", out_command(), moved,
			moved == 1 ? "" : "es", workload.from);
	json_object_put(first);
	workload_close(&workload);
	manifest_close(&manifest, true);
	return ret ? CMD_FAILURE : 0;
}
