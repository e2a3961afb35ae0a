// SPDX-License-Identifier: GPL-2.0-only
#include "replay/options.h"

#include <ctype.h>
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "common/destination.h"
#include "common/select-tasks.h"
#include "common/select.h"

#define OPT_RECORD		0x2000
#define OPT_SPEED		0x2001
#define OPT_NO_ATTRIBUTES	0x2002
#define OPT_EXTERNAL		0x2003
#define OPT_SCALE_CPU		0x2004
#define OPT_BURN		0x2005
#define OPT_LOOP		0x2006
#define OPT_ONLY		0x2007
#define OPT_EXCLUDE		0x2008
#define OPT_TIME		0x2009
#define OPT_CPUS		0x200a
#define OPT_ENGINE		0x200b
#define OPT_CGROUPS		0x200c
#define OPT_KTHREADS		0x200d

/* -- --only and --exclude -------------------------------------------------- */

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

/* -- --cpus ---------------------------------------------------------------- */

/* "4" or "0-3". */
static int parse_range(const char *text, size_t len, uint32_t *first, uint32_t *last)
{
	struct select_numbers set = { 0 };
	char *copy = strndup(text, len);
	int ret;

	if (!copy)
		return -ENOMEM;
	ret = select_numbers_parse(&set, copy);
	if (!ret && set.nr != 1)
		ret = -EINVAL;
	if (!ret) {
		*first = set.ranges[0].first;
		*last = set.ranges[0].last;
	}
	select_numbers_free(&set);
	free(copy);
	return ret;
}

static int add_pair(struct cpu_map *map, const struct cpu_map_pair *pair)
{
	struct cpu_map_pair *pairs = realloc(map->pairs, (map->nr + 1) * sizeof(*pairs));
	cpu_set_t usable;
	uint32_t cpu;

	if (!pairs)
		return -ENOMEM;
	map->pairs = pairs;
	map->pairs[map->nr++] = *pair;
	if (sched_getaffinity(0, sizeof(usable), &usable))
		return -errno;
	for (cpu = pair->to; cpu <= pair->to_last; cpu++) {
		if (cpu >= CPU_SETSIZE || !CPU_ISSET(cpu, &usable))
			return -ENODEV;
		CPU_SET(cpu, &map->here);
	}
	return 0;
}

static int parse_pair(struct cpu_map *map, const char *text, size_t len)
{
	const char *colon = memchr(text, ':', len);
	struct cpu_map_pair pair = { 0 };
	int ret;

	if (!colon)
		return -EINVAL;
	ret = parse_range(text, colon - text, &pair.from, &pair.from_last);
	if (!ret)
		ret = parse_range(colon + 1, text + len - colon - 1, &pair.to, &pair.to_last);
	return ret ? ret : add_pair(map, &pair);
}

/* Maps recorded CPU n to the n-th CPU of the list, which repeats. */
static int parse_list(struct cpu_map *map, const char *text)
{
	struct cpu_map_pair all = { .from_last = UINT32_MAX };

	if (parse_range(text, strlen(text), &all.to, &all.to_last))
		return -EINVAL;
	return add_pair(map, &all);
}

/*
 * Parses "0-3:0-1,4:2", or "0-1" for all recorded CPUs.  Returns 0, -EINVAL (wrong form),
 * -ENODEV (this process may not use a CPU) or -ENOMEM.
 */
static int cpus_parse(struct cpu_map *map, const char *text)
{
	size_t len;
	int ret;

	cpu_map_free(map);
	if (!strchr(text, ':'))
		return parse_list(map, text);
	for (;; text += len + 1) {
		len = strcspn(text, ",");
		ret = parse_pair(map, text, len);
		if (ret || !text[len])
			return ret;
	}
}

char *cpus_usable(void)
{
	cpu_set_t usable;

	return sched_getaffinity(0, sizeof(usable), &usable) ? NULL : cpu_list_of_set(&usable);
}

/* -- the command line ------------------------------------------------------ */

static const struct argp_option options[] = {
	{ "speed", OPT_SPEED, "F", 0, "Play everything F times as fast (1)", 0 },
	{ "scale-cpu", OPT_SCALE_CPU, "F", 0, "Use F times as much CPU time (1)", 0 },
	{ "burn", OPT_BURN, "time|work", 0,
	  "Use the recorded CPU \"time\", or do the same \"work\": a faster CPU needs less time "
	  "(time)",
	  0 },
	{ "external", OPT_EXTERNAL, "absolute|relative|auto", 0,
	  "External wake-ups come at their recorded times (absolute), after a sleep of the "
	  "same length (relative), or relative in state D only (auto)", 0 },
	{ "only", OPT_ONLY, "WHICH", 0,
	  "Replay only these tasks: GLOB or comm=GLOB selects by name, pid=LIST, tgid=LIST or "
	  "cgroup=WHICH selects by ID or cgroup; may be repeated", 0 },
	{ "exclude", OPT_EXCLUDE, "WHICH", 0, "Do not replay these tasks; may be repeated", 0 },
	{ "kthreads", OPT_KTHREADS, NULL, 0, "Replay kernel threads, too", 0 },
	{ "time", OPT_TIME, "FROM,TO", 0,
	  "Only this part of the tape, in seconds as script prints them", 0 },
	{ "cpus", OPT_CPUS, "MAP", 0,
	  "Use these CPUs for the recorded ones: 0-1 for all, or 0-3:0-1,4:2", 0 },
	{ "cgroups", OPT_CGROUPS, "PARENT", OPTION_ARG_OPTIONAL,
	  "Create the recorded cgroups below PARENT (the root), and put the players into them", 0 },
	{ "engine", OPT_ENGINE, "module|user", 0,
	  "Players are run by the \"module\", or by futexes and timers without it: \"user\" "
	  "(module)", 0 },
	{ "repeat", 'r', "N", 0, "Play it N times (1)", 0 },
	{ "loop", OPT_LOOP, NULL, 0, "Play it again and again, until interrupted", 0 },
	{ "record", OPT_RECORD, "OUT", 0, "Record the replay on another tape", 0 },
	{ "no-attributes", OPT_NO_ATTRIBUTES, NULL, 0,
	  "Do not set the recorded policies, nice values and affinities", 0 },
	{ "quiet", 'q', NULL, 0, "Print only errors", 0 },
	{ 0 },
};

static double parse_factor(const char *name, const char *arg, struct argp_state *state)
{
	double factor;
	char *end;

	factor = strtod(arg, &end);
	if (end == arg || *end || !(factor >= 1e-3 && factor <= 1e3))
		argp_error(state, "--%s %s: a number from 0.001 to 1000", name, arg);
	return factor;
}

static void parse_external(struct replay_options *opts, const char *arg, struct argp_state *state)
{
	static const char * const ways[] = {
		[SCHEDTAPE_EXTERNAL_AUTO] = "auto",
		[SCHEDTAPE_EXTERNAL_ABSOLUTE] = "absolute",
		[SCHEDTAPE_EXTERNAL_RELATIVE] = "relative",
	};
	size_t i;

	for (i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
		if (strcmp(arg, ways[i]))
			continue;
		opts->program.external = i;
		return;
	}
	argp_error(state, "--external %s: absolute, relative or auto", arg);
}

static void parse_choice(struct choice_list *list, const char *name, const char *arg,
			 struct argp_state *state)
{
	if (choice_parse(list, arg))
		argp_error(state, "--%s '%s': a name, or comm=, pid=, tgid= or "
			   "cgroup= and which", name, arg);
}

static void parse_time(struct replay_options *opts, const char *arg, struct argp_state *state)
{
	struct select_time time;

	if (select_time_parse(&time, arg) || time.start == time.stop)
		argp_error(state, "--time %s: FROM,TO in seconds, either may be missing", arg);
	opts->program.from = time.start;
	opts->program.to = time.stop == UINT64_MAX ? 0 : time.stop;
}

static void parse_cpus(struct replay_options *opts, const char *arg, struct argp_state *state)
{
	char *usable;

	switch (cpus_parse(&opts->cpus, arg)) {
	case 0:
		break;
	case -ENODEV:
		usable = cpus_usable();
		argp_error(state, "--cpus %s: this process may not use all of these CPUs, only %s",
			   arg, usable ? usable : "?");
		free(usable);
		break;
	default:
		argp_error(state, "--cpus %s: CPUs like 0-1, or RECORDED:HERE,...", arg);
	}
}

static void parse_burn(struct replay_options *opts, const char *arg, struct argp_state *state)
{
	opts->work = !strcmp(arg, "work");
	if (!opts->work && strcmp(arg, "time"))
		argp_error(state, "--burn %s: time or work", arg);
}

static void parse_engine(struct replay_options *opts, const char *arg, struct argp_state *state)
{
	opts->user = !strcmp(arg, "user");
	if (!opts->user && strcmp(arg, "module"))
		argp_error(state, "--engine %s: module or user", arg);
}

static void parse_repeat(struct replay_options *opts, const char *arg, struct argp_state *state)
{
	if (select_number_parse(&opts->repeat, arg) || !opts->repeat)
		argp_error(state, "-r %s: a number from 1 on", arg);
}

static void check(const struct replay_options *opts, struct argp_state *state)
{
	if (opts->record && !opts->repeat)
		argp_error(state, "--record takes one replay, not --loop");
	if (opts->record && opts->user)
		argp_error(state, "--record needs the module: not with --engine=user");
	if (opts->record && opts->common.json && !strcmp(opts->record, "-"))
		argp_error(state, "--json and --record - would share standard output");
	if (opts->record && opts->repeat > 1)
		argp_error(state, "--record takes one replay, not -r %u", opts->repeat);
}

/* Options that choose the part of the tape to replay. */
static error_t parse_part(int key, char *arg, struct argp_state *state)
{
	struct replay_options *opts = state->input;

	switch (key) {
	case OPT_ONLY:
		parse_choice(&opts->choice.only, "only", arg, state);
		break;
	case OPT_EXCLUDE:
		parse_choice(&opts->choice.exclude, "exclude", arg, state);
		break;
	case OPT_KTHREADS:
		opts->program.kthreads = true;
		break;
	case OPT_TIME:
		parse_time(opts, arg, state);
		break;
	case OPT_EXTERNAL:
		parse_external(opts, arg, state);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct replay_options *opts = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &opts->common;
		break;
	case OPT_SPEED:
		opts->speed = parse_factor("speed", arg, state);
		break;
	case OPT_SCALE_CPU:
		opts->scale_cpu = parse_factor("scale-cpu", arg, state);
		break;
	case OPT_BURN:
		parse_burn(opts, arg, state);
		break;
	case OPT_ENGINE:
		parse_engine(opts, arg, state);
		break;
	case OPT_CGROUPS:
		opts->cgroups = arg ? arg : "";
		break;
	case OPT_CPUS:
		parse_cpus(opts, arg, state);
		break;
	case 'r':
		parse_repeat(opts, arg, state);
		break;
	case OPT_LOOP:
		opts->repeat = 0;
		break;
	case OPT_RECORD:
		destination_option(&opts->record, arg, state);
		break;
	case OPT_NO_ATTRIBUTES:
		opts->no_attributes = true;
		break;
	case 'q':
		opts->quiet = true;
		break;
	case ARGP_KEY_END:
		check(opts, state);
		break;
	default:
		return parse_part(key, arg, state);
	}
	return 0;
}

void replay_options_parse(struct replay_options *opts, int argc, char **argv)
{
	static const struct argp_child children[] = { { &cmd_common_argp, 0, NULL, 0 }, { 0 } };
	static const struct argp argp = {
		.options = options,
		.parser = parse,
		.args_doc = "[FILE]",
		.doc = "Replays a tape with real threads: the same CPU time, sleeps, wake-ups, "
		       "forks and exits, scheduled by this machine.",
		.children = children,
	};

	*opts = (struct replay_options) {
		.common = CMD_COMMON_INIT,
		.speed = 1,
		.scale_cpu = 1,
		.repeat = 1,
	};
	cmd_parse(&argp, argc, argv, 0, opts);
	cpu_map_complete(&opts->cpus);
}

void replay_options_free(struct replay_options *opts)
{
	choice_free(&opts->choice);
	cpu_map_free(&opts->cpus);
	free(opts->record);
}
