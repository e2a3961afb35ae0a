// SPDX-License-Identifier: GPL-2.0-only
#include "common/input.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <json-c/json.h>

#include "base/error.h"
#include "common/files-limit.h"
#include "common/output.h"
#include "common/select.h"
#include "common/signals.h"
#include "tape/events.h"
#include "tape/meta.h"

#define MOST_CPUS	16384	/* that a tape can have */

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

/* A CPU tells of its idle time at the start, the end, and now and then. */
#define MOST_IDLES	64

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
