// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * An open tape: returns its properties, and notes what is wrong with it.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <json-c/json.h>

#include "tape/bytes.h"
#include "tape/meta.h"
#include "tape/tape.h"

void tape_note(struct schedtape_tape *tape, const char *format, ...)
{
	size_t used = strlen(tape->damage);
	size_t room = sizeof(tape->damage) - used;
	va_list args;

	if (used && room > 2) {
		memcpy(tape->damage + used, "; ", 3);
		used += 2;
		room -= 2;
	}
	va_start(args, format);
	vsnprintf(tape->damage + used, room, format, args);
	va_end(args);
}

struct json_object *tape_meta(struct schedtape_tape *tape)
{
	return tape->meta;
}

struct json_object *tape_end_players(const struct schedtape_tape *tape)
{
	return tape->end_players;
}

const char *tape_recorded_cpus(struct schedtape_tape *tape)
{
	struct json_object *filter, *cpus;

	if (!json_object_object_get_ex(tape->meta, "filter", &filter) ||
	    !json_object_object_get_ex(filter, "cpus", &cpus) ||
	    !json_object_is_type(cpus, json_type_string))
		return NULL;
	return json_object_get_string(cpus);
}

const char *schedtape_tape_meta(struct schedtape_tape *tape)
{
	const char *text;

	/* Keep a copy, because json-c overwrites its own when it prints the object again. */
	if (!tape->meta_text) {
		text = json_object_to_json_string_ext(tape->meta, JSON_C_TO_STRING_PLAIN);
		tape->meta_text = text ? strdup(text) : NULL;
	}
	return tape->meta_text;
}

const struct schedtape_task_info *schedtape_tape_tasks(struct schedtape_tape *tape, size_t *n)
{
	*n = tape->nr_tasks;
	return tape->tasks;
}

const struct schedtape_player *schedtape_tape_players(struct schedtape_tape *tape, size_t *n)
{
	*n = tape->nr_players;
	return tape->players;
}

const struct schedtape_scheduler *schedtape_tape_schedulers(struct schedtape_tape *tape,
							    size_t *n)
{
	*n = tape->nr_schedulers;
	return tape->schedulers;
}

const struct stape_clock_sample *schedtape_tape_clocks(struct schedtape_tape *tape, size_t *n)
{
	*n = tape->clocks.nr_samples;
	return tape->clocks.samples;
}

bool schedtape_tape_uses_counter(struct schedtape_tape *tape)
{
	return tape->clocks.lines;
}

const struct schedtape_end *schedtape_tape_end(struct schedtape_tape *tape)
{
	return &tape->end;
}

const char *schedtape_tape_damage(struct schedtape_tape *tape)
{
	return tape->damage[0] ? tape->damage : NULL;
}

const char *schedtape_tape_skipped(struct schedtape_tape *tape)
{
	struct tape_skipped *skipped = &tape->skipped;
	uint64_t others = skipped->events;
	size_t room = sizeof(skipped->text), n;
	unsigned int i;

	if (!skipped->events)
		return NULL;
	n = snprintf(skipped->text, room, "%" PRIu64 " events were skipped, which only a later "
		     "version knows:", skipped->events);
	for (i = 0; i < skipped->nr_kinds; i++) {
		n += snprintf(skipped->text + n, room - n, "%s %" PRIu64 " of set %" PRIu64,
			      i ? "," : "", skipped->kinds[i].events, skipped->kinds[i].which);
		others -= skipped->kinds[i].events;
	}
	if (others)
		snprintf(skipped->text + n, room - n, ", %" PRIu64 " of others", others);
	return skipped->text;
}

uint64_t schedtape_tape_bytes(const struct schedtape_tape *tape)
{
	uint64_t bytes = 0;
	size_t i;

	for (i = 0; i < tape->nr_files; i++)
		bytes += tape_file_bytes(&tape->files[i]);
	return bytes;
}
