// SPDX-License-Identifier: GPL-2.0-only
/*
 * schedtape latency: how long tasks waited for a CPU, after they were woken or preempted.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "common/color.h"
#include "common/heading.h"
#include "common/input.h"
#include "common/options.h"
#include "common/output.h"
#include "common/select-tasks.h"
#include "common/selection.h"
#include "common/task-sums.h"
#include "latency/internal.h"

#define OPT_HISTOGRAM	0x101
#define BAR	50	/* characters of the longest bar */

enum column {
	TASK, RUNTIME, COUNT, MEDIAN, P95, P99, WORST, WORST_AT, WORST_CPU, AVERAGE, SUM, TASKS,
	PID,
};

/*
 * JSON delays[] of latency:
 * @name: Name of the task, or of the group of tasks that the line adds up, as in the table.
 * @cpu_time_ns: Time on a CPU.
 * @delays: Number of delays.
 * @delay_median_ns: Delays, see schedtape-latency(1). This key and the next five are null if the
 *	line has no delay.
 * @delay_p95_ns, @delay_p99_ns, @delay_max_ns:
 * @delay_max_begin_ns: When the longest one began.
 * @delay_max_cpu: The CPU on which it ended.
 * @delay_avg_ns:
 * @delay_total_ns: Sum of all delays.
 * @tasks: Number of tasks.
 * @pid: PID of the task if it is only one, or null.
 */
const struct sheet_column latency_columns[] = {
	[TASK] = { { "task", "task", TABLE_TEXT | TABLE_NEEDED }, SHEET_TEXT,
		   "name", SHEET_PROPERTY },
	[RUNTIME] = { { "cpu", "CPU\nms", 0 }, SHEET_MS, "cpu_time_ns", SHEET_SUM },
	[COUNT] = { { "delays", "delays", 0 }, SHEET_COUNT, "delays", SHEET_SUM },
	[MEDIAN] = { { "delay-median", "median\nms", 0 }, SHEET_DELAY,
		     "delay_median_ns", SHEET_DISTRIBUTION },
	[P95] = { { "delay-p95", "95 %\nms", 0 }, SHEET_DELAY, "delay_p95_ns", SHEET_DISTRIBUTION },
	[P99] = { { "delay-p99", "99 %\nms", 0 }, SHEET_DELAY, "delay_p99_ns", SHEET_DISTRIBUTION },
	[WORST] = { { "delay-max", "max\nms", TABLE_NEEDED | TABLE_WORST }, SHEET_DELAY,
		    "delay_max_ns", SHEET_DISTRIBUTION },
	[WORST_AT] = { { "delay-max-at", "max began\nat s", 0 }, SHEET_TIME,
		       "delay_max_begin_ns", SHEET_DISTRIBUTION },
	[WORST_CPU] = { { "delay-max-cpu", "on\nCPU", 0 }, SHEET_CPU,
			"delay_max_cpu", SHEET_DISTRIBUTION },
	[AVERAGE] = { { "delay-avg", "average\nms", TABLE_ASKED }, SHEET_DELAY,
		      "delay_avg_ns", SHEET_DISTRIBUTION },
	[SUM] = { { "delay-total", "total\nms", TABLE_ASKED }, SHEET_MS,
		  "delay_total_ns", SHEET_SUM },
	[TASKS] = { { "tasks", "tasks", TABLE_ASKED }, SHEET_COUNT, "tasks", SHEET_PROPERTY },
	[PID] = { { "pid", "PID", TABLE_ASKED }, SHEET_CPU, "pid", SHEET_PROPERTY },
	{ .json = NULL }
};

/* perf sched latency -s */
static const struct sheet_alias aliases[] = {
	{ "runtime", "cpu" }, { "switch", "delays" }, { "avg", "delay-avg" },
	{ "max", "delay-max" }, { NULL, NULL }
};

/* -- lines ----------------------------------------------------------------- */

static int fill_row(union sheet_value *row, const struct task_sum *sum,
		    const struct groups *groups, const struct group *group, const void *arg)
{
	static const struct delays_columns columns = {
		.median = MEDIAN, .worst_at = WORST_AT, .worst_cpu = WORST_CPU,
		.average = AVERAGE, .nr = COUNT, .sum = SUM,
	};

	(void)groups;
	(void)group;
	(void)arg;
	row[RUNTIME].n = sum->delays.runtime;
	delays_fill(row, &columns, &sum->delays);
	return 0;
}

/* Makes a line for each group that has run or waited, and the total.  Returns 0 or -ENOMEM. */
static int fill(struct sheet *sheet, const struct task_sums *sums, struct groups *groups,
		struct task_sum *total)
{
	static const struct group_view view = {
		.labels = { .tasks = TASKS, .pid = PID }, .fill = fill_row,
	};
	struct group_sums of_groups = { .room = 0 };
	int rc = group_sums_add_all(&of_groups, groups, sums, NULL);

	if (!rc)
		rc = group_sums_fill(sheet, groups, &of_groups, &view, NULL, total);
	group_sums_free(&of_groups);
	return rc;
}

/* -- the histogram --------------------------------------------------------- */

/* Returns 1, 2, 5, 10, 20, 50, ...: the limit after @limit. */
static uint64_t next_limit(uint64_t limit)
{
	uint64_t first = limit;

	while (first >= 10)
		first /= 10;
	return first == 2 ? limit / 2 * 5 : 2 * limit;
}

static void print_bar(uint64_t first, uint64_t last, uint64_t count, uint64_t most)
{
	static const char bar[BAR + 1] = "##################################################";

	printf("%12.3f %12.3f %12" PRIu64 "%s%.*s\n", first / 1e3, last / 1e3, count,
	       count ? "  " : "", (int)((double)count * BAR / most + 0.5), bar);
}

/**
 * struct bars - the lines of a histogram
 * @counts: of each line
 * @n: number of lines up to the last one that has a count
 * @first: of the first line that has one
 * @most: the largest count
 */
struct bars {
	uint64_t counts[60];		/* 1 to 5 * 10^19 */
	size_t n;
	size_t first;
	uint64_t most;
};

static void fill_bars(struct bars *bars, const uint64_t *counts)
{
	uint64_t first, limit = 1;
	size_t i, at = 0;

	*bars = (struct bars){ .first = SIZE_MAX };
	for (i = 0; i < HISTOGRAM_BUCKETS; i++) {
		if (!counts[i])
			continue;
		first = i ? schedtape_histogram_limit(i - 1) + 1 : 0;
		/* From there on the next limit would be too large. */
		while (first > limit && limit < 1ULL << 62) {
			limit = next_limit(limit);
			at++;
		}
		bars->counts[at] += counts[i];
		if (bars->counts[at] > bars->most)
			bars->most = bars->counts[at];
		if (bars->first > at)
			bars->first = at;
		bars->n = at + 1;
	}
}

static void print_histogram(const struct schedtape_histogram *all)
{
	uint64_t counts[HISTOGRAM_BUCKETS], limit = 1, last = 0;
	struct bars bars;
	size_t at;

	schedtape_histogram_counts(all, counts);
	fill_bars(&bars, counts);
	printf("\n%s%12s %12s %12s%s\n", color_on(COLOR_HEADING), "above us", "up to us", "delays",
	       color_off(COLOR_HEADING));
	for (at = 0; at < bars.n && out_works(); at++) {
		if (at >= bars.first)
			print_bar(last, limit, bars.counts[at], bars.most);
		last = limit;
		limit = next_limit(limit);
	}
}

/*
 * Prints the member "histogram": the buckets that have delays.
 *
 * JSON histogram[] of latency:
 * @up_to_ns: The longest delay that would be in the bucket.
 * @delays: Number of delays.
 */
static void json_histogram(const struct schedtape_histogram *all)
{
	uint64_t counts[HISTOGRAM_BUCKETS];
	struct json_object *object;
	size_t i;

	schedtape_histogram_counts(all, counts);
	out_json_list("histogram");
	for (i = 0; i < HISTOGRAM_BUCKETS && out_works(); i++) {
		if (!counts[i])
			continue;
		object = json_object_new_object();
		out_json_add_count(object, "up_to_ns", schedtape_histogram_limit(i));
		out_json_add_count(object, "delays", counts[i]);
		out_json_element(object);
	}
	out_json_list_end();
}

/* -- options --------------------------------------------------------------- */

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

/* -- the command ----------------------------------------------------------- */

/*
 * JSON of latency:
 * @delays: A list of the lines of the table, in their order.
 * @total: An object with the same keys, for all lines.
 * @histogram: A list of the buckets that have delays; only with --histogram.
 */
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
			json_histogram(all);
		out_json_end();
		return;
	}
	heading_print(path, tape, timeline, latency->sheet.times);
	sheet_print(sheet);
	if (latency->histogram)
		print_histogram(all);
}

/* Returns the exit status. */
static int show(const struct latency *latency, struct schedtape_tape *tape,
		const struct schedtape_timeline *timeline, const struct task_sums *sums)
{
	struct task_sum total = { .delays = { .runtime = 0 } };
	int status = CMD_FAILURE;
	struct groups groups;
	struct sheet sheet;

	if (groups_make(&groups, latency->by, &latency->selection, tape, timeline)) {
		out_error(NULL, "not enough memory");
		return status;
	}
	sheet_begin(&sheet, latency_columns, &latency->sheet);
	if (fill(&sheet, sums, &groups, &total)) {
		out_error(NULL, "not enough memory");
	} else if (!sheet.nr_rows && selection_of_any(&latency->selection)) {
		selection_no_match(&latency->selection, tape, latency->common.input, "task",
				   "");
	} else {
		print(latency, tape, timeline, &sheet, &total.delays.delays);
		status = 0;
	}
	schedtape_histogram_free(&total.delays.delays);
	sheet_free(&sheet);
	groups_free(&groups);
	return status;
}

static int run(struct latency *latency, struct schedtape_tape *tape)
{
	struct task_sums sums = {
		.delays = {
			.selection = &latency->selection,
			.by_cpu = latency->by == GROUPS_CPU,
		},
		.part = true,
	};
	struct schedtape_timeline *timeline;
	struct schedtape_error err = { "" };
	const struct schedtape_task *tasks;
	int status = CMD_FAILURE;
	size_t n;

	if (schedtape_timeline_run(tape, &delays_ops, &sums.delays, &timeline, &err)) {
		out_error(NULL, "%s", err.text[0] ? err.text : "not enough memory");
	} else {
		cmd_warn_damage(timeline);
		tasks = schedtape_timeline_tasks(timeline, &n);
		select_tasks_last(&latency->selection.comms, tasks, n, latency->common.input);
		status = show(latency, tape, timeline, &sums);
		schedtape_timeline_free(timeline);
	}
	task_sums_free(&sums);
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

	sheet_options_init(&latency.sheet, latency_columns, "delay-max");
	latency.sheet.aliases = aliases;
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
