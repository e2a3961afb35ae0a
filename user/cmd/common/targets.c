// SPDX-License-Identifier: GPL-2.0-only
#include "common/targets.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <schedtape/event.h>
#include <schedtape/netlink.h>

#include "base/error.h"
#include "common/output.h"
#include "common/select.h"

#define OPT_KTHREADS		0x3000
#define OPT_EXCLUDE_COMM	0x3001
#define OPT_NO_FOLLOW		0x3002

static const struct argp_option options[] = {
	{ NULL, 0, NULL, 0, "Which tasks to record:", 1 },
	{ "pid", 'p', "PID,...", 0, "These processes, and all that they fork", 1 },
	{ "tid", 't', "TID,...", 0, "These threads, and all that they fork", 1 },
	{ "cgroup", 'G', "CGROUP,...", 0,
	  "All tasks in these cgroups (version 2) and below them: paths, or numbers as id:N", 1 },
	{ "no-follow", OPT_NO_FOLLOW, NULL, 0,
	  "Not those of a cgroup that is made with the path of one of these after its end", 1 },
	{ "all-cpus", 'a', NULL, 0, "All tasks of user space", 1 },
	{ "kthreads", OPT_KTHREADS, NULL, 0, "Record kernel threads, too", 1 },
	{ "no-inherit", 'i', NULL, 0, "Do not record what these tasks fork", 1 },
	{ "exclude-comm", OPT_EXCLUDE_COMM, "GLOB", 0,
	  "Do not record a task if GLOB matches its name; may be given several times", 1 },
	{ 0 }
};

/* Parses "1,2,3", and adds it to @ids.  Returns false on a wrong text or without memory. */
static bool parse_ids(const char *text, uint32_t **ids, size_t *n)
{
	uint32_t *list;
	long long id;
	char *end;

	for (;;) {
		errno = 0;
		id = strtoll(text, &end, 10);
		if (errno || end == text || id < 1 || id > INT32_MAX)
			return false;
		list = reallocarray(*ids, *n + 1, sizeof(*list));
		if (!list)
			return false;
		list[(*n)++] = id;
		*ids = list;
		if (!*end)
			return true;
		if (*end != ',')
			return false;
		text = end + 1;
	}
}

static bool is_cgroup(const char *name)
{
	struct schedtape_error err;
	struct schedtape_cgroup cgroup;

	if (!*name || schedtape_cgroup_find(name, &cgroup, &err))
		return false;
	free(cgroup.path);
	return true;
}

/* Notes whether an argument with commas is the path of a cgroup.  @argument: its elements follow */
static void find_whole(struct select_name *argument)
{
	size_t i;

	argument->named = argument->elements && is_cgroup(argument->text);
	for (i = 1; argument->named && i <= argument->elements; i++)
		argument->others |= is_cgroup(argument[i].text);
}

/* Returns true for the number of a cgroup, "id:N" or "N", which is that of no other one later. */
static bool is_number(const char *name)
{
	if (!strncmp(name, "id:", 3))
		name += 3;
	return *name && !name[strspn(name, "0123456789")];
}

/* Makes room for another cgroup.  Returns false without memory. */
static bool make_room(struct schedtape_filter *filter)
{
	struct schedtape_cgroup *list;
	bool *follow;

	list = reallocarray(filter->cgroups, filter->nr_cgroups + 1, sizeof(*list));
	filter->cgroups = list ? list : filter->cgroups;
	follow = reallocarray(filter->follow, filter->nr_cgroups + 1, sizeof(*follow));
	filter->follow = follow ? follow : filter->follow;
	return list && follow;
}

static int add_cgroup(struct schedtape_filter *filter, char *name, struct schedtape_error *err)
{
	struct schedtape_cgroup *cgroup;
	int ret;

	if (!*name)
		return schedtape_fail(err, -EINVAL, "-G: a cgroup without a name");
	if (!make_room(filter))
		return schedtape_fail(err, -ENOMEM, "-G %s: not enough memory", name);
	cgroup = &filter->cgroups[filter->nr_cgroups];
	ret = schedtape_cgroup_find(name, cgroup, err);
	if (ret && strchr(name, '\\'))
		ret = schedtape_cgroup_find(select_unquote(name), cgroup, err);
	filter->follow[filter->nr_cgroups] = !is_number(name);
	filter->nr_cgroups += !ret;
	return ret;
}

static int add_cgroups(struct schedtape_filter *filter, struct select_names *names,
		       struct schedtape_error *err)
{
	const struct select_name *entry = NULL;
	int ret = 0;

	find_whole(names->list);
	while (!ret && (entry = select_names_next(names, entry)))
		if (entry->named || !entry->elements)
			ret = add_cgroup(filter, entry->text, err);
	select_names_say(names, NULL);
	return ret;
}

static void parse_cgroups(struct argp_state *state, const char *text,
			  struct schedtape_filter *filter)
{
	struct schedtape_error err = { "not enough memory" };
	struct select_names names = { .paths = true };
	int ret = select_names_parse(&names, text);

	if (!ret)
		ret = add_cgroups(filter, &names, &err);
	select_names_free(&names);
	if (ret == -EINVAL)
		argp_error(state, "%s", err.text);
	else if (ret)
		argp_failure(state, CMD_FAILURE, 0, "%s", err.text);
}

/* Returns the length of the shortest name that the kernel's glob_match() would match. */
static size_t shortest_match(const char *glob)
{
	const char *end;
	size_t n = 0;

	for (; *glob; glob++) {
		if (*glob == '*')
			continue;
		n++;
		if (*glob == '\\' && glob[1]) {
			glob++;
		} else if (*glob == '[' && glob[1]) {
			/* A "]" right after "[" ends no class; "[" without an end is itself. */
			end = strchr(glob + 2 + (glob[1] == '!' && glob[2]), ']');
			glob = end ? end : glob;
		}
	}
	return n;
}

static void parse_pattern(struct argp_state *state, const char *text,
			  struct schedtape_filter *filter)
{
	const char **list;

	if (strlen(text) >= STAPE_PATTERN_LEN)
		argp_error(state, "--exclude-comm %.16s...: longer than %d characters", text,
			   STAPE_PATTERN_LEN - 1);
	if (shortest_match(text) >= STAPE_COMM_LEN)
		argp_error(state, "--exclude-comm %s: matches nothing, for a name has no more than "
			   "%d characters", text, STAPE_COMM_LEN - 1);
	list = reallocarray(filter->exclude_comm, filter->nr_exclude_comm + 1, sizeof(*list));
	if (!list) {
		argp_failure(state, CMD_FAILURE, ENOMEM, "--exclude-comm %s", text);
		return;
	}
	filter->exclude_comm = list;
	list[filter->nr_exclude_comm++] = text;
}

static void parse_flag(int key, struct targets *targets)
{
	targets->flags_given = true;
	switch (key) {
	case 'a':
		targets->filter.all = true;
		break;
	case OPT_KTHREADS:
		targets->filter.kthreads = true;
		break;
	case 'i':
		targets->filter.no_inherit = true;
		break;
	}
}

static void stop_following(struct schedtape_filter *filter)
{
	free(filter->follow);
	filter->follow = NULL;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct targets *targets = state->input;
	struct schedtape_filter *filter = &targets->filter;

	switch (key) {
	case ARGP_KEY_INIT:
		filter->size = sizeof(*filter);
		break;
	case 'p':
		if (!parse_ids(arg, &filter->pids, &filter->nr_pids))
			argp_error(state, "-p %s: not a list of PIDs", arg);
		break;
	case 't':
		if (!parse_ids(arg, &filter->tids, &filter->nr_tids))
			argp_error(state, "-t %s: not a list of TIDs", arg);
		break;
	case 'G':
		parse_cgroups(state, arg, filter);
		break;
	case OPT_NO_FOLLOW:
		targets->no_follow = true;
		break;
	case ARGP_KEY_END:
		if (targets->no_follow)
			stop_following(filter);
		break;
	case OPT_EXCLUDE_COMM:
		targets->flags_given = true;
		parse_pattern(state, arg, filter);
		break;
	case 'a':
	case 'i':
	case OPT_KTHREADS:
		parse_flag(key, targets);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

const struct argp targets_argp = { .options = options, .parser = parse };

bool targets_named(const struct targets *targets)
{
	return targets->filter.nr_pids || targets->filter.nr_tids || targets->filter.nr_cgroups;
}

int targets_set(const struct targets *targets, struct schedtape_client *client, uint32_t session,
		struct schedtape_error *err)
{
	const struct schedtape_filter *filter = &targets->filter;
	int ret = 0;

	if (filter->all || filter->kthreads || filter->no_inherit || filter->nr_exclude_comm)
		ret = schedtape_filter_set(client, session, filter, err);
	return ret ? ret : schedtape_filter_add(client, session, filter, err);
}

void targets_free(struct targets *targets)
{
	struct schedtape_filter *filter = &targets->filter;
	size_t i;

	for (i = 0; i < filter->nr_cgroups; i++)
		free(filter->cgroups[i].path);
	free(filter->pids);
	free(filter->tids);
	free(filter->cgroups);
	free(filter->follow);
	free(filter->exclude_comm);
	*targets = (struct targets){ 0 };
}
