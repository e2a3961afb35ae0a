/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads the tape of a recording that runs, in a thread of its own, and hands over what the tasks
 * did in each interval.
 *
 *	reader_start()
 *	whenever @ready is readable: reader_take(), until it returns READER_ENDED
 *	reader_join()
 */
#ifndef SCHEDTAPE_TOP_READER_H
#define SCHEDTAPE_TOP_READER_H

#include <pthread.h>
#include <stdbool.h>

#include "machine/cgroup-tree.h"
#include "top/sums.h"

/**
 * struct reader - a thread that reads
 * @path: of the pipe
 * @length: least length of an interval, ns
 * @ready: eventfd, readable when there is an interval, or the thread has ended
 * @tape, @timeline, @sums: of the thread
 * @cgroups: those that had a name when the recording began; valid once there is an interval
 * @lock: of the members that follow
 * @taken: signalled when @interval was taken
 * @interval: the last interval, if @full
 * @ended: the thread has ended, with @ret and @err
 */
struct reader {
	const char *path;
	uint64_t length;
	int ready;
	pthread_t thread;
	struct schedtape_tape *tape;
	struct schedtape_timeline *timeline;
	struct top_sums sums;
	struct schedtape_cgroup_table cgroups;
	pthread_mutex_t lock;
	pthread_cond_t taken;
	struct interval interval;
	bool full;
	bool ended;
	int ret;
	struct schedtape_error err;
};

enum reader_has {
	READER_NOTHING,
	READER_INTERVAL,
	READER_ENDED,
};

/* Starts the thread.  Returns 0 or -errno. */
int reader_start(struct reader *reader, const char *path, uint64_t length);
/* Takes the next interval, if there is one; the caller frees it. */
enum reader_has reader_take(struct reader *reader, struct interval *interval);
/* Waits for the thread, which has ended, and frees what it had.  Returns @ret. */
int reader_join(struct reader *reader);

#endif /* SCHEDTAPE_TOP_READER_H */
