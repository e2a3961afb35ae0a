// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: no event is missing without being counted.  Two sessions record the same tasks
 * at the same time, one with a ring that is large enough, and one with a small ring: the
 * events of the second one and its lost ones are those of the first.
 */
#include <poll.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <kselftest_harness.h>

#include "child.h"
#include "invariants.h"
#include "record.h"
#include "task.h"

FIXTURE(loss)
{
	struct st_record large, small;
	struct schedtape_session_state state;
	struct st_child w;
};

FIXTURE_SETUP(loss)
{
	ASSERT_EQ(0, st_record_open(&self->large, 4096));
	ASSERT_EQ(0, st_record_open(&self->small, 4));
}

FIXTURE_TEARDOWN(loss)
{
	st_child_kill(&self->w);
	st_record_close(&self->large);
	st_record_close(&self->small);
}

/* Starts both sessions while the child sleeps, so that they see the same events. */
static bool start(FIXTURE_DATA(loss) *self)
{
	return !st_record_add(&self->large, self->w.pid) &&
	       !st_record_add(&self->small, self->w.pid) &&
	       !st_record_start(&self->large) && !st_record_start(&self->small);
}

#define RENAMES 5000

static int rename_often(void *arg)
{
	int round, i;

	for (round = 0; round < 3; round++) {
		for (i = 0; i < *(int *)arg; i++)
			prctl(PR_SET_NAME, i & 1 ? "odd" : "even");
		st_gate();
	}
	return 0;
}

static int sleep_often(void *arg)
{
	int round;

	for (round = 0; round < 3; round++) {
		st_sleep_often(*(int *)arg);
		st_gate();
	}
	return 0;
}

/* Sums the rings' own counters, which must equal those that netlink reports. */
static uint64_t ring_lost(struct st_record *r, uint64_t *events)
{
	struct schedtape_cpu stats;
	uint64_t lost = 0;
	uint32_t cpu, n = schedtape_session_cpus(r->session);

	*events = 0;
	for (cpu = 0; cpu <= n; cpu++) {
		if (!schedtape_session_cpu(r->session, cpu < n ? cpu : STAPE_CPU_NONE, &stats))
			continue;
		lost += stats.lost;
		*events += stats.events;
	}
	return lost;
}

TEST_F_TIMEOUT(loss, every_event_is_counted, 60)
{
	uint64_t events, lost, recorded;
	int renames = RENAMES;

	ASSERT_EQ(0, st_child_fork(&self->w, -1, rename_often, &renames));
	ASSERT_TRUE(start(self));
	ASSERT_TRUE(st_child_step(&self->w));
	ASSERT_EQ(0, st_record_finish(&self->small));
	ASSERT_EQ(0, st_record_finish(&self->large));
	EXPECT_EQ(0, self->large.lost);
	EXPECT_EQ(RENAMES, st_count_type(&self->large, STAPE_EV_RENAME));

	lost = ring_lost(&self->small, &events);
	recorded = self->small.n;
	EXPECT_EQ(events, recorded + self->small.idles);
	EXPECT_LT(0, lost);
	EXPECT_EQ(self->large.n, recorded + lost);
	ASSERT_EQ(0, st_record_get(&self->small, &self->state));
	EXPECT_EQ(lost, self->state.lost);
	EXPECT_EQ(events, self->state.events);
	ASSERT_EQ(0, st_record_get(&self->large, &self->state));
	EXPECT_EQ(0, self->state.lost);
	EXPECT_EQ(self->large.n + self->large.idles, self->state.events);
}

static bool same(const struct schedtape_event *a, const struct schedtape_event *b)
{
	return a->cpu == b->cpu && a->type == b->type && a->pid == b->pid && a->arg == b->arg &&
	       a->curr == b->curr;
}

/* Switches and wake-ups on one CPU: what is in the small ring is also in the large one. */
TEST_F_TIMEOUT(loss, switches, 90)
{
	static const char * const argv[] = { "pingpong", "2000", NULL };
	uint64_t events, lost;
	size_t i, j = 0;
	pid_t root;

	ASSERT_EQ(0, st_child_program(&self->w, 0, argv));
	root = self->w.pid;
	ASSERT_TRUE(start(self));
	st_child_go(&self->w);
	ASSERT_EQ(0, st_child_wait(&self->w));
	/* Otherwise only the session that stops later may record the last switch of a child. */
	ASSERT_TRUE(st_record_wait_tasks(&self->small, 0));
	ASSERT_TRUE(st_record_wait_tasks(&self->large, 0));
	ASSERT_EQ(0, st_record_finish(&self->small));
	ASSERT_EQ(0, st_record_finish(&self->large));
	EXPECT_EQ(NULL, st_check(&self->large, &root, 1));
	lost = ring_lost(&self->small, &events);
	EXPECT_LT(0, lost);
	EXPECT_EQ(self->large.n, self->small.n + lost);
	/*
	 * In the same order, but with different times, because each session reads the clock
	 * itself.
	 */
	for (i = 0; i < self->small.n; i++) {
		if (self->small.events[i].cpu)
			continue;
		while (j < self->large.n && !same(&self->small.events[i], &self->large.events[j]))
			j++;
		ASSERT_LT(j, self->large.n);
		j++;
	}
}

/* -- gaps in one ring ------------------------------------------------------------------ */

FIXTURE(gap)
{
	struct st_record small;
	struct st_child w;
};

/* @work: fills the ring of @cpu */
FIXTURE_VARIANT(gap)
{
	uint32_t cpu;
	int (*work)(void *times);
};

FIXTURE_VARIANT_ADD(gap, cpu) { .cpu = 0, .work = sleep_often };
FIXTURE_VARIANT_ADD(gap, descriptions) { .cpu = STAPE_CPU_NONE, .work = rename_often };

FIXTURE_SETUP(gap)
{
	ASSERT_EQ(0, st_record_open(&self->small, 4));
}

FIXTURE_TEARDOWN(gap)
{
	st_child_kill(&self->w);
	st_record_close(&self->small);
}

/* The first page after a loss announces it, with its first and last time. */
TEST_F_TIMEOUT(gap, announced_in_the_next_page, 60)
{
	const struct schedtape_event *announced = NULL;
	struct schedtape_cpu stats;
	uint64_t recorded_until = 0, lost;
	int times = RENAMES;
	size_t i, n;

	ASSERT_EQ(0, st_record_child(&self->small, &self->w, 0, variant->work, &times));
	ASSERT_TRUE(st_child_step(&self->w));
	ASSERT_TRUE(schedtape_session_cpu(self->small.session, variant->cpu, &stats));
	lost = stats.lost;
	EXPECT_LT(0, lost);
	/* The first three quarters or all of the ring, without a report of the loss. */
	ASSERT_EQ(0, st_record_take(&self->small));
	EXPECT_EQ(0, self->small.lost);
	n = self->small.n;
	for (i = 0; i < n; i++)
		if (self->small.events[i].cpu == variant->cpu)
			recorded_until = self->small.events[i].time;
	EXPECT_LE(recorded_until, stats.lost_first);
	EXPECT_LE(stats.lost_first, stats.lost_last);
	EXPECT_LE(stats.lost_last, st_now());

	/* There is room again: recording goes on. */
	ASSERT_TRUE(st_child_step(&self->w));
	ASSERT_EQ(0, st_record_finish(&self->small));
	for (i = 0; i < self->small.n && !announced; i++)
		if (self->small.events[i].cpu == variant->cpu &&
		    self->small.events[i].type == SCHEDTAPE_EV_LOST)
			announced = &self->small.events[i];
	ASSERT_NE(NULL, announced);
	EXPECT_EQ(lost, announced->lost);
	EXPECT_EQ(stats.lost_first, announced->lost_first);
	EXPECT_EQ(stats.lost_last, announced->lost_last);
	EXPECT_LT(n + 100, self->small.n);
	for (i = 0; i < self->small.n; i++) {
		const struct schedtape_event *ev = &self->small.events[i];

		if (ev->type != SCHEDTAPE_EV_LOST && ev->cpu == variant->cpu)
			EXPECT_TRUE(ev->time <= recorded_until || ev->time >= stats.lost_last);
	}
}

/* Keeps the last page of one ring that reports a pause. */
static void keep_paused(const void *data, void *arg)
{
	const struct stape_page_header *page = data;
	struct stape_page_header *kept = arg;

	if (page->cpu == kept->cpu && page->flags & STAPE_PAGE_PAUSED)
		*kept = *page;
}

/* Recording resumes after a pause, but the ring is full: one gap, up to the last lost event. */
TEST_F_TIMEOUT(gap, behind_a_pause, 60)
{
	struct stape_page_header page = { .cpu = variant->cpu };
	struct schedtape_cpu stats;
	int times = RENAMES;
	uint64_t before, lost;

	self->small.each = keep_paused;
	self->small.arg = &page;
	ASSERT_EQ(0, st_record_child(&self->small, &self->w, 0, variant->work, &times));
	ASSERT_TRUE(st_child_step(&self->w));
	ASSERT_TRUE(schedtape_session_cpu(self->small.session, variant->cpu, &stats));
	lost = stats.lost;
	ASSERT_LT(0, lost);
	before = stats.lost_first;
	ASSERT_EQ(0, st_record_pause(&self->small));
	ASSERT_EQ(0, st_record_start(&self->small));
	ASSERT_TRUE(st_child_step(&self->w));
	ASSERT_TRUE(schedtape_session_cpu(self->small.session, variant->cpu, &stats));
	ASSERT_LT(lost, stats.lost);

	ASSERT_EQ(0, st_record_take(&self->small));
	EXPECT_EQ(0, page.flags);
	ASSERT_TRUE(st_child_step(&self->w));
	ASSERT_EQ(0, st_record_finish(&self->small));
	EXPECT_EQ(STAPE_PAGE_PAUSED, page.flags);
	EXPECT_EQ(stats.lost, page.lost);
	EXPECT_EQ(before, page.lost_first);
	EXPECT_EQ(stats.lost_last, page.lost_last);
	EXPECT_LE(page.lost_last, page.time);
}

/* -- both sessions again --------------------------------------------------------------- */

/* After a loss, the page header gives the running task. */
TEST_F_TIMEOUT(loss, goes_on_with_the_right_task, 60)
{
	const struct schedtape_event *ev;
	int times = RENAMES;
	size_t i, n = 0;

	ASSERT_EQ(0, st_child_fork(&self->w, 0, sleep_often, &times));
	ASSERT_TRUE(start(self));
	ASSERT_TRUE(st_child_step(&self->w));
	/* Pages are read while the task runs, so that new pages begin in the middle of a run. */
	st_child_go(&self->w);
	while (*self->w.arrived < 3)
		ASSERT_EQ(0, st_record_take(&self->small));
	ASSERT_TRUE(st_child_settled(&self->w));
	ASSERT_EQ(0, st_record_finish(&self->small));
	for (i = 0; i < self->small.n; i++) {
		ev = &self->small.events[i];
		if (ev->type != STAPE_EV_SWITCH || ev->pid == (uint32_t)self->w.pid)
			continue;
		n++;
		EXPECT_EQ(self->w.pid, ev->curr);
	}
	EXPECT_LT(0, n);
}

struct reader {
	struct st_record *r;
	volatile bool stop;
	int ret;
};

static void *read_along(void *arg)
{
	struct reader *reader = arg;
	struct pollfd p = { .fd = schedtape_session_fd(reader->r->session), .events = POLLIN };

	while (!reader->stop && !reader->ret) {
		poll(&p, 1, 10);
		reader->ret = st_record_take(reader->r);
	}
	return NULL;
}

/* With a reader no event is lost, although the events are many times the ring's size. */
TEST_F_TIMEOUT(loss, none_with_a_reader, 120)
{
	struct st_record medium;
	struct reader reader = { .r = &medium };
	struct st_counts c;
	int sleeps = 10000;
	pthread_t thread;

	ASSERT_EQ(0, st_record_open(&medium, 64));
	ASSERT_EQ(0, st_record_child(&medium, &self->w, 0, sleep_often, &sleeps));
	ASSERT_EQ(0, pthread_create(&thread, NULL, read_along, &reader));
	ASSERT_TRUE(st_child_step(&self->w));
	ASSERT_TRUE(st_child_step(&self->w));
	reader.stop = true;
	pthread_join(thread, NULL);
	EXPECT_EQ(0, reader.ret);
	ASSERT_EQ(0, st_record_finish(&medium));
	EXPECT_EQ(0, medium.lost);
	st_count(&medium, self->w.pid, &c);
	/* On a slow machine some timers expire before the task has left its CPU. */
	EXPECT_LE(sleeps, c.out[STAPE_STATE_SLEEPING]);
	EXPECT_LT(64, medium.pages);
	EXPECT_EQ(NULL, st_check(&medium, &self->w.pid, 1));
	st_record_close(&medium);
}

TEST_HARNESS_MAIN
