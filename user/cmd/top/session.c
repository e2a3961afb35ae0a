// SPDX-License-Identifier: GPL-2.0-only
/*
 * The session of top: a thread that records into a pipe, as record does; with --like the tasks of
 * another session.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <json-c/json.h>
#include <machine/machine.h>

#include "base/clock.h"
#include "base/thread.h"
#include "common/output.h"
#include "common/rights.h"
#include "module/tasks.h"
#include "module/versions.h"
#include "top/internal.h"

#define LOOK_NS	1000000000	/* between two looks at the model */

/* -- --like ---------------------------------------------------------------- */

/**
 * struct members - the tasks of a filter
 * @tasks: @n of them, by PID
 */
struct members {
	struct client_task *tasks;
	size_t n;
};

static int by_pid(const void *left, const void *right)
{
	const struct client_task *a = left, *b = right;

	return a->pid < b->pid ? -1 : a->pid > b->pid;
}

static int get_members(struct like *like, uint32_t session, struct members *members,
		       struct schedtape_error *err)
{
	int ret;

	ret = client_tasks(like->client, session, &members->tasks, &members->n, err);
	if (!ret)
		qsort(members->tasks, members->n, sizeof(*members->tasks), by_pid);
	return ret;
}

static bool has(const struct members *members, const struct client_task *task)
{
	return bsearch(task, members->tasks, members->n, sizeof(*task), by_pid);
}

typedef int (*change_fn)(struct schedtape_client *client, uint32_t session,
			 const struct schedtape_filter *filter, struct schedtape_error *err);

/*
 * Adds or removes the tasks that are only in @of.  Leaves out threads of this process, which the
 * module refuses, and tasks that have no PID here.  A task may have ended meanwhile.
 */
static int change(struct like *like, const struct members *of, const struct members *without,
		  change_fn call, struct schedtape_error *err)
{
	struct schedtape_filter filter = { .size = sizeof(filter), .nr_tids = 1 };
	size_t i, hidden = 0;
	int ret = 0;

	for (i = 0; i < of->n && !ret; i++) {
		if (of->tasks[i].tgid == like->self || has(without, &of->tasks[i]))
			continue;
		if (!of->tasks[i].vpid) {
			/* In the initial namespace, it has just ended. */
			hidden += call == schedtape_filter_add &&
				  like->self != (uint32_t)getpid();
			continue;
		}
		filter.tids = &of->tasks[i].vpid;
		ret = call(like->client, like->session, &filter, err);
		if (ret == -ESRCH || ret == -ENOENT)
			ret = 0;
	}
	if (hidden && !like->hidden)
		out_warning(NULL, "session %u: %zu of its tasks have no PID in this PID namespace, "
			    "and are left out", like->model, hidden);
	like->hidden |= hidden;
	return ret;
}

/* Reads the own tasks first, so that one that is forked meanwhile is not taken as too many. */
static int look(struct like *like, struct schedtape_error *err)
{
	struct members own = { NULL, 0 }, model = { NULL, 0 };
	int ret;

	like->looked = schedtape_now();
	ret = get_members(like, like->session, &own, err);
	if (!ret)
		ret = get_members(like, like->model, &model, err);
	if (!ret)
		ret = change(like, &model, &own, schedtape_filter_add, err);
	if (!ret)
		ret = change(like, &own, &model, schedtape_filter_del, err);
	free(own.tasks);
	free(model.tasks);
	return ret;
}

/* Finds this process' PID in the initial namespace.  Older modules do not translate PIDs. */
static int find_self(struct like *like, struct schedtape_session *session)
{
	struct schedtape_session_state state = { .size = sizeof(state) };
	struct schedtape_error err;
	int ret;

	ret = schedtape_session_get(session, &state, &err);
	if (ret)
		return rights_say(ret, &err);
	like->self = state.owner;
	if (state.owner_vpid == (uint32_t)getpid())
		return 0;
	out_error(NULL, "--like: " VERSIONS_OLD_MODULE);
	return -ENOTSUP;
}

/* Sets the filter of a session that has none.  Returns 0, or -errno after a message. */
static int like_begin(struct like *like, struct schedtape_client *client,
		      struct schedtape_session *session, uint32_t model)
{
	/* The model's filter has kernel threads, or else there are none to add. */
	struct schedtape_filter filter = { .size = sizeof(filter), .kthreads = true };
	struct schedtape_error err;
	int ret;

	*like = (struct like){
		.client = client, .model = model, .session = schedtape_session_id(session),
	};
	ret = find_self(like, session);
	if (ret)
		return ret;
	ret = schedtape_filter_set(client, like->session, &filter, &err);
	if (!ret)
		ret = look(like, &err);
	return rights_say(ret, &err);
}

/* Once a second, adds and removes what differs.  Returns as like_begin(). */
static int like_follow(struct like *like)
{
	struct schedtape_error err;
	int ret;

	if (!like->model || like->gone || schedtape_now() < like->looked + LOOK_NS)
		return 0;
	ret = look(like, &err);
	if (ret != -ENOENT)
		return rights_say(ret, &err);
	like->gone = true;
	out_warning(NULL, "session %u has ended: these are the tasks that it had last",
		    like->model);
	return 0;
}

/* -- the thread ------------------------------------------------------------ */

/* Chooses CPUs and clock.  Returns the tape's META, or NULL after a message. */
static struct json_object *prepare(struct top_session *session)
{
	const struct record_options *opts = session->options;
	struct schedtape_module_info info = { .size = sizeof(info) };
	struct schedtape_recording recording = {
		.filter = session->model ? NULL : &opts->targets.filter, .cpus = opts->cpus,
	};
	/* Only a replay would need one, and measuring takes some 20 ms. */
	const struct schedtape_calibration no_calibration = { 0 };
	struct schedtape_error err;
	struct json_object *meta;

	if (record_options_cpus(opts, &session->cpus, &session->cpus_bytes) ||
	    rights_say(schedtape_client_open(&session->client, &err), &err) ||
	    rights_say(schedtape_client_info(session->client, &info, &err), &err) ||
	    record_options_clock(opts, &info, &session->clock))
		return NULL;
	recording.clock = session->clock;
	meta = schedtape_machine_describe(&info, &no_calibration, &recording);
	if (!meta)
		out_error(NULL, "not enough memory");
	return meta;
}

static int open_recorder(struct top_session *session, const char *path)
{
	const struct record_options *opts = session->options;
	struct recorder_options options = {
		.path = path,
		.ring_bytes = opts->ring_bytes,
		.realtime = opts->realtime,
		.live_ms = session->live_ms,
	};
	int ret;

	options.meta = prepare(session);
	if (!options.meta)
		return -EIO;
	options.clock = session->clock;
	options.cpus = session->cpus;
	options.cpus_bytes = session->cpus_bytes;
	ret = recorder_open(&session->recorder, session->client, &options);
	json_object_put(options.meta);
	return ret;
}

static int set_filter(struct top_session *session)
{
	struct schedtape_session *own = session->recorder.session;
	struct schedtape_error err;
	int ret;

	if (session->model)
		return like_begin(&session->like, session->client, own, session->model);
	ret = targets_set(&session->options->targets, session->client, schedtape_session_id(own),
			  &err);
	return rights_say(ret, &err);
}

static int begin(struct top_session *session)
{
	int ret = set_filter(session);

	if (ret)
		return ret;
	ret = recorder_start(&session->recorder);
	if (ret)
		return ret;
	recorder_begun(&session->recorder);
	timing_started(&session->options->timing);
	timing_begin(&session->options->timing);
	return recorder_describe_tasks(&session->recorder);
}

/* Moves pages.  Returns 0 or -errno; *over is set if the session has stopped. */
static int look_after(struct top_session *session, unsigned int revents, bool *useless,
		      bool *over)
{
	uint64_t before = recorder_tape_bytes(&session->recorder);
	int ret = recorder_tick(&session->recorder);

	/* As in record: a session that is readable and has no pages is not polled again at once. */
	*useless = revents && before == recorder_tape_bytes(&session->recorder);
	/* POLLHUP: the filter's last task has ended.  A model may have other ones soon. */
	if ((revents & POLLHUP && !session->model) ||
	    (revents & POLLIN && *useless && recorder_stopped(&session->recorder)))
		*over = true;
	return ret ? ret : like_follow(&session->like);
}

static int loop(struct top_session *session)
{
	struct pollfd fds[] = {
		{ .events = POLLIN },
		{ .fd = session->stop, .events = POLLIN },
	};
	struct timing *timing = &session->options->timing;
	bool useless = false, over = false;
	int ret = 0;

	while (!ret && !over && !fds[1].revents && timing_next(timing) != ORDER_STOP) {
		fds[0].fd = useless ? -1 : schedtape_session_fd(session->recorder.session);
		if (poll(fds, 2, timing_wait(timing, recorder_wait(&session->recorder))) < 0)
			ret = -errno;
		else
			ret = look_after(session, fds[0].revents, &useless, &over);
	}
	return ret;
}

static void *session_main(void *arg)
{
	struct top_session *session = arg;
	int ret, ended = 0, closed;
	bool began = false;
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", session->pipe);
	ret = open_recorder(session, path);
	/* From here on the recorder has its own, so that the pipe ends when that is closed. */
	close(session->pipe);
	if (!ret)
		ret = begin(session);
	began = !ret;
	if (!ret)
		ret = loop(session);
	if (session->recorder.started)
		ended = recorder_stop(&session->recorder);
	closed = recorder_close(&session->recorder, began, true);
	session->ret = ret ? ret : ended ? ended : closed;
	return NULL;
}

int session_start(struct top_session *session)
{
	int ret;

	session->stop = eventfd(0, EFD_CLOEXEC);
	ret = session->stop < 0 ? -errno :
		schedtape_thread_start(&session->thread, NULL, session_main, session);
	if (ret)
		close(session->pipe);
	return ret;
}

void session_stop(struct top_session *session)
{
	uint64_t one = 1;

	/* This cannot fail: the counter is far from its limit. */
	if (write(session->stop, &one, sizeof(one)) < 0)
		return;
}

int session_join(struct top_session *session)
{
	pthread_join(session->thread, NULL);
	schedtape_client_close(session->client);
	free(session->cpus);
	close(session->stop);
	return session->ret;
}
