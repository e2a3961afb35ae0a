// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Opens and closes tapes: walks over each file, then combines what the files contain.
 */
#define _FILE_OFFSET_BITS 64
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <json-c/json.h>

#include "base/error.h"
#include "tape/ahead.h"
#include "tape/bytes.h"
#include "tape/cgroups.h"
#include "tape/clock.h"
#include "tape/end.h"
#include "tape/files.h"
#include "tape/format.h"
#include "tape/formats.h"
#include "tape/index.h"
#include "tape/load.h"
#include "tape/losses.h"
#include "tape/merge.h"
#include "tape/records.h"
#include "tape/schedulers.h"
#include "tape/stream.h"
#include "tape/tape.h"
#include "tape/walk.h"

/* -- the files -------------------------------------------------------------- */

/* Notes streams that the main file names but that are missing. */
static void note_missing(struct schedtape_tape *tape, const struct tape_found *found)
{
	struct json_object *streams, *cpus;
	char name[TAPE_STREAM_NAME];
	size_t i, n;

	if (!tape->nr_files || !tape->files[0].described || tape->files[0].stream ||
	    !json_object_object_get_ex(tape->meta, "streams", &streams) ||
	    !json_object_is_type(streams, json_type_array))
		return;
	n = json_object_array_length(streams);
	for (i = 0; i < n && i < TAPE_MAX_STREAMS; i++) {
		if (tape_found_has(found, i))
			continue;
		tape_files_stream(name, i);
		cpus = json_object_object_get(json_object_array_get_idx(streams, i), "cpus");
		tape_note(tape, "%s: missing (CPUs %s)", name,
			  cpus ? json_object_get_string(cpus) : "not known");
	}
}

/* Does the error concern this file only, so that the other files can be read? */
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
	ret = tape_walk_file(tape, path, name, err);
	free(path);
	return ret;
}

static int open_streams(struct schedtape_tape *tape, const struct tape_found *found,
			struct schedtape_error *err)
{
	struct schedtape_error why;
	char name[TAPE_STREAM_NAME];
	size_t i;
	int ret;

	for (i = 0; i < found->n; i++) {
		tape_files_stream(name, found->streams[i]);
		ret = open_one(tape, name, &why);
		if (ret && !only_this_file(ret))
			return schedtape_fail(err, ret, "%s", why.text);
		if (ret)
			tape_note(tape, "left out: %s", why.text);
	}
	return 0;
}

static int open_files(struct schedtape_tape *tape, const struct tape_found *found,
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
				      tape->damage);
	note_missing(tape, found);
	return 0;
}

static int open_directory(struct schedtape_tape *tape, struct schedtape_error *err)
{
	struct tape_found found = { 0 };
	int ret;

	tape->directory = true;
	ret = tape_files_find(tape->path, &found);
	if (ret)
		schedtape_fail(err, ret, "%s: %s", tape->path, strerror(-ret));
	else
		ret = open_files(tape, &found, err);
	free(found.streams);
	return ret;
}

static int open_stream(struct schedtape_tape *tape, struct schedtape_error *err)
{
	tape->stream = calloc(1, sizeof(*tape->stream));
	if (!tape->stream)
		return schedtape_fail(err, -ENOMEM, "%s: out of memory", tape->path);
	tape->stream->first = UINT64_MAX;
	return tape_stream_begin(tape, err);
}

static int open_all(struct schedtape_tape *tape, struct schedtape_error *err)
{
	struct json_object *number;
	struct stat st;
	int ret;

	if (strcmp(tape->path, "-") && !stat(tape->path, &st) && S_ISDIR(st.st_mode))
		return open_directory(tape, err);

	ret = tape_walk_file(tape, tape->path, NULL, err);
	if (!ret && tape->files[0].pipe)
		return open_stream(tape, err);
	if (!ret && json_object_object_get_ex(tape->meta, "stream", &number))
		tape_note(tape, "only stream %s of a recording: its directory has the rest",
			  json_object_get_string(number));
	return ret;
}

/* -- the tape -------------------------------------------------------------- */

/* Combines the content of all files. */
static int tape_finish(struct schedtape_tape *tape, struct schedtape_error *err)
{
	int ret = 0;

	tape_index_sort(tape);
	tape_schedulers_finish(tape);
	if (!tape->meta)
		tape->meta = json_object_new_object();
	if (!tape->meta || tape_clocks_init(&tape->clocks) || tape_end_finish(tape))
		ret = -ENOMEM;
	if (!ret)
		ret = tape_merge_init(tape, err);
	if (!ret)
		ret = tape_lost_init(tape);
	return ret == -ENOMEM ? schedtape_fail(err, ret, "%s: out of memory", tape->path) : ret;
}

static int tape_open(const char *path, bool once, struct tape_interrupt interrupt,
		     struct schedtape_tape **tape, struct schedtape_error *err)
{
	struct schedtape_tape *t;
	int ret;

	*tape = NULL;
	t = calloc(1, sizeof(*t));
	if (!t)
		return schedtape_fail(err, -ENOMEM, "out of memory");

	t->once = once;
	t->interrupt = interrupt;
	t->path = strdup(path);
	if (!t->path || tape_decoder_init(&t->decoder)) {
		ret = schedtape_fail(err, -ENOMEM, "%s: out of memory", path);
		goto err_close;
	}
	ret = open_all(t, err);
	if (!ret && !t->stream)
		ret = tape_finish(t, err);
	if (ret)
		goto err_close;
	*tape = t;
	return 0;

err_close:
	schedtape_tape_close(t);
	return ret;
}

int schedtape_tape_open(const char *path, struct schedtape_tape **tape,
			struct schedtape_error *err)
{
	return tape_open(path, false, (struct tape_interrupt){ NULL }, tape, err);
}

int schedtape_tape_open_once(const char *path, struct schedtape_tape **tape,
			     struct schedtape_error *err)
{
	return tape_open(path, true, (struct tape_interrupt){ NULL }, tape, err);
}

int schedtape_tape_open_interruptible(const char *path, int (*interrupted)(void *arg), void *arg,
				      struct schedtape_tape **tape, struct schedtape_error *err)
{
	return tape_open(path, true, (struct tape_interrupt){ interrupted, arg }, tape, err);
}

bool schedtape_tape_is_pipe(const struct schedtape_tape *tape)
{
	return tape->stream;
}

void schedtape_tape_before_wait(struct schedtape_tape *tape, void (*call)(void *arg), void *arg)
{
	if (!tape->stream)
		return;
	tape->stream->before_wait = call;
	tape->stream->arg = arg;
}

void schedtape_tape_close(struct schedtape_tape *tape)
{
	size_t i;

	if (!tape)
		return;
	tape_ahead_stop(tape);
	tape_load_stop(tape);
	tape_stream_exit(tape);
	tape_merge_exit(tape);
	for (i = 0; i < tape->nr_blocks; i++)
		free(tape->blocks[i]);
	free(tape->blocks);
	free(tape->tasks);
	free(tape->players);
	free(tape->groups);
	tape_clocks_exit(&tape->clocks);
	free(tape->schedulers);
	tape_formats_forget(tape, 0);
	free(tape->formats);
	tape_cgroups_forget(tape, 0);
	free(tape->cgroups);
	free(tape->cpus);
	free(tape->end_cpus);
	free(tape->index);
	free(tape->others);
	json_object_put(tape->meta);
	json_object_put(tape->end_players);
	free(tape->meta_text);
	for (i = 0; i < tape->nr_files; i++)
		tape_file_close(&tape->files[i]);
	free(tape->files);
	tape_decoder_exit(&tape->decoder);
	free(tape->recording);
	free(tape->path);
	free(tape);
}
