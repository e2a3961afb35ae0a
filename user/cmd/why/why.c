// SPDX-License-Identifier: GPL-2.0-only
/*
 * schedtape why: what kept a task from running.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <json-c/json.h>

#include "commands.h"
#include "common/heading.h"
#include "common/idle-time.h"
#include "common/input.h"
#include "common/options.h"
#include "common/output.h"
#include "common/select-tasks.h"
#include "machine/machine.h"
#include "tape/meta.h"
#include "why/internal.h"

#define OPT_AT		0x100
#define OPT_WORST	0x101
#define OPT_SUMMARY	0x102
#define OPT_PATH	0x103
#define OPT_SLEEPS	0x104

#define WORST		3
#define MOST		10000
#define LINES		20
#define SPANS		(1U << 20)	/* of 88 bytes */

/**
 * struct why - the command line, and what was found
 * @task: TASK
 * @who: the tasks that it selects
 * @at: --at
 * @worst: how many waits to print
 */
struct why {
	struct cmd_common common;
	struct selection selection;
	struct sheet_options sheet;
	struct time_text_options times;
	struct time_text time;
	const char *task;
	struct select_names who;
	struct time_ranges at;
	unsigned long worst;
	bool summary;
	bool path;
	bool sleeps;
	struct recorded recorded;
	struct syscalls syscalls;
	struct waits waits;
};

static const struct argp_option options[] = {
	{ "at", OPT_AT, "TIME", 0, "Explain the waits in which the tasks were at this time", 0 },
	{ "worst", OPT_WORST, "N", 0, "Explain the N worst waits, also of those of --at (3)", 0 },
	{ "summary", OPT_SUMMARY, NULL, 0,
	  "Show the causes of all waits of all tasks, or of those selected", 0 },
	{ "path", OPT_PATH, NULL, 0, "Show the critical path of the task's process", 0 },
	{ "sleeps", OPT_SLEEPS, NULL, 0,
	  "Also count the time for which a task itself slept until an interrupt or a task that is "
	  "not recorded woke it", 0 },
	{ 0 }
};

static void check(const struct why *why, const struct argp_state *state)
{
	const struct selection *selection = &why->selection;
	/* TASK is forgotten: its place has the tape. */
	bool file = why->task && !access(why->task, F_OK) && !why->common.option &&
		    !strcmp(why->common.input, CMD_DEFAULT_TAPE) &&
		    access(CMD_DEFAULT_TAPE, F_OK);

	if (why->summary + why->path + (why->at.nr || why->worst) > 1)
		argp_error(state, "only one of --at or --worst, --summary and --path");
	if (!why->summary && (!why->task || file))
		argp_error(state, "which TASK? Give its PID or its name; "
			   "\"schedtape latency -p\" lists them, and --summary needs none");
	if (why->path && (selection->cpus.nr || selection->times.nr || why->sleeps))
		argp_error(state, "--path is of a whole process: not with --cpu, --time, --sleeps");
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct why *why = state->input;
	char *end;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &why->common;
		state->child_inputs[1] = &why->selection;
		state->child_inputs[2] = &why->sheet;
		state->child_inputs[3] = &why->times;
		return 0;
	case OPT_AT:
		if (strchr(arg, ',') || why->at.nr || time_ranges_parse(&why->at, arg))
			argp_error(state, "--at: not a time: '%s'", arg);
		return 0;
	case OPT_WORST:
		why->worst = strtoul(arg, &end, 10);
		if (*arg < '1' || *arg > '9' || *end || why->worst > MOST)
			argp_error(state, "--worst: not a number from 1 to %u: '%s'", MOST, arg);
		return 0;
	case OPT_SUMMARY:
		why->summary = true;
		return 0;
	case OPT_PATH:
		why->path = true;
		return 0;
	case OPT_SLEEPS:
		why->sleeps = true;
		return 0;
	case ARGP_KEY_ARG:
		if (why->summary || why->task)
			return ARGP_ERR_UNKNOWN;
		why->task = arg;
		return -select_names_parse(&why->who, arg);
	case ARGP_KEY_END:
		check(why, state);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static int no_memory(void)
{
	out_error(NULL, "not enough memory");
	return CMD_FAILURE;
}

/* -- the trigger ----------------------------------------------------------- */

/* "trigger: web:42 was ready for 5.123 ms, and got no CPU; CPU 0 at 1.234567" */
static void print_fired(struct why *why)
{
	static const char * const did[] = {
		[STAPE_TRIGGER_LATENCY] = "was ready for %.3f ms%s, and got no CPU",
		[STAPE_TRIGGER_BLOCKED] = "slept uninterruptibly for %.3f ms%s",
		[STAPE_TRIGGER_BURST] = "ran for %.3f ms%s without a break",
	};
	const struct fired *fired = &why->waits.fired;
	char name[TEXT_TASK_LEN], time[TIME_TEXT_LEN];

	printf("trigger: ");
	if (fired->trigger.kind < STAPE_TRIGGER_RATE && fired->trigger.kind) {
		printf("%s ", text_task(name, fired->name.comm, fired->name.pid));
		printf(did[fired->trigger.kind], out_ms(fired->trigger.value),
		       fired->trigger.lasts ? " so far" : "");
		printf("; CPU %" PRIu32, fired->trigger.cpu);
	} else if (fired->trigger.kind == STAPE_TRIGGER_RATE) {
		printf("%" PRIu64 " wake-ups of all tasks in a second", fired->trigger.value);
	} else {
		printf("of a kind that is not known");
	}
	printf(" at %s\n\n", time_text(&why->time, time, fired->time));
}

/*
 * JSON trigger of why:
 * @time_ns: When it fired.
 * @pid: PID of the task for which it has fired; 0: for all together.
 * @comm: Name of that task then.
 * @kind, @target_cpu, @lasts: As of events of script.
 * @value_ns: As there; null of a rate.
 * @wakeups: As there; null of the others.
 */
static struct json_object *json_fired(const struct fired *fired)
{
	const struct schedtape_fired *trigger = &fired->trigger;
	bool rate = trigger->kind == STAPE_TRIGGER_RATE;
	struct json_object *object, *value;

	if (!fired->time)
		return NULL;
	value = json_object_new_uint64(trigger->value);
	object = json_object_new_object();
	out_json_add_count(object, "time_ns", fired->time);
	out_json_add_count(object, "pid", fired->name.pid);
	out_json_add_name(object, "comm", fired->name.comm);
	out_json_add_name(object, "kind", schedtape_trigger_name(trigger->kind));
	json_object_object_add(object, "value_ns", rate ? NULL : value);
	json_object_object_add(object, "wakeups", rate ? value : NULL);
	out_json_add_count(object, "target_cpu", trigger->cpu);
	out_json_add_bool(object, "lasts", trigger->lasts);
	return object;
}

/*
 * Returns when the trigger fired that the snapshot was taken for; UINT64_MAX: it was taken for an
 * order, a signal or at a time; 0: the tape is no snapshot.
 */
static uint64_t fired_at(struct json_object *meta)
{
	struct json_object *trigger, *value;

	if (!json_object_object_get_ex(meta, "trigger", &trigger))
		return 0;
	if (!json_object_object_get_ex(trigger, "text", &value) ||
	    !json_object_object_get_ex(trigger, "time", &value))
		return UINT64_MAX;
	return json_object_get_uint64(value);
}

/*
 * JSON of why:
 * @trigger: The trigger that a snapshot was taken for; null if it was taken for another reason. Of
 *	other tapes the last one that has fired; null if none has.
 * @chains: The waits, the worst first; with --path only the critical path. Absent with --summary.
 * @causes: The lines of the summary, in their order; only with --summary.
 * @total: An object with the keys of causes.
 */
static void begin(struct why *why, struct schedtape_tape *tape,
		  const struct schedtape_timeline *timeline)
{
	if (!why->common.json) {
		heading_print(why->common.input, tape, timeline, why->sheet.times);
		if (why->waits.fired.time)
			print_fired(why);
		return;
	}
	out_json_begin("why");
	heading_json(why->common.input, tape, timeline);
	out_json_member("trigger", json_fired(&why->waits.fired));
}

/* -- causes ---------------------------------------------------------------- */

static int show_causes(struct why *why, struct schedtape_tape *tape,
		       const struct schedtape_timeline *timeline)
{
	const struct causes *causes = &why->waits.causes;
	unsigned int kinds = 0;
	struct sheet sheet;
	size_t i;

	sheet_begin(&sheet, why_columns, &why->sheet);
	if (why_fill(&sheet, causes, &why->syscalls)) {
		sheet_free(&sheet);
		return no_memory();
	}
	sheet_sort(&sheet);
	begin(why, tape, timeline);
	if (why->common.json) {
		sheet_json(&sheet, "causes");
		out_json_end();
	} else {
		sheet_print(&sheet);
		for (i = 0; i < causes->nr; i++)
			if (!causes->list[i].rest)
				kinds |= 1U << causes->list[i].kind;
		putchar('\n');
		why_print_notes(kinds, &why->waits.history);
	}
	sheet_free(&sheet);
	return 0;
}

/* JSON has all links, unless --top says otherwise. */
static struct printer printer_of(struct why *why)
{
	return (struct printer){
		.syscalls = &why->syscalls,
		.times = &why->time,
		.top = why->sheet.top ? why->sheet.top : why->common.json ? SIZE_MAX : LINES,
	};
}

/* -- chains ---------------------------------------------------------------- */

/* Prints why there is no wait to explain. */
static void no_wait(struct why *why, struct schedtape_tape *tape,
		    const struct schedtape_task *tasks, size_t n)
{
	const char *path = why->common.input;
	char list[CONTENTS_LEN];
	bool found = false, ran = false;
	size_t i;

	for (i = 0; i < n; i++) {
		if (!select_names_has(&why->who, tasks[i].comm, tasks[i].pid))
			continue;
		found = true;
		ran = ran || tasks[i].cpu_time || tasks[i].wakeups;
	}
	if (!found)
		out_error(path, "no task of the tape is \"%s\"; it has the tasks %s", why->task,
			  contents_tasks(list, tape));
	else if (why->waits.at != SPAN_NONE)
		out_error(path, "the tape does not show that \"%s\" waited at that time",
			  why->task);
	else if (selection_of_any(&why->selection))
		selection_no_match(&why->selection, tape, path, "wait of the task", "");
	else if (!ran)
		out_error(path, "\"%s\" never ran: the tape does not show since when it waits",
			  why->task);
	else
		out_error(path, "no wait of \"%s\"%s", why->task,
			  why->sleeps ? "" : " but its own sleeps, see --sleeps");
}

/* A task that runs at the time of --at does not wait. */
static void print_ran(const struct why *why)
{
	const struct link_name *ran = &why->waits.ran;
	char name[TEXT_TASK_LEN];

	if (!why->common.json)
		printf("%s ran at that time\n", text_task(name, ran->comm, ran->pid));
}

static int show_waits(struct why *why, struct schedtape_tape *tape,
		      const struct schedtape_timeline *timeline)
{
	const struct waits *waits = &why->waits;
	const struct schedtape_task *tasks;
	unsigned int kinds = 0;
	struct printer printer;
	size_t i, n;

	tasks = schedtape_timeline_tasks(timeline, &n);
	if (!waits->nr && !waits->ran.pid) {
		no_wait(why, tape, tasks, n);
		return CMD_FAILURE;
	}
	printer = printer_of(why);
	begin(why, tape, timeline);
	if (why->common.json)
		out_json_list("chains");
	for (i = 0; i < waits->nr && out_works(); i++) {
		if (why->common.json)
			why_json_chain(&printer, &waits->chains[i]);
		else
			why_print_wait(&printer, &waits->chains[i]);
		kinds |= why_kinds(&waits->chains[i]);
	}
	if (!waits->nr)
		print_ran(why);
	if (why->common.json) {
		out_json_list_end();
		out_json_end();
		return 0;
	}
	if (waits->nr_more)
		printf("# %zu more waits, see --worst\n", waits->nr_more);
	why_print_notes(kinds, &why->waits.history);
	return 0;
}

/* -- the critical path ----------------------------------------------------- */

/*
 * Finds the process of the selected tasks.  Returns the index of its leader; SCHEDTAPE_NONE, after
 * a message: there is none, or more than one.
 */
static uint32_t find_process(struct why *why, struct schedtape_tape *tape,
			     const struct schedtape_task *tasks, size_t n)
{
	uint32_t process = SCHEDTAPE_NONE;
	size_t i;

	for (i = 0; i < n; i++) {
		if (!select_names_has(&why->who, tasks[i].comm, tasks[i].pid) ||
		    !selection_has_timeline_task(&why->selection, &tasks[i]))
			continue;
		if (process != SCHEDTAPE_NONE && tasks[i].process != process) {
			out_error(why->common.input, "\"%s\" is more than one process, such as "
				  "%" PRIu32 " and %" PRIu32 ": choose one", why->task,
				  tasks[process].pid, tasks[tasks[i].process].pid);
			return SCHEDTAPE_NONE;
		}
		process = tasks[i].process;
	}
	if (process == SCHEDTAPE_NONE)
		no_wait(why, tape, tasks, n);
	return process;
}

/* Returns the number of the process's last run, and when it ended; SPAN_NONE: it never ran. */
static uint64_t last_run(struct history *history, const struct schedtape_task *tasks, size_t n,
			 uint32_t process, uint64_t *end)
{
	uint64_t number, last = SPAN_NONE;
	const struct span *span;
	size_t i;

	for (i = 0; i < n && i < history->nr_tasks; i++) {
		number = history->tasks[i].last;
		span = history_get(history, number);
		if (tasks[i].process != process || !span ||
		    (last != SPAN_NONE && span->end <= *end))
			continue;
		last = number;
		*end = span->end;
	}
	return last;
}

static int show_path(struct why *why, struct schedtape_tape *tape,
		     const struct schedtape_timeline *timeline)
{
	struct chain *chain = &why->waits.chain;
	const struct schedtape_task *tasks;
	uint64_t number, end = 0;
	struct printer printer;
	uint32_t process;
	size_t n;

	tasks = schedtape_timeline_tasks(timeline, &n);
	process = find_process(why, tape, tasks, n);
	if (process == SCHEDTAPE_NONE)
		return CMD_FAILURE;
	number = last_run(&why->waits.history, tasks, n, process, &end);
	if (number == SPAN_NONE || end <= tasks[process].start) {
		out_error(why->common.input, "the process %" PRIu32 " did not run",
			  tasks[process].pid);
		return CMD_FAILURE;
	}
	if (chain_of_path(chain, &why->waits.history, number, tasks[process].start, end))
		return no_memory();
	chain_name(chain, tasks);
	printer = printer_of(why);
	begin(why, tape, timeline);
	if (why->common.json) {
		out_json_list("chains");
		why_json_chain(&printer, chain);
		out_json_list_end();
		out_json_end();
	} else {
		why_print_path(&printer, chain);
		why_print_notes(why_kinds(chain), &why->waits.history);
	}
	return 0;
}

/* -- the tape's recording -------------------------------------------------- */

static enum stape_throttling throttling_of(struct json_object *meta)
{
	struct json_object *value;
	const char *name = "";

	if (json_object_object_get_ex(meta, "throttling", &value))
		name = json_object_get_string(value);
	if (name && !strcmp(name, schedtape_throttling_name(STAPE_THROTTLING_CGROUPS)))
		return STAPE_THROTTLING_CGROUPS;
	if (name && !strcmp(name, schedtape_throttling_name(STAPE_THROTTLING_TASKS)))
		return STAPE_THROTTLING_TASKS;
	return STAPE_THROTTLING_NONE;
}

int recorded_read(struct recorded *recorded, struct schedtape_tape *tape)
{
	recorded->all = idle_time_has_filter_all(tape);
	recorded->knows_idle = idle_time_is_known(tape);
	recorded->throttling = throttling_of(tape_meta(tape));
	return quotas_read(&recorded->quotas, tape);
}

/* -- the command ----------------------------------------------------------- */

/* Returns 0, or -1 after a message. */
static int prepare(struct why *why, struct schedtape_tape *tape)
{
	struct waits *waits = &why->waits;
	const char *path = why->common.input;

	*waits = (struct waits){
		.who = &why->who,
		.selection = &why->selection,
		.recorded = &why->recorded,
		.most = why->summary || why->path ? 0 : why->worst ? why->worst : WORST,
		.at = SPAN_NONE,
		.all = why->summary,
		.causes.apart = !why->sleeps,
		.rest = why->sleeps || why->at.nr,
		/* A path may go back to the start of the tape. */
		.history.most = why->path ? 1ULL << 40 : SPANS,
	};
	if (selection_resolve(&why->selection, tape, path) ||
	    select_tasks_find(&why->who, tape, path) ||
	    time_text_begin(&why->time, &why->times, tape, path))
		return -1;
	if (selection_resolve_times(&why->at, tape, path, "--at"))
		return -1;
	if (recorded_read(&why->recorded, tape)) {
		no_memory();
		return -1;
	}
	syscalls_init(&why->syscalls, tape);
	why->sheet.times = &why->time;
	waits->history.recorded = &why->recorded;
	waits->fired.at = fired_at(tape_meta(tape));
	waits->fired.least = waits->fired.at ? FIRED_NEAR : 0;
	if (why->at.nr)
		waits->at = why->at.ranges[0].start;
	return 0;
}

static int run(struct why *why, struct schedtape_tape *tape)
{
	struct schedtape_timeline *timeline;
	struct schedtape_error err = { "" };
	int status;

	if (schedtape_timeline_run(tape, &waits_ops, &why->waits, &timeline, &err)) {
		out_error(NULL, "%s", err.text[0] ? err.text : "not enough memory");
		return CMD_FAILURE;
	}
	cmd_warn_damage(timeline);
	if (why->summary)
		status = show_causes(why, tape, timeline);
	else if (why->path)
		status = show_path(why, tape, timeline);
	else
		status = show_waits(why, tape, timeline);
	schedtape_timeline_free(timeline);
	return status;
}

int cmd_why(int argc, char **argv)
{
	static const struct argp_child children[] = {
		{ &cmd_common_argp, 0, NULL, 0 }, { &selection_argp, 0, NULL, 0 },
		{ &sheet_argp, 0, NULL, 0 }, { &time_text_argp, 0, NULL, 0 }, { 0 }
	};
	static const struct argp argp = {
		.options = options,
		.parser = parse,
		.args_doc = "TASK [FILE]\n--summary [FILE]",
		.doc = "Shows what kept a task from running: which task woke it, what the waker "
		       "had waited for, which task ran on its CPU. TASK is a PID or a name. See "
		       "schedtape-why(1).",
		.children = children,
	};
	struct why why = {
		.common = CMD_COMMON_INIT, .times = TIME_TEXT_OPTIONS_INIT, .who.pids = true,
	};
	struct schedtape_tape *tape;
	int status = CMD_FAILURE;

	sheet_options_init(&why.sheet, why_columns, "time");
	cmd_parse(&argp, argc, argv, 0, &why);
	tape = cmd_open_tape_once(why.common.input);
	if (tape && !prepare(&why, tape))
		status = run(&why, tape);
	if (tape)
		cmd_warn_empty(tape, why.common.input);
	cmd_close_tape(tape, why.common.input);
	waits_free(&why.waits);
	quotas_free(&why.recorded.quotas);
	syscalls_free(&why.syscalls);
	time_ranges_free(&why.at);
	select_names_free(&why.who);
	selection_free(&why.selection);
	return out_finish(status);
}
