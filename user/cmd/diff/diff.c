// SPDX-License-Identifier: GPL-2.0-only
/*
 * schedtape diff: how much one tape differs from another, for example the recording
 * of a replay from its original.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "common/input.h"
#include "common/options.h"
#include "common/output.h"
#include "diff/internal.h"

/* The value of a macro, for usage texts. */
#define STRING_OF(value)	#value
#define STRING(macro)	STRING_OF(macro)

#define OPT_SAME_GRAPH	0x102
#define OPT_MIN_RUNTIME	0x103
#define OPT_EDGES	0x104
#define OPT_LIMIT	0x200		/* plus an enum diff_limit */

static const struct argp_option options[] = {
	{ "max-cpu-error", OPT_LIMIT + DIFF_CPU, "PCT", 0,
	  "Exit 1 if a task's CPU time differs by more", 0 },
	{ "max-total-cpu-error", OPT_LIMIT + DIFF_TOTAL_CPU, "PCT", 0,
	  "The same for all tasks together", 0 },
	{ "max-wakeup-error", OPT_LIMIT + DIFF_WAKEUPS, "PCT", 0,
	  "Exit 1 if a task's number of wake-ups differs by more", 0 },
	{ "max-sleep-error", OPT_LIMIT + DIFF_SLEEPS, "PCT", 0,
	  "Exit 1 if a task's number of sleeps differs by more", 0 },
	{ "max-burst-distance", OPT_LIMIT + DIFF_BURST_KS, "D", 0,
	  "Exit 1 if the lengths of a task's bursts differ by more, from 0 to 1", 0 },
	{ "max-sleep-distance", OPT_LIMIT + DIFF_SLEEP_KS, "D", 0, "The same for sleeps", 0 },
	{ "max-delay-distance", OPT_LIMIT + DIFF_DELAY_KS, "D", 0,
	  "The same for scheduling delays, from runnable to running", 0 },
	{ "max-order-error", OPT_LIMIT + DIFF_ORDER, "PCT", 0,
	  "Exit 1 if more of all pairs of wake-ups have the other order", 0 },
	{ "max-wall-error", OPT_LIMIT + DIFF_WALL, "PCT", 0,
	  "Exit 1 if the wall time differs by more", 0 },
	{ "max-unmatched", OPT_LIMIT + DIFF_UNMATCHED, "N", 0,
	  "Exit 1 if more tasks are in OTHER only", 0 },
	{ "same-graph", OPT_SAME_GRAPH, NULL, 0,
	  "Exit 1 unless the same tasks wake each other equally often", 0 },
	{ "min-runtime", OPT_MIN_RUNTIME, "MS", 0,
	  "Don't judge the CPU time of tasks that ran less (" STRING(DIFF_MIN_RUNTIME_MS) ")", 0 },
	{ "edges", OPT_EDGES, NULL, 0,
	  "Also list edges whose numbers of wake-ups differ", 0 },
	{ 0 }
};

/* Returns the number that @text begins with.  Only @unit may follow it. */
static double parse_amount(const char *text, const char *unit, const char *what,
			   struct argp_state *state)
{
	double value;
	char *end;

	errno = 0;
	value = strtod(text, &end);
	if (errno || end == text || (*end && strcmp(end, unit)) || !isfinite(value) || value < 0)
		argp_error(state, "not %s: '%s'", what, text);
	return value;
}

static error_t parse_limit(struct diff_options *opts, int key, const char *arg,
			   struct argp_state *state)
{
	int limit = key - OPT_LIMIT;

	if (limit < 0 || limit >= DIFF_NR_LIMITS)
		return ARGP_ERR_UNKNOWN;
	switch (limit) {
	case DIFF_BURST_KS:
	case DIFF_SLEEP_KS:
	case DIFF_DELAY_KS:
		opts->limits[limit] = parse_amount(arg, "", "a distance from 0 to 1", state);
		break;
	case DIFF_UNMATCHED:
		opts->limits[limit] = parse_amount(arg, "", "a number of tasks", state);
		break;
	default:
		opts->limits[limit] = parse_amount(arg, "%", "a percentage", state) / 100;
	}
	return 0;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct diff_options *opts = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &opts->json;
		state->child_inputs[1] = &opts->table;
		return 0;
	case ARGP_KEY_ARG:
		if (state->arg_num >= 2)
			argp_error(state, "more than two tapes: '%s'", arg);
		else
			opts->paths[state->arg_num] = arg;
		return 0;
	case ARGP_KEY_END:
		if (state->arg_num < 2)
			argp_error(state, "two tapes are needed");
		return 0;
	case OPT_MIN_RUNTIME:
		opts->min_runtime = parse_amount(arg, "ms", "a time in ms", state) * 1e6;
		return 0;
	case OPT_SAME_GRAPH:
		opts->same_graph = true;
		return 0;
	case OPT_EDGES:
		opts->edges = true;
		return 0;
	}
	return parse_limit(opts, key, arg, state);
}

static int load(struct diff_side *side, const char *path)
{
	struct schedtape_error err = { "" };

	side->path = path;
	side->tape = cmd_open_tape(path);
	if (!side->tape)
		return CMD_TROUBLE;
	if (schedtape_profile_run(side->tape, &side->timeline, &side->profile, &err)) {
		out_error(path, "%s", err.text);
		return CMD_TROUBLE;
	}
	cmd_warn_damage(side->timeline);
	cmd_warn_empty(side->tape, path);
	side->end = schedtape_tape_end(side->tape);
	side->tasks = schedtape_timeline_tasks(side->timeline, &side->nr_tasks);
	return 0;
}

static void unload(struct diff_side *side)
{
	schedtape_timeline_free(side->timeline);
	schedtape_profile_free(side->profile);
	cmd_close_tape(side->tape, side->path);
}

static int show(struct diff *diff)
{
	struct schedtape_comparison *comparison;
	struct schedtape_error err = { "" };
	int status;

	if (schedtape_compare(diff->a.timeline, diff->b.timeline, &comparison, &err)) {
		out_error(NULL, "%s", err.text);
		return CMD_TROUBLE;
	}
	diff->distance = schedtape_comparison_distance(comparison);
	diff->pairs = schedtape_comparison_pairs(comparison, &diff->nr_pairs);
	diff->edges = schedtape_comparison_edges(comparison, &diff->nr_edges);
	status = diff_judge(diff, comparison) || diff_find_parts(diff) ? CMD_TROUBLE : 0;
	if (!status && diff->options->json)
		diff_print_json(diff);
	else if (!status)
		diff_print_text(diff);
	/* Output that cannot be written (a full disk) is trouble, even if the tapes agree. */
	if (out_finish(0))
		status = CMD_TROUBLE;
	if (!status)
		status = diff_check(diff);
	free(diff->parts);
	schedtape_comparison_free(comparison);
	return status;
}

int cmd_diff(int argc, char **argv)
{
	static const struct argp_child children[] = {
		{ &cmd_json_argp, 0, NULL, 0 }, { &table_argp, 0, NULL, 0 }, { 0 }
	};
	static const struct argp argp = {
		.options = options,
		.parser = parse,
		.args_doc = "ORIGINAL OTHER",
		.doc = "Compares two tapes task by task, like a workload and its replay.\v"
		       "Exit status: 0; 1 if a limit that was asked for is exceeded; 2 in trouble. "
		       "See schedtape-diff(1) for every column and how tasks are matched.",
		.children = children,
	};
	struct diff_options opts = {
		.table = { .columns = diff_columns },
		.min_runtime = DIFF_MIN_RUNTIME_MS * 1000000ULL,
	};
	struct diff diff = { .options = &opts };
	int status, limit;

	for (limit = 0; limit < DIFF_NR_LIMITS; limit++)
		opts.limits[limit] = -1;

	cmd_parse(&argp, argc, argv, 0, &opts);
	status = load(&diff.a, opts.paths[0]);
	if (!status)
		status = load(&diff.b, opts.paths[1]);
	if (!status)
		status = show(&diff);
	unload(&diff.a);
	unload(&diff.b);
	return status;
}
