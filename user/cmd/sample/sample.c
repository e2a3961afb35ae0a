// SPDX-License-Identifier: GPL-2.0-only
/*
 * schedtape sample: records a workload in a cgroup of its own, and ends an interval whenever the
 * cgroup has counted so many more of an event.
 */
#include "sample/internal.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "commands.h"
#include "common/output.h"
#include "common/priority.h"
#include "common/signals.h"
#include "record/process.h"
#include "record/recorder.h"
#include "sample/checkpoint.h"
#include "sample/recorded.h"

#define REALTIME	1	/* the lowest priority of SCHED_FIFO */

/**
 * struct sampling - a workload that is sampled
 * @counts: of each event at the end of the interval before
 * @next: number of the interval whose end is waited for; 0: none is any more
 * @known: number of the interval at whose end @counts and @tasks were read
 * @ended: so many ends are on the tape
 * @skid: the largest of them
 * @tick: when recorder_tick() is due, ms of CLOCK_MONOTONIC
 * @stop: the recording ends
 * @cut: before the command does, which is no failure
 * @began: the workload runs, so the tape is kept
 */
struct sampling {
	const struct sample_options *options;
	struct manifest manifest;
	struct workload workload;
	struct counters counters;
	struct sample_tasks tasks;
	struct checkpoints checkpoints;
	struct child child;
	struct recorder recorder;
	struct recorded recorded;
	uint64_t *counts;
	uint64_t *now;
	uint32_t next;
	uint32_t known;
	uint32_t ended;
	uint64_t skid;
	uint64_t tick;
	int signals;
	bool stop;
	bool cut;
	bool began;
};

/* -- intervals ------------------------------------------------------------- */

/* Returns the number of the next interval whose end is to be noted, or 0. */
static uint32_t number_after(const struct sample_options *opts, uint32_t number)
{
	uint32_t most = opts->max ? opts->max : UINT32_MAX, next = UINT32_MAX;
	size_t i;

	if (!opts->at.nr)
		next = number + 1;
	for (i = 0; i < opts->at.nr; i++) {
		uint32_t first = opts->at.ranges[i].first, last = opts->at.ranges[i].last;

		first = first > number ? first : number + 1;
		if (first <= last && first < next)
			next = first;
	}
	return next <= most && next < UINT32_MAX ? next : 0;
}

/* What the interval has counted.  Left out if it is not known. */
static struct json_object *describe_counts(const struct sampling *s)
{
	struct json_object *counts = json_object_new_object();
	size_t i;

	for (i = 0; i < s->options->events.nr; i++)
		if (s->now[i] != COUNT_UNKNOWN && s->counts[i] != COUNT_UNKNOWN)
			out_json_add_count(counts, s->options->events.list[i].name,
					   s->now[i] - s->counts[i]);
	return counts;
}

/* Adds the interval to the manifest.  @checkpoint: the member of that name, or NULL; is released */
static int note(struct sampling *s, uint64_t time, struct json_object *checkpoint)
{
	uint64_t skid = s->now[0] - s->next * s->options->interval;
	struct json_object *line = json_object_new_object();

	out_json_add_count(line, "interval", s->next);
	out_json_add_count(line, "end_ns", time);
	out_json_add_count(line, "count", s->now[0]);
	out_json_add_count(line, "skid", skid);
	/* With --at, the counts at the beginning of the interval may not have been read. */
	if (s->known == s->next - 1) {
		json_object_object_add(line, "counts", describe_counts(s));
		json_object_object_add(line, "tasks", tasks_list(&s->tasks));
	}
	if (checkpoint)
		json_object_object_add(line, "checkpoint", checkpoint);
	s->ended++;
	if (skid > s->skid)
		s->skid = skid;
	return manifest_add(&s->manifest, line);
}

/* Marks the end, and reads the counts. */
static int mark(struct sampling *s, uint64_t *time)
{
	struct schedtape_error err;
	int ret;

	ret = out_failed(schedtape_session_mark(s->recorder.session, s->next, time, &err), &err);
	/* After the mark, so that this does not delay it. */
	if (!ret)
		ret = counters_read(&s->counters, s->now);
	tasks_account(&s->workload);
	if (!ret && tasks_read(&s->tasks, &s->workload))
		ret = -ENOMEM;
	return ret;
}

/*
 * Takes a checkpoint of the workload, which is stopped.  Nothing is recorded or counted meanwhile,
 * because criu runs its own code in the tasks.  Returns its description for the manifest; NULL
 * after a warning: there is no checkpoint, and the sample goes on.
 */
static struct json_object *take_checkpoint(struct sampling *s)
{
	struct json_object *about = NULL;
	struct schedtape_error err;

	if (schedtape_session_pause(s->recorder.session, &err)) {
		out_warning(NULL, "no checkpoint %u: %s", s->next, err.text);
		return NULL;
	}
	if (counters_disable(&s->counters))
		out_warning(NULL, "no checkpoint %u: the counters do not stop", s->next);
	else if (checkpoint_take(&s->checkpoints, s->next, &about, &err))
		out_warning(NULL, "no checkpoint %u: %s", s->next, err.text);
	counters_enable(&s->counters);
	if (schedtape_session_start(s->recorder.session, &err))
		out_warning(NULL, "the recording does not go on: %s", err.text);
	return about;
}

/* The interval @next has ended. */
static int end_interval(struct sampling *s)
{
	bool stopped = false;
	struct json_object *about = NULL;
	struct schedtape_error err;
	uint64_t time;
	int ret;

	if (!s->options->no_checkpoint) {
		stopped = !checkpoint_stop(&s->checkpoints, &err);
		if (!stopped)
			out_warning(NULL, "no checkpoint %u: %s", s->next, err.text);
	}
	ret = mark(s, &time);
	if (stopped) {
		if (!ret)
			about = take_checkpoint(s);
		checkpoint_go(&s->checkpoints, about);
	}
	if (!ret)
		ret = note(s, time, about);
	s->known = s->next;
	memcpy(s->counts, s->now, s->options->events.nr * sizeof(*s->counts));
	s->next = number_after(s->options, s->next);
	return ret;
}

/* Ends intervals that the count has reached, and waits for the next one. */
static int look_at_counters(struct sampling *s)
{
	uint64_t count;
	int ret;

	counters_seen(&s->counters);
	ret = counters_read_first(&s->counters, &count);
	while (!ret && s->next && count >= s->next * s->options->interval) {
		ret = end_interval(s);
		count = s->now[0];
	}
	if (ret)
		return ret;
	if (s->next)
		return counters_arm(&s->counters, s->next * s->options->interval - count);
	/* The rest is recorded without them. */
	counters_close(&s->counters);
	return 0;
}

/* -- the loop -------------------------------------------------------------- */

static void read_signals(struct sampling *s)
{
	if (signals_read(s->signals, NULL)) {
		s->stop = true;
		s->cut = true;
	}
	child_reap(&s->child);
	if (s->child.ended)
		s->stop = true;
}

static int tick(struct sampling *s)
{
	int ret = recorder_tick(&s->recorder);

	s->tick = now_ms() + recorder_wait(&s->recorder);
	return ret;
}

static int read_pages(struct sampling *s)
{
	uint64_t before = recorder_tape_bytes(&s->recorder);
	int ret = tick(s);

	/* Readable, but without pages: another process may have stopped the session. */
	if (before == recorder_tape_bytes(&s->recorder) && recorder_stopped(&s->recorder))
		s->stop = true;
	return ret;
}

static int sample_loop(struct sampling *s)
{
	struct pollfd fds[6] = {
		{ .events = POLLIN },
		{ .fd = s->signals, .events = POLLIN },
		{ .fd = recorder_cgroups_fd(&s->recorder), .events = POLLIN },
		{ .events = POLLIN },
		{ .fd = s->options->pid ? s->workload.events : -1, .events = POLLPRI },
		{ .fd = s->checkpoints.closed.fd, .events = POLLIN },
	};
	int ret = 0;

	fds[0].fd = schedtape_session_fd(s->recorder.session);
	while (!s->stop && !ret) {
		fds[3].fd = s->counters.epoll;
		if (poll(fds, 6, ms_until(s->tick, RECORDER_FLUSH_MS)) < 0 && errno != EINTR) {
			ret = -errno;
			out_error(NULL, "cannot wait for events: %s", strerror(-ret));
			break;
		}
		/* First, because the workload goes on. */
		if (fds[3].revents)
			ret = look_at_counters(s);
		if (fds[5].revents && !ret)
			ret = closed_files_read(&s->checkpoints.closed);
		if (fds[1].revents)
			read_signals(s);
		if (!ret && fds[2].revents)
			ret = recorder_cgroups_changed(&s->recorder);
		if (!ret && fds[0].revents & POLLIN)
			ret = read_pages(s);
		else if (!ret && now_ms() >= s->tick)
			ret = tick(s);
		if (fds[4].revents && !workload_lives(&s->workload))
			s->stop = true;
		if (fds[0].revents & POLLHUP)
			s->stop = true;
	}
	return ret;
}

/* -- the beginning --------------------------------------------------------- */

static struct json_object *describe_at(const struct select_numbers *at)
{
	struct json_object *list = json_object_new_array(), *range;
	size_t i;

	for (i = 0; i < at->nr; i++) {
		range = json_object_new_array();
		json_object_array_add(range, json_object_new_uint64(at->ranges[i].first));
		json_object_array_add(range, json_object_new_uint64(at->ranges[i].last));
		json_object_array_add(list, range);
	}
	return list;
}

static int begin_manifest(struct sampling *s)
{
	const struct sample_options *opts = s->options;
	struct json_object *first = json_object_new_object(), *list;
	size_t i;

	out_json_add_count(first, "format", 1);
	json_object_object_add(first, "id", json_object_new_string(s->manifest.id));
	list = json_object_new_array();
	for (i = 0; i < opts->events.nr; i++)
		json_object_array_add(list, json_object_new_string(opts->events.list[i].name));
	json_object_object_add(first, "event", json_object_new_string(opts->events.list[0].name));
	json_object_object_add(first, "events", list);
	out_json_add_count(first, "interval", opts->interval);
	if (opts->max)
		out_json_add_count(first, "max", opts->max);
	if (opts->at.nr)
		json_object_object_add(first, "at", describe_at(&opts->at));
	if (opts->command) {
		list = json_object_new_array();
		for (i = 0; opts->command[i]; i++)
			json_object_array_add(list, json_object_new_string(opts->command[i]));
		json_object_object_add(first, "command", list);
	} else {
		out_json_add_count(first, "pid", opts->pid);
	}
	json_object_object_add(first, "cgroup", json_object_new_string(s->workload.path));
	if (s->workload.made)
		json_object_object_add(first, "cgroup_from",
				       json_object_new_string(s->workload.from));
	return manifest_add(&s->manifest, first);
}

/* Brings the workload into its cgroup.  Before, the manifest says how it gets out again. */
static int enter(struct sampling *s)
{
	const struct sample_options *opts = s->options;
	pid_t pid = opts->pid ? (pid_t)opts->pid : s->child.pid;
	int ret;

	ret = workload_find(&s->workload, pid, !opts->pid);
	if (!ret)
		ret = begin_manifest(s);
	if (!ret)
		ret = workload_enter(&s->workload, pid);
	if (!ret && s->workload.made) {
		out_error(NULL, "-p %u: it is no process, or has ended", opts->pid);
		return -ESRCH;
	}
	if (ret > 0 && opts->pid && !opts->quiet)
		fprintf(stderr, "[ %s: %d process%s moved from %s to %s until the end ]\n",
			out_command(), ret, ret == 1 ? "" : "es", s->workload.from,
			s->workload.path);
	return ret < 0 ? ret : 0;
}

/* Makes sure that there can be checkpoints. */
static int open_checkpoints(struct sampling *s)
{
	const struct sample_options *opts = s->options;
	struct schedtape_error err;

	s->checkpoints = (struct checkpoints){
		.dir = s->manifest.dir,
		.workload = &s->workload,
		.root = opts->pid ? (pid_t)opts->pid : s->child.pid,
		.criu = opts->criu,
		.keep_files = !opts->no_files,
		.incremental = !opts->at.nr,
		.closed = CLOSED_FILES_NONE,
	};
	if (opts->no_checkpoint)
		return 0;
	return out_failed(checkpoint_open(&s->checkpoints, &err), &err);
}

static int open_recorder(struct sampling *s)
{
	struct recorded_options what = {
		.cgroup = s->workload.path,
		.tape = s->manifest.tape,
		.command = s->options->command,
		.id = s->manifest.id,
		.quiet = s->options->quiet,
	};
	int ret = recorded_open(&s->recorded, &s->recorder, &what);

	/* The workload goes on until the sampler runs.  Without the right it only takes longer. */
	priority_set(REALTIME);
	return ret;
}

/* Interval 1 begins with the recording. */
static int start(struct sampling *s)
{
	int ret;

	s->next = number_after(s->options, 0);
	if (tasks_read(&s->tasks, &s->workload))
		return -ENOMEM;
	ret = counters_arm(&s->counters, s->next * s->options->interval);
	if (ret)
		return ret;
	ret = counters_enable(&s->counters);
	if (!ret)
		ret = recorder_start(&s->recorder);
	if (!ret)
		ret = recorder_describe_tasks(&s->recorder);
	if (ret || !s->options->command)
		return ret;
	ret = child_go(&s->child);
	if (ret)
		out_error(s->options->command[0], "%s", strerror(-ret));
	return ret;
}

static int start_child(struct sampling *s)
{
	/* Before anything is opened or changed that a child would inherit. */
	int ret = s->options->command ? child_fork(&s->child, s->options->command, false) : 0;

	if (ret)
		out_error(NULL, "fork: %s", strerror(-ret));
	return ret;
}

static int begin(struct sampling *s)
{
	const struct sample_options *opts = s->options;
	int ret;

	ret = start_child(s);
	if (!ret)
		ret = manifest_make(&s->manifest, opts->output);
	if (!ret) {
		s->signals = signals_open();
		ret = s->signals < 0 ? s->signals : 0;
	}
	if (!ret)
		ret = enter(s);
	if (!ret)
		ret = events_find((struct sample_events *)&opts->events);
	if (!ret)
		ret = counters_open(&s->counters, &opts->events, &s->workload, opts->interval);
	if (!ret)
		ret = open_checkpoints(s);
	if (!ret)
		ret = open_recorder(s);
	return ret ? ret : start(s);
}

/* -- the end --------------------------------------------------------------- */

static void say_result(const struct sampling *s)
{
	const struct sample_options *opts = s->options;
	char ended[OUT_COUNT_LEN], skid[OUT_COUNT_LEN];

	if (!s->ended && !s->cut)
		out_warning(opts->output, "the workload ended %s: there are no intervals, only the "
			    "tape", opts->at.nr ? "before the first interval of --at did" :
						  "within the first interval");
	else if (!opts->quiet)
		fprintf(stderr, "[ %s: %s intervals of %s end on it; the largest skid is %s ]\n",
			out_command(), out_count(ended, s->ended), opts->events.list[0].name,
			out_count(skid, s->skid));
}

/* Records until the workload ends.  Returns 0, or -errno after a message. */
static int sample(struct sampling *s)
{
	int ret, ended;

	ret = begin(s);
	s->began = !ret;
	if (!ret) {
		recorder_begun(&s->recorder);
		s->tick = now_ms() + recorder_wait(&s->recorder);
		ret = sample_loop(s);
	}
	/* The last overflow may not have been reported yet. */
	if (!ret && s->counters.epoll >= 0)
		ret = look_at_counters(s);
	ended = s->recorder.started ? recorder_stop(&s->recorder) : 0;
	return ret ? ret : ended;
}

/* Waits for the command.  Another Ctrl-C ends the wait. */
static void wait_for_child(struct sampling *s)
{
	struct pollfd fd = { .fd = s->signals, .events = POLLIN };

	for (s->stop = false; s->child.pid > 0 && !s->child.ended && !s->stop; read_signals(s))
		poll(&fd, 1, -1);
}

/* As that of record. */
static int exit_status(const struct sampling *s, bool cut, int ret)
{
	if (ret)
		return CMD_FAILURE;
	if (!s->child.ended || cut)
		return 0;
	if (WIFSIGNALED(s->child.status))
		return 128 + WTERMSIG(s->child.status);
	return WEXITSTATUS(s->child.status);
}

int cmd_sample(int argc, char **argv)
{
	struct sample_options opts;
	struct sampling s = {
		.options = &opts, .manifest = MANIFEST_CLOSED, .workload = WORKLOAD_CLOSED,
		.counters = COUNTERS_CLOSED, .signals = -1,
		.checkpoints.closed = CLOSED_FILES_NONE,
	};
	int ret, closed, left, status;
	bool cut;

	sample_options_parse(&opts, argc, argv);
	if (opts.recover)
		return out_finish(sample_recover(opts.recover));
	s.counts = calloc(2 * opts.events.nr, sizeof(*s.counts));
	s.now = s.counts + opts.events.nr;
	ret = s.counts ? sample(&s) : -ENOMEM;
	counters_close(&s.counters);
	checkpoint_close(&s.checkpoints);
	closed = recorder_close(&s.recorder, s.began, opts.quiet);
	if (s.began && !ret)
		say_result(&s);
	cut = s.cut;
	child_end(&s.child);
	wait_for_child(&s);
	left = workload_leave(&s.workload);
	ret = ret ? ret : closed ? closed : left < 0 ? left : 0;
	/* If processes could not go back, --recover needs it. */
	manifest_close(&s.manifest, s.began || left < 0);
	status = exit_status(&s, cut, ret);
	tasks_free(&s.tasks);
	workload_close(&s.workload);
	recorded_free(&s.recorded);
	free(s.counts);
	sample_options_free(&opts);
	status = out_finish(status);
	if (!ret || ret == -EINTR)
		signals_die();
	return status;
}
