// SPDX-License-Identifier: GPL-2.0-only
/*
 * schedtape stat: how many events of each type each task had, as "perf stat -e sched:..." counts
 * them.
 */
#include "commands.h"
#include "common/groups.h"
#include "common/heading.h"
#include "common/input.h"
#include "common/options.h"
#include "common/output.h"
#include "common/selection.h"
#include "common/sheet.h"
#include "stat/counts.h"
#include "stat/print.h"

#define OPT_PER_CPU	0x101
#define OPT_PER_THREAD	0x102

/**
 * struct stat_command - the command line
 */
struct stat_command {
	struct cmd_common common;
	struct selection selection;
	struct sheet_options sheet;
	enum groups_by by;
};

static const struct argp_option options[] = {
	{ "per-thread", OPT_PER_THREAD, NULL, 0,
	  "A line for each task, not for all tasks of a name", 0 },
	{ "pids", 0, NULL, OPTION_ALIAS | OPTION_HIDDEN, NULL, 0 },
	{ "per-cpu", OPT_PER_CPU, NULL, 0, "A line for each CPU, as --by cpu", 0 },
	{ 0 }
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct stat_command *command = state->input;

	(void)arg;
	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &command->common;
		state->child_inputs[1] = &command->selection;
		state->child_inputs[2] = &command->sheet;
		state->child_inputs[3] = &command->by;
		return 0;
	case OPT_PER_THREAD:
		command->by = GROUPS_TASK;
		return 0;
	case OPT_PER_CPU:
		command->by = GROUPS_CPU;
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static void print(const struct stat_command *command, struct schedtape_tape *tape,
		  const struct counts *counts, struct sheet *sheet)
{
	const struct heading heading = {
		.nr_tasks = counts->table.nr,
		.pauses = counts->pauses.pauses, .nr_pauses = counts->pauses.nr,
	};

	sheet_sort(sheet);
	if (command->common.json) {
		out_json_begin("stat");
		heading_json_own(command->common.input, tape, &heading);
		sheet_json(sheet, "counts");
		out_json_end();
		return;
	}
	heading_print_own(command->common.input, tape, &heading, NULL);
	sheet_print(sheet);
}

/* Returns the exit status. */
static int show(const struct stat_command *command, struct schedtape_tape *tape,
		const struct counts *counts)
{
	int status = CMD_FAILURE;
	struct groups groups;
	struct sheet sheet;

	if (groups_make_of_table(&groups, command->by, &command->selection, tape,
				 &counts->table)) {
		out_error(NULL, "not enough memory");
		return status;
	}
	sheet_begin(&sheet, stat_columns, &command->sheet);
	if (stat_fill(&sheet, counts, &groups)) {
		out_error(NULL, "not enough memory");
	} else if (!sheet.nr_rows && selection_of_any(&command->selection)) {
		selection_no_match(&command->selection, tape, command->common.input, "event", "");
	} else {
		print(command, tape, counts, &sheet);
		status = 0;
	}
	sheet_free(&sheet);
	groups_free(&groups);
	return status;
}

/* Finds out which arguments are last names of tasks. */
static void meet_names(struct stat_command *command, const struct task_table *table)
{
	struct select_names *names = &command->selection.comms;
	uint32_t i;

	for (i = 0; i < table->nr; i++)
		select_names_meet(names, table->tasks[i].comm, table->tasks[i].pid);
	select_names_say(names, command->common.input);
}

static int run(struct stat_command *command, struct schedtape_tape *tape)
{
	struct counts counts = {
		.selection = &command->selection,
		.by_cpu = command->by == GROUPS_CPU,
	};
	struct schedtape_error err = { "" };
	int status = CMD_FAILURE;

	if (!out_failed(task_table_begin(&counts.table, tape, &err), &err) &&
	    !cmd_read_events(tape, NULL, counts_take, &counts)) {
		if (task_table_end(&counts.table, tape)) {
			out_error(NULL, "not enough memory");
		} else {
			meet_names(command, &counts.table);
			status = show(command, tape, &counts);
		}
	}
	counts_free(&counts);
	return status;
}

int cmd_stat(int argc, char **argv)
{
	static const struct argp_child children[] = {
		{ &cmd_common_argp, 0, NULL, 0 }, { &selection_short_argp, 0, NULL, 0 },
		{ &sheet_argp, 0, NULL, 0 }, { &groups_argp, 0, NULL, 0 }, { 0 }
	};
	static const struct argp argp = {
		.options = options,
		.parser = parse,
		.args_doc = "[FILE]",
		.doc = "Shows how many events of each type each task had: switches, wake-ups, "
		       "forks. See schedtape-stat(1) for every column.",
		.children = children,
	};
	struct stat_command command = { .common = CMD_COMMON_INIT, .by = GROUPS_COMM };
	struct schedtape_tape *tape;
	int status = CMD_FAILURE;

	sheet_options_init(&command.sheet, stat_columns, "events");
	cmd_parse(&argp, argc, argv, 0, &command);
	tape = cmd_open_tape_once(command.common.input);
	if (tape && !selection_resolve_but_names(&command.selection, tape, command.common.input))
		status = run(&command, tape);
	if (tape)
		cmd_warn_empty(tape, command.common.input);
	cmd_close_tape(tape, command.common.input);
	selection_free(&command.selection);
	return out_finish(status);
}
