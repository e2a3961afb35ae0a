// SPDX-License-Identifier: GPL-2.0-only
#include "common/contents.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/input.h"
#include "common/output.h"
#include "common/task-table.h"
#include "common/wall-clock.h"
#include "machine/cgroup-tree.h"
#include "tape/events.h"

#define MOST	5	/* tasks or cgroups that are named */

/* Appends to a text, as far as there is room. */
static void append(char buffer[CONTENTS_LEN], const char *format, ...)
{
	size_t len = strlen(buffer);
	va_list args;

	va_start(args, format);
	vsnprintf(buffer + len, CONTENTS_LEN - len, format, args);
	va_end(args);
}

/* -- times ----------------------------------------------------------------- */

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

/* -- tasks ----------------------------------------------------------------- */

/**
 * struct examples - the first tasks of different names
 * @more: there are others
 */
struct examples {
	char names[MOST][TEXT_TASK_LEN];
	char comms[MOST][STAPE_COMM_LEN];
	size_t n;
	bool more;
};

static void add_task(struct examples *examples, uint32_t pid, const char *comm)
{
	size_t i;

	for (i = 0; i < examples->n; i++)
		if (!strncmp(examples->comms[i], comm, STAPE_COMM_LEN))
			return;
	examples->more = examples->n == MOST;
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

/* -- cgroups, CPUs --------------------------------------------------------- */

const char *contents_cgroups(char buffer[CONTENTS_LEN], struct schedtape_tape *tape)
{
	struct schedtape_cgroup_table table;
	size_t i;

	*buffer = '\0';
	if (schedtape_cgroup_table_read(&table, tape))
		return buffer;
	for (i = 0; i < table.nr && i < MOST; i++)
		append(buffer, "%s%.40s%s", i ? ", " : "", table.by_path[i]->path,
		       strlen(table.by_path[i]->path) > 40 ? "…" : "");
	if (table.nr > MOST)
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
