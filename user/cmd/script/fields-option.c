// SPDX-License-Identifier: GPL-2.0-only
/*
 * -F and -e of script: the parts of a line, and the events that are printed.
 */
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/complete.h"
#include "script/internal.h"

static const struct argp_option options[] = {
	{ "fields", 'F', "FIELD,...", 0,
	  "Print these parts of a line, or add (+FIELD) or leave out (-FIELD) some; \"perf\": as "
	  "perf script prints the kernel's tracepoints; " COMPLETE_HELP, 0 },
	{ "event", 'e', "EVENT,...", 0,
	  "Only events of these types; " COMPLETE_HELP, 0 },
	{ 0 }
};

/* -- fields ---------------------------------------------------------------- */

static const struct {
	const char *name;
	unsigned int field;
} field_names[] = {
	{ "comm", FIELD_COMM },
	{ "pid", FIELD_PID },
	{ "tid", FIELD_TID },
	{ "cpu", FIELD_CPU },
	{ "time", FIELD_TIME },
	{ "tod", FIELD_TIME | FIELD_TOD },
	{ "event", FIELD_EVENT },
	{ "trace", FIELD_TRACE },
};

#define NR_FIELDS	(sizeof(field_names) / sizeof(*field_names))
#define FIELD_NAMES	"comm, pid, tid, cpu, time, tod, event, trace, perf"

static void list_fields(void)
{
	size_t i;

	for (i = 0; i < NR_FIELDS; i++)
		puts(field_names[i].name);
	puts("perf");
	exit(0);
}

/* Returns the FIELD_* of a name, 0: there is none. */
static unsigned int find_field(const char *name)
{
	size_t i;

	for (i = 0; i < NR_FIELDS; i++)
		if (!strcmp(field_names[i].name, name))
			return field_names[i].field;
	return 0;
}

/* Adds, leaves out or chooses one field. */
static void take_field(struct fields *fields, const char *name, struct argp_state *state)
{
	char sign = *name == '+' || *name == '-' ? *name++ : 0;
	unsigned int field = find_field(name);

	if (!field) {
		argp_error(state, "-F: no field '%s': one of " FIELD_NAMES, name);
		return;
	}
	if (sign ? fields->set : fields->changed)
		argp_error(state, "-F: +FIELD and -FIELD change the usual fields, so no FIELD "
			   "can be chosen besides");
	if (sign == '-') {
		fields->fields &= ~field;
	} else {
		if (!sign && !fields->set)
			fields->fields = 0;
		fields->fields |= field;
	}
	fields->set |= !sign;
	fields->changed |= sign;
}

static void parse_fields(struct fields *fields, const char *text, struct argp_state *state)
{
	char *copy = strdup(text), *rest = copy, *name;

	fields->given = true;
	while (copy && (name = strsep(&rest, ","))) {
		if (!strcmp(name, "help"))
			list_fields();
		else if (!strcmp(name, "perf"))
			fields->perf = true;
		else
			take_field(fields, name, state);
	}
	if (!fields->fields)
		argp_error(state, "-F leaves nothing to print");
	free(copy);
}

/* -- events ---------------------------------------------------------------- */

#define EVENT_NAMES	"switch, waking, wakeup, wakeup_new, fork, exit, migrate, exec, rename, " \
			"setprio, setaffinity, throttle, unthrottle, trigger, idle, interval, " \
			"task"

static void list_events(void)
{
	size_t i;

	for (i = TRACE_RUNTIME + 1; i < TRACE_NR_TYPES; i++)
		if (trace_names[i])
			printf("%-11s  %s\n", schedtape_event_name(i), trace_names[i]);
	exit(0);
}

/* Tests an event by its own name, and that of the tracepoint with and without "sched:". */
static bool is_called(unsigned int type, const char *pattern)
{
	const char *tracepoint = trace_name(type);

	return !fnmatch(pattern, schedtape_event_name(type), 0) ||
	       (tracepoint && (!fnmatch(pattern, tracepoint, 0) ||
			       !fnmatch(pattern, strchr(tracepoint, ':') + 1, 0)));
}

static void parse_events(struct fields *fields, const char *text, struct argp_state *state)
{
	char *copy = strdup(text), *rest = copy, *name;
	uint64_t found;
	size_t i;

	fields->chosen = true;
	while (copy && (name = strsep(&rest, ","))) {
		found = 0;
		if (!strcmp(name, "help"))
			list_events();
		for (i = TRACE_RUNTIME + 1; i < TRACE_NR_TYPES; i++)
			if (trace_names[i] && is_called(i, name))
				found |= 1ULL << i;
		/* The tape may have it: of record -e. */
		if (strchr(name, ':') && select_names_parse(&fields->points, name))
			argp_failure(state, 1, 0, "out of memory");
		else if (!found && !strchr(name, ':'))
			argp_error(state, "-e: no event '%s': one of " EVENT_NAMES ", or the name "
				   "of a tracepoint", name);
		fields->events |= found;
	}
	free(copy);
}

bool fields_has_point(const struct fields *fields, const char *name)
{
	return !fields->chosen || select_names_has(&fields->points, name, 0);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	switch (key) {
	case 'F':
		parse_fields(state->input, arg, state);
		return 0;
	case 'e':
		parse_events(state->input, arg, state);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

const struct argp fields_argp = { .options = options, .parser = parse };
