// SPDX-License-Identifier: GPL-2.0-only
#include "common/select-tasks.h"

#include "common/output.h"
#include "tape/next.h"

static void meet(struct select_names *names, const struct schedtape_event *ev)
{
	if (ev->type == STAPE_EV_TASK || ev->type == STAPE_EV_RENAME)
		select_names_meet(names, ev->comm, ev->pid);
	else if (ev->type == STAPE_EV_FORK)
		select_names_meet(names, NULL, ev->pid);
}

/* Meets the names in events.  Returns 0 or -errno. */
static int meet_events(struct select_names *names, struct schedtape_tape *tape,
		       struct schedtape_error *err)
{
	const struct schedtape_event *ev;
	int ret = tape_rewind_descriptions(tape, err);

	if (ret)
		return ret;
	while ((ret = tape_next_sound(tape, &ev, err)) > 0)
		meet(names, ev);
	return ret ? ret : schedtape_tape_rewind(tape, err);
}

int select_tasks_find(struct select_names *names, struct schedtape_tape *tape, const char *path)
{
	const struct schedtape_task_info *tasks;
	struct schedtape_error err = { "" };
	int ret = 0;
	size_t i, n;

	if (!select_names_vague(names))
		return 0;
	tasks = schedtape_tape_tasks(tape, &n);
	for (i = 0; i < n; i++)
		select_names_meet(names, tasks[i].comm, tasks[i].pid);
	if (!schedtape_tape_is_pipe(tape))
		ret = meet_events(names, tape, &err);
	if (!ret)
		select_names_say(names, path);
	return out_failed(ret, &err);
}

void select_tasks_last(struct select_names *names, const struct schedtape_task *tasks, size_t n,
		       const char *path)
{
	size_t i;

	for (i = 0; i < n && names->nr; i++)
		select_names_meet(names, tasks[i].comm, tasks[i].pid);
	select_names_say(names, path);
}
