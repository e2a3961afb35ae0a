// SPDX-License-Identifier: GPL-2.0-only
/*
 * schedtape latency: how long tasks waited for a CPU, after they were woken or preempted.
 */
#include <stdlib.h>

#include "commands.h"
#include "common/groups.h"
#include "common/heading.h"
#include "common/input.h"
#include "common/options.h"
#include "common/output.h"
#include "common/select-tasks.h"
#include "common/selection.h"
#include "common/sheet.h"
#include "common/delays.h"
#include "latency/print.h"

#define OPT_HISTOGRAM	0x101

/**
 * struct latency - the command line
 * @histogram: --histogram
 */
struct latency {
	struct cmd_common common;
	struct selection selection;
	struct sheet_options sheet;
	enum groups_by by;
	struct time_text_options times;
	struct time_text time;
	bool histogram;
};

static const struct argp_option options[] = {
	{ "pids", 'p', NULL, 0, "A line for each task, not for all tasks of a name", 0 },
	{ "histogram", OPT_HISTOGRAM, NULL, 0, "Also show how many delays were how long", 0 },
	{ 0 }
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct latency *latency = state->input;

	(void)arg;
	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &latency->common;
		state->child_inputs[1] = &latency->selection;
		state->child_inputs[2] = &latency->sheet;
		state->child_inputs[3] = &latency->by;
		state->child_inputs[4] = &latency->times;
		return 0;
	case 'p':
		latency->by = GROUPS_TASK;
		return 0;
	case OPT_HISTOGRAM:
		latency->histogram = true;
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static void print(const struct latency *latency, struct schedtape_tape *tape,
		  const struct schedtape_timeline *timeline, struct sheet *sheet,
		  const struct schedtape_histogram *all)
{
	const char *path = latency->common.input;

	sheet_sort(sheet);
	if (latency->common.json) {
		out_json_begin("latency");
		heading_json(path, tape, timeline);
		sheet_json(sheet, "delays");
		if (latency->histogram)
			latency_json_histogram(all);
		out_json_end();
		return;
	}
	heading_print(path, tape, timeline, latency->sheet.times);
	sheet_print(sheet);
	if (latency->histogram)
		latency_print_histogram(all);
}

/* Returns the exit status. */
static int show(const struct latency *latency, struct schedtape_tape *tape,
		const struct schedtape_timeline *timeline, struct delays *delays)
{
	struct schedtape_histogram all = { 0 };
	int status = CMD_FAILURE;
	struct groups groups;
	struct sheet sheet;

	if (groups_make(&groups, latency->by, &latency->selection, tape, timeline)) {
		out_error(NULL, "not enough memory");
		return status;
	}
	sheet_begin(&sheet, latency_columns, &latency->sheet);
	if (latency_fill(&sheet, delays, &groups, &all)) {
		out_error(NULL, "not enough memory");
	} else if (!sheet.nr_rows && selection_of_any(&latency->selection)) {
		selection_no_match(&latency->selection, tape, latency->common.input, "task",
				   "");
	} else {
		print(latency, tape, timeline, &sheet, &all);
		status = 0;
	}
	schedtape_histogram_free(&all);
	sheet_free(&sheet);
	groups_free(&groups);
	return status;
}

static int run(struct latency *latency, struct schedtape_tape *tape)
{
	struct delays delays = {
		.selection = &latency->selection,
		.by_cpu = latency->by == GROUPS_CPU,
	};
	struct schedtape_timeline *timeline;
	struct schedtape_error err = { "" };
	const struct schedtape_task *tasks;
	int status = CMD_FAILURE;
	size_t n;

	if (schedtape_timeline_run(tape, &delays_ops, &delays, &timeline, &err)) {
		out_error(NULL, "%s", err.text[0] ? err.text : "not enough memory");
	} else {
		cmd_warn_damage(timeline);
		tasks = schedtape_timeline_tasks(timeline, &n);
		select_tasks_last(&latency->selection.comms, tasks, n, latency->common.input);
		status = show(latency, tape, timeline, &delays);
		schedtape_timeline_free(timeline);
	}
	delays_free(&delays);
	return status;
}

int cmd_latency(int argc, char **argv)
{
	static const struct argp_child children[] = {
		{ &cmd_common_argp, 0, NULL, 0 }, { &selection_argp, 0, NULL, 0 },
		{ &sheet_argp, 0, NULL, 0 }, { &groups_argp, 0, NULL, 0 },
		{ &time_text_table_argp, 0, NULL, 0 }, { 0 }
	};
	static const struct argp argp = {
		.options = options,
		.parser = parse,
		.args_doc = "[FILE]",
		.doc = "Shows how long tasks waited for a CPU, after they were woken or "
		       "preempted. See schedtape-latency(1) for every column.",
		.children = children,
	};
	struct latency latency = {
		.common = CMD_COMMON_INIT, .by = GROUPS_COMM, .times = TIME_TEXT_OPTIONS_INIT,
	};
	struct schedtape_tape *tape;
	int status = CMD_FAILURE;

	sheet_options_init(&latency.sheet, latency_columns, "max");
	latency.sheet.times = &latency.time;
	cmd_parse(&argp, argc, argv, 0, &latency);
	tape = cmd_open_tape_once(latency.common.input);
	if (tape && !selection_resolve_but_names(&latency.selection, tape, latency.common.input) &&
	    !time_text_begin(&latency.time, &latency.times, tape, latency.common.input))
		status = run(&latency, tape);
	if (tape)
		cmd_warn_empty(tape, latency.common.input);
	cmd_close_tape(tape, latency.common.input);
	selection_free(&latency.selection);
	return out_finish(status);
}
