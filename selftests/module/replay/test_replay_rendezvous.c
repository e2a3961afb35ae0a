// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: a late player sleeps nevertheless, and an early waker waits for its wakee to
 * sleep: it yields as long as its next bursts make up for that; a timeout is delayed for it.
 */
#include <sched.h>
#include <sys/resource.h>

#include "players.h"

#define LATE_STEPS	4000

static long sleeps_of_this_thread(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return usage.ru_nvcsw;
}

/* Notes in @times the number of its steps that did not sleep. */
static int come_late(void *arg)
{
	struct notes *notes = arg;
	long before;
	int i;

	notes->ret = join(0);
	notes->ret = step(0, 0, STAPE_WAIT_UNTIL, 10 * MS);
	for (i = 1; i <= LATE_STEPS; i++) {
		before = sleeps_of_this_thread();
		notes->ret = step(0, i, i % 2 ? STAPE_WAIT_UNTIL : STAPE_WAIT_FOR, i % 2);
		notes->times[0] += sleeps_of_this_thread() == before;
	}
	notes->ret = step(0, i, STAPE_WAIT_DONE, 0);
	return 0;
}

/* Always runnable, so that another task runs before the player is asleep. */
static int be_busy(void *arg)
{
	for (;;)
		sched_yield();
	return !!arg;
}

TEST_F(replay, late_and_asleep)
{
	ASSERT_EQ(0, st_pin(0, 0));
	ASSERT_EQ(0, setup(self, 1, 0));
	ASSERT_EQ(0, st_child_begin(&self->w[1], -1, be_busy, NULL));
	ASSERT_EQ(0, st_child_begin(&self->w[0], -1, come_late, self->notes));
	ASSERT_TRUE(waiting(self, 1));
	ASSERT_EQ(0, start(self, 0));
	ASSERT_TRUE(st_child_settled(&self->w[0]));
	st_child_go(&self->w[0]);
	EXPECT_EQ(0, st_child_wait(&self->w[0]));
	EXPECT_EQ(0, self->notes->ret);
	/* If the host stops the CPU on the way to sleep, the timer is over before the sleep. */
	EXPECT_GE(st_exact() ? 0 : LATE_STEPS / 10, self->notes->times[0]);
}

static uint64_t instant, slack;	/* the wakee's expiry; its waker's slack: ns */
static bool told;	/* the waker's step names the next wakee in advance */

/* The wakee waits for the wake-up only after its own timed wait. */
static int wait_later(void *arg)
{
	note(arg, join(0));
	note(arg, step(0, 0, STAPE_WAIT_UNTIL, instant));
	note(arg, step(0, 1, STAPE_WAIT_EDGE, 0));
	note(arg, step(0, 2, STAPE_WAIT_DONE, 0));
	return 0;
}

static uint64_t cpu_time(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1000 * MS + t.tv_nsec;
}

static int wake_early(void *arg)
{
	const uint32_t wakes[] = { 0 };
	struct stape_step wait = {
		.player = 1, .wait = STAPE_WAIT_UNTIL, .value = 60 * MS,
		.wakes = (uintptr_t)wakes, .nr_next = told,
	};
	struct stape_step wake = {
		.player = 1, .index = 1, .wait = STAPE_WAIT_NONE, .slack = slack,
		.wakes = (uintptr_t)wakes, .nr_wakes = 1,
	};
	uint64_t before;

	note(arg, join(1));
	note(arg, make_step(&wait));
	before = cpu_time();
	note(arg, make_step(&wake));
	((struct notes *)arg)->times[7] = cpu_time() - before;
	note(arg, step(1, 2, STAPE_WAIT_DONE, 0));
	return 0;
}

static void begin(struct __test_metadata *_metadata, FIXTURE_DATA(replay) *self)
{
	ASSERT_EQ(0, SETUP_EDGES(self, 2, 0));
	ASSERT_EQ(0, st_child_fork(&self->w[0], -1, wait_later, &self->notes[0]));
	ASSERT_EQ(0, st_child_fork(&self->w[1], -1, wake_early, &self->notes[1]));
	st_child_go(&self->w[0]);
	st_child_go(&self->w[1]);
	ASSERT_TRUE(waiting(self, 2));
	ASSERT_EQ(0, start(self, 0));
}

/* @waited: end of the waker's wait; @woke: end of its wake-up; ns after the start */
static void finish(struct __test_metadata *_metadata, FIXTURE_DATA(replay) *self,
		   uint64_t *waited, uint64_t *woke)
{
	ASSERT_TRUE(st_child_settled(&self->w[0]));
	ASSERT_TRUE(st_child_settled(&self->w[1]));
	EXPECT_EQ(0, self->notes[0].ret);
	EXPECT_EQ(0, self->notes[1].ret);
	EXPECT_EQ(4, self->notes[0].steps);
	EXPECT_EQ(4, self->notes[1].steps);
	EXPECT_TRUE(state(self, STAPE_REPLAY_DONE));
	*waited = self->notes[1].times[1] - self->state.start_time;
	*woke = self->notes[1].times[2] - self->state.start_time;
}

static void play(struct __test_metadata *_metadata, FIXTURE_DATA(replay) *self,
		 uint64_t *waited, uint64_t *woke)
{
	begin(_metadata, self);
	finish(_metadata, self, waited, woke);
}

TEST_F(replay, slack_is_used)
{
	uint64_t waited, woke;

	instant = 100 * MS;
	slack = 1000 * MS;
	play(_metadata, self, &waited, &woke);
	EXPECT_LE(instant, woke);
}

/* Without slack, the waker sleeps for its wakee. */
TEST_F(replay, no_slack)
{
	uint64_t waited, woke;

	instant = 500 * MS;
	play(_metadata, self, &waited, &woke);
	EXPECT_LE(instant, woke);
	EXPECT_GT(instant / 4, self->notes[1].times[7]);
}

/* The limit is short: the waker does not begin to wait, and the wake-up is counted. */
TEST_F(replay, much_too_early)
{
	uint64_t waited, woke;

	instant = 3000 * MS;
	slack = 5 * MS;
	play(_metadata, self, &waited, &woke);
	EXPECT_GT(instant, woke);
}

/* The waker's timeout is delayed until its wakee is asleep. */
TEST_F(replay, put_off)
{
	uint64_t waited, woke;

	instant = 100 * MS;
	told = true;
	play(_metadata, self, &waited, &woke);
	EXPECT_LE(instant, waited);
}

/* The delay has a limit, because the load must not drop. */
TEST_F(replay, not_put_off_for_ever)
{
	uint64_t waited, woke;

	instant = 3000 * MS;
	told = true;
	play(_metadata, self, &waited, &woke);
	EXPECT_GT(instant, waited);
}

/* While a timer delays itself, other calls restart or cancel it: errors are in the kernel's log. */
TEST_F(replay, steered_while_put_off)
{
	uint64_t waited, woke;
	int i;

	instant = 1000 * MS;
	told = true;
	begin(_metadata, self);
	for (i = 0; i < 100000 && self->notes[1].steps < 2; i++) {
		EXPECT_EQ(0, schedtape_replay_set_speed(self->r.client, self->setup.id,
							STAPE_REPLAY_SPEED_ONE + i % 2,
							&self->err));
		if (i % 16)
			continue;
		EXPECT_EQ(0, schedtape_replay_pause(self->r.client, self->setup.id, &self->err));
		EXPECT_EQ(0, start(self, 0));
	}
	EXPECT_LT(1, i);
	finish(_metadata, self, &waited, &woke);
}

TEST_HARNESS_MAIN
