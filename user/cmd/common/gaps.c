// SPDX-License-Identifier: GPL-2.0-only
#include "common/gaps.h"

#include <stdio.h>
#include <string.h>

#include "common/output.h"

#define MOST_SHOWN	4	/* reasons or names */
#define MOST_FOLDERS	16	/* around a file: more than a recorder reads */

static struct json_object *member(struct json_object *object, const char *key,
				  enum json_type type)
{
	struct json_object *value;

	return json_object_object_get_ex(object, key, &value) &&
	       json_object_is_type(value, type) ? value : NULL;
}

void gaps_init(struct gaps *gaps, struct json_object *meta)
{
	struct json_object *settings = member(meta, "sched_settings", json_type_object);
	struct json_object *cut = member(settings, "cut", json_type_array);
	struct json_object *left_out = member(settings, "left_out", json_type_int);
	size_t i, n = cut ? json_object_array_length(cut) : 0;

	*gaps = (struct gaps) {
		.not_readable = member(settings, "not_readable", json_type_object),
		.cut = json_object_new_object(),
		.left_out = left_out ? json_object_get_uint64(left_out) : 0,
	};
	/* An object, because there may be many names, and each file is looked up. */
	for (i = 0; i < n; i++) {
		struct json_object *name = json_object_array_get_idx(cut, i);

		if (json_object_is_type(name, json_type_string))
			json_object_object_add(gaps->cut, json_object_get_string(name), NULL);
	}
}

void gaps_free(struct gaps *gaps)
{
	json_object_put(gaps->cut);
}

static const char *reason_text(struct json_object *reason)
{
	return json_object_is_type(reason, json_type_string) ? json_object_get_string(reason) :
							       "no reason is given";
}

const char *gaps_reason(const struct gaps *gaps, const char *name)
{
	struct json_object *reason;
	char folder[4096];
	char *end = NULL;
	int i;

	if (!gaps->not_readable ||
	    snprintf(folder, sizeof(folder), "%s", name) >= (int)sizeof(folder))
		return NULL;
	for (i = 0; i <= MOST_FOLDERS && (!i || end); i++) {
		if (end)
			*end = '\0';
		if (json_object_object_get_ex(gaps->not_readable, folder, &reason))
			return reason_text(reason);
		end = strrchr(folder, '/');
	}
	return NULL;
}

bool gaps_cut(const struct gaps *gaps, const char *name)
{
	return json_object_object_get_ex(gaps->cut, name, NULL);
}

void gaps_count(struct json_object *counts, const char *key)
{
	struct json_object *count;

	if (json_object_object_get_ex(counts, key, &count))
		json_object_int_inc(count, 1);
	else
		json_object_object_add(counts, key, json_object_new_int64(1));
}

static void print_files(uint64_t n)
{
	char count[OUT_COUNT_LEN];

	printf("%s file%s", out_count(count, n), n == 1 ? "" : "s");
}

static void print_not_readable(struct json_object *not_readable)
{
	struct json_object *counts = json_object_new_object();
	const char *between = "";
	uint64_t others = 0;
	size_t n = 0;

	json_object_object_foreach(not_readable, name, reason) {
		(void)name;
		gaps_count(counts, reason_text(reason));
	}
	json_object_object_foreach(counts, text, count) {
		if (n++ >= MOST_SHOWN) {
			others += json_object_get_uint64(count);
			continue;
		}
		fputs(between, stdout);
		print_files(json_object_get_uint64(count));
		fputs(": ", stdout);
		text_print(stdout, text);
		between = ", ";
	}
	if (others) {
		fputs(between, stdout);
		print_files(others);
		fputs(": other reasons", stdout);
	}
	json_object_put(counts);
}

static void print_cut(struct json_object *cut)
{
	const char *between = "";
	size_t n = 0;

	json_object_object_foreach(cut, name, value) {
		(void)value;
		if (n++ >= MOST_SHOWN)
			continue;
		fputs(between, stdout);
		text_print(stdout, name);
		between = ", ";
	}
	if (n > MOST_SHOWN)
		printf(", %zu more", n - MOST_SHOWN);
}

bool gaps_print(const struct gaps *gaps, const char *between)
{
	bool any = false;

	if (gaps->not_readable && json_object_object_length(gaps->not_readable)) {
		printf("%snot readable: ", between);
		print_not_readable(gaps->not_readable);
		between = "; ";
		any = true;
	}
	if (json_object_object_length(gaps->cut)) {
		printf("%scut: ", between);
		print_cut(gaps->cut);
		between = "; ";
		any = true;
	}
	if (gaps->left_out) {
		printf("%sleft out: ", between);
		print_files(gaps->left_out);
		any = true;
	}
	return any;
}
