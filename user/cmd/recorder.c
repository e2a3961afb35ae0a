// SPDX-License-Identifier: GPL-2.0-only
#include "recorder.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd.h"
#include "output.h"

#define PAGES_PER_CHUNK	64

static int failed(int ret, const struct schedtape_error *err)
{
	if (ret)
		out_error(NULL, "%s", err->text);
	return ret;
}

/* As perf has it: the last recording of that name is kept, as FILE.old. */
static bool is_kept(const char *path)
{
	struct stat st;

	return strcmp(path, "-") && !stat(path, &st) && S_ISREG(st.st_mode);
}

static int keep_old(struct recorder *recorder)
{
	if (!is_kept(recorder->path))
		return 0;
	if (asprintf(&recorder->old, "%s.old", recorder->path) < 0) {
		recorder->old = NULL;
		return -ENOMEM;
	}
	if (!rename(recorder->path, recorder->old))
		return 0;
	free(recorder->old);
	recorder->old = NULL;
	return -errno;
}

/* A recording that never began leaves everything as it was. */
static void discard(struct recorder *recorder)
{
	if (recorder->writer && is_kept(recorder->path))
		unlink(recorder->path);
	if (recorder->old)
		rename(recorder->old, recorder->path);
}

int recorder_open(struct recorder *recorder, struct schedtape_client *client, const char *path,
		  uint64_t ring_bytes, int level, struct json_object *meta)
{
	struct schedtape_writer_options options = { .size = sizeof(options), .level = level };
	struct schedtape_error err;
	int ret;

	recorder->path = path;
	ret = schedtape_session_open(client, &recorder->session, &err);
	if (!ret)
		ret = schedtape_session_set(recorder->session, ring_bytes, &err);
	if (!ret) {
		ret = keep_old(recorder);
		if (ret)
			schedtape_fail(&err, ret, "%s: cannot keep the old one as %s.old: %s",
				       path, path, strerror(-ret));
	}
	if (!ret)
		ret = schedtape_writer_create(path, meta, &options, &recorder->writer, &err);
	return failed(ret, &err);
}

int recorder_start(struct recorder *recorder)
{
	struct schedtape_session_state state;
	struct schedtape_error err;
	int ret = schedtape_session_start(recorder->session, &err);

	if (!ret) {
		recorder->started = true;
		clock_gettime(CLOCK_MONOTONIC, &recorder->flushed);
		ret = schedtape_session_get(recorder->session, &state, &err);
	}
	if (!ret)
		recorder->start_time = state.start_time;
	return failed(ret, &err);
}

int recorder_add(struct recorder *recorder, const uint32_t *pids, size_t n)
{
	struct schedtape_error err;

	return failed(schedtape_session_add(recorder->session, pids, n, &err), &err);
}

int recorder_describe_tasks(struct recorder *recorder)
{
	struct schedtape_error err;
	struct schedtape_task *tasks;
	size_t n;
	int ret;

	ret = schedtape_session_tasks(recorder->session, &tasks, &n, &err);
	if (ret)
		return failed(ret, &err);
	ret = schedtape_writer_tasks(recorder->writer, tasks, n, &err);
	free(tasks);
	return failed(ret, &err);
}

/*
 * Once around the ring at most: a CPU that fills it as fast as it is drained
 * is not to keep us from the others.
 */
static int drain_cpu(struct recorder *recorder, uint32_t cpu)
{
	size_t n, left = schedtape_session_ring_pages(recorder->session);
	struct schedtape_error err;
	const void *pages;
	int ret;

	for (; left; left -= n) {
		n = schedtape_session_pages(recorder->session, cpu,
					    left < PAGES_PER_CHUNK ? left : PAGES_PER_CHUNK,
					    &pages);
		if (!n)
			break;
		ret = schedtape_writer_pages(recorder->writer, pages, n, &err);
		if (ret) {
			recorder->failed = true;
			return failed(ret, &err);
		}
		schedtape_session_consume(recorder->session, cpu, n);
	}
	return 0;
}

int recorder_drain(struct recorder *recorder)
{
	uint32_t cpu, n = schedtape_session_cpus(recorder->session);
	int ret = 0;

	/* What could not be written stays in the rings: see count_unwritten(). */
	if (recorder->failed)
		return 0;

	for (cpu = 0; cpu < n && !ret; cpu++)
		ret = drain_cpu(recorder, cpu);
	return ret;
}

int recorder_tick(struct recorder *recorder)
{
	struct schedtape_error err;
	struct timespec now;
	int ret = 0;

	clock_gettime(CLOCK_MONOTONIC, &now);
	if ((now.tv_sec - recorder->flushed.tv_sec) * 1000 +
	    (now.tv_nsec - recorder->flushed.tv_nsec) / 1000000 >= RECORDER_FLUSH_MS) {
		recorder->flushed = now;
		ret = failed(schedtape_session_flush(recorder->session, &err), &err);
	}
	return ret ? ret : recorder_drain(recorder);
}

bool recorder_stopped(struct recorder *recorder)
{
	struct schedtape_session_state state;

	return !schedtape_session_get(recorder->session, &state, NULL) &&
	       state.state == STAPE_SESSION_STOPPED;
}

int recorder_stop(struct recorder *recorder)
{
	struct schedtape_error err;
	int ret;

	if (!recorder->started)
		return 0;
	recorder->started = false;
	ret = schedtape_session_stop(recorder->session, &err);
	/* Somebody else may have stopped it: what it has recorded is there. */
	if (ret && recorder_stopped(recorder))
		ret = 0;
	failed(ret, &err);
	return ret ? ret : recorder_drain(recorder);
}

uint64_t recorder_events(const struct recorder *recorder, uint64_t *lost)
{
	uint32_t cpu, n = schedtape_session_cpus(recorder->session);
	struct schedtape_cpu stats;
	uint64_t events = 0;

	*lost = 0;
	for (cpu = 0; cpu < n; cpu++) {
		if (!schedtape_session_cpu(recorder->session, cpu, &stats))
			continue;
		events += stats.events;
		*lost += stats.lost;
	}
	return events;
}

/* Pages that did not get onto the tape are losses like those of a full ring. */
static void count_unwritten(struct recorder *recorder, struct schedtape_cpu *stats)
{
	const struct stape_page_header *page;
	const void *at;

	while (schedtape_session_pages(recorder->session, stats->cpu, 1, &at)) {
		page = at;
		stats->events -= page->events;
		stats->lost += page->events;
		if (!stats->lost_first || page->time < stats->lost_first)
			stats->lost_first = page->time;
		if (page->end > stats->lost_last)
			stats->lost_last = page->end;
		schedtape_session_consume(recorder->session, stats->cpu, 1);
	}
}

static int write_end(struct recorder *recorder)
{
	uint32_t cpu, n = schedtape_session_cpus(recorder->session);
	struct schedtape_cpu *cpus = calloc(n, sizeof(*cpus));
	struct schedtape_session_state state;
	struct schedtape_end end = { .cpus = cpus };
	struct schedtape_error err;
	int ret;

	if (!cpus) {
		out_error(NULL, "out of memory");
		return -ENOMEM;
	}
	ret = schedtape_session_get(recorder->session, &state, &err);
	for (cpu = 0; cpu < n && !ret; cpu++) {
		if (!schedtape_session_cpu(recorder->session, cpu, &cpus[end.nr_cpus]))
			continue;
		count_unwritten(recorder, &cpus[end.nr_cpus]);
		recorder->events += cpus[end.nr_cpus].events;
		recorder->lost += cpus[end.nr_cpus].lost;
		if (cpus[end.nr_cpus].events || cpus[end.nr_cpus].lost)
			end.nr_cpus++;
	}
	if (!ret) {
		end.start_time = state.start_time;
		end.stop_time = state.stop_time;
		ret = schedtape_writer_end(recorder->writer, &end, &err);
	}
	free(cpus);
	return failed(ret, &err);
}

static void say_what_became(const struct recorder *recorder)
{
	char events[OUT_COUNT_LEN], lost[OUT_COUNT_LEN];

	fprintf(stderr, "[ %s: wrote %.3f MB to %s: %s events, %s lost ]\n", out_command(),
		recorder->bytes / 1e6, recorder->path, out_count(events, recorder->events),
		out_count(lost, recorder->lost));
	if (recorder->lost && !recorder->failed)
		out_warning(recorder->path,
			    "events were lost: use larger rings (-m), see \"schedtape info\"");
}

int recorder_close(struct recorder *recorder, bool keep, bool quiet)
{
	struct schedtape_error err;
	int ret = 0, closed;

	if (!keep)
		discard(recorder);
	if (recorder->writer) {
		if (keep)
			ret = write_end(recorder);
		recorder->bytes = schedtape_writer_bytes(recorder->writer);
		closed = schedtape_writer_close(recorder->writer, &err);
		/* It says the first error again. */
		if (!recorder->failed && !ret)
			failed(closed, &err);
		ret = ret ? ret : closed;
		if (keep && !quiet)
			say_what_became(recorder);
	}
	schedtape_session_close(recorder->session);
	free(recorder->old);
	recorder->writer = NULL;
	recorder->session = NULL;
	recorder->old = NULL;
	return ret;
}
