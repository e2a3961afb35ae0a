// SPDX-License-Identifier: GPL-2.0-only
/*
 * schedtape timehist: each time that a task spent on a CPU, one a line, as "perf sched timehist".
 */
#include <errno.h>
#include <stdlib.h>

#include "commands.h"
#include "common/heading.h"
#include "common/idle-time.h"
#include "common/input.h"
#include "common/options.h"
#include "common/output.h"
#include "common/select-tasks.h"
#include "timehist/internal.h"

#define OPT_STATE	0x100
#define OPT_SYSCALLS	0x101
#define OPT_PRIO	0x102
#define OPT_SHOW_PRIO	0x103

/**
 * struct command - the command line
 * @th: options of the parts, and their state
 * @start: of the recording
 */
struct command {
	struct cmd_common common;
	struct time_text_options times;
	struct timehist th;
	uint64_t start;
};

static const struct argp_option options[] = {
	{ "summary", 's', NULL, 0, "Print only a summary: a line for each task", 0 },
	{ "with-summary", 'S', NULL, 0, "Print the summary, too", 0 },
	{ "wakeups", 'w', NULL, 0, "Print wake-ups, too", 0 },
	{ "next", 'n', NULL, 0, "Print what runs next", 0 },
	{ "migrations", 'M', NULL, 0, "Print moves to other CPUs, too", 0 },
	{ "cpu-visual", 'V', NULL, 0, "Print a column for each CPU", 0 },
	{ "state", OPT_STATE, NULL, 0, "Print the state in which the task left", 0 },
	{ "syscalls", OPT_SYSCALLS, NULL, 0,
	  "Print the system call in which the task left, if record --syscalls noted it", 0 },
	{ "prio", OPT_PRIO, "PRIO[,PRIO-PRIO...]", 0,
	  "Only tasks with these priorities of the kernel: 100-139 are nice -20 to 19, 0-98 "
	  "real-time 99 to 1; a list may begin with -1, deadline", 0 },
	{ "show-prio", OPT_SHOW_PRIO, NULL, 0, "Print the priority of the task", 0 },
	{ "idle-hist", 'I', NULL, 0, "Print only how long each CPU was busy and idle", 0 },
	{ 0 }
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct command *command = state->input;
	struct timehist *th = &command->th;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &command->common;
		state->child_inputs[1] = &th->selection;
		state->child_inputs[2] = &command->times;
		state->child_inputs[3] = &th->sheet;
		return 0;
	case 's':
		th->only_summary = true;
		/* fall through */
	case 'S':
		th->summary = true;
		return 0;
	case 'w':
		th->wakeups = true;
		return 0;
	case 'n':
		th->next = true;
		return 0;
	case 'M':
		th->migrations = true;
		return 0;
	case 'V':
		th->visual = true;
		return 0;
	case OPT_STATE:
		th->state = true;
		return 0;
	case OPT_SYSCALLS:
		th->show_calls = true;
		return 0;
	case OPT_PRIO:
		if (prio_parse(th, arg))
			argp_error(state, "--prio: not a list of priorities from 0 to 139: '%s'",
				   arg);
		return 0;
	case OPT_SHOW_PRIO:
		th->show_prio = true;
		return 0;
	case 'I':
		th->idle = true;
		return 0;
	case ARGP_KEY_END:
		if (command->common.json && th->summary && !th->only_summary)
			argp_error(state, "-S and --json cannot be combined: --json -s prints the "
				   "summary alone");
		if (th->idle && (th->prio || th->show_prio))
			argp_error(state, "-I has no priorities: give it without --prio and "
				   "--show-prio");
		if (th->idle && th->summary)
			argp_error(state, "-I and -s print different tables: give one of them");
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

/* -- the run through the tape ---------------------------------------------- */

static bool prints_lines(const struct timehist *th)
{
	return !th->only_summary && !th->idle;
}

static bool needs_identities(const struct timehist *th)
{
	return prints_lines(th) || (th->prio && !th->idle);
}

static int on_event(void *arg, const struct schedtape_event *ev)
{
	struct command *command = arg;
	struct timehist *th = &command->th;
	int ret = 0;

	if (ev->type == STAPE_EV_SWITCH) {
		th->next_pid = ev->pid;
		th->next_kind = schedtape_switch_next(ev);
	}
	if (th->idle)
		return idle_add(th, ev, command->start);
	if (!needs_identities(th))
		return 0;
	ret = identities_follow(th->identities, ev);
	if (!ret && prints_lines(th))
		bursts_event(th, ev);
	return !ret && !out_works() ? -ECANCELED : ret;
}

static int on_began(void *arg, const struct schedtape_task *task, const struct schedtape_run *run)
{
	struct command *command = arg;

	return prio_began(&command->th, task, run);
}

static int on_ran(void *arg, const struct schedtape_task *task, const struct schedtape_run *run)
{
	struct command *command = arg;
	struct timehist *th = &command->th;

	if (th->idle)
		return 0;
	if (prints_lines(th) && selection_has_cpu(&th->selection, run->cpu) &&
	    selection_has_time(&th->selection, run->end) &&
	    selection_has_timeline_task(&th->selection, task) && prio_selects(th, task->pid))
		bursts_run(th, task, run);
	return th->summary ? summary_add(th, task, run) : 0;
}

static int on_counted(void *arg, const struct schedtape_task *task, unsigned int events,
		      uint32_t cpu, uint64_t time)
{
	struct command *command = arg;

	return summary_count(&command->th, task, events, cpu, time);
}

/* -- output ---------------------------------------------------------------- */

/*
 * JSON of timehist --summary:
 * @tasks: A list of the lines of the summary.
 * @total: An object with the same keys, for all lines.
 * @idle: A list of CPUs, with --idle-hist.
 */
static void print_sheet(const struct command *command, struct schedtape_tape *tape,
			const struct schedtape_timeline *timeline, const struct sheet *sheet,
			const char *key)
{
	const char *path = command->common.input;

	if (command->common.json) {
		out_json_begin("timehist");
		heading_json(path, tape, timeline);
		sheet_json(sheet, key);
		out_json_end();
		return;
	}
	if (prints_lines(&command->th))
		putchar('\n');
	heading_print(path, tape, timeline, command->th.sheet.times);
	sheet_print(sheet);
}

/* Prints the table after the lines.  Returns the exit status. */
static int print_table(struct command *command, struct schedtape_tape *tape,
		       const struct schedtape_timeline *timeline)
{
	struct timehist *th = &command->th;
	const struct schedtape_task *tasks;
	int ret, status = CMD_FAILURE;
	struct sheet sheet;
	size_t n;

	if (!prints_lines(th)) {
		tasks = schedtape_timeline_tasks(timeline, &n);
		select_tasks_last(&th->selection.comms, tasks, n, command->common.input);
	}
	sheet_begin(&sheet, th->idle ? idle_columns : summary_columns,
		    th->idle ? NULL : &th->sheet);
	if (th->idle)
		ret = idle_fill(&sheet, th, schedtape_tape_end(tape)->stop_time);
	else
		ret = summary_fill(&sheet, th, timeline);
	if (ret) {
		out_error(NULL, "not enough memory");
	} else if (!sheet.nr_rows && (th->prio || selection_of_any(&th->selection))) {
		selection_no_match(&th->selection, tape, command->common.input, "task",
				   th->prio ? " --prio" : "");
	} else {
		if (!th->idle)
			sheet_sort(&sheet);
		print_sheet(command, tape, timeline, &sheet, th->idle ? "idle" : "tasks");
		status = 0;
	}
	sheet_free(&sheet);
	return status;
}

/* Returns the exit status. */
static int finish(struct command *command, struct schedtape_tape *tape,
		  const struct schedtape_timeline *timeline)
{
	struct timehist *th = &command->th;

	lines_flush(&th->lines);
	cmd_warn_damage(timeline);
	if (!prints_lines(th) || th->summary)
		return print_table(command, tape, timeline);
	if (!th->printed && (th->prio || selection_of_any(&th->selection))) {
		selection_no_match(&th->selection, tape, command->common.input, "event",
				   th->prio ? " --prio" : "");
		return CMD_FAILURE;
	}
	return 0;
}

static int run(struct command *command, struct schedtape_tape *tape)
{
	struct timehist *th = &command->th;
	const struct schedtape_timeline_ops ops = {
		.size = sizeof(ops),
		.no_edges = true,
		.ran = on_ran,
		.event = on_event,
		.began = th->show_prio && prints_lines(th) ? on_began : NULL,
		.counted = summary_counts(th) ? on_counted : NULL,
	};
	struct schedtape_timeline *timeline;
	struct schedtape_error err = { "" };
	int status;

	if (needs_identities(th) &&
	    out_failed(identities_new(tape, &th->identities, &err), &err))
		return CMD_FAILURE;
	lines_begin(&th->lines);
	if (prints_lines(th))
		bursts_head(th);
	cmd_write_before_wait(tape, &th->lines);
	if (schedtape_timeline_run(tape, &ops, command, &timeline, &err)) {
		lines_flush(&th->lines);
		/* A reader that has closed its pipe is no failure. */
		if (out_works())
			out_error(NULL, "%s", err.text[0] ? err.text : "not enough memory");
		return out_works() ? CMD_FAILURE : 0;
	}
	status = finish(command, tape, timeline);
	schedtape_timeline_free(timeline);
	return status;
}

/* Chooses the columns of -V.  At the begin of a pipe the CPUs with events are not known. */
static void count_cpus(struct timehist *th, struct schedtape_tape *tape)
{
	const struct schedtape_end *end = schedtape_tape_end(tape);
	size_t i;

	if (cmd_tape_is_live(tape))
		th->nr_cpus = cmd_online_cpus(tape);
	for (i = 0; i < end->nr_cpus; i++)
		if (end->cpus[i].cpu != STAPE_CPU_NONE && end->cpus[i].cpu >= th->nr_cpus)
			th->nr_cpus = end->cpus[i].cpu + 1;
}

static int timehist_tape(struct command *command)
{
	const char *path = command->common.input;
	struct timehist *th = &command->th;
	struct schedtape_tape *tape = cmd_open_tape_once(path);
	int ret, status = CMD_FAILURE;

	if (!tape)
		return CMD_FAILURE;
	command->start = schedtape_tape_end(tape)->start_time;
	th->sheet.times = &th->time;
	th->knows_idle = idle_time_is_known(tape);
	count_cpus(th, tape);
	syscalls_init(&th->syscalls, tape);
	if (th->show_calls)
		th->show_calls = syscalls_check(&th->syscalls, path);
	ret = prints_lines(th) ? selection_resolve(&th->selection, tape, path) :
				 selection_resolve_but_names(&th->selection, tape, path);
	if (!ret && !time_text_begin(&th->time, &command->times, tape, path))
		status = run(command, tape);
	if (!th->printed)
		cmd_warn_empty(tape, path);
	syscalls_free(&th->syscalls);
	cmd_close_tape(tape, path);
	return status;
}

int cmd_timehist(int argc, char **argv)
{
	static const struct argp_child children[] = {
		{ &cmd_common_argp, 0, NULL, 0 }, { &selection_short_argp, 0, NULL, 0 },
		{ &time_text_argp, 0, NULL, 0 }, { &sheet_long_argp, 0, NULL, 0 }, { 0 }
	};
	static const struct argp argp = {
		.options = options,
		.parser = parse,
		.args_doc = "[FILE]",
		.doc = "Prints each time that a task spent on a CPU, one a line: how long it had "
		       "been away, how long it waited for the CPU, how long it ran. See "
		       "schedtape-timehist(1).",
		.children = children,
	};
	struct command command = {
		.common = CMD_COMMON_INIT,
		.times = TIME_TEXT_OPTIONS_INIT,
	};
	int status;

	sheet_options_init(&command.th.sheet, summary_columns, "run-time");
	cmd_parse(&argp, argc, argv, 0, &command);
	command.th.json = command.common.json;
	status = timehist_tape(&command);
	identities_free(command.th.identities);
	summary_free(&command.th);
	free(command.th.cpus);
	free(command.th.begun);
	select_numbers_free(&command.th.prios);
	selection_free(&command.th.selection);
	return out_finish(status);
}
