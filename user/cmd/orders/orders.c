// SPDX-License-Identifier: GPL-2.0-only
/*
 * schedtape start, snapshot, pause, resume and stop: orders to a recorder that has a name.
 */
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "common/options.h"
#include "common/output.h"
#include "common/recorders.h"

struct order_options {
	const char *name;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct order_options *opts = state->input;

	switch (key) {
	case ARGP_KEY_ARG:
		recorders_parse(&opts->name, arg, state);
		break;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "which recorder? Give the NAME of record --name");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

/* Prints what the recorder answers behind "ok", if there is anything. */
static int run(int argc, char **argv, const char *order, const char *doc)
{
	const struct argp argp = { .parser = parse, .args_doc = "NAME", .doc = doc };
	struct order_options opts = { .name = NULL };
	char result[RECORDERS_LINE];
	struct schedtape_error err;

	cmd_parse(&argp, argc, argv, 0, &opts);
	if (out_failed(recorders_ask(opts.name, order, 0, result, &err), &err))
		return CMD_FAILURE;
	if (*result) {
		text_print(stdout, result);
		putchar('\n');
	}
	return out_finish(0);
}

int cmd_snapshot(int argc, char **argv)
{
	return run(argc, argv, "snapshot",
		   "Makes the recorder of that name end its tape and begin the next one, and prints "
		   "the name of the tape that has ended. The recorder needs --switch-output.");
}

int cmd_pause(int argc, char **argv)
{
	return run(argc, argv, "disable",
		   "Makes the recorder of that name pause, until \"schedtape resume\".");
}

int cmd_start(int argc, char **argv)
{
	return run(argc, argv, "enable",
		   "Makes the recorder of that name begin, if it waits for that: record -D -1.");
}

int cmd_resume(int argc, char **argv)
{
	return run(argc, argv, "enable",
		   "Makes the recorder of that name go on after \"schedtape pause\".");
}

int cmd_stop(int argc, char **argv)
{
	return run(argc, argv, "stop",
		   "Ends the recording of that name, and prints the name of the tape when that is "
		   "complete.");
}
