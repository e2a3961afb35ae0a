// SPDX-License-Identifier: GPL-2.0-only
#include "common/new-tape.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "common/destination.h"
#include "common/input.h"
#include "common/output.h"
#include "common/signals.h"

/* -- progress -------------------------------------------------------------- */

int copying_begin(struct copying *copying, const char *output, bool quiet,
		  struct schedtape_error *err)
{
	*copying = (struct copying){
		.off = quiet || !isatty(STDERR_FILENO), .percent = 101, .signals = -1,
	};
	if (destination_is_stream(output))
		return 0;
	copying->signals = signals_open();
	return copying->signals < 0 ?
	       schedtape_fail(err, copying->signals, "cannot take signals: %s",
			      strerror(-copying->signals)) : 0;
}

int copying_show(void *arg, uint64_t done, uint64_t bytes)
{
	struct copying *copying = arg;
	unsigned int percent = bytes ? done * 100.0 / bytes : 100;

	if (!copying->off && percent != copying->percent) {
		copying->percent = percent;
		fprintf(stderr, "\r[ %s: %u %% ]\033[K", out_command(), percent);
	}
	return copying->signals >= 0 && signals_pending() ? -EINTR : 0;
}

void copying_end(struct copying *copying)
{
	if (!copying->off)
		fprintf(stderr, "\r\033[K");
	if (copying->signals >= 0)
		close(copying->signals);
}

/* -- options --------------------------------------------------------------- */

static const struct argp_option options[] = {
	{ "output", 'o', "FILE", 0, "Name of the new tape; -: standard output", 0 },
	{ "quiet", 'q', NULL, 0, "Print only errors", 0 },
	{ 0 }
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct copy_options *opts = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &opts->common;
		break;
	case 'o':
		destination_option(&opts->output, arg, state);
		break;
	case 'q':
		opts->quiet = true;
		break;
	case ARGP_KEY_END:
		if (opts->common.json && opts->output && !strcmp(opts->output, "-"))
			argp_error(state, "--json and -o - would share standard output");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp_child children[] = { { &cmd_common_argp, 0, NULL, 0 }, { 0 } };

const struct argp copy_argp = { .options = options, .parser = parse, .children = children };

/* -- names ----------------------------------------------------------------- */

/* Makes "tape.packed" of "tape/" and ".packed".  Returns NULL after setting @err. */
static char *name_output(const struct copy_options *opts, struct schedtape_error *err)
{
	const char *input = opts->common.input;
	size_t length = strlen(input);
	char *name, *output;

	if (opts->output)
		return strdup(opts->output);
	while (length > 1 && input[length - 1] == '/')
		length--;
	if (asprintf(&name, "%.*s%s", (int)length, input, opts->suffix) < 0)
		return NULL;
	output = destination_find(name, err);
	free(name);
	return output;
}

/* -- output ---------------------------------------------------------------- */

/**
 * struct result - the new tape
 * @command: "pack" or "recover"
 * @total: bytes of the old tape
 * @missing: description of the parts that were left out, or NULL
 * @counted: @events and @lost are known, because the new tape could be read again
 */
struct result {
	const char *command;
	const char *output;
	const char *missing;
	uint64_t bytes;
	uint64_t total;
	bool counted;
	uint64_t events;
	uint64_t lost;
};

/*
 * JSON of pack, recover:
 * @tape: Path of the new tape.
 * @bytes: Its size.
 * @events: Events on it; only if it can be read again.
 * @lost: Missing events; the same.
 * @damage: What was left out of the old tape, or null.
 */
static void print_json(const struct result *result)
{
	struct json_object *root = out_json_new(result->command);

	json_object_object_add(root, "tape", json_object_new_string(result->output));
	out_json_add_count(root, "bytes", result->bytes);
	if (result->counted) {
		out_json_add_count(root, "events", result->events);
		out_json_add_count(root, "lost", result->lost);
	}
	json_object_object_add(root, "damage", result->missing ?
			       json_object_new_string(result->missing) : NULL);
	out_json(root, true);
}

static void print_text(const struct copy_options *opts, const struct result *result)
{
	char events[OUT_COUNT_LEN], lost[OUT_COUNT_LEN], counts[2 * OUT_COUNT_LEN + 20] = "";

	if (result->missing)
		out_warning(opts->common.input, "%s", result->missing);
	if (opts->quiet)
		return;
	if (result->counted)
		snprintf(counts, sizeof(counts), ": %s events, %s lost",
			 out_count(events, result->events), out_count(lost, result->lost));
	fprintf(stderr, "[ %s: wrote %.3f MB to %s%s ]\n", out_command(), result->bytes / 1e6,
		result->output, counts);
}

/* Gets the counts from the new tape, because the old one may not have them. */
static int look_at(struct result *result, struct schedtape_error *err)
{
	struct schedtape_tape *tape;
	int ret;

	if (destination_is_stream(result->output))
		return 0;
	ret = schedtape_tape_open(result->output, &tape, err);
	if (ret)
		return ret;
	result->events = cmd_count_events(schedtape_tape_end(tape));
	result->lost = cmd_count_lost(schedtape_tape_end(tape));
	result->counted = true;
	schedtape_tape_close(tape);
	return 0;
}

/* -- copying --------------------------------------------------------------- */

static int copy(const struct copy_options *opts, struct schedtape_tape *tape,
		struct result *result, struct schedtape_error *err)
{
	struct copying copying;
	struct schedtape_copy_options how = {
		.size = sizeof(how),
		.recover = opts->recover,
		.progress = copying_show,
		.arg = &copying,
	};
	struct backup backup;
	int ret;

	ret = copying_begin(&copying, result->output, opts->quiet, err);
	if (!ret)
		ret = backup_old(result->output, &backup, err);
	if (ret)
		return ret;
	ret = schedtape_tape_copy(tape, result->output, &how, &result->bytes, err);
	if (!ret)
		ret = look_at(result, err);
	if (ret)
		backup_undo(&backup);
	else
		backup_done(&backup);
	copying_end(&copying);
	return ret;
}

/* What was written of a new file is removed; a pipe has it. */
static void say_failed(const struct copy_options *opts, const struct result *result, int ret,
		       const struct schedtape_error *err)
{
	if (ret == -EBADMSG && !opts->recover)
		out_error(NULL, "%s: see \"schedtape recover\"", err->text);
	else if (result->bytes || ret == -ENOSPC)
		out_error(NULL, "%s: %.3f of %.3f MB were copied", err->text,
			  result->bytes / 1e6, result->total / 1e6);
	else
		out_error(NULL, "%s", err->text);
}

/* Returns the exit status: 0 after a signal, see signals_die(). */
static int say_how(const struct copy_options *opts, const struct result *result, int ret,
		   const struct schedtape_error *err)
{
	if (ret == -EINTR)
		return 0;
	if (ret) {
		say_failed(opts, result, ret, err);
		return CMD_FAILURE;
	}
	if (opts->common.json)
		print_json(result);
	else
		print_text(opts, result);
	return 0;
}

static int copy_to(const struct copy_options *opts, const char *output)
{
	struct result result = {
		.command = opts->recover ? "recover" : "pack",
		.output = output,
	};
	struct schedtape_error err;
	struct schedtape_tape *tape;
	int ret;

	if (backup_refuse(opts->common.input, output, &err)) {
		out_error(NULL, "%s", err.text);
		return CMD_FAILURE;
	}
	tape = cmd_open_tape(opts->common.input);
	if (!tape)
		return CMD_FAILURE;
	result.total = schedtape_tape_bytes(tape);
	ret = copy(opts, tape, &result, &err);
	result.missing = schedtape_tape_damage(tape);
	ret = say_how(opts, &result, ret, &err);
	schedtape_tape_close(tape);
	return out_finish(ret);
}

int copy_run(const struct copy_options *opts)
{
	struct schedtape_error err = { "out of memory" };
	char *output = name_output(opts, &err);
	int status;

	if (!output) {
		out_error(NULL, "%s", err.text);
		return CMD_FAILURE;
	}
	signals_survive_writes();
	status = copy_to(opts, output);
	free(output);
	return status;
}
