// SPDX-License-Identifier: GPL-2.0-only
/*
 * schedtape diff: how far one tape is from another, as the recording of a
 * replay is from its original.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "cmd.h"
#include "diff.h"
#include "output.h"

#define OPT_MAX_CPU	0x100
#define OPT_MAX_WAKEUP	0x101
#define OPT_SAME_GRAPH	0x102
#define OPT_MIN_RUNTIME	0x103
#define OPT_EDGES	0x104

static const struct argp_option options[] = {
	{ "max-cpu-error", OPT_MAX_CPU, "PCT", 0,
	  "Exit 1 if a task's CPU time differs by more", 0 },
	{ "max-wakeup-error", OPT_MAX_WAKEUP, "PCT", 0,
	  "Exit 1 if a task's number of wake-ups differs by more", 0 },
	{ "same-graph", OPT_SAME_GRAPH, NULL, 0,
	  "Exit 1 unless the same tasks wake each other equally often", 0 },
	{ "min-runtime", OPT_MIN_RUNTIME, "MS", 0,
	  "Don't judge the CPU time of tasks that ran less (1)", 0 },
	{ "edges", OPT_EDGES, NULL, 0,
	  "Also who wakes whom in one more often than in the other", 0 },
	{ 0 }
};

static double parse_amount(const char *text, const char *what, struct argp_state *state)
{
	double value;
	char *end;

	errno = 0;
	value = strtod(text, &end);
	if (errno || end == text || *end || !isfinite(value) || value < 0)
		argp_error(state, "not %s: '%s'", what, text);
	return value;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct diff_options *opts = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &opts->json;
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
	case OPT_MAX_CPU:
		opts->max_cpu_error = parse_amount(arg, "a percentage", state) / 100;
		return 0;
	case OPT_MAX_WAKEUP:
		opts->max_wakeup_error = parse_amount(arg, "a percentage", state) / 100;
		return 0;
	case OPT_MIN_RUNTIME:
		opts->min_runtime = parse_amount(arg, "a time in ms", state) * 1e6;
		return 0;
	case OPT_SAME_GRAPH:
		opts->same_graph = true;
		return 0;
	case OPT_EDGES:
		opts->edges = true;
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static int load(struct diff_side *side, const char *path)
{
	side->path = path;
	side->tape = cmd_open_tape(path);
	if (!side->tape)
		return CMD_TROUBLE;
	side->timeline = cmd_run_timeline(side->tape);
	if (!side->timeline)
		return CMD_TROUBLE;
	side->end = schedtape_tape_end(side->tape);
	side->lives = schedtape_timeline_lives(side->timeline, &side->nr_lives);
	return 0;
}

static void unload(struct diff_side *side)
{
	schedtape_timeline_free(side->timeline);
	cmd_close_tape(side->tape, side->path);
}

double diff_cpu_error(const struct diff *diff, const struct schedtape_pair *pair)
{
	const struct schedtape_life *a = diff_a(diff, pair), *b = diff_b(diff, pair);

	return schedtape_relative_error(a ? a->cpu_time : 0, b ? b->cpu_time : 0);
}

double diff_wakeup_error(const struct diff *diff, const struct schedtape_pair *pair)
{
	const struct schedtape_life *a = diff_a(diff, pair), *b = diff_b(diff, pair);

	return schedtape_relative_error(a ? a->wakeups : 0, b ? b->wakeups : 0);
}

static bool is_small(const struct diff *diff, const struct schedtape_pair *pair)
{
	const struct schedtape_life *a = diff_a(diff, pair), *b = diff_b(diff, pair);

	return a->cpu_time < diff->options->min_runtime &&
	       (!b || b->cpu_time < diff->options->min_runtime);
}

/*
 * The tasks of A are judged.  What is only in B, like the program that starts a
 * replay, is told but no error.
 */
static void judge(struct diff *diff)
{
	struct diff_verdict *verdict = &diff->verdict;
	size_t i;

	for (i = 0; i < diff->nr_pairs; i++) {
		const struct schedtape_pair *pair = &diff->pairs[i];
		double wakeup_error;

		if (pair->a == SCHEDTAPE_NONE)
			continue;
		wakeup_error = diff_wakeup_error(diff, pair);
		if (!verdict->worst_wakeup || fabs(wakeup_error) > fabs(verdict->wakeup_error)) {
			verdict->worst_wakeup = pair;
			verdict->wakeup_error = wakeup_error;
		}
		if (is_small(diff, pair)) {
			verdict->small++;
			continue;
		}
		if (!verdict->worst_cpu ||
		    fabs(diff_cpu_error(diff, pair)) > fabs(verdict->cpu_error)) {
			verdict->worst_cpu = pair;
			verdict->cpu_error = diff_cpu_error(diff, pair);
		}
	}
}

static void complain(const struct diff *diff, const struct schedtape_pair *pair, const char *what,
		     double error, double most)
{
	const struct schedtape_life *life = diff_a(diff, pair);
	char task[OUT_TASK_LEN], is[OUT_PERCENT_LEN], limit[OUT_PERCENT_LEN];

	out_error(NULL, "%s of %s: %s off, the limit is %s", what,
		  out_task(task, life->comm, life->pid), out_percent(is, error),
		  out_percent(limit, most));
}

/* Which of the limits that were asked for are exceeded? */
static int check_limits(const struct diff *diff)
{
	const struct diff_options *opts = diff->options;
	const struct diff_verdict *verdict = &diff->verdict;
	int status = 0;

	if (opts->max_cpu_error >= 0 && fabs(verdict->cpu_error) > opts->max_cpu_error) {
		complain(diff, verdict->worst_cpu, "CPU time", verdict->cpu_error,
			 opts->max_cpu_error);
		status = CMD_FAILURE;
	}
	if (opts->max_wakeup_error >= 0 && fabs(verdict->wakeup_error) > opts->max_wakeup_error) {
		complain(diff, verdict->worst_wakeup, "wake-ups", verdict->wakeup_error,
			 opts->max_wakeup_error);
		status = CMD_FAILURE;
	}
	if (opts->same_graph && !diff->distance->same_graph) {
		out_error(NULL, "the graphs of who wakes whom differ");
		status = CMD_FAILURE;
	}
	return status;
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
	judge(diff);
	if (diff->options->json)
		diff_print_json(diff);
	else
		diff_print_text(diff);
	/* A full disk is trouble, whatever the tapes are like. */
	status = out_finish(0) ? CMD_TROUBLE : check_limits(diff);
	schedtape_comparison_free(comparison);
	return status;
}

int cmd_diff(int argc, char **argv)
{
	static const struct argp_child children[] = { { &cmd_json_argp, 0, NULL, 0 }, { 0 } };
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
		.max_cpu_error = -1,
		.max_wakeup_error = -1,
		.min_runtime = 1000000,
	};
	struct diff diff = { .options = &opts };
	int status;

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
