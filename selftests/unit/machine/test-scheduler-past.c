// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: what is kept of schedulers that were on, and written to a tape of the last seconds.
 */
#include <errno.h>
#include <machine/scheduler-past.h>

#include "tap.h"

static struct schedtape_scheduler_past past;
static struct schedtape_scheduler written[2 * SCHEDTAPE_SCHEDULERS_KEPT];
static size_t nr_written, room = SIZE_MAX;

int schedtape_writer_scheduler(struct schedtape_writer *writer,
			       const struct schedtape_scheduler *scheduler,
			       struct schedtape_error *err)
{
	(void)writer;
	(void)err;
	if (nr_written == room)
		return -ENOSPC;
	written[nr_written++] = *scheduler;
	return 0;
}

static void see(uint64_t after, uint64_t time)
{
	struct schedtape_scheduler seen = { .after = after, .time = time, .enable_seq = time };

	schedtape_scheduler_past_add(&past, &seen);
}

static int write_past(void)
{
	nr_written = 0;
	return schedtape_scheduler_past_write(&past, NULL, NULL);
}

static bool is(size_t i, uint64_t after, uint64_t time)
{
	return i < nr_written && written[i].after == after && written[i].time == time &&
	       written[i].enable_seq == time;
}

TEST(window)
{
	ok(!write_past() && !nr_written, "nothing was seen");
	schedtape_scheduler_past_forget(&past, 100);
	ok(!past.nr, "and nothing is forgotten");
	see(0, 10);
	see(0, 20);
	see(29, 30);
	see(39, 40);
	ok(!write_past() && nr_written == 3 && written[0].time == 10 &&
	   written[0].enable_seq == 20, "the first one is corrected");
	ok(!written[0].after && is(1, 29, 30) && is(2, 39, 40), "changes have their times");
	schedtape_scheduler_past_forget(&past, 29);
	ok(past.nr == 3, "the change is perhaps later than that");
	schedtape_scheduler_past_forget(&past, 35);
	ok(!write_past() && nr_written == 2, "what was before a tape is forgotten");
	ok(is(0, 0, 30) && is(1, 39, 40), "but not what was on at its start");
	schedtape_scheduler_past_forget(&past, 1000);
	ok(!write_past() && nr_written == 1 && is(0, 0, 40), "what is on is never forgotten");
}

TEST(many)
{
	uint64_t time;

	for (time = 1000; time < 1200; time++)
		see(time - 1, time);
	ok(!write_past() && nr_written == SCHEDTAPE_SCHEDULERS_KEPT, "only so many are kept");
	ok(is(0, 0, 1200 - SCHEDTAPE_SCHEDULERS_KEPT) && is(nr_written - 1, 1198, 1199),
	   "the last ones");
	room = 3;
	ok(write_past() == -ENOSPC && nr_written == 3, "the tape cannot be written");
}

TEST_MAIN
