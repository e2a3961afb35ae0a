// SPDX-License-Identifier: GPL-2.0-only
/*
 * schedtape recover: makes a complete tape of the valid parts of a truncated or corrupt one, or
 * tapes of the sessions that a machine had when it crashed.
 */
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "common/new-tape.h"
#include "common/select.h"
#include "recover/crash.h"

#define OPT_VMCORE	1000
#define OPT_SESSION	1001
#define OPT_LOAD	1002

/**
 * struct options - options of the command
 * @copy: of a tape, and those that both have
 * @crash: of a dump, if it has a name
 */
struct options {
	struct copy_options copy;
	struct crash_options crash;
};

static const struct argp_option own_options[] = {
	{ "vmcore", OPT_VMCORE, "FILE", 0,
	  "Read a dump of the memory of a crashed machine, and make a tape of each session", 0 },
	{ "session", OPT_SESSION, "ID", 0, "Of these, only the session with this number", 0 },
	{ "load", OPT_LOAD, "N", 0,
	  "The sessions of this load of the module, by the numbers that a warning names", 0 },
	{ 0 }
};

static void check(struct options *opts, struct argp_state *state)
{
	if (opts->crash.one && !opts->crash.vmcore)
		argp_error(state, "--session is for --vmcore");
	if (opts->crash.load && !opts->crash.vmcore)
		argp_error(state, "--load is for --vmcore");
	if (opts->crash.vmcore && strcmp(opts->copy.common.input, CMD_DEFAULT_TAPE))
		argp_error(state, "%s: a tape is not read with --vmcore", opts->copy.common.input);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct options *opts = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &opts->copy;
		break;
	case OPT_VMCORE:
		opts->crash.vmcore = arg;
		break;
	case OPT_SESSION:
		if (select_number_parse(&opts->crash.session, arg))
			argp_error(state, "--session %s: not the number of a session", arg);
		opts->crash.one = true;
		break;
	case OPT_LOAD:
		if (select_number_parse(&opts->crash.load, arg) || !opts->crash.load)
			argp_error(state, "--load %s: not the number of a load", arg);
		break;
	case ARGP_KEY_END:
		check(opts, state);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

int cmd_recover(int argc, char **argv)
{
	static const struct argp_child children[] = { { &copy_argp, 0, NULL, 0 }, { 0 } };
	static const struct argp argp = {
		.options = own_options,
		.args_doc = "[FILE|DIR]",
		.doc = "Writes a complete tape with all valid parts of a truncated or corrupt one, "
		       "and reports what was missing. The tape itself is not changed. With "
		       "--vmcore, makes tapes of what was recorded in the last seconds before a "
		       "machine crashed.",
		.children = children,
		.parser = parse,
	};
	struct options opts = {
		.copy = {
			.common = CMD_COMMON_INIT,
			.suffix = ".recovered",
			.recover = true,
		},
	};

	int status;

	cmd_parse(&argp, argc, argv, 0, &opts);
	opts.crash.output = opts.copy.output;
	opts.crash.quiet = opts.copy.quiet;
	opts.crash.json = opts.copy.common.json;
	status = opts.crash.vmcore ? crash_run(&opts.crash) : copy_run(&opts.copy);
	free(opts.copy.output);
	return status;
}
