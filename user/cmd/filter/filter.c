// SPDX-License-Identifier: GPL-2.0-only
/*
 * schedtape filter: changes which tasks a running session records.
 */
#include <string.h>

#include "commands.h"
#include "common/options.h"
#include "common/output.h"
#include "common/rights.h"
#include "common/select.h"
#include "common/targets.h"

typedef int (*change_function)(struct schedtape_client *client, uint32_t session,
			       const struct schedtape_filter *filter, struct schedtape_error *err);

/**
 * struct verb - an operation on a filter
 * @flags: it takes -a and the other flags; false: it takes processes, threads and cgroups
 */
struct verb {
	const char *name;
	change_function change;
	bool flags;
};

static const struct verb verbs[] = {
	{ "add", schedtape_filter_add, false },
	{ "del", schedtape_filter_del, false },
	{ "set", schedtape_filter_set, true },
};

struct filter_options {
	struct targets targets;
	uint32_t session;
	const struct verb *verb;
};

static const struct verb *find_verb(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(verbs) / sizeof(*verbs); i++)
		if (!strcmp(name, verbs[i].name))
			return &verbs[i];
	return NULL;
}

static void parse_argument(struct filter_options *opts, const char *arg,
			   const struct argp_state *state)
{
	switch (state->arg_num) {
	case 0:
		if (select_number_parse(&opts->session, arg) || !opts->session)
			argp_error(state, "'%s': not the number of a session", arg);
		break;
	case 1:
		opts->verb = find_verb(arg);
		if (!opts->verb)
			argp_error(state, "'%s': neither add nor del nor set", arg);
		break;
	default:
		argp_error(state, "'%s': one argument too many", arg);
	}
}

static void check(const struct filter_options *opts, const struct argp_state *state)
{
	const struct targets *targets = &opts->targets;

	if (!opts->verb)
		argp_error(state, "which session, and add, del or set?");
	else if (opts->verb->flags && targets_named(targets))
		argp_error(state, "set takes -a, --kthreads, -i and --exclude-comm");
	else if (!opts->verb->flags && targets->flags_given)
		argp_error(state, "%s takes -p, -t and -G", opts->verb->name);
	else if (!opts->verb->flags && !targets_named(targets))
		argp_error(state, "which tasks? Give -p, -t or -G");
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct filter_options *opts = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &opts->targets;
		break;
	case ARGP_KEY_ARG:
		parse_argument(opts, arg, state);
		break;
	case ARGP_KEY_END:
		check(opts, state);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

int cmd_filter(int argc, char **argv)
{
	static const struct argp_child children[] = { { &targets_argp, 0, NULL, 0 }, { 0 } };
	static const struct argp argp = {
		.parser = parse,
		.args_doc = "SESSION add|del -p PID,... | -t TID,... | -G CGROUP,...\n"
			    "SESSION set [-a] [--kthreads] [-i] [--exclude-comm GLOB]",
		.doc = "Changes which tasks a running session records: adds or removes processes, "
		       "threads and cgroups; or replaces all other rules, where an option that is "
		       "not given is off. \"schedtape list\" shows the sessions.",
		.children = children,
	};
	struct filter_options opts = { .session = 0 };
	struct schedtape_client *client = NULL;
	struct schedtape_error err;
	int ret;

	cmd_parse(&argp, argc, argv, 0, &opts);
	ret = schedtape_client_open(&client, &err);
	if (!ret)
		ret = opts.verb->change(client, opts.session, &opts.targets.filter, &err);
	rights_say(ret, &err);
	schedtape_client_close(client);
	targets_free(&opts.targets);
	return ret ? CMD_FAILURE : 0;
}
