// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Looks at the tapes that are to be joined: whether they belong together, and which one is first.
 * This is the only place that knows that they are those of one recorder.
 */
#define _FILE_OFFSET_BITS 64
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "base/error.h"
#include "tape/json.h"
#include "tape/joined.h"

/* The tape that a recorder with -M writes at its end has no number. */
#define LAST_PART	UINT64_MAX

/* -- one tape ---------------------------------------------------------------- */

static void add_number(struct json_object *object, const char *key, uint64_t value)
{
	json_object_object_add(object, key, json_object_new_uint64(value));
}

/* Describes a tape that is not made of several. */
static struct json_object *describe(const struct schedtape_tape *tape, uint64_t number)
{
	struct json_object *object = json_object_new_object(), *trigger;
	struct json_object *list = json_object_new_array();

	if (number != LAST_PART)
		add_number(object, "part", number);
	add_number(object, "start_time", tape->end.start_time);
	add_number(object, "stop_time", tape->end.stop_time);
	if (json_object_object_get_ex(tape->meta, "trigger", &trigger))
		json_object_object_add(object, "trigger", json_object_get(trigger));
	if (tape->end.ended_by)
		json_object_object_add(object, "ended_by",
				       json_object_new_string(tape->end.ended_by));
	json_object_array_add(list, object);
	return list;
}

static int compare_numbers(const void *one, const void *two)
{
	uint64_t a = *(const uint64_t *)one, b = *(const uint64_t *)two;

	return a < b ? -1 : a > b;
}

/* Returns the numbers of all tapes in the array, sorted, or NULL. */
static uint64_t *list_numbers(struct json_object *merged)
{
	size_t i, n = json_object_array_length(merged);
	uint64_t *numbers = calloc(n + 1, sizeof(*numbers));

	for (i = 0; i < n && numbers; i++)
		if (!tape_json_number(json_object_array_get_idx(merged, i), "part", &numbers[i]))
			numbers[i] = LAST_PART;
	if (numbers)
		qsort(numbers, n, sizeof(*numbers), compare_numbers);
	return numbers;
}

static uint64_t earliest_chunk(const struct schedtape_tape *tape)
{
	uint64_t time = UINT64_MAX;
	size_t i;

	for (i = 0; i < tape->nr_index; i++)
		if (!tape->index[i].damaged && tape->index[i].time < time)
			time = tape->index[i].time;
	return time;
}

static int look_at(struct join_part *part, struct schedtape_tape *tape,
		   struct schedtape_error *err)
{
	struct json_object *merged;
	size_t n;

	if (!tape_json_number(tape->meta, "part", &part->first))
		part->first = LAST_PART;
	if (json_object_object_get_ex(tape->meta, "merged", &merged) &&
	    json_object_is_type(merged, json_type_array)) {
		part->merged = json_object_get(merged);
	} else {
		part->merged = describe(tape, part->first);
	}
	part->numbers = list_numbers(part->merged);
	if (!part->numbers)
		return schedtape_fail(err, -ENOMEM, "out of memory");
	n = json_object_array_length(part->merged);
	part->last = n ? part->numbers[n - 1] : LAST_PART;
	part->bytes = schedtape_tape_bytes(tape);
	part->time = earliest_chunk(tape);
	part->recording = strdup(tape->recording ? tape->recording : "");
	return part->recording ? 0 : schedtape_fail(err, -ENOMEM, "out of memory");
}

static int look(struct join_part *part, const char *path, struct schedtape_error *err)
{
	struct schedtape_tape *tape;
	int ret = schedtape_tape_open(path, &tape, err);

	if (ret)
		return ret;
	part->path = path;
	ret = look_at(part, tape, err);
	schedtape_tape_close(tape);
	return ret;
}

/* -- all of them ------------------------------------------------------------- */

static int compare(const void *one, const void *two)
{
	const struct join_part *a = one, *b = two;

	if (a->first != b->first)
		return a->first < b->first ? -1 : 1;
	/* The longer one first, because it may have the other. */
	return a->last > b->last ? -1 : a->last < b->last;
}

/* Are all tapes of one recording? */
static int check(const struct join_part *parts, size_t n, struct schedtape_error *err)
{
	size_t i;

	for (i = 0; i < n && n > 1; i++) {
		if (!*parts[i].recording)
			return schedtape_fail(err, -EXDEV, "%s: is the only tape of its recording: "
					      "only snapshots of one recorder, or the tapes of one "
					      "record --switch-output, can be merged",
					      parts[i].path);
		if (strcmp(parts[i].recording, parts[0].recording))
			return schedtape_fail(err, -EXDEV, "%s and %s are not of one recording: "
					      "only snapshots of one recorder, or the tapes of one "
					      "record --switch-output, can be merged",
					      parts[0].path, parts[i].path);
	}
	return 0;
}

/* Does @part have all tapes that @other is made of? */
static bool has_all(const struct join_part *part, const struct join_part *other)
{
	size_t i, n = json_object_array_length(part->merged);
	size_t others = json_object_array_length(other->merged);

	for (i = 0; i < others; i++)
		if (!bsearch(&other->numbers[i], part->numbers, n, sizeof(*part->numbers),
			     compare_numbers))
			return false;
	return true;
}

static void drop(struct join_part *part)
{
	free(part->recording);
	free(part->numbers);
	json_object_put(part->merged);
}

/* Removes tapes that another one has.  They are in order. */
static int remove_parts(struct join_part *parts, size_t *n, struct schedtape_error *err)
{
	size_t i, kept = 0, all = *n;

	for (i = 0; i < all; i++) {
		if (kept && has_all(&parts[kept - 1], &parts[i])) {
			drop(&parts[i]);
			continue;
		}
		if (kept && parts[i].first <= parts[kept - 1].last) {
			schedtape_fail(err, -EXDEV, "%s lies between tapes that %s is made of: "
				       "merge the tapes that it was made of", parts[i].path,
				       parts[kept - 1].path);
			break;
		}
		parts[kept++] = parts[i];
	}
	*n = kept;
	if (i == all)
		return 0;
	for (; i < all; i++)
		drop(&parts[i]);
	return -EXDEV;
}

static void find_skips(struct join_part *parts, size_t n)
{
	size_t i;

	for (i = 1; i < n; i++)
		parts[i].skips = parts[i].first - 1 != parts[i - 1].last;
}

static void set_next_times(struct join_part *parts, size_t n)
{
	uint64_t time = UINT64_MAX;

	while (n) {
		parts[--n].next_time = time;
		if (parts[n].time < time)
			time = parts[n].time;
	}
}

int join_plan(struct join_part **parts, size_t *n, const char * const *paths,
	      struct schedtape_error *err)
{
	size_t i;
	int ret = 0;

	*parts = calloc(*n, sizeof(**parts));
	if (!*parts)
		return schedtape_fail(err, -ENOMEM, "out of memory");
	for (i = 0; i < *n && !ret; i++)
		ret = look(&(*parts)[i], paths[i], err);
	if (!ret)
		ret = check(*parts, *n, err);
	if (ret)
		return ret;
	qsort(*parts, *n, sizeof(**parts), compare);
	ret = remove_parts(*parts, n, err);
	find_skips(*parts, *n);
	set_next_times(*parts, *n);
	return ret;
}

void join_plan_free(struct join_part *parts, size_t n)
{
	while (parts && n)
		drop(&parts[--n]);
	free(parts);
}
