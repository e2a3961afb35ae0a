// SPDX-License-Identifier: GPL-2.0-only
/*
 * schedtape start, snapshot, pause, resume and stop: orders to a running recorder.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "common/options.h"
#include "common/output.h"
#include "common/recorders.h"
#include "common/units.h"

#define OPT_RECORDER	0x100
#define OPT_AFTER	0x101

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
static int give(const char *name, const char *order)
{
	char result[RECORDERS_LINE];
	struct schedtape_error err;

	if (out_failed(recorders_ask(name, order, 0, result, &err), &err))
		return CMD_FAILURE;
	if (*result) {
		text_print(stdout, result);
		putchar('\n');
	}
	return out_finish(0);
}

static int run(int argc, char **argv, const char *order, const char *doc)
{
	const struct argp argp = { .parser = parse, .args_doc = "NAME", .doc = doc };
	struct order_options opts = { .name = NULL };

	cmd_parse(&argp, argc, argv, 0, &opts);
	return give(opts.name, order);
}

/* -- snapshots ------------------------------------------------------------- */

/**
 * struct snapshot_options - the command line
 * @recorder: name or PID of the recorder, or NULL: the only one
 * @after: how long to wait, ms
 * @note: a text for the snapshot, or NULL
 */
struct snapshot_options {
	const char *recorder;
	uint64_t after;
	const char *note;
};

static const struct argp_option snapshot_options[] = {
	{ "recorder", OPT_RECORDER, "NAME|PID", 0, "The recorder, if this user has several", 0 },
	{ "after", OPT_AFTER, "TIME", 0, "Take the snapshot this much later, as 500ms or 2s", 0 },
	{ 0 }
};

static error_t parse_snapshot(int key, char *arg, struct argp_state *state)
{
	struct snapshot_options *opts = state->input;

	switch (key) {
	case OPT_RECORDER:
		opts->recorder = NULL;
		recorders_parse(&opts->recorder, arg, state);
		break;
	case OPT_AFTER:
		if (!units_time(arg, 0, &opts->after))
			argp_error(state, "--after %s: not a time with ms, s, m, h or d", arg);
		break;
	case ARGP_KEY_ARG:
		if (opts->note)
			argp_error(state, "'%s': the note is one argument: quote it", arg);
		if (strchr(arg, '\n') || strlen(arg) >= RECORDERS_NOTE)
			argp_error(state, "the note is one line of at most %d bytes",
				   RECORDERS_NOTE - 1);
		opts->note = arg;
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

int cmd_snapshot(int argc, char **argv)
{
	static const struct argp argp = {
		.options = snapshot_options,
		.parser = parse_snapshot,
		.args_doc = "[NOTE]",
		.doc = "Makes a recorder of this user write what its rings have, if it runs with "
		       "-M or --overwrite, or end its tape and begin the next one, with "
		       "--switch-output. Prints the name of the tape. NOTE is on it.",
	};
	struct snapshot_options opts = { .recorder = NULL };
	char order[RECORDERS_NOTE + 64], *only = NULL;
	struct schedtape_error err;
	int status;

	cmd_parse(&argp, argc, argv, 0, &opts);
	if (!opts.recorder && out_failed(recorders_only(&only, &err), &err))
		return CMD_FAILURE;
	snprintf(order, sizeof(order), "snapshot after=%" PRIu64 "%s%s", opts.after,
		 opts.note ? " " : "", opts.note ? opts.note : "");
	status = give(opts.recorder ? opts.recorder : only, order);
	free(only);
	return status;
}

/* -- other orders ---------------------------------------------------------- */

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
