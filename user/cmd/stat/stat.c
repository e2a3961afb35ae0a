// SPDX-License-Identifier: GPL-2.0-only
/*
 * schedtape stat: how many events of each type each task had, as "perf stat -e sched:..." counts
 * them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "commands.h"
#include "common/heading.h"
#include "common/input.h"
#include "common/options.h"
#include "common/output.h"
#include "stat/internal.h"

#define OPT_PER_CPU	0x101
#define OPT_PER_THREAD	0x102

/* -- the table ------------------------------------------------------------- */

enum column {
	TASK, EVENTS, FIRST, TASKS = FIRST + COUNTS_TYPES, PID,
};

/*
 * JSON counts[] of stat:
 * @name: Name of the task, or of the group of tasks that the line adds up, as in the table.
 * @events: Number of all its events.
 * @switch: Number of its events of this type, see schedtape-stat(1), like the next ones.
 * @waking, @wakeup, @wakeup_new, @migrate, @throttle, @unthrottle, @fork, @exec, @exit, @rename:
 * @setprio, @setaffinity, @described:
 * @tasks: Number of tasks.
 * @pid: PID of the task if it is only one, or null.
 */
const struct sheet_column stat_columns[] = {
	[TASK] = { { "task", "task", TABLE_TEXT | TABLE_NEEDED }, SHEET_TEXT,
		   "name", SHEET_PROPERTY },
	[EVENTS] = { { "events", "events", TABLE_NEEDED }, SHEET_COUNT, "events", SHEET_SUM },
	[FIRST + COUNTS_SWITCH] = { { "switch", "switch", TABLE_NEEDED }, SHEET_COUNT,
				    "switch", SHEET_SUM },
	[FIRST + COUNTS_WAKING] = { { "waking", "waking", 0 }, SHEET_COUNT, "waking", SHEET_SUM },
	[FIRST + COUNTS_WAKEUP] = { { "wakeup", "wakeup", 0 }, SHEET_COUNT, "wakeup", SHEET_SUM },
	[FIRST + COUNTS_WAKEUP_NEW] = { { "wakeup_new", "wakeup\nnew", 0 }, SHEET_COUNT,
					"wakeup_new", SHEET_SUM },
	[FIRST + COUNTS_MIGRATE] = { { "migrate", "migrate", 0 }, SHEET_COUNT,
				     "migrate", SHEET_SUM },
	[FIRST + COUNTS_THROTTLE] = { { "throttle", "throttle", TABLE_ASKED }, SHEET_COUNT,
				      "throttle", SHEET_SUM },
	[FIRST + COUNTS_UNTHROTTLE] = { { "unthrottle", "unthrottle", TABLE_ASKED }, SHEET_COUNT,
					"unthrottle", SHEET_SUM },
	[FIRST + COUNTS_FORK] = { { "fork", "fork", 0 }, SHEET_COUNT, "fork", SHEET_SUM },
	[FIRST + COUNTS_EXEC] = { { "exec", "exec", 0 }, SHEET_COUNT, "exec", SHEET_SUM },
	[FIRST + COUNTS_EXIT] = { { "exit", "exit", 0 }, SHEET_COUNT, "exit", SHEET_SUM },
	[FIRST + COUNTS_RENAME] = { { "rename", "rename", 0 }, SHEET_COUNT, "rename", SHEET_SUM },
	[FIRST + COUNTS_SETPRIO] = { { "setprio", "set\nprio", 0 }, SHEET_COUNT,
				     "setprio", SHEET_SUM },
	[FIRST + COUNTS_SETAFFINITY] = { { "setaffinity", "set\naffinity", 0 }, SHEET_COUNT,
					 "setaffinity", SHEET_SUM },
	[FIRST + COUNTS_TASK] = { { "described", "described", TABLE_ASKED }, SHEET_COUNT,
				  "described", SHEET_SUM },
	[TASKS] = { { "tasks", "tasks", TABLE_ASKED }, SHEET_COUNT, "tasks", SHEET_PROPERTY },
	[PID] = { { "pid", "PID", TABLE_ASKED }, SHEET_CPU, "pid", SHEET_PROPERTY },
	{ .json = NULL }
};

static const struct groups_columns label_columns = { .tasks = TASKS, .pid = PID };

/* Adds a line without its name.  Returns it; NULL: no memory. */
static union sheet_value *add_row(struct sheet *sheet, const struct counts_sum *sum)
{
	union sheet_value *row = sheet_row(sheet);
	size_t i;

	if (!row)
		return NULL;
	row[EVENTS].n = counts_events(sum);
	for (i = 0; i < COUNTS_TYPES; i++) {
		row[FIRST + i].n = sum->n[i];
		sheet->total[FIRST + i].n += sum->n[i];
	}
	sheet->total[EVENTS].n += row[EVENTS].n;
	return row;
}

/* Adds the line of what is no group, if it has events.  Returns 0 or -ENOMEM. */
static int add_rest(struct sheet *sheet, const char *label, const struct counts_sum *sum)
{
	union sheet_value *row;

	if (!counts_events(sum))
		return 0;
	row = add_row(sheet, sum);
	if (!row)
		return -ENOMEM;
	row[PID].n = SHEET_NONE;
	row[TASK].text = strdup(label);
	return row[TASK].text ? 0 : -ENOMEM;
}

/* Adds the line of a group, if it has events.  Returns 0 or -ENOMEM. */
static int add_group(struct sheet *sheet, const struct groups *groups, size_t number,
		     const struct counts_sum *sum)
{
	union sheet_value *row;

	if (!counts_events(sum))
		return 0;
	row = add_row(sheet, sum);
	return row ? groups_fill(row, &label_columns, groups, &groups->groups[number]) : -ENOMEM;
}

/**
 * struct sums - what the lines have
 * @groups: by number of the group, with room for @room
 * @idle, @other: events while no task, or one that is not recorded, was on the CPU
 */
struct sums {
	struct counts_sum *groups;
	size_t room;
	struct counts_sum idle;
	struct counts_sum other;
};

/* Returns the sum of a group; NULL: no memory. */
static struct counts_sum *of_group(struct sums *sums, uint32_t number)
{
	struct counts_sum *all;

	all = schedtape_list_reach(sums->groups, number, &sums->room, sizeof(*all));
	if (!all)
		return NULL;
	sums->groups = all;
	return &all[number];
}

/* Adds a sum to that of the task's group.  Returns 0 or -ENOMEM. */
static int add_task(struct sums *sums, struct groups *groups, uint32_t task,
		    const struct counts_sum *sum)
{
	uint32_t number = groups->numbers[task];
	struct counts_sum *to;

	if (number == SCHEDTAPE_NONE)
		return 0;
	to = of_group(sums, number);
	if (!to)
		return -ENOMEM;
	groups_count(groups, number, task);
	counts_add(to, sum);
	return 0;
}

/* Adds a sum to that of a CPU.  Returns 0 or -ENOMEM. */
static int add_cpu(struct sums *sums, struct groups *groups, uint32_t who, uint32_t cpu,
		   const struct counts_sum *sum)
{
	uint32_t number = groups_of_cpu(groups, cpu);
	struct counts_sum *to = number == SCHEDTAPE_NONE ? NULL : of_group(sums, number);

	if (!to)
		return -ENOMEM;
	if (who >= COUNTS_TASKS)
		groups_count(groups, number, who - COUNTS_TASKS);
	counts_add(to, sum);
	return 0;
}

static int add_up(struct sums *sums, const struct counts *counts, struct groups *groups)
{
	size_t i, n = counts->by_cpu ? counts->pairs.nr : COUNTS_TASKS + groups->nr_tasks;
	bool of_tasks = selection_of_tasks(groups->selection);
	const struct counts_sum *sum;
	uint32_t who;
	int ret = 0;

	for (i = 0; i < n && i < counts->nr && !ret; i++) {
		sum = &counts->sums[i];
		who = counts->by_cpu ? counts->pairs.edges[i].waker : i;
		if (!counts_events(sum) ||
		    (of_tasks && (who < COUNTS_TASKS ||
				  !groups_selects(groups, who - COUNTS_TASKS))))
			continue;
		if (counts->by_cpu)
			ret = add_cpu(sums, groups, who, counts->pairs.edges[i].wakee, sum);
		else if (who >= COUNTS_TASKS)
			ret = add_task(sums, groups, who - COUNTS_TASKS, sum);
		else
			counts_add(who == COUNTS_IDLE ? &sums->idle : &sums->other, sum);
	}
	return ret;
}

/* Makes a line for each group that has events, and the total.  Returns 0 or -ENOMEM. */
static int stat_fill(struct sheet *sheet, const struct counts *counts, struct groups *groups)
{
	union sheet_value *total = sheet_total(sheet);
	struct sums sums = { .room = 0 };
	int ret = total ? add_up(&sums, counts, groups) : -ENOMEM;
	size_t i;

	for (i = 0; i < sums.room && i < groups->nr && !ret; i++)
		ret = add_group(sheet, groups, i, &sums.groups[i]);
	free(sums.groups);
	if (ret || add_rest(sheet, "<idle>", &sums.idle) ||
	    add_rest(sheet, "<other>", &sums.other))
		return -ENOMEM;
	return groups_fill(total, &label_columns, groups, NULL);
}

/* -- options --------------------------------------------------------------- */

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

/* -- the command ----------------------------------------------------------- */

/*
 * JSON of stat:
 * @counts: A list of the lines of the table, in their order.
 * @total: An object with the same keys, for all lines.
 */
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
