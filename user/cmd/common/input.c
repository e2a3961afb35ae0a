// SPDX-License-Identifier: GPL-2.0-only
#include "common/input.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <json-c/json.h>

#include "base/error.h"
#include "common/output.h"
#include "common/select.h"
#include "common/signals.h"
#include "common/task-table.h"
#include "common/time-text.h"
#include "machine/cgroup-tree.h"
#include "tape/meta.h"
#include "tape/next.h"

#define MOST_CPUS	16384	/* that a tape can have */
/* A CPU tells of its idle time at the start, the end, and now and then. */
#define MOST_IDLES	64
#define MOST_NAMED	5	/* tasks or cgroups of what a tape contains */

static struct schedtape_tape *open_with(int (*open)(const char *path, struct schedtape_tape **tape,
						    struct schedtape_error *err), const char *path)
{
	struct schedtape_error err = { "" };
	struct schedtape_tape *tape;

	/* A tape directory may have more files than the usual limit. */
	files_limit_raise(FILES_LIMIT_MOST);
	return out_failed(open(path, &tape, &err), &err) ? NULL : tape;
}

struct schedtape_tape *cmd_open_tape(const char *path)
{
	return open_with(schedtape_tape_open, path);
}

static bool input_is_pipe(const char *path)
{
	struct stat st;

	return !(strcmp(path, "-") ? stat(path, &st) : fstat(STDIN_FILENO, &st)) &&
	       (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode));
}

struct schedtape_tape *cmd_open_tape_once(const char *path)
{
	/* A pipe is waited for, so before that. */
	if (input_is_pipe(path))
		signals_survive_interrupt();
	return open_with(schedtape_tape_open_once, path);
}

bool cmd_tape_is_live(struct schedtape_tape *tape)
{
	return schedtape_tape_is_pipe(tape) && !schedtape_tape_end(tape)->stop_time;
}

void cmd_warn_damage(const struct schedtape_timeline *timeline)
{
	if (schedtape_timeline_damage(timeline))
		out_warning(NULL, "%s", schedtape_timeline_damage(timeline));
}

bool cmd_tape_is_empty(struct schedtape_tape *tape)
{
	const struct schedtape_end *end = schedtape_tape_end(tape);
	uint64_t events = cmd_count_events(end);
	const struct schedtape_event *ev;
	bool empty = true;

	if (!events)
		return true;
	if (events > MOST_IDLES * end->nr_cpus || schedtape_tape_rewind(tape, NULL))
		return false;
	while (empty && tape_next_event(tape, &ev, NULL) > 0)
		empty = ev->type == SCHEDTAPE_EV_IDLE;
	schedtape_tape_rewind(tape, NULL);
	return empty;
}

bool cmd_warn_empty(struct schedtape_tape *tape, const char *path)
{
	if (cmd_tape_is_live(tape) || cmd_count_lost(schedtape_tape_end(tape)) ||
	    !cmd_tape_is_empty(tape))
		return false;
	out_warning(path, "the tape has no events: no chosen task ran while the recording was on");
	return true;
}

uint32_t cmd_online_cpus(struct schedtape_tape *tape)
{
	struct select_numbers online = { 0 };
	struct json_object *text;
	uint32_t n = 0;
	size_t i;

	if (json_object_object_get_ex(tape_meta(tape), "online", &text) &&
	    json_object_is_type(text, json_type_string) &&
	    !select_numbers_parse(&online, json_object_get_string(text)))
		for (i = 0; i < online.nr; i++)
			if (online.ranges[i].last >= n && online.ranges[i].last < MOST_CPUS)
				n = online.ranges[i].last + 1;
	select_numbers_free(&online);
	return n;
}

/* Writes what has been printed, because the wait for a pipe may be long. */
static void write_lines(void *arg)
{
	if (arg)
		lines_flush(arg);
	out_flush();
}

void cmd_write_before_wait(struct schedtape_tape *tape, struct lines *lines)
{
	schedtape_tape_before_wait(tape, write_lines, lines);
}

/* Reads a pipe to its end, so that its writer does not fail. */
static void read_rest(struct schedtape_tape *tape)
{
	const struct schedtape_event *ev;
	int ret;

	if (!schedtape_tape_is_pipe(tape))
		return;
	do {
		ret = tape_next_event(tape, &ev, NULL);
	} while (ret > 0 || ret == -EBADMSG);
}

int cmd_read_events(struct schedtape_tape *tape, struct lines *lines,
		    int (*take)(void *arg, const struct schedtape_event *ev), void *arg)
{
	struct schedtape_error err = { "" };
	const struct schedtape_event *ev;
	int ret = 0;

	cmd_write_before_wait(tape, lines);
	while (!ret && out_works()) {
		ret = tape_next_event(tape, &ev, &err);
		if (!ret)
			return 0;
		if (ret == -EBADMSG) {
			/* One page is corrupt; the next event is after it. */
			if (lines)
				lines_flush(lines);
			out_warning(NULL, "%s", err.text);
			ret = 0;
			continue;
		}
		if (ret < 0)
			break;
		ret = take(arg, ev);
		if (ret < 0)
			schedtape_fail(&err, ret, "not enough memory for the names of the tasks");
	}
	if (ret > 0)
		read_rest(tape);
	if (ret >= 0)
		return 0;
	if (lines)
		lines_flush(lines);
	out_error(NULL, "%s", err.text);
	return CMD_FAILURE;
}

void cmd_close_tape(struct schedtape_tape *tape, const char *path)
{
	const char *damage;

	if (!tape)
		return;
	if (schedtape_tape_skipped(tape))
		out_warning(path, "%s", schedtape_tape_skipped(tape));
	damage = schedtape_tape_damage(tape);
	if (damage)
		out_warning(path, "%s%s", damage, schedtape_tape_is_pipe(tape) ? "" :
			    "; see \"schedtape recover\"");
	schedtape_tape_close(tape);
}

uint64_t cmd_count_events(const struct schedtape_end *end)
{
	uint64_t events = 0;
	size_t i;

	for (i = 0; i < end->nr_cpus; i++)
		events += end->cpus[i].events;
	return events;
}

size_t cmd_count_cpus(const struct schedtape_end *end)
{
	size_t i, n = 0;

	for (i = 0; i < end->nr_cpus; i++)
		n += end->cpus[i].cpu != STAPE_CPU_NONE;
	return n;
}

uint64_t cmd_count_lost(const struct schedtape_end *end)
{
	uint64_t lost = 0;
	size_t i;

	for (i = 0; i < end->nr_cpus; i++)
		lost += end->cpus[i].lost;
	return lost;
}

/* -- what a tape contains -------------------------------------------------- */

/* Appends to a text, as far as there is room. */
static void append(char buffer[CONTENTS_LEN], const char *format, ...)
{
	size_t len = strlen(buffer);
	va_list args;

	va_start(args, format);
	vsnprintf(buffer + len, CONTENTS_LEN - len, format, args);
	va_end(args);
}

/* -- what a tape contains: times ------------------------------------------- */

static void append_date(char buffer[CONTENTS_LEN], uint64_t real, const char *format)
{
	time_t time = real / 1000000000;
	char date[64] = "?";
	struct tm tm;

	if (localtime_r(&time, &tm) && !strftime(date, sizeof(date), format, &tm))
		strcpy(date, "?");
	append(buffer, "%s", date);
}

const char *contents_times(char buffer[CONTENTS_LEN], struct schedtape_tape *tape)
{
	const struct schedtape_end *end = schedtape_tape_end(tape);
	char start[OUT_TIME_LEN], stop[OUT_TIME_LEN];
	struct wall_clock clock;

	out_seconds(start, end->start_time, 6);
	if (cmd_tape_is_live(tape)) {
		snprintf(buffer, CONTENTS_LEN, "from %s s on", start);
		return buffer;
	}
	snprintf(buffer, CONTENTS_LEN, "from %s to %s s", start,
		 out_seconds(stop, end->stop_time, 6));
	wall_clock_init(&clock, tape);
	if (!clock.nr)
		return buffer;
	append(buffer, " (");
	append_date(buffer, wall_clock_real(&clock, end->start_time), "%F %T");
	append(buffer, " to ");
	append_date(buffer, wall_clock_real(&clock, end->stop_time), "%F %T");
	append(buffer, ")");
	return buffer;
}

/* -- what a tape contains: tasks ------------------------------------------- */

/**
 * struct examples - the first tasks of different names
 * @more: there are others
 */
struct examples {
	char names[MOST_NAMED][TEXT_TASK_LEN];
	char comms[MOST_NAMED][STAPE_COMM_LEN];
	size_t n;
	bool more;
};

static void add_task(struct examples *examples, uint32_t pid, const char *comm)
{
	size_t i;

	for (i = 0; i < examples->n; i++)
		if (!strncmp(examples->comms[i], comm, STAPE_COMM_LEN))
			return;
	examples->more = examples->n == MOST_NAMED;
	if (examples->more)
		return;
	memcpy(examples->comms[i], comm, STAPE_COMM_LEN);
	text_task(examples->names[i], comm, pid);
	examples->n++;
}

/*
 * Adds the tasks by their last names and PIDs, which select them in every command.  Returns 0; or
 * an error, and has added none: the tape is a pipe, for example, which cannot be read again.
 */
static int add_last(struct examples *examples, struct schedtape_tape *tape)
{
	const struct schedtape_event *ev;
	struct schedtape_error err;
	struct task_table table;
	int ret;
	uint32_t i;

	ret = task_table_begin(&table, tape, &err);
	if (!ret)
		ret = tape_rewind_descriptions(tape, &err);
	while (!ret && tape_next_sound(tape, &ev, NULL) > 0) {
		ret = task_table_follow(&table, ev);
		if (!ret && (ev->type == STAPE_EV_TASK || ev->type == STAPE_EV_RENAME))
			ret = task_table_find(&table, ev->pid) == SCHEDTAPE_NONE;
	}
	if (!ret)
		ret = task_table_end(&table, tape);
	for (i = 0; !ret && i < table.nr && !examples->more; i++)
		add_task(examples, table.tasks[i].pid, table.tasks[i].comm);
	task_table_free(&table);
	return ret;
}

const char *contents_tasks(char buffer[CONTENTS_LEN], struct schedtape_tape *tape)
{
	const struct schedtape_task_info *tasks;
	struct examples examples = { .n = 0 };
	size_t i, n;

	tasks = schedtape_tape_tasks(tape, &n);
	if (add_last(&examples, tape))
		for (i = 0; i < n && !examples.more; i++)
			add_task(&examples, tasks[i].pid, tasks[i].comm);

	*buffer = '\0';
	for (i = 0; i < examples.n; i++)
		append(buffer, "%s%s", i ? ", " : "", examples.names[i]);
	if (examples.more)
		append(buffer, ", ...");
	return buffer;
}

/* -- what a tape contains: cgroups, CPUs ----------------------------------- */

const char *contents_cgroups(char buffer[CONTENTS_LEN], struct schedtape_tape *tape)
{
	struct schedtape_cgroup_table table;
	size_t i;

	*buffer = '\0';
	if (schedtape_cgroup_table_read(&table, tape))
		return buffer;
	for (i = 0; i < table.nr && i < MOST_NAMED; i++)
		append(buffer, "%s%.40s%s", i ? ", " : "", table.by_path[i]->path,
		       strlen(table.by_path[i]->path) > 40 ? "…" : "");
	if (table.nr > MOST_NAMED)
		append(buffer, ", ...");
	if (!table.nr)
		append(buffer, "no paths of cgroups");
	schedtape_cgroup_table_free(&table);
	return buffer;
}

const char *contents_cpus(char buffer[CONTENTS_LEN], struct schedtape_tape *tape)
{
	const struct schedtape_end *end = schedtape_tape_end(tape);
	size_t i, last;

	*buffer = '\0';
	for (i = 0; i < end->nr_cpus; i = last + 1) {
		last = i;
		if (end->cpus[i].cpu == STAPE_CPU_NONE)
			continue;
		while (last + 1 < end->nr_cpus &&
		       end->cpus[last + 1].cpu == end->cpus[last].cpu + 1)
			last++;
		append(buffer, "%s%u", *buffer ? "," : "", end->cpus[i].cpu);
		if (last > i)
			append(buffer, "-%u", end->cpus[last].cpu);
	}
	return buffer;
}
