// SPDX-License-Identifier: GPL-2.0-only
#include "top/reader.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/error.h"
#include "base/thread.h"
#include "tape/meta.h"
#include "timeline/live.h"

/* -- handing over ---------------------------------------------------------- */

static void say_ready(const struct reader *reader)
{
	uint64_t one = 1;

	/* This cannot fail: the counter is far from its limit. */
	if (write(reader->ready, &one, sizeof(one)) < 0)
		return;
}

/* Waits until the interval before it was taken, so that none is left out. */
static void hand_over(struct reader *reader, const struct interval *interval)
{
	pthread_mutex_lock(&reader->lock);
	while (reader->full)
		pthread_cond_wait(&reader->taken, &reader->lock);
	reader->interval = *interval;
	reader->full = true;
	pthread_mutex_unlock(&reader->lock);
	say_ready(reader);
}

enum reader_has reader_take(struct reader *reader, struct interval *interval)
{
	enum reader_has has = READER_NOTHING;
	uint64_t count;

	if (read(reader->ready, &count, sizeof(count)) < 0 && errno != EAGAIN)
		return READER_ENDED;
	pthread_mutex_lock(&reader->lock);
	if (reader->full) {
		*interval = reader->interval;
		reader->full = false;
		pthread_cond_signal(&reader->taken);
		has = READER_INTERVAL;
	} else if (reader->ended) {
		has = READER_ENDED;
	}
	/* The next call finds the end. */
	if (has == READER_INTERVAL && reader->ended)
		say_ready(reader);
	pthread_mutex_unlock(&reader->lock);
	return has;
}

/* -- the thread ------------------------------------------------------------ */

/* Returns 0 or -errno, which also ends the run through the tape. */
static int end_interval(struct reader *reader, uint64_t end)
{
	struct interval interval;
	int ret;

	ret = top_sums_end(&reader->sums, reader->timeline, end, &interval);
	if (ret)
		return schedtape_fail(&reader->err, ret, "not enough memory for the tasks");
	hand_over(reader, &interval);
	return 0;
}

/*
 * All events so far have been added up.  The recorder writes marks at intervals of the same length,
 * and more of them when there are many events: an interval ends with a mark, when it is long
 * enough.
 */
static void before_wait(void *arg)
{
	struct reader *reader = arg;
	uint64_t now = tape_reached(reader->tape), length = reader->length;

	if (reader->sums.rc || !reader->timeline ||
	    now < reader->sums.begin + length - length / 10)
		return;
	reader->sums.rc = schedtape_timeline_reach(reader->timeline, reader->tape, now);
	if (!reader->sums.rc)
		reader->sums.rc = end_interval(reader, now);
}

static int read_tape(struct reader *reader)
{
	const struct schedtape_end *end = schedtape_tape_end(reader->tape);
	int ret;

	top_sums_init(&reader->sums, end->start_time);
	if (schedtape_cgroup_table_read(&reader->cgroups, reader->tape))
		return schedtape_fail(&reader->err, -ENOMEM, "not enough memory for the cgroups");
	schedtape_tape_before_wait(reader->tape, before_wait, reader);
	ret = schedtape_timeline_run(reader->tape, &top_sums_ops, &reader->sums,
				     &reader->timeline, &reader->err);
	end = schedtape_tape_end(reader->tape);
	/* The rest, if there is any. */
	if (!ret && end->stop_time > reader->sums.begin)
		ret = end_interval(reader, end->stop_time);
	return ret;
}

static void *reader_main(void *arg)
{
	struct reader *reader = arg;
	int ret;

	ret = schedtape_tape_open_once(reader->path, &reader->tape, &reader->err);
	if (!ret)
		ret = read_tape(reader);
	pthread_mutex_lock(&reader->lock);
	reader->ret = ret;
	reader->ended = true;
	pthread_mutex_unlock(&reader->lock);
	say_ready(reader);
	return NULL;
}

int reader_start(struct reader *reader, const char *path, uint64_t length)
{
	*reader = (struct reader){
		.path = path,
		.length = length,
		.lock = PTHREAD_MUTEX_INITIALIZER,
		.taken = PTHREAD_COND_INITIALIZER,
	};
	reader->ready = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (reader->ready < 0)
		return -errno;
	return schedtape_thread_start(&reader->thread, NULL, reader_main, reader);
}

int reader_join(struct reader *reader)
{
	pthread_join(reader->thread, NULL);
	schedtape_timeline_free(reader->timeline);
	schedtape_cgroup_table_free(&reader->cgroups);
	if (reader->tape)
		schedtape_tape_close(reader->tape);
	top_sums_free(&reader->sums);
	close(reader->ready);
	return reader->ret;
}
