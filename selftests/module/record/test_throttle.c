// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: a session has each time that a quota throttles a cgroup of its tasks, or one above
 * it: on which CPU, since when, until when; and none of other cgroups.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <kselftest_harness.h>

#include "cgroup.h"
#include "child.h"
#include "invariants.h"
#include "record.h"
#include "time-limit.h"

#define PAGES	256
#define MS	1000000ULL

/* A quarter of a CPU, in periods of 20 ms; the child needs the quotas of at least six. */
#define QUOTA	"5000 20000"
#define WORK	(30 * MS)

FIXTURE(throttle)
{
	struct st_record r;
	struct st_child w;
};

FIXTURE_SETUP(throttle)
{
	if (!st_cgroup_begin() || !st_cgroup_write("..", "cgroup.subtree_control", "+cpu") ||
	    !st_cgroup_write("", "cgroup.subtree_control", "+cpu"))
		SKIP(return, "there is no controller cpu for cgroups of version 2");
}

FIXTURE_TEARDOWN(throttle)
{
	st_child_kill(&self->w);
	st_record_close(&self->r);
	st_cgroup_end();
}

static uint64_t cpu_time(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return now.tv_sec * 1000 * MS + now.tv_nsec;
}

static int work(void *arg)
{
	uint64_t end = cpu_time() + WORK;

	(void)arg;
	while (cpu_time() < end)
		;
	return 0;
}

/* Returns how long the cgroup was throttled, by the kernel, us; -1: not known. */
static long long throttled_us(const char *name)
{
	char text[4096];
	const char *at;

	if (!st_cgroup_read(name, "cpu.stat", text, sizeof(text)))
		return -1;
	at = strstr(text, "throttled_usec ");
	return at ? atoll(at + strlen("throttled_usec ")) : -1;
}

/**
 * struct bouts - what the events say
 * @nr: times that a cgroup was throttled, and no longer
 * @ns: their sum
 * @open: it is throttled at the end
 * @strange: events of another cgroup or CPU, or out of turn.  Of several ends the last one counts
 */
struct bouts {
	unsigned int nr;
	uint64_t ns;
	bool open;
	unsigned int strange;
};

static struct bouts count(const struct st_record *r, uint64_t cgroup, uint32_t cpu)
{
	const struct schedtape_event *ev;
	struct bouts bouts = { 0 };
	uint64_t since = 0;
	bool begins;
	size_t i;

	for (i = 0; i < r->n; i++) {
		ev = &r->events[i];
		if (!schedtape_event_is_throttling(ev))
			continue;
		begins = ev->type == SCHEDTAPE_EV_THROTTLE;
		bouts.strange += ev->cgroup != cgroup || ev->task_cpu != cpu || ev->pid ||
				 (begins ? bouts.open : !since);
		bouts.nr += bouts.open && !begins;
		bouts.ns += begins ? 0 : ev->time - since;
		bouts.open = begins;
		since = ev->time;
	}
	return bouts;
}

/* Lets the child work, and waits until its cgroup is not throttled any more. */
static bool let_work(struct st_record *r, struct st_child *w, uint64_t cgroup, uint32_t cpu,
		     struct bouts *bouts)
{
	int tries = 200 * st_patience();

	if (!st_child_step(w))
		return false;
	do {
		usleep(20000);
		if (st_record_flush(r))
			return false;
		*bouts = count(r, cgroup, cpu);
	} while (bouts->open && --tries);
	printf("# CPU %u: %u times, %.3f ms, %u strange\n", cpu, bouts->nr, bouts->ns / 1e6,
	       bouts->strange);
	return tries;
}

#define EXPECT_THROTTLED(self, name, id, cpu) do { \
	struct bouts found; \
	long long us; \
	ASSERT_TRUE(let_work(&(self)->r, &(self)->w, id, cpu, &found)); \
	us = throttled_us(name); \
	EXPECT_EQ(0, found.strange); \
	EXPECT_LE(3, found.nr); \
	/* The kernel reads its clock a little earlier; the guest may be stopped in between. */ \
	EXPECT_LE(us * 1000 * 0.75, found.ns + 5 * found.nr * MS); \
	EXPECT_LE(found.ns * 0.75, us * 1000 + 5 * found.nr * MS); \
	printf("# the kernel counts %lld us\n", us); \
} while (0)

/* Starts a child on a CPU, in a cgroup, and its recording. */
#define BEGIN(self, name, cpu) do { \
	ASSERT_EQ(0, st_child_fork(&(self)->w, cpu, work, NULL)); \
	ASSERT_TRUE(st_cgroup_move(name, (self)->w.pid)); \
	ASSERT_EQ(0, st_record_open(&(self)->r, PAGES)); \
	ASSERT_EQ(0, st_record_start_with(&(self)->r, &(self)->w, 1)); \
} while (0)

#define END(self) do { \
	ASSERT_EQ(0, st_record_finish(&(self)->r)); \
	EXPECT_EQ(NULL, st_check(&(self)->r, &(self)->w.pid, 1)); \
	EXPECT_EQ(0, (self)->r.lost); \
	st_child_go(&(self)->w); \
	EXPECT_EQ(0, st_child_wait(&(self)->w)); \
} while (0)

TEST_F(throttle, module_says_so)
{
	struct schedtape_module_info info = { .size = sizeof(info) };

	ASSERT_EQ(0, st_record_open(&self->r, 0));
	ASSERT_EQ(0, schedtape_client_info(self->r.client, &info, &self->r.err));
	EXPECT_NE(STAPE_THROTTLING_NONE, info.throttling);
}

#define WORKS_ON(self, cpu) do { \
	uint64_t id = st_cgroup_make("limited"); \
	ASSERT_TRUE(st_cgroup_write("limited", "cpu.max", QUOTA)); \
	BEGIN(self, "limited", cpu); \
	EXPECT_THROTTLED(self, "limited", id, cpu); \
	END(self); \
} while (0)

TEST_F(throttle, on_first_cpu)
{
	WORKS_ON(self, 0);
}

TEST_F(throttle, on_last_cpu)
{
	int last = sysconf(_SC_NPROCESSORS_ONLN) - 1;

	WORKS_ON(self, last);
}

/* The task is in a cgroup below; the quota is set when the recording runs. */
TEST_F(throttle, above)
{
	uint64_t id;

	ASSERT_NE(0, st_cgroup_make("limited/inner"));
	id = st_cgroup_make("limited");
	BEGIN(self, "limited/inner", 0);
	ASSERT_TRUE(st_cgroup_write("limited", "cpu.max", QUOTA));
	EXPECT_THROTTLED(self, "limited", id, 0);
	END(self);
}

/* A task that moves takes the session's interest with it. */
TEST_F(throttle, after_a_move)
{
	uint64_t id;

	ASSERT_NE(0, st_cgroup_make("free"));
	id = st_cgroup_make("limited");
	ASSERT_TRUE(st_cgroup_write("limited", "cpu.max", QUOTA));
	BEGIN(self, "free", 0);
	ASSERT_TRUE(st_cgroup_move("limited", self->w.pid));
	EXPECT_THROTTLED(self, "limited", id, 0);
	END(self);
}

/* A second session records a task in a cgroup without a quota: it gets no event of throttling. */
TEST_F_TIMEOUT(throttle, not_of_others, 120)
{
	struct st_record other = { 0 };
	struct st_child idle;
	struct bouts bouts;
	uint64_t id;

	ASSERT_NE(0, st_cgroup_make("free"));
	id = st_cgroup_make("limited");
	ASSERT_TRUE(st_cgroup_write("limited", "cpu.max", QUOTA));
	ASSERT_EQ(0, st_child_fork(&idle, 0, work, NULL));
	ASSERT_TRUE(st_cgroup_move("free", idle.pid));
	ASSERT_EQ(0, st_record_open(&other, PAGES));
	ASSERT_EQ(0, st_record_start_with(&other, &idle, 1));
	BEGIN(self, "limited", 0);
	EXPECT_THROTTLED(self, "limited", id, 0);
	END(self);
	EXPECT_EQ(0, st_record_finish(&other));
	bouts = count(&other, id, 0);
	EXPECT_EQ(0, bouts.nr);
	EXPECT_FALSE(bouts.open);
	st_record_close(&other);
	st_child_kill(&idle);
}

TEST_HARNESS_MAIN
