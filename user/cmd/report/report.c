// SPDX-License-Identifier: GPL-2.0-only
/*
 * schedtape report: what each task of a tape did.
 */
#include <errno.h>
#include <stdlib.h>

#include "commands.h"
#include "common/destination.h"
#include "common/heading.h"
#include "common/input.h"
#include "common/options.h"
#include "common/output.h"
#include "common/select-tasks.h"
#include "common/selection.h"
#include "report/internal.h"

#define OPT_EDGES	0x101
#define OPT_SYSCALLS	0x102
#define OPT_HTML	0x103

/**
 * struct report - the command line
 * @edges: --edges
 * @show_calls: --syscalls
 * @html: --html: the file
 * @syscalls: the names of the tape's system calls
 * @calls: the sleeps in them, of each task
 * @grouped: of each line
 */
struct report {
	struct cmd_common common;
	struct selection selection;
	struct sheet_options sheet;
	enum groups_by by;
	struct time_text_options times;
	struct time_text time;
	bool edges;
	bool show_calls;
	char *html;
	struct syscalls syscalls;
	struct calls calls;
	struct calls grouped;
};

static const struct argp_option options[] = {
	{ "edges", OPT_EDGES, NULL, 0, "Also show which task woke which, and how often", 0 },
	{ "syscalls", OPT_SYSCALLS, NULL, 0,
	  "Also show which system calls the tasks slept in, if record --syscalls noted them", 0 },
	{ "html", OPT_HTML, "FILE", 0,
	  "Write a page to look at: what each CPU and each task did, and when", 0 },
	{ 0 }
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct report *report = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &report->common;
		state->child_inputs[1] = &report->selection;
		state->child_inputs[2] = &report->sheet;
		state->child_inputs[3] = &report->by;
		state->child_inputs[4] = &report->times;
		return 0;
	case OPT_EDGES:
		report->edges = true;
		return 0;
	case OPT_SYSCALLS:
		report->show_calls = true;
		return 0;
	case OPT_HTML:
		destination_option(&report->html, arg, state);
		return 0;
	case ARGP_KEY_END:
		if (report->html && (report->common.json || report->edges ||
				     report->show_calls || report->by != GROUPS_TASK))
			argp_error(state,
				   "--html: not together with --json, --edges, --syscalls, --by");
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static int no_memory(void)
{
	out_error(NULL, "not enough memory");
	return CMD_FAILURE;
}

static int print_calls(struct report *report, const struct groups *groups)
{
	return calls_print(&report->grouped, groups, &report->syscalls, &report->sheet,
			   report->common.json);
}

/*
 * JSON of report:
 * @tasks: A list of tasks, in the order of the table.
 * @lines: In the place of tasks with --by, --time or --cpu: a list of the lines of the table, in
 *	their order.
 * @total: An object with the same keys as @lines, for all lines or tasks.
 * @syscalls: A list of the system calls that the tasks, or groups of them, slept in, those with the
 *	most time first; only of tapes that have them.
 * @edges: A list of pairs of tasks, one of which wakes the other.
 */
static int print_json(struct report *report, struct schedtape_tape *tape,
		      const struct schedtape_timeline *timeline, const struct sheet *sheet,
		      const struct groups *groups, bool part)
{
	int rc = 0;
	size_t n;

	out_json_begin("report");
	heading_json(report->common.input, tape, timeline);
	if (part || report->by != GROUPS_TASK)
		sheet_json(sheet, "lines");
	else
		report_json_tasks(sheet, schedtape_timeline_tasks(timeline, &n));
	if (report->syscalls.recorded)
		rc = print_calls(report, groups);
	report_json_edges(timeline, &report->selection);
	out_json_end();
	return rc ? no_memory() : 0;
}

/* Returns the exit status. */
static int print(struct report *report, struct schedtape_tape *tape,
		 const struct schedtape_timeline *timeline, struct sheet *sheet,
		 const struct groups *groups, bool part)
{
	int rc = 0;

	sheet_sort(sheet);
	if (report->common.json)
		return print_json(report, tape, timeline, sheet, groups, part);
	heading_print(report->common.input, tape, timeline, report->sheet.times);
	sheet_print(sheet);
	if (report->show_calls) {
		putchar('\n');
		rc = print_calls(report, groups);
	}
	if (report->edges)
		report_print_edges(timeline, &report->selection);
	return rc ? no_memory() : 0;
}

/* Returns the exit status. */
static int show(struct report *report, struct schedtape_tape *tape,
		const struct schedtape_timeline *timeline, const struct report_sums *sums)
{
	struct group_sums of_groups = { .room = 0 };
	const struct schedtape_task *tasks;
	int status = CMD_FAILURE;
	struct groups groups;
	struct sheet sheet;
	size_t n;

	tasks = schedtape_timeline_tasks(timeline, &n);
	if (groups_make(&groups, report->by, &report->selection, tape, timeline))
		return no_memory();
	sheet_begin(&sheet, report_columns, &report->sheet);
	if (group_sums_add_all(&of_groups, &groups, &sums->tasks, tasks) ||
	    report_fill(&sheet, &groups, &of_groups, tasks) ||
	    calls_group(&report->calls, &sums->tasks.delays, &groups, &report->grouped)) {
		no_memory();
	} else if (!cmd_warn_empty(tape, report->common.input) && !sheet.nr_rows &&
		   selection_of_any(&report->selection)) {
		selection_no_match(&report->selection, tape, report->common.input, "task", "");
	} else {
		status = print(report, tape, timeline, &sheet, &groups, sums->tasks.part);
	}
	sheet_free(&sheet);
	group_sums_free(&of_groups);
	groups_free(&groups);
	return status;
}

static int make_page(struct page *page, const struct report *report)
{
	struct schedtape_error err = { "" };
	char count[OUT_COUNT_LEN];
	uint64_t bytes;
	int rc;

	rc = page_make(page, &err);
	if (!rc)
		rc = page_write(page, report->html, &bytes, &err);
	if (rc == -ENODATA)
		selection_no_match(&report->selection, page->tape, page->path, "task", "");
	else if (rc)
		out_error(NULL, "%s", err.text[0] ? err.text : "not enough memory");
	else if (bytes)
		printf("%s: %s bytes\n", report->html, out_count(count, bytes));
	return rc ? CMD_FAILURE : 0;
}

/* Writes the page.  Returns the exit status. */
static int show_page(struct report *report, struct schedtape_tape *tape,
		     const struct schedtape_timeline *timeline, const struct report_sums *sums)
{
	struct page page = {
		.path = report->common.input, .tape = tape, .timeline = timeline,
		.sums = &sums->tasks,
	};
	int status;

	if (cmd_warn_empty(tape, report->common.input))
		return CMD_FAILURE;
	status = make_page(&page, report);
	page_free(&page);
	return status;
}

static int run(struct report *report, struct schedtape_tape *tape)
{
	struct report_sums sums = {
		.tasks.delays = {
			.selection = &report->selection,
			.by_cpu = report->by == GROUPS_CPU,
		},
		.tasks.part = report->by == GROUPS_CPU || report->selection.cpus.nr ||
			      report->selection.times.nr,
		.tasks.whole = report->by != GROUPS_CPU && selection_of_whole(&report->selection),
	};
	struct schedtape_timeline_ops ops;
	struct schedtape_timeline *timeline;
	struct schedtape_error err = { "" };
	const struct schedtape_task *tasks;
	int status = CMD_FAILURE;
	size_t n;

	syscalls_init(&report->syscalls, tape);
	if (report->show_calls)
		report->show_calls = syscalls_check(&report->syscalls, report->common.input);
	if (report->show_calls || (report->common.json && report->syscalls.recorded))
		sums.calls = &report->calls;
	ops = report_sums_ops(&sums, report->edges || report->common.json);
	if (schedtape_timeline_run(tape, &ops, &sums, &timeline, &err)) {
		out_error(NULL, "%s", err.text[0] ? err.text : "not enough memory");
	} else {
		cmd_warn_damage(timeline);
		tasks = schedtape_timeline_tasks(timeline, &n);
		select_tasks_last(&report->selection.comms, tasks, n, report->common.input);
		status = report->html ? show_page(report, tape, timeline, &sums) :
					show(report, tape, timeline, &sums);
		schedtape_timeline_free(timeline);
	}
	task_sums_free(&sums.tasks);
	calls_free(&report->calls);
	calls_free(&report->grouped);
	syscalls_free(&report->syscalls);
	return status;
}

int cmd_report(int argc, char **argv)
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
		.doc = "Shows what each task of a tape did: CPU time, sleeps, scheduling delays, "
		       "wake-ups. See schedtape-report(1) for every column.",
		.children = children,
	};
	struct report report = {
		.common = CMD_COMMON_INIT, .by = GROUPS_TASK, .times = TIME_TEXT_OPTIONS_INIT,
	};
	struct schedtape_tape *tape;
	int status = CMD_FAILURE;

	sheet_options_init(&report.sheet, report_columns, "cpu");
	report.sheet.times = &report.time;
	cmd_parse(&argp, argc, argv, 0, &report);
	/* A page reads the tape twice, which a pipe does not allow. */
	tape = report.html ? cmd_open_tape(report.common.input) :
			     cmd_open_tape_once(report.common.input);
	if (tape && !selection_resolve_but_names(&report.selection, tape, report.common.input) &&
	    !time_text_begin(&report.time, &report.times, tape, report.common.input))
		status = run(&report, tape);
	cmd_close_tape(tape, report.common.input);
	selection_free(&report.selection);
	free(report.html);
	return out_finish(status);
}
