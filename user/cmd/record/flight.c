// SPDX-License-Identifier: GPL-2.0-only
/*
 * A flight recorder: while the rings are overwritten, and no tape is written, keeps in memory what
 * a tape needs besides the pages of its CPUs.
 */
#include "record/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "common/past.h"
#include "machine/cgroup-past.h"

/*
 * The room for descriptions, as a multiple of the rings'.  A task that does nothing but start and
 * end has some 130 bytes of descriptions, and at least 32 bytes of other events.
 */
#define ROOM		5
#define ROOM_LEAST	1024	/* pages */

int flight_open(struct recorder *recorder, struct schedtape_error *err)
{
	uint64_t pages = schedtape_session_ring_pages(recorder->session), rings = 0;
	uint32_t cpu, n = schedtape_session_cpus(recorder->session);
	struct schedtape_cpu stats;

	for (cpu = 0; cpu < n; cpu++)
		rings += schedtape_session_cpu(recorder->session, cpu, &stats);
	pages *= ROOM * rings;
	recorder->past = past_new(pages < ROOM_LEAST ? ROOM_LEAST : pages);
	return recorder->past ? 0 : schedtape_fail(err, -ENOMEM, "out of memory");
}

static void meet(void *arg, uint64_t cgroup)
{
	struct recorder *recorder = arg;

	schedtape_cgroup_watch_meet(&recorder->cgroups, cgroup);
}

void flight_meet(struct recorder *recorder, const struct schedtape_task_info *tasks, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		meet(recorder, tasks[i].cgroup);
}

int flight_note_tasks(struct recorder *recorder)
{
	struct schedtape_task_info *tasks;
	struct schedtape_error err;
	size_t n;
	int ret;

	ret = recorder_tape_sample(recorder, &err);
	if (!ret)
		ret = schedtape_session_tasks(recorder->session, &tasks, &n, &err);
	if (ret)
		return recorder_failed(recorder, ret, &err);
	flight_meet(recorder, tasks, n);
	ret = past_add_tasks(recorder->past, recorder->sample.counter, tasks, n);
	free(tasks);
	if (ret)
		schedtape_fail(&err, ret, "out of memory for %zu tasks", n);
	return recorder_failed(recorder, ret, &err);
}

int flight_drain(struct recorder *recorder)
{
	struct streamer *streamer = &recorder->streamers[0];
	int ret = streamer_drain(streamer, false);

	past_look(recorder->past, meet, recorder);
	if (!ret && streamer->failed)
		ret = -EIO;
	/* There may be memory again later. */
	streamer->failed = false;
	return ret;
}

/* Returns the time from which no ring has overwritten events; 0: none has overwritten any. */
static uint64_t complete_from(const struct recorder *recorder)
{
	const struct streamer *streamer = &recorder->streamers[0];
	union {
		unsigned char bytes[STAPE_PAGE_SIZE];
		struct stape_page_header header;
	} page;
	uint64_t seq, time = 0;
	size_t i;

	/* The first one is the ring of descriptions. */
	for (i = 1; i < streamer->nr_cpus; i++) {
		seq = 0;
		if (schedtape_session_copy(recorder->session, streamer->cpus[i], &seq, 1,
					   page.bytes) && seq && page.header.time > time)
			time = page.header.time;
	}
	return time;
}

static int forget_before(struct recorder *recorder, uint64_t time)
{
	struct past *past = recorder->past;
	int ret = past_forget(past, time);
	uint64_t from;

	if (!past->from)
		return ret;
	from = past_mono(past, past->from);
	schedtape_cgroup_past_forget(&recorder->cgroups, from);
	schedtape_scheduler_past_forget(&recorder->schedulers, from);
	return ret;
}

int flight_tick(struct recorder *recorder, bool sample, bool forget)
{
	struct schedtape_error err;
	int ret = 0;

	if (sample)
		ret = recorder_failed(recorder, recorder_tape_sample(recorder, &err), &err);
	if (!ret)
		ret = flight_drain(recorder);
	if (ret || !forget)
		return ret;
	ret = forget_before(recorder, complete_from(recorder));
	if (ret)
		schedtape_fail(&err, ret, "descriptions of tasks: %s", strerror(-ret));
	return recorder_failed(recorder, ret, &err);
}

int flight_write_past(struct recorder *recorder, struct schedtape_writer *writer, uint64_t window,
		      const struct schedtape_task_info *tasks, size_t n,
		      struct schedtape_error *err)
{
	int ret = forget_before(recorder, window);

	if (ret)
		return schedtape_fail(err, ret, "descriptions of tasks: %s", strerror(-ret));
	ret = schedtape_scheduler_past_write(&recorder->schedulers, writer, err);
	/* The caller has written what cgroups are now, so their past ends at the sample. */
	if (!ret)
		ret = schedtape_cgroup_past_write(&recorder->cgroups, recorder->sample.mono,
						  writer, err);
	if (!ret)
		ret = past_write(recorder->past, writer, err);
	/* Behind those of the window, because readers take them in this order. */
	return ret || !tasks ? ret : schedtape_writer_tasks(writer, tasks, n, err);
}
