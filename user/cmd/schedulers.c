// SPDX-License-Identifier: GPL-2.0-only
#include "schedulers.h"

#include <string.h>

#include "output.h"

#define MOST_NAMES	8	/* in one text */

static bool is(const struct schedtape_scheduler *scheduler, const char *state)
{
	return !strcmp(scheduler->state, state);
}

static bool is_fair(const struct schedtape_scheduler *scheduler)
{
	return is(scheduler, "none") || is(scheduler, "disabled");
}

/* The switch takes a moment: the scheduler before it or after it is of more interest. */
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

const char *schedulers_name(char buffer[SCHEDULERS_NAME_LEN],
			    const struct schedtape_scheduler *scheduler)
{
	char ops[sizeof(scheduler->ops)];

	if (is_fair(scheduler))
		return "fair";
	if (!is(scheduler, "enabled") && !is_between(scheduler))
		return "not known";
	snprintf(buffer, SCHEDULERS_NAME_LEN, "ext (%s%s)",
		 out_safe(ops, sizeof(ops), scheduler->ops[0] ? scheduler->ops : "?"),
		 addition(scheduler));
	return buffer;
}

/* Schedulers that were switched on since the look before, apart from the one that is on. */
static uint64_t unseen(const struct schedtape_scheduler *before,
		       const struct schedtape_scheduler *scheduler)
{
	uint64_t n;

	if (scheduler->enable_seq <= before->enable_seq)
		return 0;
	n = scheduler->enable_seq - before->enable_seq;
	/* The last one that was counted is still there. */
	return n - (is(scheduler, "enabled") || is(scheduler, "disabling"));
}

/* -- for diff -------------------------------------------------------------- */

struct text {
	char *buffer;
	char last[SCHEDULERS_NAME_LEN];
	size_t names;
};

static void add_name(struct text *text, const char *name)
{
	size_t used = strlen(text->buffer);

	if (!strcmp(name, text->last) || text->names > MOST_NAMES)
		return;
	snprintf(text->last, sizeof(text->last), "%s", name);
	if (text->names++ == MOST_NAMES)
		name = "others";
	snprintf(text->buffer + used, SCHEDULERS_TEXT_LEN - used, "%s%s", used ? ", then " : "",
		 name);
}

const char *schedulers_text(char buffer[SCHEDULERS_TEXT_LEN], struct schedtape_tape *tape)
{
	const struct schedtape_scheduler *schedulers;
	struct text text = { .buffer = buffer };
	char name[SCHEDULERS_NAME_LEN];
	size_t i, n;

	buffer[0] = '\0';
	schedulers = schedtape_tape_schedulers(tape, &n);
	for (i = 0; i < n; i++) {
		if (i && unseen(&schedulers[i - 1], &schedulers[i]))
			add_name(&text, "ext (not seen)");
		/* What it leads to, or comes from, says more. */
		if (n == 1 || !is_between(&schedulers[i]))
			add_name(&text, schedulers_name(name, &schedulers[i]));
	}
	return buffer[0] ? buffer : "not known";
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
