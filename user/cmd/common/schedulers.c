// SPDX-License-Identifier: GPL-2.0-only
#include "common/schedulers.h"

#include <stdio.h>
#include <string.h>

#include "common/output.h"

#define SCHEDULERS_NAME_LEN	192
#define MOST_NAMES	8	/* in one text */
#define MOST_SHOWN	4	/* reasons or names of missing settings */
#define MOST_FOLDERS	16	/* around a file: more than a recorder reads */

static bool is(const struct schedtape_scheduler *scheduler, const char *state)
{
	return !strcmp(scheduler->state, state);
}

static bool is_fair(const struct schedtape_scheduler *scheduler)
{
	return is(scheduler, "none") || is(scheduler, "disabled");
}

/* A switch of schedulers takes only a moment: the one before or after it matters more. */
static bool is_between(const struct schedtape_scheduler *scheduler)
{
	return is(scheduler, "enabling") || is(scheduler, "disabling");
}

static const char *addition(const struct schedtape_scheduler *scheduler)
{
	if (is(scheduler, "enabling"))
		return ", going on";
	if (is(scheduler, "disabling"))
		return ", going off";
	return scheduler->switch_all ? "" : ", partial";
}

/* "fair", "ext (simple)", "ext (simple, partial)", "ext (simple, going on)", "not known" */
static const char *schedulers_name(char buffer[SCHEDULERS_NAME_LEN],
				   const struct schedtape_scheduler *scheduler)
{
	char ops[sizeof(scheduler->ops)];

	if (is_fair(scheduler))
		return "fair";
	if (!is(scheduler, "enabled") && !is_between(scheduler))
		return "not known";
	snprintf(buffer, SCHEDULERS_NAME_LEN, "ext (%s%s)",
		 text_safe(ops, sizeof(ops), scheduler->ops[0] ? scheduler->ops : "?"),
		 addition(scheduler));
	return buffer;
}

/* Returns how many schedulers were switched on since the last look, without the current one. */
static uint64_t unseen(const struct schedtape_scheduler *before,
		       const struct schedtape_scheduler *scheduler)
{
	uint64_t n;

	/* The first look may have failed, so that its number is unknown. */
	if (scheduler->enable_seq <= before->enable_seq ||
	    (is(before, "unknown") && !before->enable_seq))
		return 0;
	n = scheduler->enable_seq - before->enable_seq;
	/* The last scheduler that was counted is still on. */
	return n - (is(scheduler, "enabled") || is(scheduler, "disabling"));
}

/* -- for diff -------------------------------------------------------------- */

/**
 * struct walk - walks over the schedulers that a tape's tasks had
 * @all: the tape's @n records
 * @i: index of the next record
 * @unseen_done: the unseen schedulers before the next record have been named
 * @all_between: all records are of switches, so name these
 * @name: the last name
 */
struct walk {
	const struct schedtape_scheduler *all;
	size_t n;
	size_t i;
	bool unseen_done;
	bool all_between;
	char name[SCHEDULERS_NAME_LEN];
};

static void walk_begin(struct walk *walk, struct schedtape_tape *tape)
{
	size_t i;

	*walk = (struct walk) { .all_between = true };
	walk->all = schedtape_tape_schedulers(tape, &walk->n);
	for (i = 0; i < walk->n && walk->all_between; i++)
		walk->all_between = is_between(&walk->all[i]);
}

/* Returns true if a scheduler was on that was seen only while it was going off. */
static bool was_on(const struct schedtape_scheduler *before,
		   const struct schedtape_scheduler *scheduler)
{
	return is(scheduler, "disabling") && !is(before, "unknown") &&
	       scheduler->enable_seq > before->enable_seq;
}

/* Names the unseen schedulers before the next record, or that record.  NULL: it has no name. */
static const char *name_next(struct walk *walk, char buffer[SCHEDULERS_NAME_LEN])
{
	const struct schedtape_scheduler *now = &walk->all[walk->i];
	/* The first record is compared with itself, so that nothing is unseen before it. */
	const struct schedtape_scheduler *before = now - !!walk->i;
	struct schedtape_scheduler on;

	if (!walk->unseen_done && unseen(before, now)) {
		walk->unseen_done = true;
		return "ext (not seen)";
	}
	walk->unseen_done = false;
	walk->i++;
	if (was_on(before, now)) {
		/* The kernel has already reset switch_all. */
		on = *now;
		snprintf(on.state, sizeof(on.state), "enabled");
		on.switch_all = true;
		return schedulers_name(buffer, &on);
	}
	/* The scheduler before or after a switch says more than the switch. */
	return walk->all_between || !is_between(now) ? schedulers_name(buffer, now) : NULL;
}

/* Returns the next name that differs from the last one, or NULL at the end. */
static const char *walk_next(struct walk *walk)
{
	char buffer[SCHEDULERS_NAME_LEN];
	const char *name;

	while (walk->i < walk->n) {
		name = name_next(walk, buffer);
		if (!name || !strcmp(name, walk->name))
			continue;
		snprintf(walk->name, sizeof(walk->name), "%s", name);
		return walk->name;
	}
	return NULL;
}

const char *schedulers_text(char buffer[SCHEDULERS_TEXT_LEN], struct schedtape_tape *tape)
{
	struct walk walk;
	const char *name;
	size_t used = 0, names = 0;

	snprintf(buffer, SCHEDULERS_TEXT_LEN, "not known");
	walk_begin(&walk, tape);
	while (names++ <= MOST_NAMES && (name = walk_next(&walk)))
		used += snprintf(buffer + used, SCHEDULERS_TEXT_LEN - used, "%s%s",
				 used ? ", then " : "", names > MOST_NAMES ? "others" : name);
	return buffer;
}

/* Returns the next name that is known, or NULL at the end. */
static const char *walk_known(struct walk *walk, char last[SCHEDULERS_NAME_LEN])
{
	const char *name;

	while ((name = walk_next(walk)))
		if (strcmp(name, "not known") && strcmp(name, last)) {
			snprintf(last, SCHEDULERS_NAME_LEN, "%s", name);
			return name;
		}
	return NULL;
}

bool schedulers_differ(struct schedtape_tape *a, struct schedtape_tape *b)
{
	char last_a[SCHEDULERS_NAME_LEN] = "", last_b[SCHEDULERS_NAME_LEN] = "";
	struct walk in_a, in_b;
	const char *one, *other;
	bool first = true;

	walk_begin(&in_a, a);
	walk_begin(&in_b, b);
	do {
		one = walk_known(&in_a, last_a);
		other = walk_known(&in_b, last_b);
		/* Tapes of formats before 2.2 have no record; most likely they had the fair one. */
		if (first && !one)
			one = "fair";
		if (first && !other)
			other = "fair";
		if (!one != !other || (one && strcmp(one, other)))
			return true;
		first = false;
	} while (one);
	return false;
}

/* -- for info -------------------------------------------------------------- */

static void print_one(const struct schedtape_scheduler *scheduler,
		      const struct schedtape_scheduler *before)
{
	char from[OUT_TIME_LEN], to[OUT_TIME_LEN], count[OUT_COUNT_LEN];
	char name[SCHEDULERS_NAME_LEN];

	fputs(schedulers_name(name, scheduler), stdout);
	if (is(scheduler, "none"))
		fputs(", without sched_ext in the kernel", stdout);
	if (scheduler->nr_rejected)
		printf(", which rejected %s tasks", out_count(count, scheduler->nr_rejected));
	if (!before)
		return;
	printf(", from between %s and %s on", out_seconds(from, scheduler->after, 6),
	       out_seconds(to, scheduler->time, 6));
	if (unseen(before, scheduler))
		printf(", with %s more switched on in between",
		       out_count(count, unseen(before, scheduler)));
}

void schedulers_print(struct schedtape_tape *tape, void (*print_key)(const char *key))
{
	const struct schedtape_scheduler *schedulers;
	size_t i, n;

	schedulers = schedtape_tape_schedulers(tape, &n);
	for (i = 0; i < n && out_works(); i++) {
		print_key("scheduler");
		print_one(&schedulers[i], i ? &schedulers[i - 1] : NULL);
		putchar('\n');
	}
}

/*
 * JSON schedulers[] of info:
 * @name: fair, ext (NAME), or unknown.
 * @after_ns: It was another one then; null: it was the first.
 * @before_ns: It was this one then.
 * @state: State of sched_ext.
 * @ops: Name of the sched_ext scheduler, or null.
 * @switch_all: It has all ordinary tasks.
 * @enable_seq: sched_ext schedulers that were enabled since boot.
 * @nr_rejected: Tasks that it rejected.
 */
static struct json_object *json_one(const struct schedtape_scheduler *scheduler)
{
	struct json_object *object = json_object_new_object();
	char name[SCHEDULERS_NAME_LEN];

	json_object_object_add(object, "name",
			       json_object_new_string(schedulers_name(name, scheduler)));
	json_object_object_add(object, "after_ns", scheduler->after ?
			       json_object_new_uint64(scheduler->after) : NULL);
	out_json_add_count(object, "before_ns", scheduler->time);
	json_object_object_add(object, "state", json_object_new_string(scheduler->state));
	json_object_object_add(object, "ops", scheduler->ops[0] ?
			       json_object_new_string(scheduler->ops) : NULL);
	out_json_add_bool(object, "switch_all", scheduler->switch_all);
	out_json_add_count(object, "enable_seq", scheduler->enable_seq);
	out_json_add_count(object, "nr_rejected", scheduler->nr_rejected);
	return object;
}

void schedulers_json(struct schedtape_tape *tape, struct json_object *to)
{
	struct json_object *list = json_object_new_array();
	const struct schedtape_scheduler *schedulers;
	size_t i, n;

	schedulers = schedtape_tape_schedulers(tape, &n);
	for (i = 0; i < n; i++)
		json_object_array_add(list, json_one(&schedulers[i]));
	json_object_object_add(to, "schedulers", list);
}

/* -- settings that are missing --------------------------------------------- */

static struct json_object *member(struct json_object *object, const char *key,
				  enum json_type type)
{
	struct json_object *value;

	return json_object_object_get_ex(object, key, &value) &&
	       json_object_is_type(value, type) ? value : NULL;
}

void missing_settings_init(struct missing_settings *missing, struct json_object *meta)
{
	struct json_object *settings = member(meta, "sched_settings", json_type_object);
	struct json_object *cut = member(settings, "cut", json_type_array);
	struct json_object *left_out = member(settings, "left_out", json_type_int);
	size_t i, n = cut ? json_object_array_length(cut) : 0;

	*missing = (struct missing_settings) {
		.not_readable = member(settings, "not_readable", json_type_object),
		.cut = json_object_new_object(),
		.left_out = left_out ? json_object_get_uint64(left_out) : 0,
	};
	/* An object, because there may be many names, and each file is looked up. */
	for (i = 0; i < n; i++) {
		struct json_object *name = json_object_array_get_idx(cut, i);

		if (json_object_is_type(name, json_type_string))
			json_object_object_add(missing->cut, json_object_get_string(name), NULL);
	}
}

void missing_settings_free(struct missing_settings *missing)
{
	json_object_put(missing->cut);
}

static const char *reason_text(struct json_object *reason)
{
	return json_object_is_type(reason, json_type_string) ? json_object_get_string(reason) :
							       "no reason is given";
}

const char *missing_settings_reason(const struct missing_settings *missing, const char *name)
{
	struct json_object *reason;
	char folder[4096];
	char *end = NULL;
	int i;

	if (!missing->not_readable ||
	    snprintf(folder, sizeof(folder), "%s", name) >= (int)sizeof(folder))
		return NULL;
	for (i = 0; i <= MOST_FOLDERS && (!i || end); i++) {
		if (end)
			*end = '\0';
		if (json_object_object_get_ex(missing->not_readable, folder, &reason))
			return reason_text(reason);
		end = strrchr(folder, '/');
	}
	return NULL;
}

bool missing_settings_cut(const struct missing_settings *missing, const char *name)
{
	return json_object_object_get_ex(missing->cut, name, NULL);
}

void missing_settings_count(struct json_object *counts, const char *key)
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
		missing_settings_count(counts, reason_text(reason));
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

bool missing_settings_print(const struct missing_settings *missing, const char *between)
{
	bool any = false;

	if (missing->not_readable && json_object_object_length(missing->not_readable)) {
		printf("%snot readable: ", between);
		print_not_readable(missing->not_readable);
		between = "; ";
		any = true;
	}
	if (json_object_object_length(missing->cut)) {
		printf("%scut: ", between);
		print_cut(missing->cut);
		between = "; ";
		any = true;
	}
	if (missing->left_out) {
		printf("%sleft out: ", between);
		print_files(missing->left_out);
		any = true;
	}
	return any;
}
