// SPDX-License-Identifier: LGPL-2.1-or-later
#include "machine/settings.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <json-c/json.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* All settings go into one record, beside much else.  A few KB are usual. */
#define FILE_BYTES	4096
#define ALL_BYTES	(1U << 19)	/* as JSON */
#define MOST_FILES	16384
#define DEEPEST		8

/* Not a setting but a dump of all run queues and tasks, which may have megabytes. */
#define DUMP		"debug"

/**
 * struct reading - the folder that is read
 * @files: texts of files, by name below the root
 * @not_readable: reasons of failures, by name below the root
 * @cut: names of files whose text is cut
 * @room: bytes of JSON that names, texts and reasons may still take
 * @nr: files and folders that were taken
 * @left_out: files and folders that there was no room for
 */
struct reading {
	struct json_object *files;
	struct json_object *not_readable;
	struct json_object *cut;
	size_t room;
	size_t nr;
	uint64_t left_out;
};

static void add_string(struct json_object *to, const char *key, const char *value)
{
	json_object_object_add(to, key, json_object_new_string(value));
}

/* Reads at most @size bytes.  Returns their number, or -errno. */
static ssize_t read_text(int folder, const char *name, char *text, size_t size)
{
	int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	ssize_t n = 0;
	size_t bytes = 0;

	if (fd < 0)
		return -errno;
	while (bytes < size) {
		n = read(fd, text + bytes, size - bytes);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		bytes += n;
	}
	n = n < 0 ? -errno : (ssize_t)bytes;
	close(fd);
	return n;
}

/* Returns how many bytes a string has in JSON, with the characters around it. */
static size_t json_bytes(const char *text, size_t len)
{
	size_t bytes = sizeof("\"\": ") - 1, i;

	for (i = 0; i < len; i++) {
		if ((unsigned char)text[i] < ' ')
			bytes += sizeof("\\u0000") - 1;
		else
			bytes += strchr("\"\\/", text[i]) ? 2 : 1;
	}
	return bytes;
}

/* Returns false, and counts the file, if there is no room for its name and @text. */
static bool take_room(struct reading *reading, const char *path, const char *text, size_t len,
		      unsigned int names)
{
	size_t bytes = names * json_bytes(path, strlen(path)) + json_bytes(text, len);

	if (reading->nr == MOST_FILES || bytes > reading->room) {
		reading->left_out++;
		return false;
	}
	reading->nr++;
	reading->room -= bytes;
	return true;
}

static void take_reason(struct reading *reading, const char *path, const char *reason)
{
	if (take_room(reading, path, reason, strlen(reason), 1))
		add_string(reading->not_readable, path, reason);
}

static void take_file(struct reading *reading, int folder, const char *name, const char *path)
{
	/* One byte more for the last newline, and another one to detect a longer file. */
	char text[FILE_BYTES + 2];
	ssize_t n = read_text(folder, name, text, sizeof(text));
	bool cut;

	if (n < 0) {
		take_reason(reading, path, strerror(-n));
		return;
	}
	if (n && n < (ssize_t)sizeof(text) && text[n - 1] == '\n')
		n--;
	cut = n > FILE_BYTES;
	if (cut)
		n = FILE_BYTES;
	if (!take_room(reading, path, text, n, 1 + cut))
		return;
	if (cut)
		json_object_array_add(reading->cut, json_object_new_string(path));
	json_object_object_add(reading->files, path, json_object_new_string_len(text, n));
}

static int pick(const struct dirent *entry)
{
	return strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..");
}

static int read_folder(struct reading *reading, int at, const char *name, const char *path,
		       unsigned int depth);

static void take_folder(struct reading *reading, int at, const char *name, const char *path,
			unsigned int depth)
{
	int ret;

	if (depth == DEEPEST) {
		take_reason(reading, path, "nested too deeply");
		return;
	}
	ret = read_folder(reading, at, name, path, depth + 1);
	if (ret)
		take_reason(reading, path, strerror(-ret));
}

/* Files come before folders, so that the most general settings have room. */
static void take_entries(struct reading *reading, int folder, const char *path,
			 struct dirent **entries, int n, bool folders, unsigned int depth)
{
	char below[PATH_MAX];
	struct stat st;
	int i;

	for (i = 0; i < n; i++) {
		const char *name = entries[i]->d_name;

		if (!*path && !strcmp(name, DUMP))
			continue;
		if (snprintf(below, sizeof(below), "%s%s%s", path, *path ? "/" : "", name) >=
		    (int)sizeof(below)) {
			if (!folders)
				take_reason(reading, below, strerror(ENAMETOOLONG));
		} else if (fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW)) {
			if (!folders)
				take_reason(reading, below, strerror(errno));
		} else if (S_ISREG(st.st_mode) && !folders) {
			take_file(reading, folder, name, below);
		} else if (S_ISDIR(st.st_mode) && folders) {
			take_folder(reading, folder, name, below, depth);
		}
	}
}

static int read_folder(struct reading *reading, int at, const char *name, const char *path,
		       unsigned int depth)
{
	int folder = openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct dirent **entries;
	int i, n;

	if (folder < 0)
		return -errno;
	n = scandirat(folder, ".", &entries, pick, versionsort);
	if (n < 0) {
		n = -errno;
		close(folder);
		return n;
	}
	take_entries(reading, folder, path, entries, n, false, depth);
	take_entries(reading, folder, path, entries, n, true, depth);
	for (i = 0; i < n; i++)
		free(entries[i]);
	free(entries);
	close(folder);
	return 0;
}

/* Adds @part unless it is empty. */
static void add_part(struct json_object *to, const char *key, struct json_object *part, size_t n)
{
	if (n)
		json_object_object_add(to, key, part);
	else
		json_object_put(part);
}

struct json_object *schedtape_settings_describe(const char *root)
{
	struct json_object *settings = json_object_new_object();
	struct reading reading = {
		.files = json_object_new_object(),
		.not_readable = json_object_new_object(),
		.cut = json_object_new_array(),
		.room = ALL_BYTES,
	};
	int ret = read_folder(&reading, AT_FDCWD, root, "", 0);

	add_string(settings, "path", root);
	if (ret) {
		add_string(settings, "reason", strerror(-ret));
		json_object_put(reading.files);
	} else {
		json_object_object_add(settings, "files", reading.files);
	}
	add_part(settings, "not_readable", reading.not_readable,
		 json_object_object_length(reading.not_readable));
	add_part(settings, "cut", reading.cut, json_object_array_length(reading.cut));
	if (reading.left_out)
		json_object_object_add(settings, "left_out",
				       json_object_new_uint64(reading.left_out));
	return settings;
}

/* -- on a tape ------------------------------------------------------------- */

struct json_object *schedtape_settings_files(struct json_object *meta, const char **reason)
{
	struct json_object *settings, *files, *text;

	*reason = NULL;
	if (!json_object_object_get_ex(meta, "sched_settings", &settings) ||
	    !json_object_is_type(settings, json_type_object))
		return NULL;
	if (json_object_object_get_ex(settings, "files", &files) &&
	    json_object_is_type(files, json_type_object))
		return files;
	if (json_object_object_get_ex(settings, "reason", &text) &&
	    json_object_is_type(text, json_type_string))
		*reason = json_object_get_string(text);
	return NULL;
}
