// SPDX-License-Identifier: GPL-2.0-only
/*
 * schedtape report: what each task of a tape did.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "common/heading.h"
#include "common/input.h"
#include "common/options.h"
#include "common/output.h"
#include "common/selection.h"
#include "common/table.h"

#define OPT_EDGES	0x101
#define MAX_KEYS	6

enum sort_key {
	SORT_CPU,
	SORT_WAKEUPS,
	SORT_DELAY_AVG,
	SORT_DELAY_MAX,
	SORT_NAME,
	SORT_PID,
};

/* The last three are the names that earlier versions had. */
static const struct {
	const char *name;
	enum sort_key key;
} sort_names[] = {
	{ "cpu", SORT_CPU },
	{ "wakeups", SORT_WAKEUPS },
	{ "delay-avg", SORT_DELAY_AVG },
	{ "delay-max", SORT_DELAY_MAX },
	{ "name", SORT_NAME },
	{ "pid", SORT_PID },
	{ "runtime", SORT_CPU },
	{ "avg", SORT_DELAY_AVG },
	{ "max", SORT_DELAY_MAX },
};

#define NR_SORT_NAMES	(sizeof(sort_names) / sizeof(*sort_names))

struct report_options {
	struct cmd_common common;
	struct table_options table;
	struct selection selection;
	enum sort_key keys[MAX_KEYS];
	size_t nr_keys;
	bool edges;
};

/**
 * struct report - the report of one tape
 * @shown: the selected tasks, sorted
 */
struct report {
	const struct report_options *options;
	struct schedtape_tape *tape;
	struct schedtape_timeline *timeline;
	const struct schedtape_task *tasks;
	const struct schedtape_task **shown;
	size_t nr_tasks;
	size_t nr_shown;
};

static const struct argp_option options[] = {
	{ "sort", 's', "KEY[,KEY...]", 0,
	  "Sort by cpu, wakeups, delay-avg, delay-max, name or pid (cpu)", 0 },
	{ "edges", OPT_EDGES, NULL, 0, "Also show which task woke which, and how often", 0 },
	{ 0 }
};

static void parse_sort(struct report_options *opts, const char *text, struct argp_state *state)
{
	char *copy = strdup(text), *rest = copy, *name;
	size_t i;

	opts->nr_keys = 0;
	while (copy && (name = strsep(&rest, ","))) {
		for (i = 0; i < NR_SORT_NAMES; i++)
			if (!strcmp(name, sort_names[i].name))
				break;
		if (i == NR_SORT_NAMES)
			argp_error(state, "cannot sort by '%s': one of cpu, wakeups, delay-avg, "
				   "delay-max, name, pid", name);
		else if (opts->nr_keys == MAX_KEYS)
			argp_error(state, "cannot sort by more than %d keys", MAX_KEYS);
		else
			opts->keys[opts->nr_keys++] = sort_names[i].key;
	}
	free(copy);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct report_options *opts = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &opts->common;
		state->child_inputs[1] = &opts->selection;
		state->child_inputs[2] = &opts->table;
		return 0;
	case 's':
		parse_sort(opts, arg, state);
		return 0;
	case OPT_EDGES:
		opts->edges = true;
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static uint64_t average_delay(const struct schedtape_task *task)
{
	return task->delays ? task->delay_total / task->delays : 0;
}

static int larger_first(uint64_t a, uint64_t b)
{
	return a > b ? -1 : a < b;
}

static int compare_by(enum sort_key key, const struct schedtape_task *a,
		      const struct schedtape_task *b)
{
	switch (key) {
	case SORT_CPU:
		return larger_first(a->cpu_time, b->cpu_time);
	case SORT_WAKEUPS:
		return larger_first(a->wakeups, b->wakeups);
	case SORT_DELAY_AVG:
		return larger_first(average_delay(a), average_delay(b));
	case SORT_DELAY_MAX:
		return larger_first(a->delay_max, b->delay_max);
	case SORT_NAME:
		return strcmp(a->comm, b->comm);
	case SORT_PID:
		return larger_first(b->pid, a->pid);
	}
	return 0;
}

static int compare(const void *left, const void *right, void *arg)
{
	const struct schedtape_task *a = *(const struct schedtape_task * const *)left;
	const struct schedtape_task *b = *(const struct schedtape_task * const *)right;
	const struct report_options *opts = arg;
	size_t i;
	int order;

	for (i = 0; i < opts->nr_keys; i++) {
		order = compare_by(opts->keys[i], a, b);
		if (order)
			return order;
	}
	return larger_first(b->index, a->index);
}

static const struct table_column task_columns[] = {
	{ "task", "task", TABLE_TEXT | TABLE_NEEDED },
	{ "cpu", "CPU\nms", TABLE_NEEDED },
	{ "sleeps", "sleeps", 0 },
	{ "preempted", "preempted", 0 },
	{ "delay-avg", "delay\navg ms", 0 },
	{ "delay-max", "delay\nmax ms", 0 },
	{ "delay-max-time", "delay\nmax at s", 0 },
	{ "woken-by-tasks", "woken\nby tasks", 0 },
	{ "woken-externally", "woken\nexternally", 0 },
	{ "migrations", "migrations", 0 },
	{ "bursts", "bursts", 0 },
	{ "policy", "policy", TABLE_TEXT },
	{ "tgid", "TGID", 0 },
	{ "stops", "stops", 0 },
	{ 0 }
};

/* "fifo:10", "other:-5", "batch" */
static const char *policy_of(char buffer[32], const struct schedtape_task *task)
{
	const char *name = schedtape_policy_name(task->policy);

	if (!task->prio_known)
		return "-";
	if (task->rt_priority)
		snprintf(buffer, 32, "%s:%u", name, task->rt_priority);
	else if (task->nice)
		snprintf(buffer, 32, "%s:%d", name, task->nice);
	else
		snprintf(buffer, 32, "%s", name);
	return buffer;
}

static void print_delays(struct table *table, const struct schedtape_task *task)
{
	char at[OUT_TIME_LEN];

	if (task->delays) {
		table_cell(table, "%.3f", out_ms(average_delay(task)));
		table_cell(table, "%.3f", out_ms(task->delay_max));
		table_cell(table, "%s", out_seconds(at, task->delay_max_time, 6));
	} else {
		table_cell(table, "-");
		table_cell(table, "-");
		table_cell(table, "-");
	}
}

/* @policy, @tgid: "" for the total */
static void print_row(struct table *table, const struct schedtape_task *task, const char *name,
		      const char *policy, const char *tgid)
{
	table_cell(table, "%s", name);
	table_cell(table, "%.3f", out_ms(task->cpu_time));
	table_cell(table, "%" PRIu64, task->sleeps);
	table_cell(table, "%" PRIu64, task->preemptions);
	print_delays(table, task);
	table_cell(table, "%" PRIu64, task->wakeups_by_task);
	table_cell(table, "%" PRIu64, task->wakeups - task->wakeups_by_task);
	table_cell(table, "%" PRIu64, task->migrations);
	table_cell(table, "%" PRIu64, task->bursts);
	table_cell(table, "%s", policy);
	table_cell(table, "%s", tgid);
	table_cell(table, "%" PRIu64, task->stops);
}

static void print_task(struct table *table, const struct schedtape_task *task)
{
	char name[TEXT_TASK_LEN], policy[32], tgid[16];

	snprintf(tgid, sizeof(tgid), "%u", task->tgid);
	print_row(table, task, text_task(name, task->comm, task->pid), policy_of(policy, task),
		  tgid);
}

static struct schedtape_task add_up(const struct report *report)
{
	struct schedtape_task total = { .comm = "" };
	size_t i;

	for (i = 0; i < report->nr_shown; i++) {
		const struct schedtape_task *task = report->shown[i];

		total.cpu_time += task->cpu_time;
		total.bursts += task->bursts;
		total.sleeps += task->sleeps;
		total.stops += task->stops;
		total.preemptions += task->preemptions;
		total.wakeups += task->wakeups;
		total.wakeups_by_task += task->wakeups_by_task;
		total.migrations += task->migrations;
		total.delays += task->delays;
		total.delay_total += task->delay_total;
		if (task->delay_max >= total.delay_max && task->delays) {
			total.delay_max = task->delay_max;
			total.delay_max_time = task->delay_max_time;
		}
	}
	return total;
}

static bool shows_edge(const struct report *report, const struct schedtape_edge *edge)
{
	const struct selection *selection = &report->options->selection;

	return selection_has_timeline_task(selection, &report->tasks[edge->waker]) ||
	       selection_has_timeline_task(selection, &report->tasks[edge->wakee]);
}

static void print_edge_rows(struct table *table, const struct report *report)
{
	const struct schedtape_edge *edges;
	size_t i, n;

	edges = schedtape_timeline_edges(report->timeline, &n);
	for (i = 0; i < n && out_works(); i++) {
		const struct schedtape_task *waker = &report->tasks[edges[i].waker];
		const struct schedtape_task *wakee = &report->tasks[edges[i].wakee];
		char name[TEXT_TASK_LEN];

		if (!shows_edge(report, &edges[i]))
			continue;
		table_cell(table, "%s", text_task(name, waker->comm, waker->pid));
		table_cell(table, "%s", text_task(name, wakee->comm, wakee->pid));
		table_cell(table, "%" PRIu64, edges[i].count);
	}
}

static void print_edges(const struct report *report)
{
	static const struct table_column columns[] = {
		{ "waker", "waker", TABLE_TEXT | TABLE_NEEDED },
		{ "wakee", "wakee", TABLE_TEXT | TABLE_NEEDED },
		{ "wakeups", "wake-ups", TABLE_NEEDED },
		{ 0 }
	};
	struct table table;

	putchar('\n');
	table_begin(&table, columns, NULL);
	while (table_pass(&table))
		print_edge_rows(&table, report);
}

static void print_text(const struct report *report)
{
	struct schedtape_task total = add_up(report);
	struct table table;
	size_t i;

	heading_print(report->options->common.input, report->tape, report->timeline);
	table_begin(&table, task_columns, &report->options->table);
	while (table_pass(&table)) {
		for (i = 0; i < report->nr_shown && out_works(); i++)
			print_task(&table, report->shown[i]);
		table_rule(&table);
		print_row(&table, &total, "TOTAL", "", "");
	}
	if (report->options->edges)
		print_edges(report);
}

static void add_index(struct json_object *object, const char *key, uint32_t index)
{
	json_object_object_add(object, key, index == SCHEDTAPE_NONE ? NULL :
			       json_object_new_int64(index));
}

static void add_policy(struct json_object *object, const struct schedtape_task *task)
{
	out_json_add_count(object, "prio_changes", task->prio_changes);
	if (!task->prio_known)
		return;
	json_object_object_add(object, "policy",
			       json_object_new_string(schedtape_policy_name(task->policy)));
	json_object_object_add(object, "nice", json_object_new_int(task->nice));
	out_json_add_count(object, "rt_priority", task->rt_priority);
	if (task->dl.period)
		out_json_add_deadline(object, &task->dl);
}

static struct json_object *json_task(const struct schedtape_task *task)
{
	struct json_object *object = json_object_new_object();

	add_index(object, "index", task->index);
	add_index(object, "parent_index", task->parent);
	add_index(object, "process_index", task->process);
	out_json_add_count(object, "pid", task->pid);
	out_json_add_count(object, "tgid", task->tgid);
	out_json_add_count(object, "ppid", task->ppid);
	out_json_add_count(object, "ns_pid", task->ns_pid);
	out_json_add_count(object, "start_time_ns", task->start_time);
	out_json_add_name(object, "first_comm", task->first_comm);
	out_json_add_name(object, "comm", task->comm);
	out_json_add_bool(object, "from_start", task->from_start);
	out_json_add_bool(object, "joined", task->joined);
	out_json_add_bool(object, "left", task->left);
	out_json_add_bool(object, "thread", task->thread);
	out_json_add_bool(object, "exited", task->exited);
	add_policy(object, task);
	out_json_add_count(object, "start_ns", task->start);
	out_json_add_count(object, "end_ns", task->end);
	out_json_add_count(object, "cpu_time_ns", task->cpu_time);
	out_json_add_count(object, "bursts", task->bursts);
	out_json_add_count(object, "sleeps", task->sleeps);
	out_json_add_count(object, "stops", task->stops);
	out_json_add_count(object, "preemptions", task->preemptions);
	out_json_add_count(object, "wakeups", task->wakeups);
	out_json_add_count(object, "wakeups_by_task", task->wakeups_by_task);
	out_json_add_count(object, "migrations", task->migrations);
	out_json_add_count(object, "delays", task->delays);
	out_json_add_count(object, "delay_total_ns", task->delay_total);
	out_json_add_count(object, "delay_max_ns", task->delay_max);
	out_json_add_count(object, "delay_max_time_ns", task->delay_max_time);
	return object;
}

static void list_edges(const struct report *report)
{
	const struct schedtape_edge *edges;
	size_t i, n;

	out_json_list("edges");
	edges = schedtape_timeline_edges(report->timeline, &n);
	for (i = 0; i < n && out_works(); i++) {
		struct json_object *object;

		if (!shows_edge(report, &edges[i]))
			continue;
		object = json_object_new_object();
		add_index(object, "waker_index", edges[i].waker);
		add_index(object, "wakee_index", edges[i].wakee);
		out_json_add_count(object, "count", edges[i].count);
		out_json_element(object);
	}
	out_json_list_end();
}

static void print_json(const struct report *report)
{
	size_t i;

	out_json_begin("report");
	heading_json(report->options->common.input, report->tape, report->timeline);
	out_json_list("tasks");
	for (i = 0; i < report->nr_shown && out_works(); i++)
		out_json_element(json_task(report->shown[i]));
	out_json_list_end();
	list_edges(report);
	out_json_end();
}

/* Fills @shown.  Returns 0, or -1 after a message: no memory, or no task is selected. */
static int choose(struct report *report)
{
	const struct report_options *opts = report->options;
	size_t i;

	report->tasks = schedtape_timeline_tasks(report->timeline, &report->nr_tasks);
	report->shown = calloc(report->nr_tasks + 1, sizeof(*report->shown));
	if (!report->shown) {
		out_error(NULL, "not enough memory");
		return -1;
	}
	for (i = 0; i < report->nr_tasks; i++)
		if (selection_has_timeline_task(&opts->selection, &report->tasks[i]))
			report->shown[report->nr_shown++] = &report->tasks[i];
	qsort_r(report->shown, report->nr_shown, sizeof(*report->shown), compare, (void *)opts);
	if (cmd_warn_empty(report->tape, opts->common.input) || report->nr_shown ||
	    !selection_of_any(&opts->selection))
		return 0;
	selection_no_match(&opts->selection, report->tape, opts->common.input, "task", "");
	return -1;
}

static int show(struct report *report)
{
	int status = CMD_FAILURE;

	if (!choose(report)) {
		if (report->options->common.json)
			print_json(report);
		else
			print_text(report);
		status = 0;
	}
	free(report->shown);
	return out_finish(status);
}

int cmd_report(int argc, char **argv)
{
	static const struct argp_child children[] = {
		{ &cmd_common_argp, 0, NULL, 0 }, { &selection_tasks_argp, 0, NULL, 0 },
		{ &table_argp, 0, NULL, 0 }, { 0 }
	};
	static const struct argp argp = {
		.options = options,
		.parser = parse,
		.args_doc = "[FILE]",
		.doc = "Shows what each task of a tape did: CPU time, sleeps, scheduling delays, "
		       "wake-ups. See schedtape-report(1) for every column.",
		.children = children,
	};
	struct report_options opts = {
		.common = CMD_COMMON_INIT,
		.table = { .columns = task_columns },
		.keys = { SORT_CPU },
		.nr_keys = 1,
	};
	struct report report = { .options = &opts };
	int status = CMD_FAILURE;

	cmd_parse(&argp, argc, argv, 0, &opts);
	report.tape = cmd_open_tape(opts.common.input);
	if (!report.tape)
		goto out;
	if (!selection_resolve(&opts.selection, report.tape, opts.common.input))
		report.timeline = cmd_run_timeline(report.tape);
	if (report.timeline)
		status = show(&report);
	schedtape_timeline_free(report.timeline);
	cmd_close_tape(report.tape, opts.common.input);
out:
	selection_free(&opts.selection);
	return status;
}
