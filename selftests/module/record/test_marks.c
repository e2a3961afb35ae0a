// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: ends of intervals: each mark is on the tape with its number and the time that the
 * reply has, whatever the CPU and the mode; one that cannot be written fails, and says why.
 */
#include <errno.h>
#include <string.h>
#include <sys/prctl.h>

#include <kselftest_harness.h>

#include "child.h"
#include "module.h"
#include "record.h"
#include "task.h"

FIXTURE(marks)
{
	struct st_record r;
	struct st_child w;
	uint64_t times[16];
};

FIXTURE_SETUP(marks)
{
}

ST_TEARDOWN(marks)

static int mark(FIXTURE_DATA(marks) *self, uint64_t number)
{
	return schedtape_session_mark(self->r.session, number, &self->times[number % 16],
				      &self->r.err);
}

/* Returns the mark with the number, or NULL. */
static const struct schedtape_event *find(const struct st_record *r, uint64_t number)
{
	size_t i;

	for (i = 0; i < r->n; i++)
		if (r->events[i].type == SCHEDTAPE_EV_INTERVAL && r->events[i].arg == number)
			return &r->events[i];
	return NULL;
}

static int rename_often(void *arg)
{
	int i;

	for (;;) {
		for (i = 0; i < *(int *)arg; i++)
			prctl(PR_SET_NAME, i & 1 ? "odd" : "even");
		st_gate();
	}
	return 0;
}

TEST_F(marks, states)
{
	ASSERT_EQ(0, st_record_open(&self->r, 0));
	EXPECT_EQ(-EINVAL, mark(self, 1));
	st_record_close(&self->r);
	ASSERT_EQ(0, st_record_open(&self->r, 16));
	EXPECT_EQ(-EINVAL, mark(self, 1));
	ASSERT_EQ(0, st_record_start(&self->r));
	EXPECT_EQ(0, mark(self, 1));
	EXPECT_EQ(-ERANGE, mark(self, 0));
	ASSERT_EQ(0, st_record_pause(&self->r));
	EXPECT_EQ(-EINVAL, mark(self, 2));
	EXPECT_NE(NULL, strstr(self->r.err.text, "not recording"));
	ASSERT_EQ(0, st_record_start(&self->r));
	EXPECT_EQ(0, mark(self, 3));
	ASSERT_EQ(0, st_record_finish(&self->r));
	EXPECT_EQ(-EINVAL, mark(self, 4));
	EXPECT_EQ(2, st_count_type(&self->r, SCHEDTAPE_EV_INTERVAL));
	ASSERT_NE(NULL, find(&self->r, 3));
	EXPECT_EQ(self->times[3], find(&self->r, 3)->time);
}

/* Sessions with other settings. */
FIXTURE(places)
{
	struct st_record r;
	struct st_child w;
};

FIXTURE_VARIANT(places)
{
	uint32_t clock;
	bool overwrite;
	bool left_out;		/* the CPU that the requests run on is not recorded */
};

FIXTURE_VARIANT_ADD(places, mono)
{
	.clock = STAPE_CLOCK_MONO,
};

FIXTURE_VARIANT_ADD(places, counter)
{
	.clock = STAPE_CLOCK_COUNTER,
};

FIXTURE_VARIANT_ADD(places, overwrite)
{
	.overwrite = true,
};

FIXTURE_VARIANT_ADD(places, left_out)
{
	.left_out = true,
};

FIXTURE_SETUP(places)
{
	struct schedtape_module_info info = { .size = sizeof(info) };
	struct schedtape_session_options options = {
		.ring_bytes = 16 * STAPE_PAGE_SIZE,
		.clock = variant->clock,
		.overwrite = variant->overwrite,
		.cpus = variant->left_out ? (const unsigned char *)"\1" : NULL,
		.cpus_bytes = variant->left_out,
	};

	if (variant->left_out && st_cpus() < 2)
		SKIP(return, "there is one CPU");
	ASSERT_EQ(0, st_pin(0, variant->left_out));
	ASSERT_EQ(0, st_module_info(&info));
	if (variant->clock == STAPE_CLOCK_COUNTER && !info.counter_khz)
		SKIP(return, "the kernel does not trust this counter");
	ASSERT_EQ(0, st_record_open_with(&self->r, options));
}

ST_TEARDOWN(places)

/* Each mark comes between the events before its request and those behind it. */
TEST_F(places, between)
{
	const struct schedtape_event *ev;
	uint64_t number, time, before;
	int renames = 2;
	size_t i;

	ASSERT_EQ(0, st_record_child(&self->r, &self->w, 0, rename_often, &renames));
	for (number = 1; number <= 3; number++) {
		ASSERT_TRUE(st_child_step(&self->w));
		before = st_now();
		ASSERT_EQ(0, schedtape_session_mark(self->r.session, number, &time,
						    &self->r.err));
		EXPECT_LE(before, time);
		EXPECT_LE(time, st_now());
	}
	ASSERT_TRUE(st_child_step(&self->w));
	ASSERT_EQ(0, st_record_finish(&self->r));

	number = 1;
	for (i = 0; i < self->r.n; i++) {
		ev = &self->r.events[i];
		if (ev->type == STAPE_EV_RENAME)
			renames++;
		if (ev->type != SCHEDTAPE_EV_INTERVAL)
			continue;
		EXPECT_EQ(number, ev->arg);
		EXPECT_EQ(2 * ++number, renames);
		EXPECT_EQ(0, ev->pid);
		EXPECT_EQ(STAPE_CPU_NONE, ev->cpu);
	}
	EXPECT_EQ(4, number);
	EXPECT_EQ(10, renames);
	if (variant->clock == STAPE_CLOCK_MONO)
		EXPECT_EQ(time, find(&self->r, 3)->time);
}

/* A mark that is lost is counted, and the sender learns of it. */
TEST_F(marks, full_ring)
{
	struct schedtape_cpu before, after;
	int renames = 5000;

	ASSERT_EQ(0, st_record_open(&self->r, 4));
	ASSERT_EQ(0, st_record_child(&self->r, &self->w, 0, rename_often, &renames));
	EXPECT_EQ(0, mark(self, 1));
	ASSERT_TRUE(st_child_step(&self->w));
	ASSERT_TRUE(schedtape_session_cpu(self->r.session, STAPE_CPU_NONE, &before));
	EXPECT_LT(0, before.lost);
	EXPECT_EQ(-ENOSPC, mark(self, 2));
	EXPECT_NE(NULL, strstr(self->r.err.text, "full"));
	ASSERT_TRUE(schedtape_session_cpu(self->r.session, STAPE_CPU_NONE, &after));
	EXPECT_EQ(before.lost + 1, after.lost);
	ASSERT_EQ(0, st_record_take(&self->r));
	EXPECT_EQ(0, mark(self, 3));
	ASSERT_EQ(0, st_record_finish(&self->r));
	EXPECT_NE(NULL, find(&self->r, 1));
	EXPECT_EQ(NULL, find(&self->r, 2));
	ASSERT_NE(NULL, find(&self->r, 3));
	EXPECT_EQ(self->times[3], find(&self->r, 3)->time);
}

TEST_HARNESS_MAIN
