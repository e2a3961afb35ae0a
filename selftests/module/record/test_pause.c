// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: a paused session records nothing, notes the time of the pause in its pages, and
 * resumes.
 */
#include <errno.h>
#include <pthread.h>

#include "task.h"
#include "two-sessions.h"

/* The pauses according to the pages' flags. */
struct pauses {
	unsigned int n;
	uint64_t first[64], last[64];
	unsigned int others;	/* unknown flags */
};

static void note_pause(const void *data, void *arg)
{
	const struct stape_page_header *page = data;
	struct pauses *pauses = arg;

	pauses->others += !!(page->flags & ~STAPE_PAGE_PAUSED);
	if (!(page->flags & STAPE_PAGE_PAUSED) || pauses->n == 64)
		return;
	pauses->first[pauses->n] = page->lost_first;
	pauses->last[pauses->n++] = page->lost_last;
}

TEST_F(two_sessions, pause)
{
	struct pauses pauses = { 0 };
	uint64_t before, paused, resumed;
	size_t i;

	*self->shared = 10;
	ASSERT_EQ(0, st_record_open(&self->r, LARGE));
	self->r.each = note_pause;
	self->r.arg = &pauses;
	ASSERT_EQ(0, st_record_child(&self->r, &self->w[0], -1, rename_and_fork, self->shared));
	ASSERT_TRUE(st_child_step(&self->w[0]));
	before = st_now();
	ASSERT_EQ(0, st_record_pause(&self->r));
	paused = st_now();
	/* Events from before the pause can be read. */
	ASSERT_EQ(0, st_record_take(&self->r));
	EXPECT_EQ(11, st_count_type(&self->r, STAPE_EV_RENAME));
	EXPECT_EQ(0, pauses.n);
	ASSERT_TRUE(st_child_step(&self->w[0]));
	ASSERT_EQ(0, st_record_take(&self->r));
	EXPECT_EQ(11, st_count_type(&self->r, STAPE_EV_RENAME));
	resumed = st_now();
	ASSERT_EQ(0, st_record_start(&self->r));
	ASSERT_TRUE(st_child_step(&self->w[0]));
	ASSERT_EQ(0, st_record_finish(&self->r));

	EXPECT_EQ(22, st_count_type(&self->r, STAPE_EV_RENAME));
	EXPECT_EQ(2, st_count_type(&self->r, STAPE_EV_FORK));
	EXPECT_EQ(0, pauses.others);
	EXPECT_LT(0, pauses.n);
	EXPECT_EQ(pauses.n, st_count_type(&self->r, SCHEDTAPE_EV_PAUSED));
	for (i = 0; i < pauses.n; i++) {
		EXPECT_GE(pauses.first[i], before);
		EXPECT_LE(pauses.first[i], paused);
		EXPECT_GE(pauses.last[i], resumed);
		EXPECT_LE(pauses.last[i], st_now());
	}
	for (i = 0; i < self->r.n; i++)
		EXPECT_TRUE(schedtape_event_is_gap(&self->r.events[i]) ||
			    self->r.events[i].time <= paused || self->r.events[i].time >= resumed);
	EXPECT_EQ(NULL, st_check(&self->r, &self->w[0].pid, 1));
	EXPECT_EQ(0, st_foreign(&self->r, &self->w[0].pid, 1));
}

TEST_F(two_sessions, pause_states)
{
	struct st_record *r = &self->r;

	ASSERT_EQ(0, st_record_open(r, 0));
	EXPECT_EQ(-EINVAL, st_record_pause(r));
	st_record_close(r);
	ASSERT_EQ(0, st_record_open(r, SMALL));
	EXPECT_EQ(-EINVAL, st_record_pause(r));
	ASSERT_EQ(0, st_record_start(r));
	EXPECT_EQ(0, st_record_pause(r));
	EXPECT_EQ(-EALREADY, st_record_pause(r));
	EXPECT_NE(NULL, strstr(r->err.text, "paused already"));
	ASSERT_EQ(0, st_record_get(r, &self->state));
	EXPECT_EQ(STAPE_SESSION_PAUSED, self->state.state);
	EXPECT_NE(0, self->state.start_time);
	EXPECT_EQ(0, self->state.stop_time);
	EXPECT_EQ(0, st_record_start(r));
	EXPECT_EQ(-EALREADY, st_record_start(r));
	EXPECT_EQ(0, st_record_pause(r));
	EXPECT_EQ(0, st_record_stop(r));
	EXPECT_EQ(-EINVAL, st_record_pause(r));
	EXPECT_EQ(-EINVAL, st_record_start(r));
	ASSERT_EQ(0, st_record_get(r, &self->state));
	EXPECT_EQ(STAPE_SESSION_STOPPED, self->state.state);
}

/* Runs most of the time, and renames itself all the time. */
static int work_for_ever(void *arg)
{
	unsigned int *stop = arg, i;

	while (!__atomic_load_n(stop, __ATOMIC_SEQ_CST)) {
		for (i = 0; i < 100; i++)
			prctl(PR_SET_NAME, "renamed");
		st_sleep_often(1);
	}
	return 0;
}

/* Returns whether there is a switch to the task behind event @i. */
static bool find_switch(const struct st_record *r, size_t i)
{
	while (i < r->n && (r->events[i].type != STAPE_EV_SWITCH || !r->events[i].pid))
		i++;
	return i < r->n;
}

/* A task that runs all the time also runs after each pause, and the page says so. */
TEST_F_TIMEOUT(two_sessions, pauses_of_a_running_one, 60)
{
	struct pauses pauses = { 0 };
	int round;
	size_t i;

	ASSERT_EQ(0, st_record_open(&self->r, LARGE));
	self->r.each = note_pause;
	self->r.arg = &pauses;
	ASSERT_EQ(0, st_record_child(&self->r, &self->w[0], st_cpus() > 1, work_for_ever,
				     self->shared));
	st_child_go(&self->w[0]);
	for (round = 0; round < 5; round++) {
		/* Until the stream shows that it runs. */
		do {
			i = self->r.n;
			ASSERT_EQ(0, st_record_flush(&self->r));
		} while (!find_switch(&self->r, i));
		ASSERT_EQ(0, st_record_pause(&self->r));
		ASSERT_EQ(0, st_record_take(&self->r));
		ASSERT_EQ(0, st_record_start(&self->r));
	}
	/* Two pauses at once: one range, from the first one on. */
	ASSERT_EQ(0, st_record_pause(&self->r));
	ASSERT_EQ(0, st_record_start(&self->r));
	ASSERT_EQ(0, st_record_pause(&self->r));
	ASSERT_EQ(0, st_record_start(&self->r));
	__atomic_store_n(self->shared, 1, __ATOMIC_SEQ_CST);
	ASSERT_TRUE(st_child_settled(&self->w[0]));
	ASSERT_EQ(0, st_record_finish(&self->r));
	EXPECT_LE(5, pauses.n);
	for (i = 0; i < self->r.n; i++)
		if (self->r.events[i].type == STAPE_EV_SWITCH && !self->r.events[i].pid)
			EXPECT_EQ(self->w[0].pid, self->r.events[i].curr);
	EXPECT_EQ(NULL, st_check(&self->r, &self->w[0].pid, 1));
}

static void *nothing(void *arg)
{
	return arg;
}

/* Threads end faster than processes, and need no parent to reap them. */
static int fork_for_ever(void *arg)
{
	unsigned int *stop = arg;
	pthread_t thread;

	while (!__atomic_load_n(stop, __ATOMIC_SEQ_CST))
		if (pthread_create(&thread, NULL, nothing, NULL) || pthread_join(thread, NULL))
			return 1;
	return 0;
}

/* Returns a task with a last switch in the stream but no exit before it. */
static uint32_t untold(const struct st_record *r)
{
	static bool told[1 << STAPE_PID_BITS];
	size_t i;

	memset(told, 0, sizeof(told));
	for (i = 0; i < r->n; i++) {
		const struct schedtape_event *ev = &r->events[i];

		if (ev->type == STAPE_EV_EXIT)
			told[ev->pid] = true;
		if (ev->type == STAPE_EV_SWITCH && ev->curr && !told[ev->curr] &&
		    schedtape_switch_state(ev) == STAPE_STATE_DEAD)
			return ev->curr;
	}
	return 0;
}

/*
 * A task that exits during a pause has no events after it. Its last switch may come later, but
 * the task may be reaped by then, and the reader could not identify it.
 */
TEST_F_TIMEOUT(two_sessions, pauses_of_one_who_forks, 120)
{
	int round;

	ASSERT_EQ(0, st_record_open(&self->r, LARGE));
	ASSERT_EQ(0, st_record_child(&self->r, &self->w[0], st_cpus() > 1, fork_for_ever,
				     self->shared));
	st_child_go(&self->w[0]);
	for (round = 0; round < 150; round++) {
		ASSERT_EQ(0, st_record_pause(&self->r));
		ASSERT_EQ(0, st_record_take(&self->r));
		ASSERT_EQ(0, st_record_start(&self->r));
		usleep(100);
	}
	__atomic_store_n(self->shared, 1, __ATOMIC_SEQ_CST);
	ASSERT_TRUE(st_child_settled(&self->w[0]));
	ASSERT_TRUE(st_record_wait_tasks(&self->r, 1));
	ASSERT_EQ(0, st_record_finish(&self->r));
	EXPECT_EQ(0, self->r.lost);
	EXPECT_LT(0, st_count_type(&self->r, STAPE_EV_FORK));
	EXPECT_EQ(0, untold(&self->r));
}

static int sleep_often(void *arg)
{
	for (;;) {
		st_sleep_often(*(unsigned int *)arg);
		st_gate();
	}
	return 0;
}

/* A loss before the pause that is reported after it: one page with both, and one range for both. */
TEST_F(two_sessions, pause_behind_a_loss)
{
	const struct schedtape_event *lost = NULL, *paused = NULL;
	struct schedtape_cpu stats;
	uint64_t resumed;
	size_t i;

	*self->shared = 5000;
	ASSERT_EQ(0, st_record_open(&self->r, SMALL));
	ASSERT_EQ(0, st_record_child(&self->r, &self->w[0], 0, sleep_often, self->shared));
	ASSERT_TRUE(st_child_step(&self->w[0]));
	ASSERT_EQ(0, st_record_pause(&self->r));
	ASSERT_TRUE(schedtape_session_cpu(self->r.session, 0, &stats));
	EXPECT_LT(0, stats.lost);
	*self->shared = 10;
	ASSERT_TRUE(st_child_step(&self->w[0]));
	ASSERT_EQ(0, st_record_take(&self->r));
	EXPECT_EQ(0, self->r.lost);
	resumed = st_now();
	ASSERT_EQ(0, st_record_start(&self->r));
	ASSERT_TRUE(st_child_step(&self->w[0]));
	ASSERT_EQ(0, st_record_finish(&self->r));
	for (i = 0; i < self->r.n; i++) {
		if (self->r.events[i].cpu)
			continue;
		if (self->r.events[i].type == SCHEDTAPE_EV_LOST)
			lost = &self->r.events[i];
		if (self->r.events[i].type == SCHEDTAPE_EV_PAUSED)
			paused = &self->r.events[i];
	}
	ASSERT_NE(NULL, lost);
	ASSERT_NE(NULL, paused);
	EXPECT_EQ(stats.lost, lost->lost);
	EXPECT_EQ(stats.lost_first, lost->lost_first);
	EXPECT_LE(resumed, lost->lost_last);
	EXPECT_EQ(lost->lost_first, paused->lost_first);
	EXPECT_EQ(lost->lost_last, paused->lost_last);
	ASSERT_TRUE(schedtape_session_cpu(self->r.session, 0, &stats));
	EXPECT_EQ(lost->lost, stats.lost);
}

TEST_HARNESS_MAIN
