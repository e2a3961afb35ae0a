// SPDX-License-Identifier: GPL-2.0-only
/*
 * schedtape script: prints the events of a tape, one per line, or runs a script on them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <json-c/json.h>

#include "commands.h"
#include "common/input.h"
#include "common/options.h"
#include "common/output.h"
#include "common/pager.h"
#include "common/selection.h"
#include "script/internal.h"

#define PYTHON		"python3"
#define NEW_SCRIPT	"schedtape-script.py"

/* -- languages of scripts -------------------------------------------------- */

enum language {
	LANGUAGE_UNKNOWN,
	LANGUAGE_PYTHON,
	LANGUAGE_PERL,
};

/* Returns the language of this name, which has @len letters. */
static enum language language_called(const char *name, size_t len)
{
	static const struct {
		const char *name;
		enum language language;
	} languages[] = {
		{ "python", LANGUAGE_PYTHON }, { "py", LANGUAGE_PYTHON },
		{ "perl", LANGUAGE_PERL }, { "pl", LANGUAGE_PERL },
	};
	size_t i;

	for (i = 0; i < sizeof(languages) / sizeof(*languages); i++)
		if (strlen(languages[i].name) == len &&
		    !strncasecmp(languages[i].name, name, len))
			return languages[i].language;
	return LANGUAGE_UNKNOWN;
}

/*
 * Returns the language of "perl:NAME" and of "NAME.pl"; others are in Python.  @script: becomes
 * the name without a language before it
 */
static enum language language_of(const char **script)
{
	const char *colon = strchr(*script, ':'), *dot = strrchr(*script, '.');
	enum language language = colon ? language_called(*script, colon - *script) :
					 LANGUAGE_UNKNOWN;

	if (language)
		*script = colon + 1;
	else if (dot)
		language = language_called(dot + 1, strlen(dot + 1));
	return language ? language : LANGUAGE_PYTHON;
}

/* -- scripts in Python ----------------------------------------------------- */

/*
 * This process calls exec() and becomes a Python interpreter.  The Python package schedtape then
 * reads the tape and calls the script's functions.
 */

/* The package may be missing, which is to be said in words of this program. */
static const char python_start[] =
	"import sys\n"
	/* Not what happens to lie in the current folder. */
	"sys.path[:] = [folder for folder in sys.path if folder]\n"
	"try:\n"
	"    from schedtape.script import main\n"
	"except ImportError as error:\n"
	"    hint = (': install the package python3-schedtape, or name the folder of the Python package '\n"
	"            'in PYTHONPATH' if error.name == 'schedtape' else '')\n"
	"    sys.exit(f'schedtape script: {error}{hint}')\n"
	"sys.exit(main())\n";

/* Becomes Python, with the words of schedtape.script.  Those behind the first NULL do not count. */
static int become(const char *what, const char *tape, const char *file, char **args)
{
	const char *const fixed[] = { PYTHON, "-c", python_start, what, tape, file };
	size_t i, nr_fixed = sizeof(fixed) / sizeof(*fixed), n = 0;
	char **words;

	while (args && args[n])
		n++;
	words = calloc(nr_fixed + n + 1, sizeof(*words));
	if (!words) {
		out_error(NULL, "not enough memory");
		return CMD_FAILURE;
	}
	for (i = 0; i < nr_fixed; i++)
		words[i] = (char *)fixed[i];
	for (i = 0; i < n; i++)
		words[nr_fixed + i] = args[i];
	execvp(PYTHON, words);
	out_error(NULL, "cannot run " PYTHON ", which scripts need: %s: "
		  "install the package python3-schedtape", strerror(errno));
	free(words);
	return CMD_FAILURE;
}

/* Runs a script with @args, up to NULL.  Returns only after a message, with the exit status. */
static int run_python(const char *tape, const char *script, char **args)
{
	return become("run", tape, script, args);
}

/* Writes a script for the tracepoints of a tape.  Returns as run_python(). */
static int make_python(const char *tape)
{
	return become("make", tape, NEW_SCRIPT, NULL);
}

/* Lists the scripts of the program, and those of the package.  Returns as run_python(). */
static int list_scripts(void)
{
	perl_scripts_list();
	fflush(stdout);
	return become("list", NULL, NULL, NULL);
}

/* -- options --------------------------------------------------------------- */

/**
 * struct script - the command line, and the state of the output
 * @print_event: prints an event in the format that the options ask for
 * @print_sample: the same for other tracepoints
 * @samples: of these
 * @file: --script: runs on the tape
 * @args: its arguments; NULL: none
 * @language: --gen-script: of the script that is written
 * @perl: @file is in Perl
 * @list: --list: scripts are listed
 * @printed: an event was printed; losses and pauses do not count, nor do idle times without -e
 * @begun: something was printed
 */
struct script {
	struct cmd_common common;
	struct selection selection;
	struct time_text_options times;
	struct fields fields;
	struct print print;
	void (*print_event)(struct print *print, const struct schedtape_event *ev);
	void (*print_sample)(struct print *print, const struct print_sample *sample);
	struct samples samples;
	const char *file;
	char **args;
	enum language language;
	bool perl;
	bool list;
	bool printed;
	bool begun;
};

static const struct argp_option options[] = {
	{ "comms", 'c', "GLOB[,GLOB...]", 0, "As --comm", 0 },
	{ "gen-script", 'g', "python|perl", 0,
	  "Write a script, schedtape-script.py or .pl, with a function for each tracepoint", 0 },
	{ "list", 'l', NULL, 0, "List the scripts that come with schedtape", 0 },
	{ "script", 's', "NAME", 0,
	  "Run a script, a file or one that -l lists; its arguments follow, options after --", 0 },
	{ 0 }
};

static enum language parse_language(const char *name, struct argp_state *state)
{
	enum language language = language_called(name, strlen(name));

	if (!language)
		argp_error(state, "-g: '%s': the language is python or perl", name);
	return language;
}

/* Scripts get all events, and print what they like. */
static void check_scripts(const struct script *script, struct argp_state *state)
{
	if (!script->file && !script->language && !script->list)
		return;
	if (!!script->file + !!script->language + script->list > 1)
		argp_error(state, "-g, -l and -s: one of them at a time");
	if (script->common.json || script->fields.given || script->fields.chosen ||
	    selection_of_any(&script->selection))
		argp_error(state, "-g, -l and -s: only together with -i, because a script gets all "
			   "events");
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct script *script = state->input;

	/* A script has the terminal for itself. */
	if (key == 'g' || key == 'l' || key == 's')
		pager_forbid();
	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &script->common;
		state->child_inputs[1] = &script->selection;
		state->child_inputs[2] = &script->fields;
		state->child_inputs[3] = &script->times;
		return 0;
	case 'c':
		return -select_names_parse(&script->selection.comms, arg);
	case 'g':
		script->language = parse_language(arg, state);
		return 0;
	case 'l':
		script->list = true;
		return 0;
	case 's':
		script->file = arg;
		script->perl = language_of(&script->file) == LANGUAGE_PERL;
		return 0;
	case ARGP_KEY_ARG:
		if (!script->file)
			return ARGP_ERR_UNKNOWN;
		script->args = &state->argv[state->next - 1];
		state->next = state->argc;
		return 0;
	case ARGP_KEY_END:
		check_scripts(script, state);
		if (script->common.json && script->fields.given)
			argp_error(state, "-F and --json cannot be combined: JSON has all fields");
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

/* -- events ---------------------------------------------------------------- */

static bool selects_task(const struct script *script, uint32_t pid)
{
	return selection_has_identity(&script->selection, script->print.identities, pid);
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
	script->printed |= !schedtape_event_is_gap(ev) &&
			   (ev->type != SCHEDTAPE_EV_IDLE || script->fields.chosen);
	script->print_event(&script->print, ev);
}

/* -- other tracepoints ----------------------------------------------------- */

/* Without -e, or with one that may name some. */
static bool wants_samples(const struct script *script)
{
	return !script->fields.chosen || script->fields.points.nr;
}

static bool selects_sample(const struct script *script, const struct schedtape_sample *sample)
{
	const struct selection *selection = &script->selection;

	return selection_has_cpu(selection, sample->cpu) &&
	       selection_has_time(selection, sample->time) &&
	       (!selection_of_tasks(selection) || selects_task(script, sample->tid)) &&
	       fields_has_point(&script->fields, samples_name(&script->samples));
}

/* Prints the sample. */
static void show_sample(struct script *script, const struct schedtape_sample *sample)
{
	/* A task has no PID any more when its parent has reaped it before its last switch. */
	bool reaped = sample->tid == UINT32_MAX;
	struct print_sample line = {
		.at = {
			.time = sample->time,
			.cpu = sample->cpu,
			.curr = reaped ? 0 : sample->tid,
			.curr_kind = reaped ? STAPE_NEXT_OTHER : STAPE_NEXT_IDLE,
		},
	};
	struct json_object *fields;

	begin(script);
	line.event = samples_name(&script->samples);
	if (script->common.json) {
		fields = samples_json(&script->samples);
		line.fields = json_object_to_json_string_ext(fields, JSON_C_TO_STRING_PLAIN);
		if (strlen(line.fields) > LINES_MOST - LINES_MOST / 4)
			line.fields = "null";
		script->print_sample(&script->print, &line);
		json_object_put(fields);
	} else {
		line.text = schedtape_decoder_text(script->samples.decoder, sample);
		script->print_sample(&script->print, &line);
	}
	script->printed = true;
}

/* A loss may hide events of any task and tracepoint, so it is always shown. */
static void show_sample_loss(struct script *script, const struct schedtape_sample *sample)
{
	const struct print_sample line = {
		.at = {
			.type = SCHEDTAPE_EV_LOST,
			.time = sample->time,
			.cpu = sample->cpu,
			.lost_first = sample->time,
		},
		.lost = sample->lost,
	};

	if (!sample->lost || !selection_has_cpu(&script->selection, sample->cpu) ||
	    !selection_has_time(&script->selection, sample->time))
		return;
	begin(script);
	script->print_sample(&script->print, &line);
}

/* Prints the next sample, and what was lost before it; or gives both to the script. */
static void take_sample(struct script *script)
{
	const struct schedtape_sample *sample = &script->samples.next;

	if (script->perl) {
		perl_sample(&script->print, &script->samples);
		script->printed = true;
		return;
	}
	show_sample_loss(script, sample);
	if (sample->bytes && selects_sample(script, sample))
		show_sample(script, sample);
}

/* Prints the samples up to @time.  On one CPU, what a task does comes before it leaves. */
static int show_samples(struct script *script, uint64_t time)
{
	const struct schedtape_sample *next = &script->samples.next;
	int ret = 0;

	while (!ret && script->samples.any && next->time <= time && out_works() &&
	       !selection_is_over(&script->selection, next->time)) {
		ret = identities_reach(script->print.identities, next->time);
		if (ret)
			break;
		take_sample(script);
		ret = samples_advance(&script->samples);
	}
	return ret;
}

/* -- the run through the tape ---------------------------------------------- */

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
	ret = show_samples(script, ev->time);
	if (!ret)
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
	script->print_event = script->perl ? print_perl : script->common.json ? print_json :
			      script->fields.perf ? print_perf : print_text;
	script->print_sample = script->common.json ? print_json_sample :
			       script->fields.perf ? print_perf_sample : print_text_sample;
}

/* A script in Perl has its output, and this process, meanwhile, its pipe. */
static int read_events(struct script *script, struct schedtape_tape *tape)
{
	int status = cmd_read_events(tape, &script->print.lines, take, script);

	if (!status && show_samples(script, UINT64_MAX))
		status = CMD_FAILURE;
	return status ? out_finish(status) : finish(script, tape);
}

static void warn_perl(const struct script *script, uint64_t count, const char *what)
{
	char text[OUT_COUNT_LEN];

	if (count)
		out_warning(script->common.input, "%s %s", out_count(text, count), what);
}

/* Samples are read only if the script has a function for them. */
static int run_perl(struct script *script, struct schedtape_tape *tape)
{
	int status = CMD_FAILURE;
	uint64_t lost, unknown;

	if (samples_decode(&script->samples, tape) ||
	    perl_begin(&script->print, script->samples.decoder, script->file, script->args))
		return CMD_FAILURE;
	if (!perl_wants_samples(script->print.perl) ||
	    !samples_begin(&script->samples, tape, script->common.input))
		status = read_events(script, tape);
	lost = perl_lost(script->print.perl, &unknown);
	status = perl_end(&script->print, status);
	warn_perl(script, cmd_count_lost(schedtape_tape_end(tape)), "events are lost");
	warn_perl(script, lost, "events of other tracepoints are lost");
	warn_perl(script, unknown, "events of other tracepoints cannot be decoded");
	return status;
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
	if (script->perl)
		status = run_perl(script, tape);
	else if (!wants_samples(script) ||
		 !samples_begin(&script->samples, tape, script->common.input))
		status = read_events(script, tape);
	samples_end(&script->samples);
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
		.args_doc = "[FILE]\n-s NAME [ARGUMENT...]",
		.doc = "Prints the events of a tape, one a line, by time, or runs a script on "
		       "them. See schedtape-script(1).",
		.children = children,
	};
	struct script script = {
		.common = CMD_COMMON_INIT,
		.times = TIME_TEXT_OPTIONS_INIT,
		.fields = FIELDS_INIT,
	};
	int status;

	/* Arguments behind a script's name are passed to the script, so they keep their order. */
	cmd_parse(&argp, argc, argv, ARGP_IN_ORDER, &script);
	if (script.list)
		status = list_scripts();
	else if (script.language == LANGUAGE_PERL)
		status = generate_perl(script.common.input);
	else if (script.language)
		status = make_python(script.common.input);
	else if (script.file && !script.perl)
		status = run_python(script.common.input, script.file, script.args);
	else
		status = script_tape(&script);
	selection_free(&script.selection);
	select_names_free(&script.fields.points);
	return status;
}
