// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: what a task is (its fork, name, priority, affinity, cgroup and end) is in the
 * session's ring of descriptions, whichever CPU it is on, and stays there in overwrite mode.
 */
#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <kselftest_harness.h>

#include "cgroup.h"
#include "child.h"
#include "prio.h"
#include "record.h"
#include "task.h"

#define PAGES	16

FIXTURE(descriptions)
{
	struct st_record r;
	struct st_child w;
	uint64_t cgroup;
	uint32_t parent, pid;
};

FIXTURE_SETUP(descriptions)
{
}

FIXTURE_TEARDOWN(descriptions)
{
	st_child_kill(&self->w);
	st_record_close(&self->r);
	st_cgroup_end();
}

/* A session of CPU 1 alone, or of both. */
static int open_session(struct st_record *r, const char *cpus, bool overwrite)
{
	struct schedtape_session_options options = {
		.ring_bytes = PAGES * STAPE_PAGE_SIZE,
		.overwrite = overwrite,
		.cpus = (const unsigned char *)cpus,
		.cpus_bytes = cpus ? 1 : 0,
	};

	return st_record_open_with(r, options);
}

/* Changes all that describes the caller on CPU 0, runs on CPU 1 for a moment, and ends on CPU 0. */
static void change_and_end(void)
{
	prctl(PR_SET_NAME, "renamed");
	if (st_pin(0, 0) || setpriority(PRIO_PROCESS, 0, 7) || st_set_policy(0, SCHED_BATCH, 0) ||
	    !st_cgroup_move("moved", 0) || st_pin(0, 1))
		_exit(1);
	st_sleep_often(3);
	_exit(st_pin(0, 0));
}

/* Forks such a child, then sleeps as often as @arg says. */
static int fork_and_sleep(void *arg)
{
	int status = -1;
	pid_t pid = fork();

	if (!pid)
		change_and_end();
	if (waitpid(pid, &status, 0) != pid || status)
		return 1;
	st_sleep_often(*(int *)arg);
	return 0;
}

/* Returns the first event of a type and task from index @from on, or the number of events. */
static size_t find(const struct st_record *r, uint32_t type, uint32_t pid, size_t from)
{
	while (from < r->n && (r->events[from].type != type || r->events[from].pid != pid))
		from++;
	return from;
}

/* Finds the next event of a type and task, which no CPU may own. */
#define EXPECT_NEXT(at, r, type, pid) do {						\
	at = find(r, type, pid, at);							\
	ASSERT_LT(at, (r)->n) {								\
		TH_LOG("no %s", schedtape_event_name(type));				\
	}										\
	EXPECT_EQ(STAPE_CPU_NONE, (r)->events[at].cpu);					\
} while (0)

/* Checks the descriptions of the child's child, in this order. */
static void check_life(struct __test_metadata *_metadata, FIXTURE_DATA(descriptions) *self)
{
	const struct st_record *r = &self->r;
	size_t at = 0;

	EXPECT_NEXT(at, r, STAPE_EV_FORK, self->pid);
	EXPECT_EQ(self->parent, r->events[at].curr);
	EXPECT_EQ(0, r->events[at].arg & STAPE_FORK_THREAD);
	EXPECT_NEXT(at, r, STAPE_EV_RENAME, self->pid);
	EXPECT_STREQ("renamed", r->events[at].comm);
	EXPECT_NEXT(at, r, SCHEDTAPE_EV_AFFINITY, self->pid);
	EXPECT_EQ(1, r->events[at].affinity[0]);
	EXPECT_NEXT(at, r, STAPE_EV_PRIO, self->pid);
	EXPECT_EQ(7, r->events[at++].nice);
	EXPECT_NEXT(at, r, STAPE_EV_PRIO, self->pid);
	EXPECT_EQ(SCHED_BATCH, r->events[at].policy);
	EXPECT_NEXT(at, r, STAPE_EV_TASK, self->pid);
	EXPECT_EQ(STAPE_TASK_MOVES, schedtape_task_why(&r->events[at]));
	EXPECT_EQ(self->cgroup, r->events[at++].cgroup);
	EXPECT_NEXT(at, r, STAPE_EV_TASK, self->pid);
	EXPECT_EQ(STAPE_TASK_EXITS, schedtape_task_why(&r->events[at]));
	EXPECT_STREQ("renamed", r->events[at].comm);
	EXPECT_NEXT(at, r, STAPE_EV_EXIT, self->pid);
	EXPECT_FALSE(schedtape_exit_ended(&r->events[at]));
}

/* Returns how many events say that the child's child has ended on a CPU without a ring. */
static unsigned int count_ended(FIXTURE_DATA(descriptions) *self)
{
	const struct st_record *r = &self->r;
	unsigned int n = 0;
	size_t at;

	for (at = find(r, STAPE_EV_EXIT, self->pid, 0); at < r->n;
	     at = find(r, STAPE_EV_EXIT, self->pid, at + 1))
		n += schedtape_exit_ended(&r->events[at]);
	return n;
}

/* Returns how many events of a CPU name the child's child. */
static unsigned int count_on(FIXTURE_DATA(descriptions) *self, uint32_t cpu)
{
	const struct st_record *r = &self->r;
	unsigned int n = 0;
	size_t i;

	for (i = 0; i < r->n; i++)
		n += r->events[i].cpu == cpu &&
		     (r->events[i].pid == self->pid || r->events[i].curr == self->pid);
	return n;
}

/* Records a child on CPU 0 until it has forked and slept. */
static bool record(FIXTURE_DATA(descriptions) *self, const char *cpus, bool overwrite, int sleeps)
{
	size_t i;

	self->cgroup = st_cgroup_begin() ? st_cgroup_make("moved") : 0;
	if (!self->cgroup || open_session(&self->r, cpus, overwrite) ||
	    st_record_child(&self->r, &self->w, 0, fork_and_sleep, &sleeps) ||
	    !st_child_step(&self->w) || !st_record_wait_tasks(&self->r, 1) ||
	    st_record_finish(&self->r))
		return false;
	self->parent = self->w.pid;
	for (i = 0; i < self->r.n && !self->pid; i++)
		if (self->r.events[i].type == STAPE_EV_FORK)
			self->pid = self->r.events[i].pid;
	st_child_go(&self->w);
	return !st_child_wait(&self->w);
}

/* All of a life on a CPU that the session leaves out, but for a moment. */
TEST_F(descriptions, of_a_left_out_cpu)
{
	if (st_cpus() < 2)
		SKIP(return, "there is one CPU");
	ASSERT_TRUE(record(self, "\2", false, 0));
	EXPECT_EQ(0, self->r.lost);
	check_life(_metadata, self);
	EXPECT_EQ(1, count_ended(self));
	EXPECT_EQ(0, count_on(self, 0));
	EXPECT_LT(0, count_on(self, 1));
}

/* The last switch is recorded: no event repeats it. */
TEST_F(descriptions, of_recorded_cpus)
{
	if (st_cpus() < 2)
		SKIP(return, "there is one CPU");
	ASSERT_TRUE(record(self, NULL, false, 0));
	EXPECT_EQ(0, self->r.lost);
	check_life(_metadata, self);
	EXPECT_EQ(0, count_ended(self));
	EXPECT_LT(0, count_on(self, 0));
	EXPECT_LT(0, count_on(self, 1));
}

#define LEADERS	30

/* Ends on CPU 1, as soon as its leader has ended. */
static void *end_after_leader(void *arg)
{
	if (st_pin(0, 1))
		_exit(1);
	*(volatile bool *)arg = true;
	while (st_task_state(getpid()) != 'Z')
		;
	syscall(SYS_exit, 0);
	return NULL;
}

/* Forks processes on CPU 0 whose leaders end first. */
static int fork_leaders(void *arg)
{
	volatile bool ready = false;
	pthread_t thread;
	int i, status;

	(void)arg;
	for (i = 0; i < LEADERS; i++) {
		pid_t pid = fork();

		if (!pid) {
			if (pthread_create(&thread, NULL, end_after_leader, (void *)&ready))
				_exit(1);
			while (!ready)
				usleep(100);
			syscall(SYS_exit, 0);
		}
		if (waitpid(pid, &status, 0) != pid || status)
			return 1;
	}
	return 0;
}

/* The last thread removes a leader that the next tick of CPU 0 would remove. */
TEST_F(descriptions, of_a_left_out_leader)
{
	const struct st_record *r = &self->r;
	unsigned int leaders = 0;
	size_t i;

	if (st_cpus() < 2)
		SKIP(return, "there is one CPU");
	ASSERT_EQ(0, open_session(&self->r, "\2", false));
	ASSERT_EQ(0, st_record_child(&self->r, &self->w, 0, fork_leaders, NULL));
	ASSERT_TRUE(st_child_step(&self->w));
	EXPECT_TRUE(st_record_wait_tasks(&self->r, 1));
	ASSERT_EQ(0, st_record_finish(&self->r));
	for (i = 0; i < r->n; i++) {
		if (r->events[i].type != STAPE_EV_FORK || r->events[i].arg & STAPE_FORK_THREAD)
			continue;
		leaders++;
		self->pid = r->events[i].pid;
		EXPECT_EQ(1, count_ended(self));
	}
	EXPECT_EQ(LEADERS, leaders);
}

/* The ring of CPU 0 is overwritten after the life. */
TEST_F_TIMEOUT(descriptions, are_not_overwritten, 60)
{
	struct schedtape_cpu stats;

	if (st_cpus() < 2)
		SKIP(return, "there is one CPU");
	ASSERT_TRUE(record(self, NULL, true, 8000));
	ASSERT_TRUE(schedtape_session_cpu(self->r.session, 0, &stats));
	EXPECT_LT(0, stats.overwritten);
	EXPECT_EQ(0, count_on(self, 0));
	check_life(_metadata, self);
	ASSERT_TRUE(schedtape_session_cpu(self->r.session, STAPE_CPU_NONE, &stats));
	EXPECT_EQ(0, stats.overwritten);
	EXPECT_EQ(0, stats.lost);
}

/* -- many writers ------------------------------------------------------------------------- */

#define RENAMES	4000

FIXTURE(writers)
{
	struct st_record small, large;
	struct st_child w[2];
};

FIXTURE_SETUP(writers)
{
}

FIXTURE_TEARDOWN(writers)
{
	st_children_kill(self->w, 2);
	st_record_close(&self->small);
	st_record_close(&self->large);
}

static int rename_often(void *arg)
{
	int i;

	(void)arg;
	for (i = 0; i < RENAMES; i++)
		prctl(PR_SET_NAME, i & 1 ? "odd" : "even");
	return 0;
}

/* Counts pages whose time or number does not follow the previous one. */
struct order {
	uint64_t end, seq;
	unsigned int wrong;
};

static void check_order(const void *data, void *arg)
{
	const struct stape_page_header *page = data;
	struct order *order = arg;

	if (page->cpu != STAPE_CPU_NONE)
		return;
	order->wrong += page->time < order->end || page->seq != order->seq++ ||
			page->curr || page->curr_kind != STAPE_NEXT_OTHER;
	order->end = page->end;
}

static bool start(FIXTURE_DATA(writers) *self, int i)
{
	return !st_child_fork(&self->w[i], i, rename_often, NULL) &&
	       !st_record_add(&self->small, self->w[i].pid) &&
	       !st_record_add(&self->large, self->w[i].pid);
}

/* Two CPUs write at once: all is in order, and what the ring has no room for is counted. */
TEST_F_TIMEOUT(writers, lose_nothing_uncounted, 90)
{
	struct order orders[2] = { 0 };
	struct schedtape_cpu small, large;
	int i;

	if (st_cpus() < 2)
		SKIP(return, "there is one CPU");
	ASSERT_EQ(0, open_session(&self->small, NULL, false));
	ASSERT_EQ(0, st_record_open(&self->large, 1024));
	self->small.each = check_order;
	self->small.arg = &orders[0];
	self->large.each = check_order;
	self->large.arg = &orders[1];
	ASSERT_TRUE(start(self, 0));
	ASSERT_TRUE(start(self, 1));
	ASSERT_EQ(0, st_record_start(&self->small));
	ASSERT_EQ(0, st_record_start(&self->large));
	for (i = 0; i < 2; i++)
		st_child_go(&self->w[i]);
	for (i = 0; i < 2; i++)
		ASSERT_TRUE(st_child_settled(&self->w[i]));
	ASSERT_EQ(0, st_record_finish(&self->small));
	ASSERT_EQ(0, st_record_finish(&self->large));

	EXPECT_EQ(0, orders[0].wrong);
	EXPECT_EQ(0, orders[1].wrong);
	EXPECT_EQ(0, self->large.lost);
	EXPECT_EQ(2 * RENAMES, st_count_type(&self->large, STAPE_EV_RENAME));
	ASSERT_TRUE(schedtape_session_cpu(self->small.session, STAPE_CPU_NONE, &small));
	ASSERT_TRUE(schedtape_session_cpu(self->large.session, STAPE_CPU_NONE, &large));
	EXPECT_EQ(2 * RENAMES, large.events);
	EXPECT_LT(0, small.lost);
	EXPECT_EQ(large.events, small.events + small.lost);
	EXPECT_EQ(small.events, st_count_type(&self->small, STAPE_EV_RENAME));
}

TEST_HARNESS_MAIN
