// SPDX-License-Identifier: GPL-2.0-only
#include "sample/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/options.h"

#define OPT_AT		0x4000
#define OPT_EVENT	0x4001
#define OPT_INTERVAL	0x4002
#define OPT_MAX		0x4003
#define OPT_NO_CHECK	0x4004
#define OPT_RECOVER	0x4005
#define OPT_CRIU	0x4006
#define OPT_FILES	0x4007

#define LEAST_TIME	100000		/* ns: the sampler itself takes some 10,000 for an end */

static const struct argp_option options[] = {
	{ NULL, 0, NULL, 0, "What:", 1 },
	{ "pid", 'p', "PID", 0, "Sample this process and its descendants, not a command", 1 },
	{ "event", OPT_EVENT, "EVENT,...", 0,
	  "What is counted, as perf names it: instructions, task-clock, page-faults, "
	  "sched:sched_switch; or task-time. The first one ends intervals", 1 },
	{ "interval", OPT_INTERVAL, "N", 0,
	  "Length of an interval: so many of the first event, or of CPU time 100ms", 1 },
	{ "at", OPT_AT, "N,...", 0, "Note only the ends of these intervals, as 3,7-9", 1 },
	{ "max", OPT_MAX, "N", 0, "After so many intervals only record", 1 },
	{ "no-checkpoint", OPT_NO_CHECK, NULL, 0, "Make no checkpoints", 1 },
	{ "files", OPT_FILES, "written|none", 0,
	  "With a checkpoint, copy the files that it has written (written)", 1 },
	{ "criu", OPT_CRIU, "PROGRAM", 0, "Run this criu, instead of the one in the path", 1 },
	{ NULL, 0, NULL, 0, "How:", 2 },
	{ "output", 'o', "DIR", 0, "Directory for the tape and the list of intervals", 2 },
	{ "quiet", 'q', NULL, 0, "Print only errors and warnings", 2 },
	{ NULL, 0, NULL, 0, "Instead of all that:", 3 },
	{ "recover", OPT_RECOVER, "DIR", 0,
	  "Move processes back that a killed sampler has left in a cgroup, and remove that", 3 },
	{ 0 }
};

/**
 * struct parsing - options that are checked when all are known
 */
struct parsing {
	struct sample_options *opts;
	const char *interval;
};

static void parse_events(struct sample_options *opts, const char *arg,
			 const struct argp_state *state)
{
	char *wrong;
	int ret;

	events_free(&opts->events);
	ret = events_parse(&opts->events, arg, &wrong);
	if (ret == -EINVAL)
		argp_error(state, "--event %s: not an event, as instructions, cycles:u, "
			   "task-clock, page-faults, task-time or sched:sched_switch",
			   wrong ? wrong : arg);
	else if (ret)
		argp_failure(state, 1, -ret, "--event");
}

static void parse_interval(struct sample_options *opts, const char *arg,
			   const struct argp_state *state)
{
	const struct sample_event *event = &opts->events.list[0];

	if (!events_parse_count(event, arg, &opts->interval))
		argp_error(state, event->is_time ? "--interval %s: not a time, as 100ms" :
						   "--interval %s: not a number from 1 on", arg);
	if (event->is_time && opts->interval < LEAST_TIME)
		argp_error(state, "--interval %s: an interval is at least 100us", arg);
}

static void parse_numbers(int key, const char *arg, struct sample_options *opts,
			  const struct argp_state *state)
{
	if (key == 'p' && (select_number_parse(&opts->pid, arg) || !opts->pid))
		argp_error(state, "-p %s: not a PID", arg);
	if (key == OPT_MAX && (select_number_parse(&opts->max, arg) || !opts->max))
		argp_error(state, "--max %s: not a number from 1 on", arg);
	if (key == OPT_AT && (select_numbers_parse(&opts->at, arg) ||
			      select_numbers_has(&opts->at, 0)))
		argp_error(state, "--at %s: not numbers of intervals from 1 on, as 3,7-9", arg);
}

/* An interval of --at behind --max would never end. */
static bool at_is_beyond(const struct sample_options *opts)
{
	size_t i;

	for (i = 0; i < opts->at.nr; i++)
		if (!opts->max || opts->at.ranges[i].first <= opts->max)
			return false;
	return opts->at.nr;
}

static void check(const struct parsing *parsing, const struct argp_state *state)
{
	struct sample_options *opts = parsing->opts;

	if (opts->recover) {
		if (opts->command || opts->pid || opts->output || opts->events.nr)
			argp_error(state, "--recover takes no other option and no command");
		return;
	}
	if (!opts->command == !opts->pid)
		argp_error(state, opts->pid ? "either -p or a command" :
					      "what is to be sampled: -- COMMAND, or -p PID?");
	if (!opts->events.nr)
		argp_error(state, "--event: which event ends intervals? For example task-clock");
	if (!parsing->interval)
		argp_error(state, "--interval: how long is an interval?");
	else
		parse_interval(opts, parsing->interval, state);
	if (at_is_beyond(opts))
		argp_error(state, "--at: all these intervals come after --max %u", opts->max);
	if (!opts->output)
		argp_error(state, "-o: into which directory?");
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct parsing *parsing = state->input;
	struct sample_options *opts = parsing->opts;

	switch (key) {
	case OPT_EVENT:
		parse_events(opts, arg, state);
		break;
	case OPT_INTERVAL:
		parsing->interval = arg;
		break;
	case OPT_NO_CHECK:
		opts->no_checkpoint = true;
		break;
	case OPT_FILES:
		if (strcmp(arg, "written") && strcmp(arg, "none"))
			argp_error(state, "--files %s: written or none", arg);
		opts->no_files = !strcmp(arg, "none");
		break;
	case OPT_CRIU:
		opts->criu = arg;
		break;
	case OPT_RECOVER:
		opts->recover = arg;
		break;
	case 'o':
		opts->output = arg;
		break;
	case 'q':
		opts->quiet = true;
		break;
	case ARGP_KEY_ARGS:
		opts->command = state->argv + state->next;
		break;
	case ARGP_KEY_END:
		check(parsing, state);
		break;
	case 'p':
	case OPT_AT:
	case OPT_MAX:
		parse_numbers(key, arg, opts, state);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

void sample_options_parse(struct sample_options *opts, int argc, char **argv)
{
	static const struct argp argp = {
		.options = options,
		.parser = parse,
		.args_doc = "--event EVENT --interval N -o DIR -- COMMAND [ARG...]\n"
			    "--event EVENT --interval N -o DIR -p PID\n"
			    "--recover DIR",
		.doc = "Records a workload in a cgroup of its own, and notes on the tape when each "
		       "interval ends: after so many instructions, page faults or the like. "
		       "There it takes a checkpoint, which restore runs on from. "
		       "See schedtape-sample(1).",
	};
	struct parsing parsing = { .opts = opts };

	*opts = (struct sample_options){ 0 };
	cmd_parse(&argp, argc, argv, ARGP_IN_ORDER, &parsing);
}

void sample_options_free(struct sample_options *opts)
{
	events_free(&opts->events);
	select_numbers_free(&opts->at);
}
