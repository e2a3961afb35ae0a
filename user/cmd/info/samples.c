// SPDX-License-Identifier: GPL-2.0-only
#include "info/samples.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "common/output.h"
#include "tape/samples.h"

/* Counts the events of all tracepoints.  What cannot be read counts as none. */
static void count_all(const struct schedtape_tape *tape, uint64_t *samples, uint64_t *lost)
{
	int ret = tape_count_samples(tape, samples, lost);

	if (ret)
		out_warning(NULL, "cannot count the events of other tracepoints: %s",
			    strerror(-ret));
}

void info_samples_print(struct schedtape_tape *tape, void (*print_key)(const char *key))
{
	const struct schedtape_formats *formats = schedtape_tape_formats(tape);
	char number[OUT_COUNT_LEN], of[OUT_COUNT_LEN], missing[OUT_COUNT_LEN];
	uint64_t samples, lost;

	if (!formats->n)
		return;
	count_all(tape, &samples, &lost);
	print_key("other events");
	printf("%s of %s tracepoint%s, %s lost\n", out_count(number, samples),
	       out_count(of, formats->n), formats->n == 1 ? "" : "s", out_count(missing, lost));
}

static struct json_object *describe(const struct schedtape_format *format)
{
	struct json_object *object = json_object_new_object(), *filter = NULL;
	char *name;

	if (asprintf(&name, "%s:%s", format->system, format->name) >= 0) {
		json_object_object_add(object, "name", json_object_new_string(name));
		free(name);
	}
	if (format->filter)
		filter = json_object_new_string(format->filter);
	json_object_object_add(object, "filter", filter);
	return object;
}

void info_samples_json(struct schedtape_tape *tape, struct json_object *root)
{
	const struct schedtape_formats *formats = schedtape_tape_formats(tape);
	struct json_object *points = json_object_new_array();
	uint64_t samples, lost;
	size_t i;

	count_all(tape, &samples, &lost);
	out_json_add_count(root, "samples", samples);
	out_json_add_count(root, "samples_lost", lost);
	for (i = 0; i < formats->n; i++)
		json_object_array_add(points, describe(&formats->formats[i]));
	json_object_object_add(root, "tracepoints", points);
}
