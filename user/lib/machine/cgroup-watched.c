// SPDX-License-Identifier: LGPL-2.1-or-later
#include "machine/cgroup-watched.h"

#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/first-line.h"
#include "tape/write.h"

void schedtape_cgroup_free(struct schedtape_cgroup_watched *cgroup)
{
	while (cgroup->nr_looks)
		free(cgroup->looks[--cgroup->nr_looks].stat);
	free(cgroup->looks);
	free(cgroup->path);
}

/* -- the files of a cgroup --------------------------------------------------- */

bool schedtape_cgroup_file(const char *mount, const char *path, const char *name,
			   char file[PATH_MAX])
{
	return snprintf(file, PATH_MAX, "%s%s/%s", mount, path, name) < PATH_MAX;
}

void schedtape_cgroup_read_quota(const char *mount, const char *path,
				 char max[SCHEDTAPE_QUOTA_LEN])
{
	char file[PATH_MAX];

	if (!schedtape_cgroup_file(mount, path, "cpu.max", file) ||
	    !first_line_read(file, max, SCHEDTAPE_QUOTA_LEN) || !strncmp(max, "max ", 4))
		*max = '\0';
}

/* Reads the first line of a cgroup's file. */
static bool read_file(const char *folder, const char *name, char *line, size_t size)
{
	char path[PATH_MAX];

	return snprintf(path, sizeof(path), "%s/%s", folder, name) < (int)sizeof(path) &&
	       first_line_read(path, line, size);
}

/* Adds a utilization clamp, in percent, unless it is the kernel's own. */
static void add_clamp(struct json_object *object, const char *key, const char *folder,
		      const char *name, const char *usual)
{
	char line[64];

	if (read_file(folder, name, line, sizeof(line)) && strcmp(line, usual))
		json_object_object_add(object, key, json_object_new_string(line));
}

struct json_object *schedtape_cgroup_describe(const char *folder, const char *path, uint64_t id)
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
	add_clamp(object, "uclamp_min", folder, "cpu.uclamp.min", "0.00");
	add_clamp(object, "uclamp_max", folder, "cpu.uclamp.max", "max");
	return object;
}

struct json_object *schedtape_cgroup_read_counts(const char *mount, const char *path)
{
	struct json_object *stat;
	char file[PATH_MAX], name[64];
	unsigned long long value;
	FILE *lines;

	lines = schedtape_cgroup_file(mount, path, "cpu.stat", file) ? fopen(file, "re") : NULL;
	if (!lines)
		return NULL;
	stat = json_object_new_object();
	while (fscanf(lines, "%63s %llu\n", name, &value) == 2)
		json_object_object_add(stat, name, json_object_new_uint64(value));
	fclose(lines);
	return stat;
}

/* -- records ----------------------------------------------------------------- */

int schedtape_cgroup_record_put(struct schedtape_cgroup_record *record, struct schedtape_error *err)
{
	struct json_object *object;
	int ret;

	if (!record->list)
		return 0;
	object = json_object_new_object();
	json_object_object_add(object, "began", json_object_new_uint64(record->began));
	json_object_object_add(object, "time", json_object_new_uint64(record->time ? record->time :
									schedtape_now()));
	*record->entries += json_object_array_length(record->list);
	json_object_object_add(object, "cgroups", record->list);
	record->list = NULL;
	ret = tape_writer_json(record->writer, TAPE_CGROUPS, object, err);
	json_object_put(object);
	return ret;
}

int schedtape_cgroup_record_add(struct schedtape_cgroup_record *record,
				struct schedtape_cgroup_watched *cgroup, const char *max,
				struct json_object *stat, struct schedtape_error *err)
{
	struct json_object *object = json_object_new_object();

	json_object_object_add(object, "id", json_object_new_uint64(cgroup->id));
	if (!cgroup->named)
		json_object_object_add(object, "path", json_object_new_string(cgroup->path));
	if (*max)
		json_object_object_add(object, "max", json_object_new_string(max));
	if (stat)
		json_object_object_add(object, "stat", stat);
	cgroup->named = true;
	if (!record->list)
		record->list = json_object_new_array();
	json_object_array_add(record->list, object);
	if (json_object_array_length(record->list) < SCHEDTAPE_CGROUP_RECORD)
		return 0;
	return schedtape_cgroup_record_put(record, err);
}
