// SPDX-License-Identifier: GPL-2.0-only
/*
 * schedtape record: records a command from its exec on, or tasks that run already.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <machine/machine.h>

#include "commands.h"
#include "common/output.h"
#include "common/past.h"
#include "common/rights.h"
#include "common/select.h"
#include "common/signals.h"
#include "record/internal.h"
#include "record/options.h"
#include "record/orders.h"
#include "record/process.h"
#include "record/recorder.h"

/**
 * struct recording - a recording that runs
 * @clock: enum stape_clock
 * @slower: it would be the counter without -e
 * @cpus: the session's mask of CPUs; NULL: all
 * @ring_bytes: size of each CPU's ring
 * @streams: the threads that write; empty: this thread writes
 * @on: the session records events now
 * @useless: the last poll() returned for the session, which had no pages: don't poll it in the
 *	next turn of the loop
 * @monitor: readable when the session's triggers have fired; -1: it has none
 * @stop: the recording ends
 * @cut: the recording ends before the command does, which is no failure
 * @began: the workload has started, so the tape is kept
 * @next: a signal asks for the next tape
 * @told: to stop, by one of @orders, which is answered when the tape is complete
 */
struct recording {
	struct record_options *options;
	struct schedtape_client *client;
	struct recorder recorder;
	struct child child;
	struct control control;
	struct orders orders;
	struct daemon daemon;
	struct notify notify;
	struct progress progress;
	struct merging merging;
	uint32_t clock;
	bool slower;
	unsigned char *cpus;
	size_t cpus_bytes;
	uint64_t ring_bytes;
	struct streams streams;
	int signals;
	int monitor;
	bool on;
	bool useless;
	bool stop;
	bool cut;
	bool began;
	bool next;
	bool told;
};

/* Returns true if there may be several tapes: of --switch-output, or snapshots. */
static bool has_parts(const struct record_options *opts)
{
	return opts->parts.end != PARTS_WHOLE || (opts->overwrite && !opts->threads);
}

/* -- orders ---------------------------------------------------------------- */

static int start(struct recording *rec)
{
	parts_begin(&rec->options->parts);
	return recorder_start(&rec->recorder);
}

static int turn_on(struct recording *rec)
{
	struct schedtape_error err;
	int ret;

	if (rec->on)
		return 0;
	if (rec->recorder.started)
		ret = rights_say(schedtape_session_start(rec->recorder.session, &err), &err);
	else
		ret = start(rec);
	if (ret)
		return ret;
	perf_events_enable(rec->recorder.events, true);
	rec->on = true;
	timing_started(&rec->options->timing);
	return next_tape_if(&rec->recorder, recorder_describe_tasks(&rec->recorder));
}

static int turn_off(struct recording *rec)
{
	struct schedtape_error err;
	int ret;

	if (!rec->on)
		return 0;
	rec->on = false;
	perf_events_enable(rec->recorder.events, false);
	ret = rights_say(schedtape_session_pause(rec->recorder.session, &err), &err);
	return ret ? ret : next_tape_if(&rec->recorder, recorder_paused(&rec->recorder));
}

static int obey(struct recording *rec, enum order order)
{
	switch (order) {
	case ORDER_ENABLE:
		return turn_on(rec);
	case ORDER_DISABLE:
		return turn_off(rec);
	case ORDER_STOP:
		rec->stop = true;
		rec->cut = true;
		break;
	case ORDER_SNAPSHOT:
		if (rec->recorder.parts && rec->recorder.started)
			next_tape_now(&rec->recorder, "order", NULL);
		break;
	case ORDER_STATUS:
	case ORDER_PING:
	case ORDER_NONE:
		break;
	}
	return 0;
}

static int take_orders(struct recording *rec)
{
	enum order order;
	int ret;

	control_read(&rec->control);
	do {
		order = control_next(&rec->control);
		ret = obey(rec, order);
		if (order != ORDER_NONE && !ret)
			control_ack(&rec->control);
	} while (order != ORDER_NONE && !ret);
	return ret;
}

/* Returns the path of a tape for processes that have other working directories, or NULL. */
static char *full_path(const char *tape)
{
	char *path = tape ? realpath(tape, NULL) : NULL;

	return path || !tape ? path : strdup(tape);
}

/* Returns why there are no snapshots; NULL: there may be. */
static const char *no_snapshots(const struct recording *rec)
{
	if (!rec->recorder.parts)
		return "it runs without --switch-output and without -M, so it writes one tape only";
	return rec->recorder.started ? NULL : "it has not begun to record";
}

/* Takes the snapshots that orders ask for and that are due, and answers them. */
static void take_snapshots(struct recording *rec)
{
	struct orders_snapshot order;
	const char *tape;
	char *path;

	while (orders_due(&rec->orders, &order)) {
		struct cause cause = {
			.name = "order",
			.note = *order.note ? order.note : NULL,
			.asker = &order.asker,
			.time = order.time,
		};

		tape = next_tape(&rec->recorder, &cause);
		path = full_path(tape);
		orders_answer_snapshot(&order, path, tape ? NULL : "the tape could not be written: "
				       "its standard error says why");
		free(path);
	}
}

/* Answers what only the recorder knows of the recording, as an object of JSON. */
static void answer_status(struct recording *rec)
{
	const struct recorder *recorder = &rec->recorder;
	struct json_object *object = json_object_new_object(), *last = NULL;

	out_json_add_count(object, "session", schedtape_session_id(recorder->session));
	json_object_object_add(object, "keeps_ns", !recorder->past ? NULL :
			       json_object_new_uint64(past_reach(recorder->past)));
	json_object_object_add(object, "ended_count", !recorder->past ? NULL :
			       json_object_new_uint64(past_ended(recorder->past)));
	json_object_object_add(object, "snapshot_count", !recorder->parts ? NULL :
			       json_object_new_uint64(recorder->cut.count));
	if (recorder->cut.count) {
		last = json_object_new_object();
		json_object_object_add(last, "name", json_object_new_string(recorder->cut.name));
		out_json_add_count(last, "time_ns", recorder->cut.time);
	}
	json_object_object_add(object, "last_trigger", last);
	orders_answer(&rec->orders,
		      json_object_to_json_string_ext(object, JSON_C_TO_STRING_PLAIN), NULL);
	json_object_put(object);
}

/* Obeys an order that came through the socket. */
static int take_order(struct recording *rec)
{
	enum order order = orders_read(&rec->orders);
	const char *wrong;
	int ret = 0;

	switch (order) {
	case ORDER_NONE:
		return 0;
	case ORDER_SNAPSHOT:
		wrong = no_snapshots(rec);
		if (wrong)
			orders_answer(&rec->orders, NULL, wrong);
		else
			orders_wait_for(&rec->orders);
		return 0;
	case ORDER_STATUS:
		answer_status(rec);
		return 0;
	case ORDER_STOP:
		rec->told = true;
		return obey(rec, order);
	default:
		ret = obey(rec, order);
		orders_answer(&rec->orders, NULL, ret ? "it has failed" : NULL);
		return ret;
	}
}

static int keep_time(struct recording *rec)
{
	enum order order;
	int ret;

	do {
		order = timing_next(&rec->options->timing);
		ret = obey(rec, order);
	} while (order != ORDER_NONE && !rec->stop && !ret);
	return ret;
}

/* -- signals --------------------------------------------------------------- */

/* The manual has a table of what they do in which mode. */
static void choose_signals(const struct record_options *opts)
{
	if (has_parts(opts))
		signals_snapshot_on(SIGUSR1);
	if (opts->parts.end != PARTS_WHOLE)
		signals_snapshot_on(SIGUSR2);
	else if (has_parts(opts))
		signals_merge_on(SIGUSR2);
	else if (opts->overwrite)
		signals_end_on(SIGUSR2);
	else
		signals_ignore_snapshots();
}

static void merge(struct recording *rec)
{
	/* What is written to a pipe has no snapshots: only its end is left to be asked for. */
	if (!rec->recorder.parts)
		obey(rec, ORDER_STOP);
	else
		merging_begin(&rec->merging, &rec->recorder);
}

static void read_signals(struct recording *rec)
{
	if (signals_read(rec->signals, &rec->next))
		obey(rec, ORDER_STOP);
	if (signals_hangup())
		daemon_reopen(&rec->daemon);
	/* When the tape is complete, only the command, or a merge, is waited for. */
	if (signals_merge() && rec->recorder.path)
		merge(rec);
	child_reap(&rec->child);
	merging_reap(&rec->merging);
	if (rec->child.ended)
		rec->stop = true;
}

/* Waits for the command.  Another Ctrl-C ends the wait. */
static void wait_for_child(struct recording *rec)
{
	struct pollfd fd = { .fd = rec->signals, .events = POLLIN };

	/* It may have ended while merging_end() read signals. */
	child_reap(&rec->child);
	for (rec->stop = false; rec->child.pid > 0 && !rec->child.ended && !rec->stop;
	     read_signals(rec))
		poll(&fd, 1, -1);
}

/* -- the recording --------------------------------------------------------- */

static int choose_streams(struct recording *rec)
{
	const char *spec = rec->options->threads;
	struct schedtape_error err;
	char *left;
	int ret;

	if (!spec)
		return 0;
	ret = streams_parse(&rec->streams, spec, STREAMS_SYSFS, rec->cpus, rec->cpus_bytes, &err);
	if (ret) {
		out_error(NULL, "--threads: %s", err.text);
		return ret;
	}
	left = cpu_list_text(rec->streams.left, rec->streams.bytes);
	if (left && *left && !rec->options->quiet)
		out_warning(NULL, "--threads: CPUs %s are in no mask: they are not recorded",
			    left);
	free(left);
	return 0;
}

/* Chooses CPUs, streams and clock.  Returns the tape's META, or NULL. */
static struct json_object *prepare(struct recording *rec)
{
	const struct record_options *opts = rec->options;
	struct schedtape_recording recording = {
		.command = opts->command,
		.filter = &opts->targets.filter,
		.cpus = opts->cpus,
		.overwrite = opts->overwrite,
		.syscalls = opts->syscalls,
	};
	struct schedtape_calibration calibration;
	struct schedtape_module_info info = { .size = sizeof(info) };
	struct schedtape_error err;

	if (record_options_cpus(opts, &rec->cpus, &rec->cpus_bytes) || choose_streams(rec) ||
	    rights_say(schedtape_client_open(&rec->client, &err), &err) ||
	    rights_say(schedtape_client_info(rec->client, &info, &err), &err) ||
	    record_options_clock(opts, &info, &rec->clock) ||
	    record_options_rings(opts, rec->cpus, rec->cpus_bytes, &info, &rec->ring_bytes))
		return NULL;
	/* perf events cannot have it. */
	rec->slower = opts->points.n && rec->clock == STAPE_CLOCK_COUNTER;
	if (rec->slower)
		rec->clock = STAPE_CLOCK_MONO;
	recording.clock = rec->clock;
	schedtape_calibrate(&calibration);
	return schedtape_machine_describe(&info, &calibration, &recording);
}

/* Next to other targets, the command only sets how long the recording takes. */
static bool command_is_target(const struct record_options *opts)
{
	return opts->command && !opts->targets.filter.all && !targets_named(&opts->targets);
}

static int set_filter(struct recording *rec)
{
	const struct targets *targets = &rec->options->targets;
	uint32_t session = schedtape_session_id(rec->recorder.session), pid = rec->child.pid;
	struct schedtape_error err;
	int ret;

	ret = targets_set(targets, rec->client, session, &err);
	if (!ret && command_is_target(rec->options))
		ret = schedtape_session_add(rec->recorder.session, &pid, 1, &err);
	return rights_say(ret, &err);
}

/* Opens the other tracepoints, and writes to the tape which they are. */
static int open_points(struct recording *rec)
{
	struct record_options *opts = rec->options;
	struct perf_events_options options = {
		.points = &opts->points,
		.filter = &opts->targets.filter,
		.child = command_is_target(opts) ? rec->child.pid : 0,
		.cpus = rec->cpus,
		.cpus_bytes = rec->cpus_bytes,
	};
	struct schedtape_error err;
	int ret;

	if (!opts->points.n)
		return 0;
	ret = tracepoints_find(&opts->points);
	if (ret)
		return ret;
	options.members = members_new(opts->targets.filter.all);
	if (!options.members) {
		out_error(NULL, "-e: out of memory");
		return -ENOMEM;
	}
	rec->recorder.members = options.members;
	rec->recorder.streamers[0].members = options.members;
	ret = perf_events_open(&options, &rec->recorder.events);
	if (!ret)
		ret = out_failed(perf_events_describe(rec->recorder.events, rec->recorder.writer,
						      &err), &err);
	if (!ret && rec->slower && !opts->quiet && !opts->json)
		fprintf(stderr, "[ %s: -e: the clock is mono, with which an event of scheduling "
			"costs 108 instead of 55 instructions ]\n", out_command());
	return ret;
}

/*
 * The command's process is forked before the recorder changes what is inherited: limits, signals,
 * priority, timer slack, open files.
 */
static int start_child(struct recording *rec)
{
	const struct record_options *opts = rec->options;
	int ret = 0;

	if (opts->command)
		/* The tape must not have the command's output in it. */
		ret = child_fork(&rec->child, opts->command, !strcmp(opts->output, "-"));
	if (ret)
		out_error(NULL, "fork: %s", strerror(-ret));
	return ret;
}

static int begin(struct recording *rec)
{
	const struct record_options *opts = rec->options;
	int ret;

	ret = set_filter(rec);
	if (!ret)
		ret = open_points(rec);
	if (!ret && !timing_delayed(&opts->timing))
		ret = turn_on(rec);
	/* After turn_on(): if the session has started, periods count from its start. */
	timing_begin(&rec->options->timing);
	if (ret || !opts->command)
		return ret;
	ret = child_go(&rec->child);
	if (ret)
		out_error(opts->command[0], "%s", strerror(-ret));
	return ret;
}

/* Ends the recording at --max-size. */
static void look_at_size(struct recording *rec)
{
	uint64_t most = rec->options->max_size;

	if (!most || recorder_tape_bytes(&rec->recorder) < most)
		return;
	if (!rec->options->quiet)
		out_warning(NULL, "--max-size is reached: the recording ends");
	rec->stop = true;
	rec->cut = true;
}

/* Returns for how long nothing has to be done, ms. */
static int idle_time(struct recording *rec)
{
	int most = next_tape_wait(&rec->recorder);

	if (rec->recorder.started)
		most = triggers_wait(&rec->options->triggers, most);
	most = orders_wait(&rec->orders, most);
	return notify_wait(&rec->notify, timing_wait(&rec->options->timing, most));
}

static int on_fired(const struct schedtape_trigger_state *state, void *arg)
{
	struct triggers *triggers = arg;

	triggers_fire(triggers, state->number, state->time);
	return 0;
}

static void obey_triggers(struct recording *rec)
{
	const struct trigger *trigger;
	struct schedtape_error err;
	struct cause cause;

	/* If messages were lost, because there were too many, the module finds the next ones. */
	if (rec->monitor >= 0)
		schedtape_session_monitor_read(rec->recorder.session, on_fired,
					       &rec->options->triggers, &err);
	triggers_look(&rec->options->triggers);
	while ((trigger = triggers_next(&rec->options->triggers))) {
		cause = (struct cause){
			.name = trigger->name,
			.text = trigger->said,
			.note = trigger->kind == TRIGGER_BPF ? trigger->note : NULL,
			.time = trigger->at,
		};
		if (next_tape(&rec->recorder, &cause) && trigger->stop)
			obey(rec, ORDER_STOP);
	}
}

/* Handles the session's pages: the last part of a turn of the loop. */
static int look_after(struct recording *rec, unsigned int revents)
{
	uint64_t bytes = recorder_tape_bytes(&rec->recorder);
	int ret;

	/* The filter's last task has ended. */
	if (revents & POLLHUP && !rec->options->command)
		rec->stop = true;
	rec->useless = revents;
	if (!rec->recorder.started) {
		/* There is no tape yet that a signal could end. */
		rec->next = false;
		return 0;
	}
	if (rec->next) {
		const struct asker asker = signals_asker();

		next_tape_now(&rec->recorder, "signal", &asker);
	}
	rec->next = false;
	take_snapshots(rec);
	obey_triggers(rec);
	ret = next_tape_tick(&rec->recorder);
	/* The streams' threads move their pages, not this one. */
	rec->useless = revents && (rec->streams.n || bytes == recorder_tape_bytes(&rec->recorder));
	/* Readable, but without pages: another process may have stopped the session. */
	if (revents & POLLIN && rec->useless && recorder_stopped(&rec->recorder))
		rec->stop = true;
	progress_show(&rec->progress, &rec->recorder, rec->on);
	look_at_size(rec);
	return ret;
}

static int cannot_wait(void)
{
	int ret = -errno;

	out_error(NULL, "cannot wait for events: %s: the recording ends", strerror(-ret));
	return ret;
}

static int record_loop(struct recording *rec)
{
	struct pollfd fds[7 + TRIGGERS_FILES_MAX] = {
		{ .events = POLLIN },
		{ .fd = rec->signals, .events = POLLIN },
		{ .events = POLLIN },
		{ .events = POLLIN },
		{ .events = POLLIN },
		{ .fd = rec->monitor, .events = POLLIN },
		{ .events = POLLIN },
	};
	size_t files = triggers_poll(&rec->options->triggers, fds + 7);
	int ret = 0, n;

	progress_begin(&rec->progress, rec->options->quiet);
	while (!rec->stop && !ret) {
		fds[0].fd = rec->useless ? -1 : schedtape_session_fd(rec->recorder.session);
		fds[2].fd = rec->control.fd;
		fds[3].fd = recorder_cgroups_fd(&rec->recorder);
		fds[4].fd = orders_fd(&rec->orders);
		fds[6].fd = rec->recorder.started ? perf_events_fd(rec->recorder.events) : -1;
		n = poll(fds, 7 + files, idle_time(rec));
		if (n < 0 && errno != EINTR) {
			ret = cannot_wait();
			break;
		}
		if (fds[1].revents)
			read_signals(rec);
		if (n > 0)
			triggers_polled(&rec->options->triggers, fds + 7, files);
		if (fds[2].revents)
			ret = take_orders(rec);
		if (!ret)
			ret = take_order(rec);
		if (!ret)
			ret = keep_time(rec);
		if (!ret && fds[3].revents)
			ret = next_tape_if(&rec->recorder,
					   recorder_cgroups_changed(&rec->recorder));
		if (!ret)
			ret = look_after(rec, fds[0].revents);
		notify_tick(&rec->notify, &rec->recorder, rec->on);
	}
	progress_end(&rec->progress);
	return ret;
}

static int open_triggers(struct recording *rec)
{
	struct schedtape_error err;
	int ret;

	rec->options->triggers.in_child = streamers_leave;
	ret = triggers_open(&rec->options->triggers, &err);
	if (ret)
		out_error(NULL, "--trigger %s", err.text);
	return ret;
}

static int open_monitor(struct recording *rec)
{
	struct schedtape_error err;

	rec->monitor = schedtape_session_monitor(rec->recorder.session, &err);
	return rec->monitor < 0 ? rights_say(rec->monitor, &err) : 0;
}

static int open_all(struct recording *rec)
{
	const struct record_options *opts = rec->options;
	struct schedtape_trigger session_triggers[STAPE_TRIGGERS_MAX];
	struct json_object *meta = prepare(rec);
	struct recorder_options options = {
		.path = opts->output,
		.meta = meta,
		.ring_bytes = rec->ring_bytes,
		.level = opts->level,
		.realtime = opts->realtime,
		.clock = rec->clock,
		.filter = &opts->targets.filter,
		.overwrite = opts->overwrite,
		.syscalls = opts->syscalls,
		.triggers = session_triggers,
		.nr_triggers = triggers_of_session(&opts->triggers, session_triggers),
		.cpus = rec->cpus,
		.cpus_bytes = rec->cpus_bytes,
		.streams = rec->streams.n ? &rec->streams : NULL,
		.parts = has_parts(rec->options) ? &rec->options->parts : NULL,
		.no_final = opts->no_final,
		.quiet = opts->quiet || opts->json,
	};
	int ret;

	if (!meta)
		return -EIO;
	ret = opts->control ? control_open(&rec->control, opts->control) : 0;
	if (!ret && opts->name)
		ret = orders_open(&rec->orders, opts->name);
	else if (!ret && has_parts(opts))
		orders_open_unnamed(&rec->orders);
	if (!ret)
		ret = daemon_open(&rec->daemon);
	/* Before recorder_open() renames an old tape, so that no signal interrupts that. */
	if (!ret) {
		rec->signals = signals_open();
		ret = rec->signals < 0 ? rec->signals : 0;
	}
	if (!ret)
		ret = open_triggers(rec);
	if (!ret)
		ret = recorder_open(&rec->recorder, rec->client, &options);
	if (!ret && options.nr_triggers)
		ret = open_monitor(rec);
	json_object_put(meta);
	return ret;
}

static int record(struct recording *rec)
{
	int ret, ended;

	ret = start_child(rec);
	if (!ret)
		ret = open_all(rec);
	if (!ret)
		ret = begin(rec);
	if (!ret)
		ret = daemon_begun(&rec->daemon);
	rec->began = !ret;
	if (!ret) {
		if (rec->recorder.renames)
			parts_keep_old(rec->options->output, &rec->recorder.backup);
		recorder_begun(&rec->recorder);
		/* A command may be a service itself, and reports then that it is ready. */
		if (!rec->options->command)
			notify_ready(&rec->notify);
		ret = record_loop(rec);
		notify_stopping(&rec->notify);
	}
	/* There may be room for the rest now. */
	if (rec->recorder.started && !rec->recorder.writer && !rec->recorder.past)
		next_tape_begin(&rec->recorder);
	/* Keep the recorded events even after an error. */
	ended = rec->recorder.started ? recorder_stop(&rec->recorder) : 0;
	return ret ? ret : ended;
}

/* Returns the command's status, as perf does, unless the recording failed. */
static int exit_status(const struct recording *rec, int ret)
{
	if (ret)
		return CMD_FAILURE;
	if (!rec->child.ended || rec->cut)
		return 0;
	if (WIFSIGNALED(rec->child.status))
		return 128 + WTERMSIG(rec->child.status);
	return WEXITSTATUS(rec->child.status);
}

/* Returns the name of the tape, or of the last one; NULL: there is none. */
static const char *tape_name(const struct recording *rec)
{
	const struct record_options *opts = rec->options;

	if (rec->recorder.renames && opts->parts.nr)
		return parts_last(&opts->parts);
	return opts->no_final ? NULL : opts->output;
}

/* Answers an order to stop, now that the tape is complete, and takes no more orders. */
static void end_orders(struct recording *rec, int failed)
{
	char *path = full_path(tape_name(rec));

	if (rec->told)
		orders_answer(&rec->orders, path, failed ? "something is missing: its standard "
			      "error says what" : NULL);
	free(path);
	orders_close(&rec->orders);
}

int cmd_record(int argc, char **argv)
{
	struct record_options opts;
	struct recording rec = {
		.options = &opts, .control = CONTROL_CLOSED, .orders = ORDERS_CLOSED,
		.signals = -1, .monitor = -1, .daemon = DAEMON_CLOSED, .merging = MERGING_NONE,
	};
	int ret, closed, status;

	record_options_parse(&opts, argc, argv);
	choose_signals(&opts);
	ret = daemon_start(&rec.daemon, &opts.daemon);
	if (!ret)
		ret = record(&rec);
	/* Complete the tape before waiting for the command. */
	closed = recorder_close(&rec.recorder, rec.began, opts.quiet || opts.json);
	ret = ret ? ret : closed;
	/* The command ends together with the recording, as that of perf does. */
	child_end(&rec.child);
	merging_end(&rec.merging, rec.signals);
	end_orders(&rec, ret);
	wait_for_child(&rec);
	if (opts.json && !ret)
		result_print_json(tape_name(&rec), &rec.recorder);
	control_close(&rec.control);
	daemon_close(&rec.daemon);
	schedtape_client_close(rec.client);
	record_options_free(&opts);
	streams_free(&rec.streams);
	free(rec.cpus);
	status = out_finish(exit_status(&rec, ret));
	/* As perf does, whatever its command has made of the signal, and whatever its status is. */
	if (!ret || ret == -EINTR)
		signals_die();
	return status;
}
