// SPDX-License-Identifier: GPL-2.0-only
#include "common/sampled.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <json-c/json.h>

#include "base/list.h"
#include "common/input.h"
#include "common/output.h"
#include "tape/json.h"
#include "tape/next.h"
#include "tape/part.h"

#define FORMAT	1	/* of manifests */

static int out_of_memory(void)
{
	out_error(NULL, "not enough memory");
	return -ENOMEM;
}

/* -- the directory --------------------------------------------------------- */

/* Opens the manifest of a directory.  NULL: this is none of a sample. */
static FILE *open_manifest(const char *path)
{
	char *name;
	FILE *file;

	if (asprintf(&name, "%s/manifest", path) < 0)
		return NULL;
	file = fopen(name, "re");
	free(name);
	return file;
}

/* Reads a line that is there whole; NULL: there is none, or it is no JSON object. */
static struct json_object *next_line(FILE *file, char **line, size_t *room)
{
	ssize_t len = getline(line, room, file);

	return len > 0 && (*line)[len - 1] == '\n' ? tape_json_parse(*line, len - 1) : NULL;
}

/* Reads the first line of a manifest. */
static int read_first(struct sampled *sample, FILE *file)
{
	struct json_object *events;
	uint64_t format;
	char *line = NULL;
	size_t room = 0;

	sample->first = next_line(file, &line, &room);
	free(line);
	if (!sample->first || !tape_json_number(sample->first, "format", &format)) {
		out_error(sample->path, "the first line of its manifest is not that of a sample");
		return -EINVAL;
	}
	if (format != FORMAT) {
		out_error(sample->path, "its manifest has format %" PRIu64 ", not %d", format,
			  FORMAT);
		return -ENOTSUP;
	}
	tape_json_number(sample->first, "interval", &sample->interval);
	sample->chosen = json_object_object_get_ex(sample->first, "max", NULL) ||
			 json_object_object_get_ex(sample->first, "at", NULL);
	if (json_object_object_get_ex(sample->first, "events", &events) &&
	    json_object_is_type(events, json_type_array))
		sample->nr_events = json_object_array_length(events);
	return 0;
}

/* The tape of another sample may have been put there. */
static int check_id(const struct sampled *sample)
{
	char id[TAPE_ID_LEN], of_tape[TAPE_ID_LEN];

	tape_id(sample->tape, of_tape);
	if (tape_json_text(sample->first, "id", id, sizeof(id)) && !strcmp(id, of_tape))
		return 0;
	out_error(sample->path, "its tape and its manifest are of different samples");
	return -EINVAL;
}

int sampled_open(struct sampled *sample, const char *path)
{
	FILE *manifest = open_manifest(path);
	int rc = 0;

	*sample = (struct sampled){ .path = path };
	if (manifest) {
		rc = read_first(sample, manifest);
		fclose(manifest);
	}
	if (!rc && asprintf(&sample->tape_path, "%s%s", path, sample->first ? "/tape" : "") < 0) {
		sample->tape_path = NULL;
		rc = out_of_memory();
	}
	if (!rc) {
		sample->tape = cmd_open_tape(sample->tape_path);
		rc = sample->tape ? 0 : -EIO;
	}
	if (!rc && sample->first)
		rc = check_id(sample);
	if (rc)
		sampled_close(sample);
	return rc;
}

/* -- the ends of intervals ------------------------------------------------- */

static int add_end(struct sampled *sample, uint64_t time, uint64_t number)
{
	struct sampled_end *ends;

	/* A tape may end before its last description. */
	if (time >= schedtape_tape_end(sample->tape)->stop_time)
		return 0;
	/* None of the intervals is empty. */
	if (sample->nr && time <= sample->ends[sample->nr - 1].time) {
		sample->ends[sample->nr - 1].number = number;
		return 0;
	}
	ends = schedtape_list_grow(sample->ends, sample->nr, &sample->room, sizeof(*ends));
	if (!ends)
		return -ENOMEM;
	sample->ends = ends;
	ends[sample->nr++] = (struct sampled_end){
		.time = time, .number = number, .count = SAMPLED_NONE,
	};
	return 0;
}

static int read_ends(struct sampled *sample)
{
	struct schedtape_error err = { "" };
	const struct schedtape_event *ev;
	int rc = tape_rewind_descriptions(sample->tape, &err), ret = 1;

	while (!rc && ret > 0) {
		ret = tape_next_sound(sample->tape, &ev, &err);
		if (ret > 0 && ev->type == SCHEDTAPE_EV_INTERVAL)
			rc = add_end(sample, ev->time, ev->arg);
	}
	rc = rc ? rc : ret;
	if (rc)
		out_error(sample->path, "%s", err.text[0] ? err.text : "not enough memory");
	schedtape_tape_rewind(sample->tape, NULL);
	return rc;
}

/* -- the manifest ---------------------------------------------------------- */

static void take_counts(struct sampled *sample, struct json_object *counts, size_t number)
{
	struct json_object *events;
	const char *name;
	size_t i;

	if (!json_object_object_get_ex(sample->first, "events", &events))
		return;
	for (i = 0; i < sample->nr_events; i++) {
		name = json_object_get_string(json_object_array_get_idx(events, i));
		if (name)
			tape_json_number(counts, name,
					 &sample->counts[number * sample->nr_events + i]);
	}
}

/* Takes a line of the manifest.  @at: the first end that may be that of the line or a later one */
static void take_line(struct sampled *sample, struct json_object *line, size_t *at)
{
	struct json_object *counts;
	uint64_t number;

	if (!tape_json_number(line, "interval", &number))
		return;
	while (*at < sample->nr && sample->ends[*at].number < number)
		++*at;
	if (*at == sample->nr || sample->ends[*at].number != number)
		return;
	tape_json_number(line, "count", &sample->ends[*at].count);
	if (json_object_object_get_ex(line, "counts", &counts))
		take_counts(sample, counts, *at);
}

static int read_manifest(struct sampled *sample)
{
	size_t n = sample->nr * sample->nr_events, room = 0, at = 0;
	FILE *file = open_manifest(sample->path);
	struct json_object *line;
	char *text = NULL;

	if (!file) {
		out_error(sample->path, "its manifest: %s", strerror(errno));
		return -EIO;
	}
	sample->counts = malloc((n + 1) * sizeof(*sample->counts));
	if (!sample->counts) {
		fclose(file);
		return out_of_memory();
	}
	while (n)
		sample->counts[--n] = SAMPLED_NONE;
	/* The first line says whose intervals these are. */
	json_object_put(next_line(file, &text, &room));
	while ((line = next_line(file, &text, &room))) {
		take_line(sample, line, &at);
		json_object_put(line);
	}
	free(text);
	fclose(file);
	return 0;
}

int sampled_read(struct sampled *sample)
{
	int rc = read_ends(sample);

	return rc || !sample->first ? rc : read_manifest(sample);
}

void sampled_close(struct sampled *sample)
{
	cmd_close_tape(sample->tape, sample->tape_path);
	json_object_put(sample->first);
	free(sample->tape_path);
	free(sample->ends);
	free(sample->counts);
	*sample = (struct sampled){ .path = sample->path };
}
