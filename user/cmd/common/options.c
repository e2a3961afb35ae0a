// SPDX-License-Identifier: GPL-2.0-only
#include "common/options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/color.h"
#include "common/complete.h"
#include "common/output.h"
#include "common/pager.h"

#define OPT_JSON	0x1000
#define OPT_NO_PAGER	0x1001

static const struct argp_option json_options[] = {
	{ "json", OPT_JSON, NULL, 0, "Print JSON", 0 },
	{ 0 }
};

static const struct argp_option common_options[] = {
	{ "input", 'i', "FILE", 0, "The tape (" CMD_DEFAULT_TAPE ")", 0 },
	{ "json", OPT_JSON, NULL, 0, "Print JSON", 0 },
	{ 0 }
};

static error_t parse_json(int key, char *arg, struct argp_state *state)
{
	bool *json = state->input;

	(void)arg;
	if (key != OPT_JSON)
		return ARGP_ERR_UNKNOWN;
	*json = true;
	return 0;
}

static error_t parse_common(int key, char *arg, struct argp_state *state)
{
	struct cmd_common *common = state->input;

	switch (key) {
	case ARGP_KEY_ARG:
		if (state->arg_num || common->option)
			argp_error(state, "more than one tape: '%s' and '%s'", common->input, arg);
		common->input = arg;
		return 0;
	case 'i':
		/* All options come before the arguments here. */
		common->option = true;
		common->input = arg;
		return 0;
	case OPT_JSON:
		common->json = true;
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

const struct argp cmd_json_argp = { .options = json_options, .parser = parse_json };
const struct argp cmd_common_argp = { .options = common_options, .parser = parse_common };

error_t cmd_parse_child(int key, char *arg, struct argp_state *state)
{
	(void)arg;
	if (key != ARGP_KEY_INIT)
		return ARGP_ERR_UNKNOWN;
	state->child_inputs[0] = state->input;
	return 0;
}

/* Of the options that every command has, only --no-pager has no parser of its own. */
static error_t parse_general(int key, char *arg, struct argp_state *state)
{
	if (key != OPT_NO_PAGER)
		return cmd_parse_child(key, arg, state);
	pager_forbid();
	return 0;
}

static error_t parse(const struct argp *argp, int argc, char **argv, unsigned int flags,
		     void *input)
{
	if (complete_begun())
		complete_options(argp, flags, input);
	return argp_parse(argp, argc, argv, flags, NULL, input);
}

void cmd_parse(const struct argp *argp, int argc, char **argv, unsigned int flags, void *input)
{
	static const struct argp_option no_pager[] = {
		{ "no-pager", OPT_NO_PAGER, NULL, 0, "Do not start a pager on a terminal", 0 },
		{ 0 }
	};
	const struct argp_child children[] = {
		{ argp, 0, NULL, 0 }, { &color_argp, 0, NULL, 0 }, { 0 }
	};
	const struct argp general = {
		.options = pager_allowed() ? no_pager : NULL,
		.parser = parse_general,
		.children = children,
	};
	char help[] = "--help";
	const char *pager;
	error_t rc;

	/* As in perf.  argp itself only knows -?, and other commands may want -h. */
	if (argc == 2 && !strcmp(argv[1], "-h"))
		argv[1] = help;
	rc = parse(&general, argc, argv, flags, input);
	/* A wrong option has ended the process before, so this is an error such as ENOMEM. */
	if (rc) {
		out_error(NULL, "cannot read the options");
		exit(CMD_USAGE);
	}
	color_begin();
	pager = pager_start();
	if (pager)
		out_warning(NULL, "cannot run the pager '%s': %s", pager, strerror(errno));
}
