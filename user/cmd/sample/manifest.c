// SPDX-License-Identifier: GPL-2.0-only
#include "sample/internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/output.h"
#include "tape/json.h"

#define FIRST_MOST	(1 << 20)	/* bytes of the first line: a command line is shorter */

static int failed(const char *path)
{
	int ret = -errno;

	out_error(path, "%s", strerror(-ret));
	return ret;
}

static int out_of_memory(void)
{
	out_error(NULL, "out of memory");
	return -ENOMEM;
}

static int set_paths(struct manifest *manifest, const char *dir)
{
	manifest->dir = dir;
	if (asprintf(&manifest->path, "%s/manifest", dir) < 0)
		manifest->path = NULL;
	if (asprintf(&manifest->tape, "%s/tape", dir) < 0)
		manifest->tape = NULL;
	return manifest->path && manifest->tape ? 0 : out_of_memory();
}

static int refuse_full(const char *dir)
{
	DIR *folder = opendir(dir);
	struct dirent *entry;
	int ret = 0;

	if (!folder)
		return failed(dir);
	while (!ret && (entry = readdir(folder)))
		if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
			ret = -ENOTEMPTY;
	closedir(folder);
	if (ret)
		out_error(dir, "it is not empty: name a new directory, or remove what is in it");
	return ret;
}

/* 32 digits, so that no two samples have the same. */
static int make_id(struct manifest *manifest)
{
	unsigned char bytes[(MANIFEST_ID_LEN - 1) / 2];
	size_t i;

	if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes))
		return failed(manifest->dir);
	for (i = 0; i < sizeof(bytes); i++)
		sprintf(manifest->id + 2 * i, "%02x", bytes[i]);
	return 0;
}

int manifest_make(struct manifest *manifest, const char *dir)
{
	int ret = set_paths(manifest, dir);

	if (ret)
		return ret;
	manifest->made = !mkdir(dir, 0777);
	if (!manifest->made && errno != EEXIST)
		return failed(dir);
	ret = refuse_full(dir);
	if (!ret)
		ret = make_id(manifest);
	if (ret)
		return ret;
	manifest->fd = open(manifest->path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC,
			    0666);
	return manifest->fd < 0 ? failed(manifest->path) : 0;
}

int manifest_open(struct manifest *manifest, const char *dir, struct json_object **first)
{
	int ret = set_paths(manifest, dir);
	char *line = NULL;
	size_t size = 0;
	ssize_t len;
	FILE *file;

	*first = NULL;
	if (ret)
		return ret;
	file = fopen(manifest->path, "re");
	if (!file)
		return failed(manifest->path);
	len = getline(&line, &size, file);
	if (len > 0 && len < FIRST_MOST && line[len - 1] == '\n')
		*first = tape_json_parse(line, len - 1);
	free(line);
	fclose(file);
	if (*first)
		return 0;
	out_error(manifest->path, "its first line is not that of a sample");
	return -EINVAL;
}

int manifest_add(const struct manifest *manifest, struct json_object *line)
{
	const char *text = json_object_to_json_string_ext(line, JSON_C_TO_STRING_PLAIN);
	char *whole;
	int len, ret = 0;

	len = text ? asprintf(&whole, "%s\n", text) : -1;
	json_object_put(line);
	if (len < 0)
		return out_of_memory();
	/* At once, because somebody may read it meanwhile. */
	if (write(manifest->fd, whole, len) != len)
		ret = failed(manifest->path);
	free(whole);
	return ret;
}

void manifest_close(struct manifest *manifest, bool keep)
{
	if (manifest->fd >= 0)
		close(manifest->fd);
	if (!keep && manifest->fd >= 0)
		unlink(manifest->path);
	if (!keep && manifest->made)
		rmdir(manifest->dir);
	free(manifest->path);
	free(manifest->tape);
	*manifest = (struct manifest)MANIFEST_CLOSED;
}
