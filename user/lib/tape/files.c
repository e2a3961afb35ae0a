// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Which files are a tape: one, or those of a directory.  There, "data" has what
 * the recording is about, and "data.N" what one thread has written of it.  All of
 * them name their recording, so that none gets in that belongs elsewhere.
 */
#define _FILE_OFFSET_BITS 64
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <json-c/json.h>

#include "tape/read.h"

/* -- whose file it is ------------------------------------------------------ */

static const char *meta_recording(struct json_object *meta)
{
	struct json_object *value;

	if (!json_object_object_get_ex(meta, "recording", &value) ||
	    !json_object_is_type(value, json_type_string))
		return "";
	return json_object_get_string(value);
}

int tape_files_meta(struct schedtape_tape *tape, const struct tape_file *file,
		    struct json_object *meta)
{
	if (!tape->recording) {
		tape->recording = strdup(meta_recording(meta));
		return tape->recording ? 0 : -ENOMEM;
	}
	if (!file->stream)
		return 0;
	return *tape->recording && !strcmp(tape->recording, meta_recording(meta)) ?
		0 : -ESTALE;
}

/* -- directories ----------------------------------------------------------- */

/**
 * struct found - what a directory has
 * @main: its main file
 * @streams: numbers of the others, in order
 */
struct found {
	bool main;
	uint32_t *streams;
	size_t n;
};

static int number_compare(const void *one, const void *two)
{
	uint32_t a = *(const uint32_t *)one, b = *(const uint32_t *)two;

	return a < b ? -1 : a > b;
}

static void stream_name(char name[16], uint32_t number)
{
	snprintf(name, 16, TAPE_MAIN_FILE ".%u", number);
}

/* "data.7", and no other spelling of it: 7. */
static bool stream_number(const char *name, uint32_t *number)
{
	char spelled[16];

	if (sscanf(name, TAPE_MAIN_FILE ".%5u", number) != 1 || *number >= TAPE_MAX_STREAMS)
		return false;
	stream_name(spelled, *number);
	return !strcmp(name, spelled);
}

static int found_add(struct found *found, const char *name)
{
	uint32_t number, *streams;

	if (!strcmp(name, TAPE_MAIN_FILE))
		found->main = true;
	if (!stream_number(name, &number))
		return 0;
	streams = reallocarray(found->streams, found->n + 1, sizeof(*streams));
	if (!streams)
		return -ENOMEM;
	found->streams = streams;
	streams[found->n++] = number;
	return 0;
}

static int find_files(const char *path, struct found *found)
{
	DIR *dir = opendir(path);
	struct dirent *entry;
	int ret = 0;

	if (!dir)
		return -errno;
	do {
		errno = 0;
		entry = readdir(dir);
		ret = entry ? found_add(found, entry->d_name) : -errno;
	} while (entry && !ret);
	closedir(dir);
	if (found->n)
		qsort(found->streams, found->n, sizeof(*found->streams), number_compare);
	return ret;
}

static bool found_has(const struct found *found, uint32_t number)
{
	return found->n && bsearch(&number, found->streams, found->n, sizeof(number),
				   number_compare);
}

/* What the main file says there should be. */
static void note_missing(struct schedtape_tape *tape, const struct found *found)
{
	struct json_object *streams, *cpus;
	char name[16];
	size_t i, n;

	if (!tape->nr_files || !tape->files[0].described || tape->files[0].stream ||
	    !json_object_object_get_ex(tape->meta, "streams", &streams) ||
	    !json_object_is_type(streams, json_type_array))
		return;
	n = json_object_array_length(streams);
	for (i = 0; i < n && i < TAPE_MAX_STREAMS; i++) {
		if (found_has(found, i))
			continue;
		stream_name(name, i);
		cpus = json_object_object_get(json_object_array_get_idx(streams, i), "cpus");
		tape_note(tape, "%s: missing (CPUs %s)", name,
			  cpus ? json_object_get_string(cpus) : "not known");
	}
}

/* Is that the file's fault alone, and the rest may be read? */
static bool only_this_file(int code)
{
	switch (code) {
	case -ENOMEM:
	case -EMFILE:
	case -ENFILE:
		return false;
	}
	return true;
}

static int open_one(struct schedtape_tape *tape, const char *name, struct schedtape_error *err)
{
	char *path;
	int ret;

	if (asprintf(&path, "%s/%s", tape->path, name) < 0)
		return schedtape_fail(err, -ENOMEM, "out of memory");
	ret = tape_read_file(tape, path, name, err);
	free(path);
	return ret;
}

static int open_streams(struct schedtape_tape *tape, const struct found *found,
			struct schedtape_error *err)
{
	struct schedtape_error why;
	char name[16];
	size_t i;
	int ret;

	for (i = 0; i < found->n; i++) {
		stream_name(name, found->streams[i]);
		ret = open_one(tape, name, &why);
		if (ret && !only_this_file(ret))
			return schedtape_fail(err, ret, "%s", why.text);
		if (ret)
			tape_note(tape, "left out: %s", why.text);
	}
	return 0;
}

static int open_files(struct schedtape_tape *tape, const struct found *found,
		      struct schedtape_error *err)
{
	struct schedtape_error why;
	int ret;

	if (!found->main && !found->n)
		return schedtape_fail(err, -EINVAL, "%s: not a schedtape tape (a directory "
				      "without the file \"%s\")", tape->path, TAPE_MAIN_FILE);
	if (found->main) {
		ret = open_one(tape, TAPE_MAIN_FILE, &why);
		if (ret && (!found->n || ret == -ENOTSUP || !only_this_file(ret)))
			return schedtape_fail(err, ret, "%s", why.text);
		if (ret)
			tape_note(tape, "left out: %s", why.text);
	} else {
		tape_note(tape, "%s: missing", TAPE_MAIN_FILE);
	}
	ret = open_streams(tape, found, err);
	if (ret)
		return ret;
	if (!tape->nr_files)
		return schedtape_fail(err, -EINVAL, "%s: not a schedtape tape (%s)", tape->path,
				      tape->torn);
	note_missing(tape, found);
	return 0;
}

static int open_directory(struct schedtape_tape *tape, struct schedtape_error *err)
{
	struct found found = { 0 };
	int ret;

	tape->directory = true;
	ret = find_files(tape->path, &found);
	if (ret)
		schedtape_fail(err, ret, "%s: %s", tape->path, strerror(-ret));
	else
		ret = open_files(tape, &found, err);
	free(found.streams);
	return ret;
}

/* -- the tape -------------------------------------------------------------- */

int tape_files_open(struct schedtape_tape *tape, struct schedtape_error *err)
{
	struct json_object *number;
	struct stat st;
	int ret;

	if (strcmp(tape->path, "-") && !stat(tape->path, &st) && S_ISDIR(st.st_mode))
		return open_directory(tape, err);

	ret = tape_read_file(tape, tape->path, NULL, err);
	if (!ret && json_object_object_get_ex(tape->meta, "stream", &number))
		tape_note(tape, "only stream %s of a recording: its directory has the rest",
			  json_object_get_string(number));
	return ret;
}
