// SPDX-License-Identifier: GPL-2.0-only
#include "common/input.h"

#include <errno.h>
#include <sys/resource.h>

#include "base/error.h"
#include "common/output.h"

/* Raises RLIMIT_NOFILE, because a tape directory may have more files than its usual value. */
static void raise_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

struct schedtape_tape *cmd_open_tape(const char *path)
{
	struct schedtape_error err = { "" };
	struct schedtape_tape *tape;

	raise_limit();
	if (schedtape_tape_open(path, &tape, &err)) {
		out_error(NULL, "%s", err.text);
		return NULL;
	}
	return tape;
}

void cmd_warn_damage(const struct schedtape_timeline *timeline)
{
	if (schedtape_timeline_damage(timeline))
		out_warning(NULL, "%s", schedtape_timeline_damage(timeline));
}

bool cmd_warn_empty(struct schedtape_tape *tape, const char *path)
{
	const struct schedtape_end *end = schedtape_tape_end(tape);

	if (cmd_count_events(end) || cmd_count_lost(end))
		return false;
	out_warning(path, "the tape has no events: no chosen task ran while the recording was on");
	return true;
}

struct schedtape_timeline *cmd_run_timeline(struct schedtape_tape *tape)
{
	struct schedtape_timeline *timeline;
	struct schedtape_error err = { "" };

	if (schedtape_timeline_run(tape, NULL, NULL, &timeline, &err)) {
		out_error(NULL, "%s", err.text);
		return NULL;
	}
	cmd_warn_damage(timeline);
	return timeline;
}

int cmd_read_events(struct schedtape_tape *tape, struct lines *lines,
		    int (*take)(void *arg, const struct schedtape_event *ev), void *arg)
{
	struct schedtape_error err = { "" };
	struct schedtape_event ev;
	int ret = 0;

	while (!ret && out_works()) {
		ret = schedtape_tape_next(tape, &ev, &err);
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
		ret = take(arg, &ev);
		if (ret < 0)
			schedtape_fail(&err, ret, "not enough memory for the names of the tasks");
	}
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
	damage = schedtape_tape_damage(tape);
	if (damage)
		out_warning(path, "%s; see \"schedtape recover\"", damage);
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
