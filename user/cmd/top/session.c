// SPDX-License-Identifier: GPL-2.0-only
#include "top/session.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <json-c/json.h>
#include <machine/machine.h>

#include "base/thread.h"
#include "common/output.h"
#include "common/rights.h"

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
	uint64_t before = recorder_bytes(&session->recorder);
	int ret = recorder_tick(&session->recorder);

	/* As in record: a session that is readable and has no pages is not polled again at once. */
	*useless = revents && before == recorder_bytes(&session->recorder);
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
