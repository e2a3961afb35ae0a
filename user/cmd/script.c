// SPDX-License-Identifier: GPL-2.0-only
/*
 * schedtape script: prints the events of a tape, one per line.
 */
#include "commands.h"
#include "common/identities.h"
#include "common/input.h"
#include "common/options.h"
#include "common/output.h"
#include "common/selection.h"
#include "script/fields.h"
#include "script/print.h"

/**
 * struct script - the command line, and the state of the output
 * @print_event: prints an event in the format that the options ask for
 * @printed: an event was printed, losses and pauses not counted
 * @begun: something was printed
 */
struct script {
	struct cmd_common common;
	struct selection selection;
	struct time_text_options times;
	struct fields fields;
	struct print print;
	void (*print_event)(struct print *print, const struct schedtape_event *ev);
	bool printed;
	bool begun;
};

static const struct argp_option options[] = {
	{ "comms", 'c', "GLOB[,GLOB...]", 0, "As --comm", 0 },
	{ 0 }
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct script *script = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &script->common;
		state->child_inputs[1] = &script->selection;
		state->child_inputs[2] = &script->fields;
		state->child_inputs[3] = &script->times;
		return 0;
	case 'c':
		return -select_names_parse(&script->selection.comms, arg);
	case ARGP_KEY_END:
		if (script->common.json && script->fields.given)
			argp_error(state, "-F and --json cannot be combined: JSON has all fields");
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static bool selects_task(const struct script *script, uint32_t pid)
{
	return selection_has_identity(&script->selection, pid,
				      print_identity(&script->print, pid));
}

/* A gap may hide events of any task and type, so it is printed whatever is selected of these. */
static bool selects(const struct script *script, const struct schedtape_event *ev)
{
	if (!selection_has_cpu(&script->selection, ev->cpu))
		return false;
	if (schedtape_event_is_gap(ev))
		return selection_overlaps(&script->selection, ev->lost_first, ev->lost_last);
	if (!fields_has_event(&script->fields, ev->type) ||
	    !selection_has_time(&script->selection, ev->time))
		return false;
	return !selection_of_tasks(&script->selection) || selects_task(script, ev->curr) ||
	       selects_task(script, ev->pid);
}

/* The first line of JSON names the format of the others. */
static void begin(struct script *script)
{
	if (script->common.json && !script->begun)
		print_json_head(&script->print);
	script->begun = true;
}

static inline void show(struct script *script, const struct schedtape_event *ev)
{
	if (!selects(script, ev))
		return;
	begin(script);
	script->printed |= !schedtape_event_is_gap(ev);
	script->print_event(&script->print, ev);
}

/*
 * Prints an event, and follows it.  What it changes of a task is printed with the old value beside
 * the new one, but a fork with its child's name.
 */
static int take(void *arg, const struct schedtape_event *ev)
{
	struct script *script = arg;
	struct identities *ids = script->print.identities;
	int ret;

	if (selection_is_over(&script->selection, ev->time))
		return 1;
	ret = identities_reach(ids, ev->time);
	switch (ev->type) {
	case STAPE_EV_RENAME:
	case STAPE_EV_PRIO:
	case STAPE_EV_MIGRATE:
		if (!ret)
			show(script, ev);
		return ret ? ret : identities_follow(ids, ev);
	}
	if (!ret)
		ret = identities_follow(ids, ev);
	if (!ret)
		show(script, ev);
	return ret;
}

/* Ends the output, after an error if the options select no event at all. */
static int finish(struct script *script, struct schedtape_tape *tape)
{
	bool chosen = selection_of_any(&script->selection) || script->fields.chosen;
	const char *path = script->common.input;

	if (!script->printed && out_works()) {
		lines_flush(&script->print.lines);
		if (!cmd_warn_empty(tape, path) && chosen) {
			selection_no_match(&script->selection, tape, path, "event",
					   script->fields.chosen ? " -e" : "");
			return out_finish(CMD_FAILURE);
		}
	}
	begin(script);
	lines_flush(&script->print.lines);
	return out_finish(0);
}

static void choose_format(struct script *script)
{
	script->print.fields = script->fields.fields;
	if (script->fields.fields & FIELD_TOD)
		script->times.style = TIME_STYLE_DATE;
	lines_begin(&script->print.lines);
	script->print_event = script->common.json ? print_json :
			      script->fields.perf ? print_perf : print_text;
}

static int script_tape(struct script *script)
{
	struct schedtape_error err = { "" };
	struct schedtape_tape *tape;
	int status = CMD_FAILURE;

	tape = cmd_open_tape_once(script->common.input);
	if (!tape)
		return CMD_FAILURE;
	choose_format(script);
	syscalls_init(&script->print.syscalls, tape);
	if (selection_resolve(&script->selection, tape, script->common.input) ||
	    time_text_begin(&script->print.time, &script->times, tape, script->common.input))
		goto out;
	if (out_failed(identities_new(tape, &script->print.identities, &err), &err))
		goto out;
	status = cmd_read_events(tape, &script->print.lines, take, script);
	status = status ? out_finish(status) : finish(script, tape);
	identities_free(script->print.identities);
out:
	syscalls_free(&script->print.syscalls);
	cmd_close_tape(tape, script->common.input);
	return status;
}

int cmd_script(int argc, char **argv)
{
	static const struct argp_child children[] = {
		{ &cmd_common_argp, 0, NULL, 0 }, { &selection_argp, 0, NULL, 0 },
		{ &fields_argp, 0, NULL, 0 }, { &time_text_argp, 0, NULL, 0 }, { 0 }
	};
	static const struct argp argp = {
		.options = options,
		.parser = parse,
		.args_doc = "[FILE]",
		.doc = "Prints the events of a tape, one a line, by time. See schedtape-script(1).",
		.children = children,
	};
	struct script script = {
		.common = CMD_COMMON_INIT,
		.times = TIME_TEXT_OPTIONS_INIT,
		.fields = FIELDS_INIT,
	};
	int status;

	cmd_parse(&argp, argc, argv, 0, &script);
	status = script_tape(&script);
	selection_free(&script.selection);
	return status;
}
