// SPDX-License-Identifier: GPL-2.0-only
#include "replay/choice.h"

#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include <schedtape/client.h>

#include "common/output.h"
#include "machine/cgroup-tree.h"
#include "tape/meta.h"

static int add(const char ***list, size_t *nr, const char *text)
{
	const char **longer = realloc(*list, (*nr + 1) * sizeof(*longer));

	if (!longer)
		return -ENOMEM;
	longer[(*nr)++] = text;
	*list = longer;
	return 0;
}

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
		return text[7] ? add(&list->cgroups, &list->nr_cgroups, text + 7) : -EINVAL;
	if (!strncmp(text, "comm=", 5))
		return text[5] ? add(&list->globs, &list->nr_globs, text + 5) : -EINVAL;
	/* A misspelt keyword would be a pattern that no name matches. */
	return has_keyword(text) ? -EINVAL : add(&list->globs, &list->nr_globs, text);
}

static bool list_made(const struct choice_list *list)
{
	return list->nr_globs || list->nr_cgroups || list->pids.nr || list->tgids.nr;
}

bool choice_made(const struct choice *choice)
{
	return list_made(&choice->only) || list_made(&choice->exclude);
}

/* Returns the id of the cgroup with that path on the tape, or 0. */
static uint64_t id_of_path(struct schedtape_tape *tape, const char *path)
{
	struct json_object *filter, *cgroups, *entry, *value;
	const struct schedtape_cgroup_state *state;
	struct schedtape_cgroup_table table;
	uint64_t id = 0;
	size_t i;

	if (schedtape_cgroup_table_read(&table, tape))
		return 0;
	state = schedtape_cgroup_by_path(&table, path);
	if (state)
		id = state->id;
	schedtape_cgroup_table_free(&table);
	if (id)
		return id;
	/* Older tapes have only the cgroups that the filter named. */
	if (!json_object_object_get_ex(tape_meta(tape), "filter", &filter) ||
	    !json_object_object_get_ex(filter, "cgroups", &cgroups) ||
	    !json_object_is_type(cgroups, json_type_array))
		return 0;
	for (i = 0; i < json_object_array_length(cgroups); i++) {
		entry = json_object_array_get_idx(cgroups, i);
		if (json_object_object_get_ex(entry, "path", &value) &&
		    json_object_is_type(value, json_type_string) &&
		    !strcmp(json_object_get_string(value), path) &&
		    json_object_object_get_ex(entry, "id", &value))
			return json_object_get_uint64(value);
	}
	return 0;
}

/* Returns the id for "id:123", as record takes and shows it, or for a path; 0: unknown. */
static uint64_t id_of_cgroup(struct schedtape_tape *tape, const char *text)
{
	char *end;
	uint64_t id;

	if (strncmp(text, "id:", 3))
		return id_of_path(tape, text);
	errno = 0;
	id = isdigit((unsigned char)text[3]) ? strtoull(text + 3, &end, 10) : 0;
	return id && !errno && !*end ? id : 0;
}

static int check_list(const struct choice *choice, struct choice_list *list)
{
	size_t i;

	list->ids = calloc(list->nr_cgroups + 1, sizeof(*list->ids));
	if (!list->ids)
		return -ENOMEM;
	for (i = 0; i < list->nr_cgroups; i++) {
		list->ids[i] = id_of_cgroup(choice->tape, list->cgroups[i]);
		if (list->ids[i])
			continue;
		out_error(NULL, "cgroup=%s: the tape knows no such cgroup; give id:NUMBER, or a "
			  "path that was there when the recording began", list->cgroups[i]);
		return -ENOENT;
	}
	return 0;
}

int choice_check(struct choice *choice)
{
	int ret = check_list(choice, &choice->only);

	return ret ? ret : check_list(choice, &choice->exclude);
}

static bool list_has(const struct choice_list *list, const struct schedtape_task *task)
{
	size_t i;

	for (i = 0; i < list->nr_globs; i++)
		if (!fnmatch(list->globs[i], task->comm, 0))
			return true;
	for (i = 0; i < list->nr_cgroups; i++)
		if (task->cgroup == list->ids[i])
			return true;
	return (list->pids.nr && select_numbers_has(&list->pids, task->pid)) ||
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
	free(list->globs);
	free(list->cgroups);
	free(list->ids);
	select_numbers_free(&list->pids);
	select_numbers_free(&list->tgids);
}

void choice_free(struct choice *choice)
{
	free_list(&choice->only);
	free_list(&choice->exclude);
}
