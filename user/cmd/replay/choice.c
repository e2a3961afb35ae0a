// SPDX-License-Identifier: GPL-2.0-only
#include "replay/choice.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "common/select-tasks.h"

/* Returns true if @text begins with a word and "=". */
static bool has_keyword(const char *text)
{
	size_t n = 0;

	while (islower((unsigned char)text[n]))
		n++;
	return n && text[n] == '=';
}

int choice_parse(struct choice_list *list, const char *text)
{
	if (!*text)
		return -EINVAL;
	if (!strncmp(text, "pid=", 4))
		return select_numbers_parse(&list->pids, text + 4);
	if (!strncmp(text, "tgid=", 5))
		return select_numbers_parse(&list->tgids, text + 5);
	if (!strncmp(text, "cgroup=", 7))
		return select_cgroups_parse(&list->cgroups, text + 7);
	if (!strncmp(text, "comm=", 5))
		return text[5] ? select_names_parse(&list->comms, text + 5) : -EINVAL;
	/* A misspelt keyword would be a pattern that no name matches. */
	return has_keyword(text) ? -EINVAL : select_names_parse(&list->comms, text);
}

static bool list_made(const struct choice_list *list)
{
	return list->comms.nr || list->cgroups.names.nr || list->pids.nr || list->tgids.nr;
}

bool choice_made(const struct choice *choice)
{
	return list_made(&choice->only) || list_made(&choice->exclude);
}

static int check_list(struct choice_list *list, struct schedtape_tape *tape, const char *path)
{
	int ret = select_cgroups_find(&list->cgroups, tape, false, path, "cgroup=");

	return ret ? ret : select_tasks_find(&list->comms, tape, path);
}

int choice_check(struct choice *choice, struct schedtape_tape *tape, const char *path)
{
	int ret = check_list(&choice->only, tape, path);

	return ret ? ret : check_list(&choice->exclude, tape, path);
}

static bool list_has(const struct choice_list *list, const struct schedtape_task *task)
{
	return (list->comms.nr && select_names_has(&list->comms, task->comm, task->pid)) ||
	       select_cgroups_has(&list->cgroups, task->cgroup) ||
	       (list->pids.nr && select_numbers_has(&list->pids, task->pid)) ||
	       (list->tgids.nr && select_numbers_has(&list->tgids, task->tgid));
}

bool choice_keeps(void *arg, const struct schedtape_task *task)
{
	const struct choice *choice = arg;

	if (list_made(&choice->only) && !list_has(&choice->only, task))
		return false;
	return !list_has(&choice->exclude, task);
}

static void free_list(struct choice_list *list)
{
	select_names_free(&list->comms);
	select_cgroups_free(&list->cgroups);
	select_numbers_free(&list->pids);
	select_numbers_free(&list->tgids);
}

void choice_free(struct choice *choice)
{
	free_list(&choice->only);
	free_list(&choice->exclude);
}
