// SPDX-License-Identifier: GPL-2.0-only
/*
 * schedtape export: writes a tape in a format that viewers read.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "commands.h"
#include "common/destination.h"
#include "common/input.h"
#include "common/new-file.h"
#include "common/options.h"
#include "common/output.h"
#include "common/signals.h"
#include "export/internal.h"
#include "export/packets.h"
#include "tape/meta.h"

/**
 * struct format - a format of traces
 * @suffix: of the names of its files
 * @binary: they are not for a terminal
 * @file: how they begin
 * @write: NULL: this program is built without it
 */
struct format {
	const char *name;
	const char *suffix;
	bool binary;
	struct new_file_kind file;
	int (*write)(struct export *export, struct schedtape_error *err);
};

static const struct format formats[] = {
	{
		.name = "perfetto", .suffix = ".pftrace", .binary = true,
		.file = { "trace", PACKETS_BEGIN, sizeof(PACKETS_BEGIN) - 1 },
#ifdef HAVE_PROTOBUF_C
		.write = export_perfetto,
#endif
	},
	{
		.name = "chrome", .suffix = ".json",
		.file = { "trace", EXPORT_CHROME_BEGIN, sizeof(EXPORT_CHROME_BEGIN) - 1 },
		.write = export_chrome,
	},
};

#define NR_FORMATS	(sizeof(formats) / sizeof(*formats))

/**
 * struct command - the command line
 * @format: NULL: not given yet
 * @output: where the trace is written, see destination_find(); NULL: beside the tape
 */
struct command {
	struct cmd_common common;
	struct selection selection;
	const struct format *format;
	char *output;
	unsigned long worst;
	bool quiet;
};

#define OPT_WORST	0x100

#define WORST		20
#define MOST		10000

static const struct argp_option options[] = {
	{ "output", 'o', "FILE", 0, "Name of the trace; -: standard output", 0 },
	{ "quiet", 'q', NULL, 0, "Print only errors", 0 },
	{ "worst", OPT_WORST, "N", 0, "Explain the N worst waits, as why does (20)", 0 },
	{ 0 }
};

static const struct format *find_format(const char *name, struct argp_state *state)
{
	size_t i;

	for (i = 0; i < NR_FORMATS; i++)
		if (!strcmp(formats[i].name, name))
			return &formats[i];
	argp_error(state, "'%s': the format is perfetto or chrome", name);
	return NULL;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct command *command = state->input;
	char *end;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &command->common;
		state->child_inputs[1] = &command->selection;
		return 0;
	case 'o':
		destination_option(&command->output, arg, state);
		return 0;
	case 'q':
		command->quiet = true;
		return 0;
	case OPT_WORST:
		command->worst = strtoul(arg, &end, 10);
		if (*arg < '0' || *arg > '9' || *end || command->worst > MOST)
			argp_error(state, "--worst: not a number from 0 to %u: '%s'", MOST, arg);
		return 0;
	case ARGP_KEY_ARG:
		if (command->format)
			return ARGP_ERR_UNKNOWN;
		command->format = find_format(arg, state);
		return 0;
	case ARGP_KEY_END:
		if (!command->format)
			argp_error(state, "which format? perfetto or chrome");
		if (command->common.json && command->output && !strcmp(command->output, "-"))
			argp_error(state, "--json and -o - would share standard output");
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

/* -- the trace ------------------------------------------------------------- */

/* Makes "my.tape.pftrace" of "my.tape/" and ".pftrace".  Returns NULL after a message. */
static char *name_output(const struct command *command)
{
	const char *input = command->common.input;
	struct schedtape_error err = { "out of memory" };
	size_t length = strlen(input);
	char *name, *output = NULL;

	if (command->output)
		return strdup(command->output);
	while (length > 1 && input[length - 1] == '/')
		length--;
	if (!strcmp(input, "-"))
		length = strlen(input = CMD_DEFAULT_TAPE);
	if (asprintf(&name, "%.*s%s", (int)length, input, command->format->suffix) >= 0) {
		output = destination_find(name, &err);
		free(name);
	}
	if (!output)
		out_error(NULL, "%s", err.text);
	return output;
}

static bool is_terminal(const char *path)
{
	int fd = tape_writer_descriptor(path);

	return fd >= 0 && isatty(fd);
}

/*
 * JSON of export:
 * @trace: Path of the trace.
 * @bytes: Its size; 0 if it is a pipe or a device.
 */
static void say(const struct command *command, const char *path, uint64_t bytes)
{
	struct json_object *root;

	if (command->common.json) {
		root = out_json_new("export");
		json_object_object_add(root, "trace", json_object_new_string(path));
		out_json_add_count(root, "bytes", bytes);
		out_json(root, true);
	} else if (!command->quiet && bytes) {
		fprintf(stderr, "[ %s: wrote %.3f MB to %s ]\n", out_command(), bytes / 1e6, path);
	}
}

/* Returns 0 or -errno. */
static int write_to(struct export *export, const struct command *command, const char *path,
		    uint64_t *bytes, struct schedtape_error *err)
{
	struct new_file file;
	int rc = 0;

	/* Ctrl-C ends the recorder at the other end of a pipe. */
	if (schedtape_tape_is_pipe(export->tape))
		export->copying = (struct copying){ .off = true, .signals = -1 };
	else
		rc = copying_begin(&export->copying, path, command->quiet, err);
	if (rc)
		return rc;
	rc = new_file_open(&file, path, &command->format->file, err);
	if (!rc) {
		export->to = file.to;
		rc = command->format->write(export, err);
		if (!rc && !export->any)
			rc = -ENODATA;
		*bytes = file.name && !rc ? ftello(file.to) : 0;
	}
	rc = new_file_close(&file, rc);
	copying_end(&export->copying);
	return rc;
}

/* Returns the exit status; 0 after a signal, see signals_die(). */
static int export_tape(struct command *command, struct schedtape_tape *tape, const char *path)
{
	const struct schedtape_end *end = schedtape_tape_end(tape);
	struct export export = {
		.path = command->common.input, .tape = tape, .selection = &command->selection,
		.worst = command->worst, .start = end->start_time,
		.span = end->stop_time > end->start_time ? end->stop_time - end->start_time : 0,
	};
	struct schedtape_error err = { "" };
	uint64_t bytes = 0;
	int rc;

	rc = write_to(&export, command, path, &bytes, &err);
	if (rc == -EINTR)
		return 0;
	if (rc == -ENODATA)
		selection_no_match(&command->selection, tape, export.path, "task", "");
	else if (rc)
		out_error(NULL, "%s%s%s", err.text[0] ? "" : path, err.text[0] ? "" : ": ",
			  err.text[0] ? err.text : strerror(-rc));
	else
		say(command, path, bytes);
	return rc ? CMD_FAILURE : 0;
}

/* Returns the exit status. */
static int run(struct command *command, const char *path)
{
	const char *input = command->common.input;
	struct schedtape_tape *tape;
	int status = CMD_FAILURE;

	if (command->format->binary && is_terminal(path)) {
		out_error(NULL, "a trace is no text for a terminal: name a file, with -o FILE");
		return CMD_FAILURE;
	}
	tape = cmd_open_tape_once(input);
	if (!tape)
		return CMD_FAILURE;
	if (!cmd_warn_empty(tape, input) && !selection_resolve(&command->selection, tape, input))
		status = export_tape(command, tape, path);
	cmd_close_tape(tape, input);
	return status;
}

int cmd_export(int argc, char **argv)
{
	static const struct argp_child children[] = {
		{ &cmd_common_argp, 0, NULL, 0 }, { &selection_short_argp, 0, NULL, 0 }, { 0 }
	};
	static const struct argp argp = {
		.options = options,
		.parser = parse,
		.args_doc = "perfetto|chrome [FILE]",
		.doc = "Writes a tape as a trace for a viewer. See schedtape-export(1).",
		.children = children,
	};
	struct command command = { .common = CMD_COMMON_INIT, .worst = WORST };
	int status = CMD_FAILURE;
	char *path;

	cmd_parse(&argp, argc, argv, 0, &command);
	signals_survive_writes();
	if (!command.format->write) {
		out_error(NULL, "this program was built without protobuf-c, which %s needs",
			  command.format->name);
	} else {
		path = name_output(&command);
		if (path)
			status = run(&command, path);
		free(path);
	}
	free(command.output);
	selection_free(&command.selection);
	return out_finish(status);
}
