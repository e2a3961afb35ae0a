// SPDX-License-Identifier: GPL-2.0-only
/*
 * schedtape restore: lets a workload go on from a checkpoint that sample has taken.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "commands.h"
#include "common/options.h"
#include "common/output.h"
#include "common/signals.h"
#include "machine/cgroup-files.h"
#include "record/recorder.h"
#include "restore/internal.h"
#include "sample/internal.h"
#include "sample/recorded.h"
#include "tape/json.h"

#define OPT_SAME_PIDS	1
#define OPT_KEEP	2
#define OPT_CRIU	3
#define OPT_RECORD	4
#define OPT_FOR		5

#define CGROUP_NAME	"schedtape-restore-"	/* before a PID */

/**
 * struct restore_options - options of restore
 * @checkpoint: DIR/N
 * @keep: --keep: folder for what the workload writes, or NULL
 * @tape: --record: where to record it, or NULL
 * @length: --for: "interval", or so many events; NULL: up to its end
 */
struct restore_options {
	const char *checkpoint;
	const char *keep;
	const char *criu;
	const char *tape;
	const char *length;
	bool same_pids;
};

/**
 * struct restored - the restored processes
 * @first: the process that restores them and waits for them
 * @scratch: a folder
 * @workload: their cgroup
 * @ready: reading end of a pipe: readable when they are frozen
 * @length: of --for; 0: up to their end
 * @tick: when recorder_tick() is due, ms of CLOCK_MONOTONIC
 * @begun: it is recorded, so the tape is kept
 * @over: --for is over
 */
struct restored {
	const struct restore_options *options;
	const struct described *described;
	pid_t first;
	char scratch[PATH_MAX];
	struct workload workload;
	struct sample_events events;
	struct counters counters;
	struct recorder recorder;
	struct recorded recorded;
	uint64_t length;
	uint64_t tick;
	int signals;
	int ready;
	bool begun;
	bool over;
};

static const struct argp_option options[] = {
	{ "same-pids", OPT_SAME_PIDS, NULL, 0,
	  "Restore it outside of a PID namespace of its own: its PIDs must be free", 0 },
	{ "keep", OPT_KEEP, "FOLDER", 0,
	  "Copy the files that it writes to FOLDER at its end; otherwise they are lost", 0 },
	{ "record", OPT_RECORD, "FILE", 0, "Record it, from its first step on, on this tape", 0 },
	{ "for", OPT_FOR, "interval|N", 0,
	  "End it after one interval of the sample, or after so many of the sample's event", 0 },
	{ "criu", OPT_CRIU, "PROGRAM", 0, "Run this criu, instead of the one in the path", 0 },
	{ 0 }
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct restore_options *opts = state->input;

	switch (key) {
	case OPT_SAME_PIDS:
		opts->same_pids = true;
		break;
	case OPT_KEEP:
		opts->keep = arg;
		break;
	case OPT_CRIU:
		opts->criu = arg;
		break;
	case OPT_RECORD:
		opts->tape = arg;
		break;
	case OPT_FOR:
		opts->length = arg;
		break;
	case ARGP_KEY_ARG:
		if (opts->checkpoint)
			argp_error(state, "one checkpoint at a time");
		opts->checkpoint = arg;
		break;
	case ARGP_KEY_END:
		if (!opts->checkpoint)
			argp_error(state, "no checkpoint: DIR/N is needed");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

/* -- the cgroup ------------------------------------------------------------ */

static void kill_all(const struct restored *restored)
{
	int ret = schedtape_cgroup_write(restored->workload.path, "cgroup.kill", "1");

	if (ret && ret != -ENOENT)
		out_warning(restored->workload.path, "cgroup.kill: %s", strerror(-ret));
}

/* -- counting and recording ------------------------------------------------ */

/* Reads the event and the length of --for.  Returns 0, or -EINVAL after a message. */
static int find_length(struct restored *restored)
{
	const char *text = restored->options->length;
	struct json_object *sample = restored->described->sample;
	char name[256], *wrong = NULL;

	if (!text)
		return 0;
	if (!tape_json_text(sample, "event", name, sizeof(name)) ||
	    events_parse(&restored->events, name, &wrong) || events_find(&restored->events)) {
		free(wrong);
		out_error(restored->options->checkpoint, "its manifest names no event to count");
		return -EINVAL;
	}
	if (!strcmp(text, "interval"))
		tape_json_number(sample, "interval", &restored->length);
	else if (!events_parse_count(&restored->events.list[0], text, &restored->length))
		restored->length = 0;
	if (restored->length)
		return 0;
	out_error(NULL, "--for %s: not a number of %s", text, name);
	return -EINVAL;
}

/* Opens what counts and records the frozen processes. */
static int open_all(struct restored *restored)
{
	struct recorded_options what = {
		.cgroup = restored->workload.path,
		.tape = restored->options->tape,
		.id = "",
		.interval = restored->described->number + 1,
	};
	char id[MANIFEST_ID_LEN] = "";
	int ret = find_length(restored);

	if (!ret && restored->length)
		ret = counters_open(&restored->counters, &restored->events, &restored->workload,
				    restored->length);
	if (ret || !restored->options->tape)
		return ret;
	if (tape_json_text(restored->described->sample, "id", id, sizeof(id)))
		what.id = id;
	return recorded_open(&restored->recorded, &restored->recorder, &what);
}

static int begin(struct restored *restored)
{
	int ret = 0;

	if (restored->options->tape) {
		ret = recorder_start(&restored->recorder);
		if (!ret)
			ret = recorder_describe_tasks(&restored->recorder);
		if (ret)
			return ret;
		restored->begun = true;
		recorder_begun(&restored->recorder);
		restored->tick = now_ms() + recorder_wait(&restored->recorder);
	}
	if (restored->length) {
		ret = counters_arm(&restored->counters, restored->length);
		if (!ret)
			ret = counters_enable(&restored->counters);
	}
	return ret;
}

static int look_at_counters(struct restored *restored)
{
	uint64_t count;
	int ret;

	counters_seen(&restored->counters);
	ret = counters_read_first(&restored->counters, &count);
	if (!ret && count < restored->length)
		return counters_arm(&restored->counters, restored->length - count);
	restored->over = !ret;
	return ret;
}

/* Ends the recording.  Returns @ret, or -errno after a message. */
static int end(struct restored *restored, int ret)
{
	int stopped, closed;

	counters_close(&restored->counters);
	stopped = recorder_stop(&restored->recorder);
	closed = recorder_close(&restored->recorder, restored->begun, true);
	ret = ret ? ret : stopped ? stopped : closed;
	recorded_free(&restored->recorded);
	events_free(&restored->events);
	return ret;
}

/* -- the restored processes ------------------------------------------------ */

/* Starts the process that restores them.  Returns 0, or -errno after a message. */
static int start(struct restored *restored)
{
	const struct restore_options *opts = restored->options;
	struct inside inside = {
		.described = restored->described,
		.scratch = restored->scratch,
		.keep = opts->keep,
		.cgroup = restored->workload.path,
		.criu = opts->criu,
		.ready = -1,
		.own_pids = !opts->same_pids,
	};
	int own = open("/proc/self/ns/pid", O_RDONLY | O_CLOEXEC), ends[2] = { -1, -1 }, ret = 0;

	if (((opts->tape || opts->length) && pipe2(ends, O_CLOEXEC)) ||
	    (inside.own_pids && unshare(CLONE_NEWPID)))
		goto failed;
	inside.ready = ends[1];
	restored->ready = ends[0];
	restored->first = fork();
	if (!restored->first)
		_exit(inside_run(&inside));
	/* Threads of the recorder are to be in this process's own. */
	if (restored->first > 0 && (!inside.own_pids || !setns(own, CLONE_NEWPID)))
		goto out;
failed:
	ret = -errno;
	out_error(NULL, "no process in a PID namespace: %s", strerror(errno));
out:
	close(ends[1]);
	close(own);
	return ret;
}

/* They are frozen.  Begins to count and record, and lets them go on. */
static int go(struct restored *restored)
{
	int ret, thawed;
	char c;

	/* Without a byte they could not be restored, and a message has said why. */
	ret = read(restored->ready, &c, 1) == 1;
	close(restored->ready);
	restored->ready = -1;
	if (!ret)
		return 0;
	ret = begin(restored);
	thawed = schedtape_cgroup_write(restored->workload.path, "cgroup.freeze", "0");
	if (!thawed)
		return ret;
	out_error(restored->workload.path, "cgroup.freeze: %s", strerror(-thawed));
	return -EIO;
}

/* Waits for their end, and ends them at a signal or after --for.  Returns an exit status. */
static int wait_for_end(struct restored *restored)
{
	struct pollfd fds[] = {
		{ .fd = restored->signals, .events = POLLIN },
		{ .fd = restored->ready, .events = POLLIN },
		{ .fd = restored->counters.epoll, .events = POLLIN },
		{ .fd = -1, .events = POLLIN },
	};
	bool killed = false;
	int status, ret = 0, ended;

	if (restored->options->tape)
		fds[3].fd = schedtape_session_fd(restored->recorder.session);
	while (!waitpid(restored->first, &status, WNOHANG)) {
		poll(fds, 4, ms_until(restored->tick, RECORDER_FLUSH_MS));
		if (fds[1].revents && !ret)
			ret = go(restored);
		fds[1].fd = restored->ready;
		if (fds[2].revents && !ret)
			ret = look_at_counters(restored);
		if (restored->recorder.started && !ret &&
		    (fds[3].revents & POLLIN || now_ms() >= restored->tick)) {
			ret = recorder_tick(&restored->recorder);
			restored->tick = now_ms() + recorder_wait(&restored->recorder);
		}
		if (signals_read(restored->signals, NULL) || ret || restored->over) {
			/* The tape ends before they are killed. */
			if (restored->over && restored->recorder.started && !killed)
				ret = recorder_stop(&restored->recorder);
			fds[2].fd = -1;
			fds[3].fd = -1;
			kill_all(restored);
			killed = true;
		}
	}
	ended = end(restored, ret);
	if (ended)
		return CMD_FAILURE;
	if (restored->over)
		return 0;
	return WIFEXITED(status) ? WEXITSTATUS(status) : CMD_FAILURE;
}

static int run_on(const struct restore_options *opts, const struct described *described)
{
	struct restored restored = {
		.options = opts, .described = described, .ready = -1,
		.scratch = "/run/schedtape-restore.XXXXXX",
		.counters = COUNTERS_CLOSED, .workload = WORKLOAD_CLOSED, .tick = UINT64_MAX,
	};
	int status = CMD_FAILURE;

	if (!mkdtemp(restored.scratch)) {
		out_error(restored.scratch, "%s", strerror(errno));
		return status;
	}
	restored.signals = signals_open();
	if (restored.signals >= 0 && !workload_find_new(&restored.workload, CGROUP_NAME) &&
	    !workload_make(&restored.workload)) {
		if (!open_all(&restored) && !start(&restored))
			status = wait_for_end(&restored);
		else
			end(&restored, 0);
	}
	workload_leave(&restored.workload);
	workload_close(&restored.workload);
	if (restored.signals >= 0)
		close(restored.signals);
	rmdir(restored.scratch);
	return status;
}

int cmd_restore(int argc, char **argv)
{
	static const struct argp argp = {
		.options = options,
		.args_doc = "DIR[/N]",
		.doc = "Lets a workload go on from a checkpoint of \"schedtape sample\", "
		       "with its files as they were, in namespaces of its own.",
		.parser = parse,
	};
	struct restore_options opts = { 0 };
	struct described described;
	int status = CMD_FAILURE;

	cmd_parse(&argp, argc, argv, 0, &opts);
	if (described_find(&described, opts.checkpoint))
		return status;
	if (geteuid())
		out_error(NULL, "only root can restore processes; without it \"schedtape replay "
			  "--time\" replays an interval of the tape");
	else if (!described_compare(&described))
		status = run_on(&opts, &described);
	described_free(&described);
	return status;
}
