// SPDX-License-Identifier: GPL-2.0-only
/*
 * schedtape recover: makes a complete tape of the valid parts of a truncated or corrupt one, or
 * tapes of the sessions that a machine had when it crashed.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "commands.h"
#include "common/destination.h"
#include "common/new-tape.h"
#include "common/output.h"
#include "common/select.h"
#include "common/signals.h"
#include "recover/internal.h"

#define OPT_VMCORE	1000
#define OPT_SESSION	1001
#define OPT_LOAD	1002

#define NAMED_LOADS	16	/* more come from a dump that lies */

/**
 * struct crash - a dump whose sessions become tapes
 * @wanted: how many of the sessions
 * @tapes: array of JSON objects; NULL: not needed
 * @made: how many of the tapes were made
 * @failed: a session has no tape, although it has events
 */
struct crash {
	const struct crash_options *options;
	struct vmcore *vmcore;
	struct found found;
	size_t wanted;
	struct json_object *tapes;
	size_t made;
	bool failed;
};

/* -- output ---------------------------------------------------------------- */

/* "2026-11-27 21:28:06", in local time */
#define DATE_LEN	32
static const char *date(char buffer[DATE_LEN], uint64_t real)
{
	time_t seconds = real / 1000000000;
	struct tm tm;

	if (!localtime_r(&seconds, &tm) || !strftime(buffer, DATE_LEN, "%F %T", &tm))
		snprintf(buffer, DATE_LEN, "?");
	return buffer;
}

static void print_text(const struct crash_tape *tape, const char *path)
{
	char events[OUT_COUNT_LEN], lost[OUT_COUNT_LEN], pages[OUT_COUNT_LEN], when[DATE_LEN];
	char first[OUT_TIME_LEN], last[OUT_TIME_LEN];

	fprintf(stderr, "[ %s: session %" PRIu32 ": %" PRIu32 " CPUs, %s pages, from %s to %s s, "
		"until %s ]\n", out_command(), tape->session, tape->cpus,
		out_count(pages, tape->pages), out_seconds(first, tape->first, 6),
		out_seconds(last, tape->last, 6), date(when, tape->real));
	fprintf(stderr, "[ %s: wrote %.3f MB to %s: %s events, %s lost ]\n", out_command(),
		tape->bytes / 1e6, path, out_count(events, tape->events),
		out_count(lost, tape->lost));
}

/*
 * JSON sessions[] of recover --vmcore:
 * @session: Number of its session.
 * @tape: Path of the tape.
 * @bytes: Its size.
 * @cpu_count: CPUs with events.
 * @page_count: Pages of the rings that were found.
 * @missing_page_count: Pages that are corrupt or not in the dump.
 * @events: Events on the tape.
 * @lost: Events that had no room in the rings while it was recorded.
 * @first_ns: When the tape begins, by CLOCK_MONOTONIC.
 * @last_ns: The last event.
 * @last_real_ns: The same, by CLOCK_REALTIME.
 * @whole: Whether it begins with the recording.
 */
static void add_json(struct json_object *list, const struct crash_tape *tape, const char *path)
{
	struct json_object *object = json_object_new_object();

	out_json_add_count(object, "session", tape->session);
	json_object_object_add(object, "tape", json_object_new_string(path));
	out_json_add_count(object, "bytes", tape->bytes);
	out_json_add_count(object, "cpu_count", tape->cpus);
	out_json_add_count(object, "page_count", tape->pages);
	out_json_add_count(object, "missing_page_count", tape->missing);
	out_json_add_count(object, "events", tape->events);
	out_json_add_count(object, "lost", tape->lost);
	out_json_add_count(object, "first_ns", tape->first);
	out_json_add_count(object, "last_ns", tape->last);
	out_json_add_count(object, "last_real_ns", tape->real);
	out_json_add_bool(object, "whole", tape->whole);
	json_object_array_add(list, object);
}

/*
 * JSON loads[] of recover --vmcore:
 * @load: Its number, for --load.
 * @loaded_real_ns: When the module was loaded, by the real-time clock.
 * @page_count: Pages that describe its sessions.
 */
static void add_loads(struct json_object *root, const struct found *found)
{
	struct json_object *list = json_object_new_array(), *object;
	size_t i;

	for (i = 0; i < found->nr_loads && i < NAMED_LOADS; i++) {
		object = json_object_new_object();
		out_json_add_count(object, "load", i + 1);
		out_json_add_count(object, "loaded_real_ns", found->loads[i].loaded);
		out_json_add_count(object, "page_count", found->loads[i].nr_pages);
		json_object_array_add(list, object);
	}
	json_object_object_add(root, "loads", list);
}

/*
 * JSON of recover --vmcore:
 * @dump: Path of the dump.
 * @dump_format: Its format, as libkdumpfile names it.
 * @load: Number of the load of the module that the sessions are of.
 * @loads: A list of all loads of the module, the latest first, 16 at most.
 * @sessions: A list of tapes, one of each session.
 */
static void print_json(struct crash *crash)
{
	struct json_object *root = out_json_new("recover");

	json_object_object_add(root, "dump", json_object_new_string(crash->options->vmcore));
	json_object_object_add(root, "dump_format",
			       json_object_new_string(vmcore_format(crash->vmcore)));
	json_object_object_add(root, "sessions", json_object_get(crash->tapes));
	out_json_add_count(root, "load", crash->found.load + 1);
	add_loads(root, &crash->found);
	out_json(root, true);
}

static void warn_of_tape(const struct crash *crash, const struct crash_tape *tape)
{
	const char *path = crash->options->vmcore;

	if (tape->bad_rings)
		out_warning(path, "session %" PRIu32 ": %" PRIu64 " rings are left out, because "
			    "what describes them is corrupt, or not in the dump",
			    tape->session, tape->bad_rings);
	if (tape->missing)
		out_warning(path, "session %" PRIu32 ": %" PRIu64 " pages of its rings are "
			    "corrupt, or not in the dump", tape->session, tape->missing);
}

/* Names the loads that are left out, unless the user has seen them and chosen one. */
static void warn_of_loads(const struct crash *crash)
{
	const struct found *found = &crash->found;
	const char *path = crash->options->vmcore;
	char when[DATE_LEN];
	size_t i;

	if (crash->options->load)
		return;
	for (i = 0; i < found->nr_loads && i < NAMED_LOADS; i++)
		if (i != found->load)
			out_warning(path, "the sessions of load %zu of the module, on %s, are left "
				    "out: --load %zu recovers them", i + 1,
				    date(when, found->loads[i].loaded), i + 1);
	if (i < found->nr_loads)
		out_warning(path, "%zu more loads of the module are left out",
			    found->nr_loads - i);
}

static void warn_of_dump(const struct crash *crash)
{
	const struct found *found = &crash->found;
	const char *path = crash->options->vmcore;

	if (found->incomplete)
		out_warning(path, "%zu sessions are left out, because what describes them is not "
			    "all in the dump", found->incomplete);
	if (found->unknown)
		out_warning(path, "%zu pages of another version of the module are left out: use the "
			    "schedtape that recorded", found->unknown);
	if (found->swapped)
		out_warning(path, "%zu pages of a machine with the other byte order are left out: "
			    "recover them on such a machine", found->swapped);
	warn_of_loads(crash);
}

/* -- tapes ----------------------------------------------------------------- */

static bool is_wanted(const struct crash *crash, const struct found_session *session)
{
	return !crash->options->one || session->page.header.session == crash->options->session;
}

/* Writes a tape, whose name an older one may have.  Returns 0 or -errno. */
static int write_tape(struct crash *crash, const struct found_session *session, const char *path,
		      struct crash_tape *tape, struct schedtape_error *err)
{
	struct backup backup;
	int ret;

	ret = backup_refuse(crash->options->vmcore, path, err);
	if (!ret)
		ret = backup_old(path, &backup, err);
	if (ret)
		return ret;
	ret = crash_tape_write(vmcore_memory(crash->vmcore), session, path, tape, err);
	if (ret)
		backup_undo(&backup);
	else
		backup_done(&backup);
	return ret;
}

/* Returns 0, also if this session has no tape; or -EINTR. */
static int recover(struct crash *crash, const struct found_session *session)
{
	const uint32_t number = session->page.header.session;
	char *name = crash_tape_name(crash->options, crash->wanted > 1, number);
	struct schedtape_error err = { "out of memory" };
	char *path = name ? destination_find(name, &err) : NULL;
	struct crash_tape tape;
	int ret = -EIO;

	free(name);
	if (path)
		ret = write_tape(crash, session, path, &tape, &err);
	if (ret == -ENODATA) {
		out_warning(crash->options->vmcore, "session %" PRIu32 ": %s", number, err.text);
	} else if (ret) {
		if (ret != -EINTR)
			out_error(crash->options->vmcore, "session %" PRIu32 ": %s", number,
				  err.text);
		crash->failed = true;
	} else {
		crash->made++;
		warn_of_tape(crash, &tape);
		if (crash->tapes)
			add_json(crash->tapes, &tape, path);
		else if (!crash->options->quiet)
			print_text(&tape, path);
	}
	free(path);
	return ret == -EINTR ? ret : 0;
}

static int recover_all(struct crash *crash)
{
	size_t i;
	int ret = 0;

	for (i = 0; i < crash->found.nr_sessions && !ret; i++)
		if (is_wanted(crash, &crash->found.sessions[i]))
			ret = recover(crash, &crash->found.sessions[i]);
	return ret;
}

/* -- the dump -------------------------------------------------------------- */

/* Says why there is nothing to be done.  Returns false then. */
static bool choose(struct crash *crash)
{
	const struct crash_options *options = crash->options;
	const struct found *found = &crash->found;
	size_t i;

	for (i = 0; i < found->nr_sessions; i++)
		crash->wanted += is_wanted(crash, &found->sessions[i]);
	if (!found->nr_sessions)
		out_error(options->vmcore, "no session of schedtape was there when the machine "
			  "crashed");
	else if (!crash->wanted)
		out_error(options->vmcore, "there was no session %" PRIu32 ": the first of %zu was "
			  "%" PRIu32, options->session, found->nr_sessions,
			  found->sessions[0].page.header.session);
	else if (crash->wanted > 1 && options->output && destination_is_stream(options->output))
		out_error(options->vmcore, "there were %zu sessions, whose tapes do not fit into "
			  "%s: name one of them with --session", crash->wanted, options->output);
	else
		return true;
	return false;
}

/* Returns the exit status: 0 after a signal, see signals_die(). */
static int run(struct crash *crash)
{
	struct schedtape_error err;
	int ret;

	ret = found_search(&crash->found, vmcore_memory(crash->vmcore), &err);
	if (ret == -EINTR)
		return 0;
	if (!ret)
		ret = found_choose(&crash->found, vmcore_memory(crash->vmcore),
				   crash->options->load, &err);
	if (ret) {
		out_error(crash->options->vmcore, "%s", err.text);
		return CMD_FAILURE;
	}
	warn_of_dump(crash);
	if (!choose(crash))
		return CMD_FAILURE;
	if (crash->options->json)
		crash->tapes = json_object_new_array();
	ret = recover_all(crash);
	if (!ret && crash->tapes)
		print_json(crash);
	json_object_put(crash->tapes);
	return !ret && (crash->failed || !crash->made) ? CMD_FAILURE : 0;
}

/* Makes the tapes and prints the result.  Returns an exit status. */
static int recover_dump(const struct crash_options *options)
{
	struct crash crash = { .options = options };
	struct schedtape_error err;
	int status, signals;

	signals_survive_writes();
	signals = signals_open();
	if (signals < 0) {
		out_error(NULL, "cannot take signals: %s", strerror(-signals));
		return CMD_FAILURE;
	}
	status = CMD_FAILURE;
	if (!out_failed(vmcore_open(options->vmcore, &crash.vmcore, &err), &err)) {
		status = run(&crash);
		found_free(&crash.found);
		vmcore_close(crash.vmcore);
	}
	close(signals);
	return out_finish(status);
}

/* -- the command line ------------------------------------------------------ */

/**
 * struct options - options of the command
 * @copy: of a tape, and those that both have
 * @crash: of a dump, if it has a name
 */
struct options {
	struct copy_options copy;
	struct crash_options crash;
};

static const struct argp_option own_options[] = {
	{ "vmcore", OPT_VMCORE, "FILE", 0,
	  "Read a dump of the memory of a crashed machine, and make a tape of each session", 0 },
	{ "session", OPT_SESSION, "ID", 0, "Of these, only the session with this number", 0 },
	{ "load", OPT_LOAD, "N", 0,
	  "The sessions of this load of the module, by the numbers that a warning names", 0 },
	{ 0 }
};

static void check(struct options *opts, struct argp_state *state)
{
	if (opts->crash.one && !opts->crash.vmcore)
		argp_error(state, "--session is for --vmcore");
	if (opts->crash.load && !opts->crash.vmcore)
		argp_error(state, "--load is for --vmcore");
	if (opts->crash.vmcore && strcmp(opts->copy.common.input, CMD_DEFAULT_TAPE))
		argp_error(state, "%s: a tape is not read with --vmcore", opts->copy.common.input);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct options *opts = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &opts->copy;
		break;
	case OPT_VMCORE:
		opts->crash.vmcore = arg;
		break;
	case OPT_SESSION:
		if (select_number_parse(&opts->crash.session, arg))
			argp_error(state, "--session %s: not the number of a session", arg);
		opts->crash.one = true;
		break;
	case OPT_LOAD:
		if (select_number_parse(&opts->crash.load, arg) || !opts->crash.load)
			argp_error(state, "--load %s: not the number of a load", arg);
		break;
	case ARGP_KEY_END:
		check(opts, state);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

int cmd_recover(int argc, char **argv)
{
	static const struct argp_child children[] = { { &copy_argp, 0, NULL, 0 }, { 0 } };
	static const struct argp argp = {
		.options = own_options,
		.args_doc = "[FILE|DIR]",
		.doc = "Writes a complete tape with all valid parts of a truncated or corrupt one, "
		       "and reports what was missing. The tape itself is not changed. With "
		       "--vmcore, makes tapes of what was recorded in the last seconds before a "
		       "machine crashed.",
		.children = children,
		.parser = parse,
	};
	struct options opts = {
		.copy = {
			.common = CMD_COMMON_INIT,
			.suffix = ".recovered",
			.recover = true,
		},
	};
	int status;

	cmd_parse(&argp, argc, argv, 0, &opts);
	opts.crash.output = opts.copy.output;
	opts.crash.quiet = opts.copy.quiet;
	opts.crash.json = opts.copy.common.json;
	status = opts.crash.vmcore ? recover_dump(&opts.crash) : copy_run(&opts.copy);
	free(opts.copy.output);
	return status;
}
