// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the subcommands share: common options, opening a tape.
 */
#include <stdlib.h>
#include <sys/resource.h>

#include "common/options.h"
#include "common/output.h"

#define OPT_JSON	0x1000

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
		if (state->arg_num)
			argp_error(state, "more than one tape: '%s'", arg);
		/* fall through */
	case 'i':
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

void cmd_parse(const struct argp *argp, int argc, char **argv, unsigned int flags, void *input)
{
	error_t rc = argp_parse(argp, argc, argv, flags, NULL, input);

	/* Wrong options have ended the program before; this is something like ENOMEM. */
	if (rc) {
		out_error(NULL, "cannot read the options");
		exit(CMD_USAGE);
	}
}

/* A tape may be a directory with more files than a process usually has. */
static void raise_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

struct schedtape_tape *cmd_open_tape(const char *path)
{
	struct schedtape_error err = { "" };
	struct schedtape_tape *tape;

	raise_limit();
	if (schedtape_tape_open(path, &tape, &err)) {
		out_error(NULL, "%s", err.text);
		return NULL;
	}
	return tape;
}

void cmd_warn_damage(const struct schedtape_timeline *timeline)
{
	if (schedtape_timeline_damage(timeline))
		out_warning(NULL, "%s", schedtape_timeline_damage(timeline));
}

struct schedtape_timeline *cmd_run_timeline(struct schedtape_tape *tape)
{
	struct schedtape_timeline *timeline;
	struct schedtape_error err = { "" };

	if (schedtape_timeline_run(tape, NULL, NULL, &timeline, &err)) {
		out_error(NULL, "%s", err.text);
		return NULL;
	}
	cmd_warn_damage(timeline);
	return timeline;
}

void cmd_close_tape(struct schedtape_tape *tape, const char *path)
{
	const char *torn;

	if (!tape)
		return;
	torn = schedtape_tape_torn(tape);
	if (torn)
		out_warning(path, "%s", torn);
	schedtape_tape_close(tape);
}

uint64_t cmd_count_events(const struct schedtape_end *end)
{
	uint64_t events = 0;
	size_t i;

	for (i = 0; i < end->nr_cpus; i++)
		events += end->cpus[i].events;
	return events;
}

uint64_t cmd_count_lost(const struct schedtape_end *end)
{
	uint64_t lost = 0;
	size_t i;

	for (i = 0; i < end->nr_cpus; i++)
		lost += end->cpus[i].lost;
	return lost;
}
