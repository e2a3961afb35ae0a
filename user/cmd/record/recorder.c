// SPDX-License-Identifier: GPL-2.0-only
#include "record/recorder.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include <json-c/json.h>

#include "common/output.h"
#include "common/past.h"
#include "common/rights.h"
#include "machine/autogroups.h"
#include "module/tasks.h"
#include "record/internal.h"
#include "tape/groups.h"

#define SAMPLE_MS	10000	/* between two samples of the clocks */

/* -- opening --------------------------------------------------------------- */

static int open_session(struct recorder *recorder, struct schedtape_client *client,
			const struct recorder_options *options, struct schedtape_error *err)
{
	struct schedtape_session_options session = {
		.size = sizeof(session),
		.ring_bytes = options->ring_bytes,
		.clock = options->clock,
		.overwrite = options->overwrite,
		.syscalls = options->syscalls,
		.triggers = options->triggers,
		.nr_triggers = options->nr_triggers,
		.cpus = options->streams ? options->streams->cpus : options->cpus,
		.cpus_bytes = options->streams ? options->streams->bytes : options->cpus_bytes,
	};
	int ret;

	ret = schedtape_session_open(client, &recorder->session, err);
	return ret ? ret : schedtape_session_set(recorder->session, &session, err);
}

int recorder_open(struct recorder *recorder, struct schedtape_client *client,
		  const struct recorder_options *options)
{
	struct schedtape_error err;
	int ret;

	recorder->path = options->path;
	recorder->streams = options->streams;
	recorder->overwrite = options->overwrite;
	recorder->parts = options->parts;
	recorder->no_final = options->no_final;
	recorder->renames = options->no_final ||
			    (options->parts && options->parts->end != PARTS_WHOLE);
	recorder->filter = options->filter;
	recorder->quiet = options->quiet;
	recorder->level = options->level;
	recorder->quit = -1;
	recorder->last = (struct parts_file)PARTS_NO_FILE;
	looks_open(recorder, options->filter);
	ret = streamers_prepare(options, &err);
	if (ret)
		return out_failed(ret, &err);
	ret = open_session(recorder, client, options, &err);
	if (ret)
		return rights_say(ret, &err);
	if (options->overwrite && !options->streams)
		ret = flight_open(recorder, &err);
	if (!ret)
		ret = streamers_open(recorder, &err);
	/* If all tapes have other names, what has this one is not in the way. */
	if (!ret && !(recorder->past && recorder->renames))
		ret = backup_old(recorder->path, &recorder->backup, &err);
	if (!ret)
		ret = recorder_tape_open(recorder, options, &err);
	return out_failed(ret, &err);
}

void recorder_begun(struct recorder *recorder)
{
	backup_done(&recorder->backup);
}

/* -- recording ------------------------------------------------------------- */

int recorder_start(struct recorder *recorder)
{
	struct schedtape_session_state state = { .size = sizeof(state) };
	struct schedtape_error err;
	int ret;

	/* To each file, so that each can be read alone. */
	ret = out_failed(recorder_tape_clock(recorder, true, &err), &err);
	/* Before the session starts, so that each later change is found. */
	if (!ret)
		ret = recorder_failed(recorder, looks_begin(recorder, &err), &err);
	if (!ret)
		ret = streamers_start(recorder);
	if (ret)
		return ret;
	ret = schedtape_session_start(recorder->session, &err);
	if (!ret) {
		recorder->started = true;
		clock_gettime(CLOCK_MONOTONIC, &recorder->flushed);
		recorder->sampled = recorder->flushed;
		recorder->looked = recorder->flushed;
		ret = schedtape_session_get(recorder->session, &state, &err);
	}
	if (!ret)
		recorder->start_time = state.start_time;
	/* In overwrite mode the window is known only at the end. */
	if (!ret && !recorder->overwrite)
		ret = recorder_tape_progress(recorder, true, &err);
	return out_failed(ret, &err);
}

int recorder_add(struct recorder *recorder, const uint32_t *pids, size_t n)
{
	struct schedtape_error err;

	return out_failed(schedtape_session_add(recorder->session, pids, n, &err), &err);
}

static int describe_tasks(struct recorder *recorder)
{
	struct schedtape_error err;
	struct schedtape_task_info *tasks;
	struct schedtape_group *groups;
	size_t n, nr_groups;
	int ret;

	ret = schedtape_session_groups(recorder->session, &tasks, &n, &groups, &nr_groups, &err);
	if (!ret && recorder->members)
		members_list(recorder->members, tasks, n);
	/* First what belongs to a description, for readers of a pipe. */
	if (!ret) {
		schedtape_autogroups_read(groups, nr_groups);
		ret = tape_writer_groups(recorder->writer, groups, nr_groups, &err);
	}
	if (!ret)
		ret = schedtape_writer_tasks(recorder->writer, tasks, n, &err);
	free(groups);
	free(tasks);
	return recorder_failed(recorder, ret, &err);
}

int recorder_describe_tasks(struct recorder *recorder)
{
	if (recorder->past)
		return flight_note_tasks(recorder);
	/* In overwrite mode they may have ended before the oldest event that is kept. */
	return recorder->overwrite || !recorder->writer ? 0 : describe_tasks(recorder);
}

int recorder_add_players(struct recorder *recorder, const struct schedtape_player *players,
			 size_t n)
{
	struct schedtape_error err;
	int ret = schedtape_writer_players(recorder->writer, players, n, &err);

	return recorder_failed(recorder, ret, &err);
}

static long ms_between(const struct timespec *from, const struct timespec *to)
{
	return (to->tv_sec - from->tv_sec) * 1000 + (to->tv_nsec - from->tv_nsec) / 1000000;
}

/* Returns true once every @ms. */
static bool is_due(struct timespec *last, long ms)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	if (ms_between(last, &now) < ms)
		return false;
	*last = now;
	return true;
}

/*
 * Returns true if the clocks have to be sampled: now and then, and before a reader of a pipe would
 * have to keep too much, because it waits for the sample behind the events.
 */
static bool sample_is_due(struct recorder *recorder)
{
	uint64_t bytes = schedtape_writer_bytes(recorder->writer);

	if (!is_due(&recorder->sampled, recorder->live_ms ? recorder->live_ms : SAMPLE_MS) &&
	    bytes - recorder->sampled_bytes < SCHEDTAPE_PROGRESS_BYTES)
		return false;
	recorder->sampled_bytes = bytes;
	return true;
}

/* Moves all pages.  @sampled: after the clocks were sampled, and the rings then flushed. */
static int move_pages(struct recorder *recorder, bool sampled)
{
	struct schedtape_error err;
	int ret;

	if (recorder->streams)
		return streamers_check(recorder);
	ret = streamer_drain(&recorder->streamers[0], false);
	if (ret || !sampled || recorder->overwrite)
		return ret;
	return recorder_failed(recorder, recorder_tape_progress(recorder, false, &err), &err);
}

static int moved_samples(struct recorder *recorder, int ret, const struct schedtape_error *err)
{
	struct perf_events_counts counts = perf_events_count(recorder->events);

	recorder->totals.samples = counts.samples;
	recorder->totals.samples_lost = counts.lost;
	recorder->totals.samples_dropped = counts.dropped;
	recorder->has_samples = true;
	return recorder_failed(recorder, ret, err);
}

/*
 * Moves what other tracepoints have in their rings.  @until: the rings of scheduling were flushed
 * after this time, ns of CLOCK_MONOTONIC
 */
static int move_samples(struct recorder *recorder, uint64_t until)
{
	struct schedtape_error err;
	int ret;

	if (!recorder->events)
		return 0;
	/* With --threads, the thread may not have done so yet. */
	streamer_drain_descriptions(&recorder->streamers[0]);
	ret = perf_events_drain(recorder->events, until, recorder->writer, &err);
	return moved_samples(recorder, ret, &err);
}

int recorder_paused(struct recorder *recorder)
{
	struct schedtape_error err;

	if (!recorder->events || !recorder->writer)
		return 0;
	if (schedtape_session_flush(recorder->session, &err))
		return recorder_failed(recorder, -EIO, &err);
	return move_samples(recorder, UINT64_MAX);
}

/*
 * While the rings are overwritten, tapes are for snapshots and for the end.  What fails here may be
 * missing then, but does not end the recording.
 */
static void tick_in_flight(struct recorder *recorder)
{
	bool sample = is_due(&recorder->sampled, SAMPLE_MS);
	struct schedtape_error err;
	int ret;

	ret = flight_tick(recorder, sample, is_due(&recorder->flushed, RECORDER_FLUSH_MS));
	if (!ret && (is_due(&recorder->looked, LOOKS_MS) || sample))
		ret = recorder_failed(recorder, looks_again(recorder, sample, &err), &err);
	recorder_missed(recorder, ret);
}

int recorder_tick(struct recorder *recorder)
{
	struct schedtape_error err;
	uint64_t until = 0;
	bool sampled, fills, due;
	int ret = 0;

	if (recorder->past) {
		tick_in_flight(recorder);
		return 0;
	}
	sampled = sample_is_due(recorder);
	if (sampled)
		ret = recorder_failed(recorder, recorder_tape_clock(recorder, false, &err), &err);
	if (!ret && is_due(&recorder->looked, LOOKS_MS))
		ret = recorder_failed(recorder, looks_again(recorder, false, &err), &err);
	/* The threads write other files, so they go on. */
	if (recorder->streams)
		ret = 0;
	/* In overwrite mode partly filled pages would take the room of older events. */
	fills = recorder->events && perf_events_fill(recorder->events);
	due = is_due(&recorder->flushed, RECORDER_FLUSH_MS) || sampled;
	if (!ret && !recorder->overwrite && (due || fills)) {
		/* The clocks of two CPUs may differ a little, as in recorder_tape_progress(). */
		until = schedtape_now() - 1000000;
		ret = recorder_failed(recorder, schedtape_session_flush(recorder->session, &err),
				      &err);
	}
	/* Pages that are hardly filled are moved later, several at once. */
	if (!ret && (due || !fills))
		ret = move_pages(recorder, sampled);
	return ret || !until ? ret : move_samples(recorder, until);
}

/* Lowers *@wait to the time that is left of @ms since @last, 0 if draining rings has taken it. */
static void wait_less(long *wait, const struct timespec *last, long ms)
{
	struct timespec now;
	long left;

	clock_gettime(CLOCK_MONOTONIC, &now);
	left = ms - ms_between(last, &now);
	if (left < *wait)
		*wait = left < 0 ? 0 : left;
}

/*
 * Returns how long to wait for pages, ms: until the next look, sample of the clocks for a reader of
 * the pipe, or flush, whichever is first.
 */
int recorder_wait(const struct recorder *recorder)
{
	long ms = RECORDER_FLUSH_MS;

	if (recorder->started && looks_needed(recorder))
		wait_less(&ms, &recorder->looked, LOOKS_MS);
	if (recorder->started && recorder->live_ms)
		wait_less(&ms, &recorder->sampled, recorder->live_ms);
	return ms;
}

bool recorder_stopped(struct recorder *recorder)
{
	struct schedtape_session_state state = { .size = sizeof(state) };

	return !schedtape_session_get(recorder->session, &state, NULL) &&
	       state.state == STAPE_SESSION_STOPPED;
}

int recorder_cgroups_fd(const struct recorder *recorder)
{
	return recorder->started && (recorder->writer || recorder->past) ? recorder->cgroups.fd :
									   -1;
}

int recorder_cgroups_changed(struct recorder *recorder)
{
	struct schedtape_error err;

	if (!recorder->writer && !recorder->past)
		return 0;
	return recorder_failed(recorder, looks_at_cgroups(recorder, &err), &err);
}

/* -- the end --------------------------------------------------------------- */

/*
 * Returns the time from which no ring has overwritten events: the latest beginning of the rings'
 * first pages.  Call it before the first page is consumed.
 */
static uint64_t find_window(struct recorder *recorder)
{
	uint32_t cpu, n = schedtape_session_cpus(recorder->session);
	const struct stape_page_header *page;
	struct schedtape_cpu stats;
	uint64_t window = 0;
	const void *at;

	for (cpu = 0; cpu < n; cpu++) {
		if (!schedtape_session_cpu(recorder->session, cpu, &stats) || !stats.overwritten ||
		    !schedtape_session_pages(recorder->session, cpu, 1, &at))
			continue;
		page = at;
		if (page->time > window)
			window = page->time;
	}
	return window;
}

/* Says what the module knows of the session's end, and of changes that are not on the tape. */
static void say_end(struct recorder *recorder)
{
	struct schedtape_session_state state = { .size = sizeof(state) };

	if (schedtape_session_get(recorder->session, &state, NULL))
		return;
	if (state.stopped_by == STAPE_STOPPED_BY_ADMIN)
		out_warning(NULL, "an administrator has stopped all recordings (parameter stop_all "
			    "of the module): the tape ends then");
	if (state.missed_calls)
		out_warning(NULL, "%" PRIu64 " changes of priority, affinity or name may be "
			    "missing: give the module a larger calls_max", state.missed_calls);
	if (state.missed_waits)
		out_warning(NULL, "triggers have not seen %" PRIu64 " waits begin: too many tasks "
			    "were new at once, or memory was short", state.missed_waits);
}

/* Moves the remaining pages after the session has stopped. */
static int move_rest(struct recorder *recorder)
{
	struct schedtape_progress progress = {
		.size = sizeof(progress),
		.start_time = recorder->start_time,
		.window_start = recorder->window_start,
	};
	struct schedtape_error err;
	int ret;

	if (recorder->past) {
		ret = flight_write_past(recorder, recorder->writer, recorder->window_start,
					recorder->tasks, recorder->nr_tasks, &err);
		if (ret)
			return recorder_failed(recorder, ret, &err);
	}
	return streamer_drain_rest(&recorder->streamers[0], &progress);
}

/*
 * Begins the tape, if there is none until the session stops.  Returns 0, or -errno after a message.
 */
static int begin_last(struct recorder *recorder)
{
	struct schedtape_error err;
	int ret;

	if (!recorder->past || recorder->writer || recorder->no_final)
		return 0;
	recorder_tape_renew(recorder);
	ret = recorder_tape_begin_last(recorder, &err);
	return recorder_failed(recorder, ret, &err);
}

/*
 * Gets the tasks for the tape at the end, while they are there.  Returns 0, or -errno after a
 * message.
 */
static int describe_last(struct recorder *recorder)
{
	struct schedtape_error err;

	if (!recorder->overwrite || recorder->no_final)
		return 0;
	if (!recorder->past)
		return describe_tasks(recorder);
	return recorder_failed(recorder,
			       schedtape_session_tasks(recorder->session, &recorder->tasks,
						       &recorder->nr_tasks, &err), &err);
}

int recorder_stop(struct recorder *recorder)
{
	struct schedtape_error err;
	int ret, drained, clocked, looked, moved, described;

	if (!recorder->started)
		return 0;
	recorder->started = false;
	begin_last(recorder);
	described = describe_last(recorder);
	ret = schedtape_session_stop(recorder->session, &err);
	/* Another process may have stopped the session: its pages are still in the rings. */
	if (ret && recorder_stopped(recorder))
		ret = 0;
	out_failed(ret, &err);
	say_end(recorder);
	if (recorder->no_final)
		return ret;
	/* There is no room for it: next_tape_tick() has said so. */
	if (!recorder->writer) {
		recorder_tape_missing(recorder);
		return -EIO;
	}
	if (recorder->overwrite)
		recorder->window_start = find_window(recorder);
	if (recorder->past) {
		flight_drain(recorder);
		flight_meet(recorder, recorder->tasks, recorder->nr_tasks);
		/* What tasks were before that has been forgotten. */
		if (recorder->window_start < recorder->past->from)
			recorder->window_start = recorder->past->from;
	}
	if (!recorder->streams || recorder->events)
		streamer_drain_descriptions(&recorder->streamers[0]);
	perf_events_enable(recorder->events, false);
	moved = 0;
	if (recorder->events) {
		moved = perf_events_end(recorder->events, recorder->writer, &err);
		moved = moved_samples(recorder, moved, &err);
	}
	/* Before the last pages, because a reader of a pipe needs them for these. */
	clocked = recorder_failed(recorder, recorder_tape_clock(recorder, false, &err), &err);
	looked = recorder_failed(recorder, looks_end(recorder, &err), &err);
	drained = recorder->streams ? streamers_end(recorder) : move_rest(recorder);
	if (!ret)
		ret = drained ? drained : clocked ? clocked : looked ? looked : moved;
	return ret ? ret : described;
}

/* Ends the tape, and closes it.  Returns 0 or -errno after a message. */
static int close_tape(struct recorder *recorder, bool keep)
{
	struct schedtape_error err;
	int ret = 0, ended, closed;

	if (keep && recorder->writer) {
		if (recorder->started)
			ret = recorder_failed(recorder, looks_end(recorder, &err), &err);
		ended = recorder_tape_end(recorder, recorder->window_start, &err);
		recorder_failed(recorder, ended, &err);
		ret = ret ? ret : ended;
		recorder->unnamed = recorder->renames;
	}
	closed = recorder_tape_close(recorder);
	return ret ? ret : closed;
}

/* Gives the last one of several tapes its name.  Returns 0 or -errno after a message. */
static int name_last(struct recorder *recorder)
{
	struct schedtape_error err;
	int ret;

	if (!recorder->unnamed)
		return 0;
	if (recorder->last.fd >= 0)
		ret = parts_keep(recorder->parts, recorder->path, NULL, &recorder->last,
				 recorder->totals.bytes, &err);
	else
		ret = parts_name(recorder->parts, recorder->path, recorder->totals.bytes, &err);
	if (ret)
		return out_failed(ret, &err);
	recorder->path = parts_last(recorder->parts);
	parts_prune(recorder->parts);
	return 0;
}

int recorder_close(struct recorder *recorder, bool keep, bool quiet)
{
	bool has_tape;
	int ret, named;

	if (!recorder->path)
		return 0;
	streamers_end(recorder);
	if (keep)
		backup_done(&recorder->backup);
	else
		backup_undo(&recorder->backup);
	has_tape = !recorder->renames || recorder->writer || recorder->unnamed;
	ret = close_tape(recorder, keep);
	named = keep ? name_last(recorder) : 0;
	ret = ret ? ret : named ? named : recorder->failed;
	looks_close(recorder);
	if (keep)
		result_say_missing(recorder);
	if (keep && !quiet && has_tape)
		result_say(recorder, recorder->path);
	perf_events_close(recorder->events);
	recorder->events = NULL;
	members_free(recorder->members);
	recorder->members = NULL;
	free(recorder->tasks);
	recorder->tasks = NULL;
	json_object_put(recorder->meta);
	recorder->meta = NULL;
	json_object_put(recorder->players);
	recorder->players = NULL;
	streamers_close(recorder);
	parts_drop(&recorder->last);
	past_free(recorder->past);
	recorder->past = NULL;
	schedtape_session_close(recorder->session);
	recorder->session = NULL;
	recorder->path = NULL;
	return ret;
}
