// SPDX-License-Identifier: GPL-2.0-only
/*
 * schedtape top: what the tasks do now, in a session of its own.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "common/options.h"
#include "common/output.h"
#include "common/signals.h"
#include "top/internal.h"

#define OPT_COMM	0x6000
#define OPT_LIKE	0x6001

#define DELAY_LEAST	0.1	/* s; less would record mostly this command's own work */
#define DELAY_MOST	3600

#define STATUS_SECONDS	10	/* a recorder that writes a snapshot answers when that is done */

/**
 * struct top - the command line, and what runs
 * @record: what to record
 * @recorder: name of the recorder whose tasks to show; NULL: none was given
 * @delay: length of an interval, s
 * @iterations: intervals to show; 0: no limit
 * @left: of these
 * @batch: print lines on a terminal, too
 * @screen: what is shown there, if @on_screen
 * @signals: descriptor for signals_read()
 * @quit: the user has ended the command
 * @failed: there was not enough memory
 * @stopped: the recording has been told to end
 */
struct top {
	struct record_options record;
	const char *recorder;
	struct top_view view;
	double delay;
	unsigned long iterations;
	bool json;
	bool batch;
	struct top_session session;
	struct reader reader;
	unsigned long left;
	struct screen screen;
	bool on_screen;
	int signals;
	bool quit;
	bool failed;
	bool stopped;
};

/* -- options --------------------------------------------------------------- */

static const struct argp_option options[] = {
	{ "cpu", 'C', "CPUS", 0, "Only these CPUs, as 0-3,5", 2 },
	{ "comm", OPT_COMM, "GLOB,...", 0, "Show only tasks with these names; they may be patterns",
	  2 },
	{ "like", OPT_LIKE, "ID", 0,
	  "The tasks that session ID records, which \"schedtape list\" shows", 2 },
	{ NULL, 0, NULL, 0, "When:", 3 },
	{ "delay", 'd', "SECONDS", 0, "Length of the intervals (1)", 3 },
	{ "iterations", 'n', "N", 0, "End after N intervals", 3 },
	{ "duration", RECORD_DURATION, "SEC", 0, "End after SEC; or 500ms, 5s, 2m, 1h", 3 },
	{ NULL, 0, NULL, 0, "How:", 4 },
	{ "batch", 'b', NULL, 0, "Print lines, as if the output were no terminal", 4 },
	{ "mmap-size", 'm', "SIZE", 0,
	  "Size of each CPU's ring (1M): a number of pages, or of bytes with B, K, M or G", 4 },
	{ "clockid", 'k', "mono|tsc", 0, "The events' clock; tsc only if it is reliable", 4 },
	{ "realtime", 'r', "PRIO", 0,
	  "Record with this SCHED_FIFO priority (lowest nice value, not real-time)", 4 },
	{ 0 }
};

static void parse_delay(struct top *top, const char *arg, const struct argp_state *state)
{
	char *end;

	top->delay = strtod(arg, &end);
	if (end == arg || *end || !(top->delay >= DELAY_LEAST && top->delay <= DELAY_MOST))
		argp_error(state, "-d %s: not a number of seconds from %.1f to %d", arg,
			   DELAY_LEAST, DELAY_MOST);
}

static void parse_iterations(struct top *top, const char *arg, const struct argp_state *state)
{
	char *end;

	errno = 0;
	top->iterations = strtoul(arg, &end, 10);
	if (errno || *arg < '0' || *arg > '9' || *end || !top->iterations)
		argp_error(state, "-n %s: not a number of intervals", arg);
}

static void parse_like(struct top *top, const char *arg, const struct argp_state *state)
{
	if (select_number_parse(&top->session.model, arg) || !top->session.model)
		argp_error(state, "--like %s: not the number of a session", arg);
}

/* Without a target, all tasks. */
static void choose_targets(struct top *top, const struct argp_state *state)
{
	struct targets *targets = &top->record.targets;
	bool named = targets_named(targets), copied = top->session.model || top->recorder;

	if (top->session.model && top->recorder)
		argp_error(state, "NAME takes the tasks of a recorder: not with --like");
	if (copied && (named || targets->flags_given))
		argp_error(state, "%s takes the tasks of a session: not with -p, -t, -G, -a, "
			   "-i, --kthreads or --exclude-comm",
			   top->recorder ? "NAME" : "--like");
	if (!copied && !named)
		targets->filter.all = true;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct top *top = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &top->record.targets;
		state->child_inputs[1] = &top->json;
		state->child_inputs[2] = &top->view.sheet;
		state->child_inputs[3] = &top->view.by;
		state->child_inputs[4] = &top->view.time.options;
		break;
	case 'd':
		parse_delay(top, arg, state);
		break;
	case 'n':
		parse_iterations(top, arg, state);
		break;
	case OPT_LIKE:
		parse_like(top, arg, state);
		break;
	case 'b':
		top->batch = true;
		break;
	case OPT_COMM:
		if (select_names_parse(&top->view.selection.comms, arg))
			argp_failure(state, CMD_FAILURE, ENOMEM, "--comm");
		break;
	case 'C':
	case 'm':
	case 'k':
	case 'r':
	case RECORD_DURATION:
		return record_options_parse_one(key, arg, &top->record, state);
	case ARGP_KEY_ARG:
		recorders_parse(&top->recorder, arg, state);
		break;
	case ARGP_KEY_END:
		choose_targets(top, state);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static void parse_options(struct top *top, int argc, char **argv)
{
	static const struct argp_child children[] = {
		{ &targets_argp, 0, NULL, 1 }, { &cmd_json_argp, 0, NULL, 5 },
		{ &sheet_argp, 0, NULL, 5 }, { &groups_argp, 0, NULL, 5 },
		{ &time_text_table_argp, 0, NULL, 5 }, { 0 }
	};
	static const struct argp argp = {
		.options = options,
		.parser = parse,
		.args_doc = "[NAME]",
		.doc = "Shows what tasks do now: CPU time, switches, and how long they wait for a "
		       "CPU. NAME: the tasks of this recorder, which has record --name.",
		.children = children,
	};

	*top = (struct top){
		.record = { .ring_bytes = 1 << 20, .clock = RECORD_CLOCK_ANY },
		.view = { .by = GROUPS_TASK, .time.options = TIME_TEXT_OPTIONS_INIT },
		.delay = 1,
	};
	sheet_options_init(&top->view.sheet, top_columns, "cpu");
	top->view.sheet.times = &top->view.time;
	cmd_parse(&argp, argc, argv, 0, top);
	top->left = top->iterations;
}

/* Finds the session of the recorder, if one was named.  Returns 0, or -errno after a message. */
static int find_recorder(struct top *top)
{
	struct json_object *status, *session;
	struct schedtape_error err;

	if (!top->recorder)
		return 0;
	status = recorders_status(top->recorder, STATUS_SECONDS, &err);
	if (!status)
		return out_failed(-EPROTO, &err);
	if (json_object_object_get_ex(status, "session", &session))
		top->session.model = json_object_get_int64(session);
	json_object_put(status);
	if (top->session.model)
		return 0;
	out_error(NULL, "%s: the recorder does not say which session it has", top->recorder);
	return -EPROTO;
}

/* -- showing --------------------------------------------------------------- */

static void stop(struct top *top)
{
	if (!top->stopped)
		session_stop(&top->session);
	top->stopped = true;
}

static void quit(struct top *top)
{
	top->quit = true;
	stop(top);
}

static int print(struct top *top, const struct interval *interval)
{
	struct sheet sheet;
	int ret;

	ret = top_fill(&sheet, interval, &top->view);
	if (!ret && top->json)
		top_print_json(interval, &sheet);
	else if (!ret)
		top_print(interval, &sheet, &top->view.time);
	sheet_free(&sheet);
	out_flush();
	return ret;
}

/* Shows an interval, and frees it when that is done. */
static void show(struct top *top, struct interval *interval)
{
	int ret;

	top->view.cgroups = &top->reader.cgroups;
	if (top->on_screen) {
		ret = screen_show(&top->screen, interval);
	} else {
		ret = print(top, interval);
		interval_free(interval);
	}
	if (ret)
		out_error(NULL, "not enough memory");
	top->failed |= ret != 0;
	if (ret || !out_works() || (top->iterations && !--top->left))
		stop(top);
}

/* Shows intervals until the tape ends. */
static void show_all(struct top *top)
{
	struct pollfd fds[] = {
		{ .fd = top->reader.ready, .events = POLLIN },
		{ .fd = top->signals, .events = POLLIN },
		{ .fd = top->on_screen ? STDIN_FILENO : -1, .events = POLLIN },
	};
	enum reader_has has = READER_NOTHING;
	struct interval interval;

	while (has != READER_ENDED) {
		poll(fds, 3, -1);
		if (fds[1].revents && signals_read(top->signals, NULL))
			quit(top);
		/* Also after a signal, because that may be SIGWINCH. */
		if (top->on_screen && (!screen_keys(&top->screen) || fds[2].revents & POLLHUP))
			quit(top);
		has = reader_take(&top->reader, &interval);
		if (has != READER_INTERVAL)
			continue;
		if (top->stopped)
			interval_free(&interval);
		else
			show(top, &interval);
	}
}

static void end_screen(struct top *top)
{
	if (!top->on_screen)
		return;
	screen_end(&top->screen);
	/* Unless the user has seen enough, what was shown last stays. */
	if (!top->quit && top->screen.any)
		print(top, &top->screen.interval);
	interval_free(&top->screen.interval);
}

/* Returns 0, or -errno after a message. */
static int run(struct top *top)
{
	uint64_t length = llround(top->delay * 1e9);
	int fds[2], ret, read, recorded;
	char path[32];

	top->signals = signals_open();
	if (top->signals < 0 || pipe2(fds, O_CLOEXEC)) {
		out_error(NULL, "cannot make a pipe: %s", strerror(errno));
		return -EIO;
	}
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fds[0]);
	top->session.options = &top->record;
	top->session.live_ms = lround(top->delay * 1e3);
	top->session.pipe = fds[1];
	/* Before the threads, whose messages the screen would erase. */
	top->on_screen = !top->json && !top->batch &&
			 screen_begin(&top->screen, &top->view, top->recorder, top->delay);
	ret = reader_start(&top->reader, path, length);
	if (!ret)
		ret = session_start(&top->session);
	if (!ret)
		show_all(top);
	end_screen(top);
	if (ret) {
		out_error(NULL, "cannot start a thread: %s", strerror(-ret));
		return ret;
	}
	stop(top);
	read = reader_join(&top->reader);
	/* If the reader has failed, this ends the recorder's wait for it. */
	close(fds[0]);
	recorded = session_join(&top->session);
	if (!recorded && read)
		out_error(NULL, "%s", top->reader.err.text);
	return top->failed ? -ENOMEM : recorded ? recorded : read;
}

int cmd_top(int argc, char **argv)
{
	struct top top;
	int ret;

	parse_options(&top, argc, argv);
	ret = find_recorder(&top);
	if (!ret)
		ret = run(&top);
	select_names_say(&top.view.selection.comms, NULL);
	selection_free(&top.view.selection);
	targets_free(&top.record.targets);
	timing_free(&top.record.timing);
	return out_finish(ret ? CMD_FAILURE : 0);
}
