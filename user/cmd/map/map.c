// SPDX-License-Identifier: GPL-2.0-only
/*
 * schedtape map: which task runs on which CPU, a line for each switch, as "perf sched map".
 */
#include <errno.h>
#include <stdlib.h>

#include "commands.h"
#include "common/color.h"
#include "common/heading.h"
#include "common/input.h"
#include "common/options.h"
#include "common/output.h"
#include "common/selection.h"
#include "map/internal.h"

#define OPT_COMPACT	0x100
#define OPT_CPUS	0x101
#define OPT_COLOR_CPUS	0x102
#define OPT_COLOR_PIDS	0x103
#define OPT_TASK_NAME	0x104
#define OPT_FUZZY	0x105

/**
 * struct map - the command line, and the state of the output
 * @cpus: --cpus: only lines of these CPUs, with the columns of all
 * @names: --task-name; @fuzzy: parts of names match, too
 * @of_tasks: options select tasks
 * @printed: a line was printed
 */
struct map {
	struct cmd_common common;
	struct selection selection;
	struct time_text_options times;
	struct select_numbers cpus;
	const char *names;
	bool fuzzy;
	bool of_tasks;
	bool printed;
	struct rows rows;
};

/* -- options --------------------------------------------------------------- */

static const struct argp_option options[] = {
	{ "compact", OPT_COMPACT, NULL, 0, "Print columns only for CPUs that had a switch", 0 },
	{ "cpus", OPT_CPUS, "CPU[,CPU-CPU...]", 0,
	  "Print only lines of these CPUs, with the columns of all", 0 },
	{ "color-cpus", OPT_COLOR_CPUS, "CPU[,CPU-CPU...]", 0, "Highlight these CPUs", 0 },
	{ "color-pids", OPT_COLOR_PIDS, "TID[,TID-TID...]", 0, "Highlight these tasks", 0 },
	{ "task-name", OPT_TASK_NAME, "NAME[,NAME...]", 0, "As --comm", 0 },
	{ "fuzzy-name", OPT_FUZZY, NULL, 0, "Parts of names are enough for --task-name", 0 },
	{ 0 }
};

static void parse_list(struct select_numbers *set, const char *option, const char *arg,
		       const struct argp_state *state)
{
	if (select_numbers_parse(set, arg))
		argp_error(state, "%s: not a list of numbers: '%s'", option, arg);
}

/* Adds the names of --task-name to those of --comm.  Returns 0 or -ENOMEM. */
static int add_names(struct map *map)
{
	struct select_names *comms = &map->selection.comms;
	size_t before = comms->nr;
	int ret = map->names ? select_names_parse(comms, map->names) : 0;

	return ret || !map->fuzzy ? ret : select_names_take_parts(comms, before);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct map *map = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &map->common;
		state->child_inputs[1] = &map->selection;
		state->child_inputs[2] = &map->times;
		return 0;
	case OPT_COMPACT:
		map->rows.compact = true;
		return 0;
	case OPT_CPUS:
		parse_list(&map->cpus, "--cpus", arg, state);
		return 0;
	case OPT_COLOR_CPUS:
		parse_list(&map->rows.color_cpus, "--color-cpus", arg, state);
		return 0;
	case OPT_COLOR_PIDS:
		parse_list(&map->rows.color_pids, "--color-pids", arg, state);
		return 0;
	case OPT_TASK_NAME:
		map->names = arg;
		return 0;
	case OPT_FUZZY:
		map->fuzzy = true;
		return 0;
	case ARGP_KEY_END:
		if (map->fuzzy && !map->names)
			argp_error(state, "--fuzzy-name needs --task-name");
		return -add_names(map);
	}
	return ARGP_ERR_UNKNOWN;
}

/* -- the pass through the tape --------------------------------------------- */

/* Returns true if there are lines of the CPU. */
static bool has_cpu(const struct map *map, uint32_t cpu)
{
	return selection_has_cpu(&map->selection, cpu) && select_numbers_has(&map->cpus, cpu);
}

static bool selects(const struct map *map, uint32_t pid)
{
	return selection_has_identity(&map->selection, map->rows.table.identities, pid);
}

static void on_gap(struct map *map, const struct schedtape_event *ev)
{
	struct cell *cell = rows_find_column(&map->rows, ev->cpu);

	if (cell)
		rows_clear(cell);
	if (!has_cpu(map, ev->cpu) ||
	    !selection_overlaps(&map->selection, ev->lost_first, ev->lost_last))
		return;
	rows_begin(&map->rows);
	if (map->common.json)
		gap_lines_json(&map->rows.lines, ev);
	else
		gap_lines_text(&map->rows.lines, &map->rows.time, ev);
}

static void on_idle(struct map *map, const struct schedtape_event *ev)
{
	struct cell *cell = rows_find_column(&map->rows, ev->cpu);

	if (cell && ev->idle.kind != STAPE_NEXT_TASK)
		rows_show_other(cell, ev->idle.kind);
}

static int on_switch(struct map *map, const struct schedtape_event *ev)
{
	bool enters = !map->of_tasks || selects(map, ev->pid), leaves;
	struct cell *cell;

	if (!selection_has_cpu(&map->selection, ev->cpu))
		return 0;
	cell = rows_find_column(&map->rows, ev->cpu);
	if (!cell) {
		if (rows_add_column(&map->rows, ev->cpu))
			return -ENOMEM;
		cell = &map->rows.cells[map->rows.nr - 1];
	}
	if (rows_set(&map->rows, cell, ev, enters))
		return -ENOMEM;
	leaves = !enters && selects(map, ev->curr);
	if ((!enters && !leaves) || !has_cpu(map, ev->cpu) ||
	    !selection_has_time(&map->selection, ev->time))
		return 0;
	map->printed = true;
	rows_print(&map->rows, cell, ev->time, leaves);
	return 0;
}

static int take(void *arg, const struct schedtape_event *ev)
{
	struct map *map = arg;

	if (selection_is_over(&map->selection, ev->time))
		return 1;
	if (schedtape_event_is_gap(ev)) {
		on_gap(map, ev);
		return 0;
	}
	if (task_table_follow(&map->rows.table, ev))
		return -ENOMEM;
	if (ev->type == SCHEDTAPE_EV_IDLE)
		on_idle(map, ev);
	return ev->type == STAPE_EV_SWITCH ? on_switch(map, ev) : 0;
}

/* -- the command ----------------------------------------------------------- */

static int compare_cells(const void *left, const void *right)
{
	const struct cell *a = left, *b = right;

	return a->cpu < b->cpu ? -1 : a->cpu > b->cpu;
}

/*
 * Makes a column for each CPU of the tape; of a pipe, for each that was online.  Returns 0 or
 * -ENOMEM.
 */
static int add_columns(struct map *map, struct schedtape_tape *tape)
{
	const struct schedtape_end *end = schedtape_tape_end(tape);
	uint32_t cpu, online = cmd_tape_is_live(tape) ? cmd_online_cpus(tape) : 0;
	size_t i;

	for (cpu = 0; cpu < online && !map->rows.compact; cpu++)
		if (selection_has_cpu(&map->selection, cpu) && rows_add_column(&map->rows, cpu))
			return -ENOMEM;
	for (i = 0; i < end->nr_cpus && !map->rows.compact; i++) {
		if (end->cpus[i].cpu == STAPE_CPU_NONE ||
		    !selection_has_cpu(&map->selection, end->cpus[i].cpu))
			continue;
		if (rows_add_column(&map->rows, end->cpus[i].cpu))
			return -ENOMEM;
	}
	if (map->rows.nr)
		qsort(map->rows.cells, map->rows.nr, sizeof(*map->rows.cells), compare_cells);
	return 0;
}

static int run(struct map *map, struct schedtape_tape *tape)
{
	const char *path = map->common.input;
	struct schedtape_error err = { "" };

	/* JSON has nothing of CPUs that do not switch. */
	if (!map->common.json && out_failed(others_read(&map->rows.others, tape, &err), &err))
		return CMD_FAILURE;
	if (out_failed(task_table_begin(&map->rows.table, tape, &err), &err))
		return CMD_FAILURE;
	if (add_columns(map, tape)) {
		out_error(NULL, "not enough memory");
		return CMD_FAILURE;
	}
	lines_begin(&map->rows.lines);
	if (cmd_read_events(tape, &map->rows.lines, take, map))
		return CMD_FAILURE;
	lines_flush(&map->rows.lines);
	if (!map->printed && out_works() && !cmd_warn_empty(tape, path) &&
	    (selection_of_any(&map->selection) || map->cpus.nr)) {
		selection_no_match(&map->selection, tape, path, "switch",
				   map->cpus.nr ? " --cpus" : "");
		return CMD_FAILURE;
	}
	rows_begin(&map->rows);
	lines_flush(&map->rows.lines);
	return 0;
}

static int map_tape(struct map *map)
{
	const char *path = map->common.input;
	struct schedtape_tape *tape = cmd_open_tape_once(path);
	int status = CMD_FAILURE;

	if (!tape)
		return CMD_FAILURE;
	if (!selection_resolve(&map->selection, tape, path) &&
	    !time_text_begin(&map->rows.time, &map->times, tape, path))
		status = run(map, tape);
	cmd_close_tape(tape, path);
	return status;
}

int cmd_map(int argc, char **argv)
{
	static const struct argp_child children[] = {
		{ &cmd_common_argp, 0, NULL, 0 }, { &selection_argp, 0, NULL, 0 },
		{ &time_text_argp, 0, NULL, 0 }, { 0 }
	};
	static const struct argp argp = {
		.options = options,
		.parser = parse,
		.args_doc = "[FILE]",
		.doc = "Prints which task runs on which CPU: a line for each switch, a column for "
		       "each CPU. See schedtape-map(1).",
		.children = children,
	};
	struct map map = { .common = CMD_COMMON_INIT, .times = TIME_TEXT_OPTIONS_INIT };
	int status;

	cmd_parse(&argp, argc, argv, 0, &map);
	map.of_tasks = selection_of_tasks(&map.selection);
	map.rows.json = map.common.json;
	map.rows.colors = !map.rows.json && color_output();
	status = map_tape(&map);
	rows_free(&map.rows);
	select_numbers_free(&map.cpus);
	selection_free(&map.selection);
	return out_finish(status);
}
