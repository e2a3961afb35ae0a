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
#include "common/cpu-list.h"
#include "common/output.h"
#include "common/rights.h"
#include "common/signals.h"
#include "record/child.h"
#include "record/control.h"
#include "record/options.h"
#include "record/progress.h"
#include "record/recorder.h"
#include "record/result.h"
#include "record/streams.h"

/**
 * struct recording - a recording that runs
 * @clock: enum stape_clock
 * @cpus: the session's mask of CPUs; NULL: all
 * @streams: the threads that write; empty: this thread writes
 * @on: the session records events now
 * @useless: the last poll() returned for the session, which had no pages: don't poll it in the
 *	next turn of the loop
 * @stop: the recording ends
 * @cut: the recording ends before the command does, which is no failure
 * @began: the workload has started, so the tape is kept
 */
struct recording {
	struct record_options *options;
	struct schedtape_client *client;
	struct recorder recorder;
	struct child child;
	struct control control;
	struct progress progress;
	uint32_t clock;
	unsigned char *cpus;
	size_t cpus_bytes;
	struct streams streams;
	int signals;
	bool on;
	bool useless;
	bool stop;
	bool cut;
	bool began;
};

/* -- orders ---------------------------------------------------------------- */

static int turn_on(struct recording *rec)
{
	struct schedtape_error err;
	int ret;

	if (rec->on)
		return 0;
	if (rec->recorder.started)
		ret = rights_say(schedtape_session_start(rec->recorder.session, &err), &err);
	else
		ret = recorder_start(&rec->recorder);
	if (ret)
		return ret;
	rec->on = true;
	timing_started(&rec->options->timing);
	return recorder_describe_tasks(&rec->recorder);
}

static int turn_off(struct recording *rec)
{
	struct schedtape_error err;

	if (!rec->on)
		return 0;
	rec->on = false;
	return rights_say(schedtape_session_pause(rec->recorder.session, &err), &err);
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

static void read_signals(struct recording *rec)
{
	if (signals_read(rec->signals))
		obey(rec, ORDER_STOP);
	child_reap(&rec->child);
	if (rec->child.ended)
		rec->stop = true;
}

/*
 * Ends the command together with the recording, as perf does, and waits for it.  A second
 * Ctrl-C ends the wait.
 */
static void end_child(struct recording *rec)
{
	struct pollfd fd = { .fd = rec->signals, .events = POLLIN };

	child_end(&rec->child);
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
	    record_options_clock(opts, &info, &rec->clock))
		return NULL;
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

static int begin(struct recording *rec)
{
	const struct record_options *opts = rec->options;
	int ret = 0;

	if (opts->command) {
		/* The tape must not have the command's output in it. */
		ret = child_fork(&rec->child, opts->command, !strcmp(opts->output, "-"));
		if (ret)
			out_error(NULL, "fork: %s", strerror(-ret));
	}
	if (!ret)
		ret = set_filter(rec);
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

/* Handles the session's pages: the last part of a turn of the loop. */
static int look_after(struct recording *rec, unsigned int revents)
{
	uint64_t bytes = recorder_bytes(&rec->recorder);
	int ret;

	/* The filter's last task has ended. */
	if (revents & POLLHUP && !rec->options->command)
		rec->stop = true;
	rec->useless = revents;
	if (!rec->recorder.started)
		return 0;
	ret = recorder_tick(&rec->recorder);
	/* The streams' threads move their pages, not this one. */
	rec->useless = revents && (rec->streams.n || bytes == recorder_bytes(&rec->recorder));
	/* Readable, but without pages: another process may have stopped the session. */
	if (revents & POLLIN && rec->useless && recorder_stopped(&rec->recorder))
		rec->stop = true;
	progress_show(&rec->progress, &rec->recorder, rec->on);
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
	struct pollfd fds[] = {
		{ .events = POLLIN },
		{ .fd = rec->signals, .events = POLLIN },
		{ .events = POLLIN },
		{ .events = POLLIN },
	};
	int ret = 0, n;

	progress_begin(&rec->progress, rec->options->quiet);
	while (!rec->stop && !ret) {
		fds[0].fd = rec->useless ? -1 : schedtape_session_fd(rec->recorder.session);
		fds[2].fd = rec->control.fd;
		fds[3].fd = recorder_cgroups_fd(&rec->recorder);
		n = poll(fds, 4, timing_wait(&rec->options->timing, recorder_wait(&rec->recorder)));
		if (n < 0 && errno != EINTR) {
			ret = cannot_wait();
			break;
		}
		if (fds[1].revents)
			read_signals(rec);
		if (fds[2].revents)
			ret = take_orders(rec);
		if (!ret)
			ret = keep_time(rec);
		if (!ret && fds[3].revents)
			ret = recorder_cgroups_changed(&rec->recorder);
		if (!ret)
			ret = look_after(rec, fds[0].revents);
	}
	progress_end(&rec->progress);
	return ret;
}

static int open_all(struct recording *rec)
{
	const struct record_options *opts = rec->options;
	struct json_object *meta = prepare(rec);
	struct recorder_options options = {
		.path = opts->output,
		.meta = meta,
		.ring_bytes = opts->ring_bytes,
		.level = opts->level,
		.realtime = opts->realtime,
		.clock = rec->clock,
		.filter = &opts->targets.filter,
		.overwrite = opts->overwrite,
		.syscalls = opts->syscalls,
		.cpus = rec->cpus,
		.cpus_bytes = rec->cpus_bytes,
		.streams = rec->streams.n ? &rec->streams : NULL,
	};
	int ret;

	if (!meta)
		return -EIO;
	ret = opts->control ? control_open(&rec->control, opts->control) : 0;
	/* Before recorder_open() renames an old tape, so that no signal interrupts that. */
	if (!ret) {
		rec->signals = signals_open();
		ret = rec->signals < 0 ? rec->signals : 0;
	}
	if (!ret)
		ret = recorder_open(&rec->recorder, rec->client, &options);
	json_object_put(meta);
	return ret;
}

static int record(struct recording *rec)
{
	int ret, ended;

	ret = open_all(rec);
	if (!ret)
		ret = begin(rec);
	rec->began = !ret;
	if (!ret) {
		recorder_begun(&rec->recorder);
		ret = record_loop(rec);
	}
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

int cmd_record(int argc, char **argv)
{
	struct record_options opts;
	struct recording rec = { .options = &opts, .control = CONTROL_CLOSED, .signals = -1 };
	int ret, closed;

	record_options_parse(&opts, argc, argv);
	if (opts.overwrite)
		signals_take_snapshots();
	else
		signals_ignore_snapshots();
	ret = record(&rec);
	/* Complete the tape before waiting for the command. */
	closed = recorder_close(&rec.recorder, rec.began, opts.quiet || opts.json);
	end_child(&rec);
	ret = ret ? ret : closed;
	if (opts.json && !ret)
		result_print_json(rec.options->output, &rec.recorder);
	control_close(&rec.control);
	schedtape_client_close(rec.client);
	record_options_free(&opts);
	streams_free(&rec.streams);
	free(rec.cpus);
	return out_finish(exit_status(&rec, ret));
}
