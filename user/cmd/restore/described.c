// SPDX-License-Identifier: GPL-2.0-only
#include "restore/internal.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/build-id.h"
#include "common/output.h"
#include "tape/json.h"

/* Returns the list @key of a checkpoint, or an empty one. */
static struct json_object *list_of(struct json_object *about, const char *key, size_t *n)
{
	struct json_object *list = NULL;

	if (json_object_object_get_ex(about, key, &list) &&
	    json_object_is_type(list, json_type_array))
		*n = json_object_array_length(list);
	else
		*n = 0;
	return list;
}

/* -- finding it ------------------------------------------------------------ */

/* Splits DIR/N.  Returns false if the path ends with no number. */
static bool split(char *path, uint64_t *number)
{
	size_t len = strlen(path);
	char *name, *end;

	while (len > 1 && path[len - 1] == '/')
		path[--len] = '\0';
	name = strrchr(path, '/');
	if (!name || !isdigit((unsigned char)name[1]))
		return false;
	*number = strtoull(name + 1, &end, 10);
	if (*end)
		return false;
	*name = '\0';
	return true;
}

/* Takes the checkpoint of a line if it is @number, or if that is 0. */
static void take_line(struct described *described, const char *line, uint64_t number, size_t *n)
{
	struct json_object *object = tape_json_parse(line, strlen(line)), *about;
	uint64_t interval;

	if (object && !described->sample)
		described->sample = json_object_get(object);
	if (object && tape_json_number(object, "interval", &interval) &&
	    json_object_object_get_ex(object, "checkpoint", &about) &&
	    json_object_is_type(about, json_type_object) && (!number || number == interval)) {
		json_object_put(described->about);
		described->about = json_object_get(about);
		described->number = interval;
		++*n;
	}
	json_object_put(object);
}

/* A line that a writer has not finished has no newline, and is left out. */
static int read_manifest(struct described *described, const char *dir, uint64_t number, size_t *n)
{
	char path[PATH_MAX + 16], *line = NULL;
	size_t room = 0;
	ssize_t len;
	FILE *file;

	snprintf(path, sizeof(path), "%s/manifest", dir);
	file = fopen(path, "re");
	if (!file) {
		out_error(path, "%s: name a directory of \"schedtape sample\"", strerror(errno));
		return -errno;
	}
	while ((len = getline(&line, &room, file)) > 0)
		if (line[len - 1] == '\n')
			take_line(described, line, number, n);
	free(line);
	fclose(file);
	return 0;
}

int described_find(struct described *described, const char *path)
{
	char given[PATH_MAX], dir[PATH_MAX];
	uint64_t number = 0;
	size_t n = 0;
	int ret;

	memset(described, 0, sizeof(*described));
	/* An existing folder whose name is a number may also be a DIR: then it has a manifest. */
	snprintf(given, sizeof(given), "%s/manifest", path);
	ret = access(given, F_OK);
	snprintf(given, sizeof(given), "%s", path);
	if (ret && !split(given, &number))
		number = 0;
	if (!realpath(given, dir)) {
		out_error(given, "%s", strerror(errno));
		return -errno;
	}
	ret = read_manifest(described, dir, number, &n);
	if (ret)
		return ret;
	if (!n) {
		out_error(dir, number ? "its manifest has no checkpoint %" PRIu64 :
			  "its manifest has no checkpoint", number);
		return -ENOENT;
	}
	if (n > 1 && !number) {
		out_error(dir, "there are %zu checkpoints: name one, as in %s/%" PRIu64, n, path,
			  described->number);
		return -EINVAL;
	}
	if (snprintf(described->images, sizeof(described->images), "%s/%" PRIu64, dir,
		     described->number) >= (int)sizeof(described->images))
		return -ENAMETOOLONG;
	return 0;
}

void described_free(struct described *described)
{
	json_object_put(described->about);
	json_object_put(described->sample);
	described->about = NULL;
	described->sample = NULL;
}

/* -- its files ------------------------------------------------------------- */

static bool is_kept(struct json_object *file)
{
	struct json_object *kept;

	return json_object_object_get_ex(file, "kept", &kept) && json_object_get_boolean(kept);
}

int described_each_kept(const struct described *described,
			int (*each)(const char *path, void *arg), void *arg)
{
	char path[PATH_MAX];
	size_t n, i;
	struct json_object *list = list_of(described->about, "files", &n);
	int ret = 0;

	for (i = 0; i < n && !ret; i++) {
		struct json_object *file = json_object_array_get_idx(list, i);

		if (is_kept(file) && tape_json_text(file, "path", path, sizeof(path)))
			ret = each(path, arg);
	}
	return ret;
}

static int compare(struct json_object *file)
{
	char path[PATH_MAX], id[BUILD_ID_LEN], now[BUILD_ID_LEN];
	uint64_t size = 0, mtime = 0;
	struct stat st;

	if (is_kept(file) || !tape_json_text(file, "path", path, sizeof(path)))
		return 0;
	if (stat(path, &st)) {
		out_error(path, "the workload had it open or mapped: %s", strerror(errno));
		return -ENOENT;
	}
	tape_json_number(file, "size", &size);
	tape_json_number(file, "mtime_ns", &mtime);
	if (tape_json_text(file, "build_id", id, sizeof(id)) &&
	    (!build_id_read(path, now) || strcmp(id, now)))
		out_warning(path, "it is another build than at the checkpoint");
	else if (size != (uint64_t)st.st_size)
		out_warning(path, "it has %" PRIu64 " bytes, and had %" PRIu64
			    " at the checkpoint", (uint64_t)st.st_size, size);
	else if (mtime != st.st_mtim.tv_sec * 1000000000ULL + st.st_mtim.tv_nsec)
		out_warning(path, "it was written after the checkpoint");
	return 0;
}

int described_compare(const struct described *described)
{
	size_t n, i;
	struct json_object *list = list_of(described->about, "files", &n);
	int ret = 0;

	for (i = 0; i < n; i++)
		if (compare(json_object_array_get_idx(list, i)))
			ret = -ENOENT;
	return ret;
}
