// SPDX-License-Identifier: GPL-2.0-only
#include "common/select-tasks.h"

#include <errno.h>

#include "common/output.h"
#include "tape/events.h"

static void meet(struct select_names *names, const struct schedtape_event *ev)
{
	if (ev->type == STAPE_EV_TASK || ev->type == STAPE_EV_RENAME)
		select_names_meet(names, ev->comm, ev->pid);
	else if (ev->type == STAPE_EV_FORK)
		select_names_meet(names, NULL, ev->pid);
}

int select_tasks_find(struct select_names *names, struct schedtape_tape *tape, const char *path)
{
	const struct schedtape_task_info *tasks;
	struct schedtape_error err = { "" };
	const struct schedtape_event *ev;
	size_t i, n;
	int ret;

	if (!select_names_vague(names) || schedtape_tape_is_pipe(tape))
		return 0;
	tasks = schedtape_tape_tasks(tape, &n);
	for (i = 0; i < n; i++)
		select_names_meet(names, tasks[i].comm, tasks[i].pid);
	ret = tape_rewind_descriptions(tape, &err);
	while (!ret) {
		ret = tape_next_event(tape, &ev, &err);
		if (ret > 0)
			meet(names, ev);
		else if (!ret)
			break;
		/* Corrupt pages are reported when the tape is read again. */
		ret = ret > 0 || ret == -EBADMSG ? 0 : ret;
	}
	if (!ret)
		ret = schedtape_tape_rewind(tape, &err);
	if (!ret)
		select_names_say(names, path);
	return out_failed(ret, &err);
}
