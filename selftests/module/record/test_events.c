// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: events are correct. The recording has to agree with the known shape of each
 * workload, or with the kernel's own counters.
 */
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include <kselftest_harness.h>

#include "child.h"
#include "invariants.h"
#include "record.h"
#include "task.h"
#include "time-limit.h"

#define PAGES 1024

static struct st_usage before[2], after[2];

FIXTURE(events)
{
	struct st_record r;
	struct st_child w[2];
	struct st_counts c[2];
	pid_t roots[2];
	int n;
};

FIXTURE_SETUP(events)
{
	ASSERT_EQ(0, st_record_open(&self->r, PAGES));
}

ST_TEARDOWN(events)

/*
 * Records the children from one gate to the next. The test reads the kernel's counters while
 * the children sleep, so that both sides count the same.
 */
static bool record(FIXTURE_DATA(events) *self)
{
	int i;

	for (i = 0; i < self->n; i++) {
		self->roots[i] = self->w[i].pid;
		if (st_record_add(&self->r, self->w[i].pid) ||
		    st_usage(self->w[i].pid, &before[i]))
			return false;
	}
	if (st_record_start(&self->r))
		return false;
	for (i = 0; i < self->n; i++)
		st_child_go(&self->w[i]);
	for (i = 0; i < self->n; i++)
		if (!st_child_settled(&self->w[i]) || st_usage(self->w[i].pid, &after[i]))
			return false;
	if (st_record_finish(&self->r))
		return false;
	for (i = 0; i < self->n; i++)
		st_count(&self->r, self->w[i].pid, &self->c[i]);
	return !st_check(&self->r, self->roots, self->n);
}

/* Records a program of workloads/ from its exec to its end. */
static bool record_program(FIXTURE_DATA(events) *self, int cpu, const char *const argv[])
{
	self->n = 1;
	if (st_child_program(&self->w[0], cpu, argv))
		return false;
	self->roots[0] = self->w[0].pid;
	if (st_record_start_with(&self->r, &self->w[0], 1))
		return false;
	st_child_go(&self->w[0]);
	if (st_child_wait(&self->w[0]) || !st_record_wait_tasks(&self->r, 0) ||
	    st_record_finish(&self->r))
		return false;
	st_count(&self->r, self->roots[0], &self->c[0]);
	return !st_check(&self->r, self->roots, 1);
}

/* -- ping-pong -------------------------------------------------------------- */

struct player {
	int in, out;
	int rounds;
	bool first;
};

static int play(void *arg)
{
	struct player *p = arg;
	int i;
	char c;

	st_batch();
	for (i = 0; i < p->rounds; i++) {
		if (p->first && write(p->out, "x", 1) != 1)
			return 1;
		if (read(p->in, &c, 1) != 1)
			return 1;
		if (!p->first && write(p->out, "x", 1) != 1)
			return 1;
	}
	return 0;
}

FIXTURE_VARIANT(events)
{
	bool spread;	/* on two CPUs if possible */
};

FIXTURE_VARIANT_ADD(events, one_cpu)
{
};

FIXTURE_VARIANT_ADD(events, two_cpus)
{
	.spread = true,
};

TEST_F_TIMEOUT(events, pingpong, 120)
{
	struct player players[2] = { { .rounds = 500, .first = true }, { .rounds = 500 } };
	int to[2], fro[2], i;

	if (variant->spread && st_cpus() < 2)
		SKIP(return, "needs two CPUs");
	ASSERT_EQ(0, pipe(to));
	ASSERT_EQ(0, pipe(fro));
	players[0].in = fro[0];
	players[0].out = to[1];
	players[1].in = to[0];
	players[1].out = fro[1];
	self->n = 2;
	ASSERT_EQ(0, st_child_fork(&self->w[0], 0, play, &players[0]));
	ASSERT_EQ(0, st_child_fork(&self->w[1], variant->spread, play, &players[1]));
	ASSERT_TRUE(record(self));
	for (i = 0; i < 2; i++) {
		struct st_counts *c = &self->c[i], *other = &self->c[!i];

		EXPECT_EQ(after[i].voluntary - before[i].voluntary, st_voluntary(c));
		EXPECT_EQ(after[i].involuntary - before[i].involuntary,
			  c->out[STAPE_STATE_RUNNING]);
		EXPECT_EQ(c->in, st_voluntary(c) + c->out[STAPE_STATE_RUNNING]);
		EXPECT_EQ(st_wakings(c), c->wakeup);
		EXPECT_LE(c->out[STAPE_STATE_SLEEPING], st_wakings(c));
		/* All wake-ups come from the other one, except two at the gate. */
		EXPECT_EQ(st_wakings(c), c->waking[STAPE_CTX_TASK]);
		EXPECT_LE(c->waking_task, 500 + st_lock_sleeps());
		EXPECT_LE(c->waking[STAPE_CTX_TASK] - c->waking_task, 1 + st_lock_sleeps());
		EXPECT_EQ(0, other->exits);
		/*
		 * On one CPU no answer comes before the other one sleeps, except after a tick. On a
		 * busy host there may be many ticks.
		 */
		if (!variant->spread) {
			EXPECT_LE(st_exact() ? 495 : 1, c->out[STAPE_STATE_SLEEPING]);
			EXPECT_LE(st_exact() ? 495 : 1, c->waking_task);
		}
	}
}

/* -- sleeps ----------------------------------------------------------------- */

static int sleep_often(void *arg)
{
	struct timespec t = { .tv_nsec = 4000000 };
	int i;

	for (i = 0; i < *(int *)arg; i++)
		clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL);
	return 0;
}

/* A timer's sleeper is woken by the interrupt, whichever task it interrupted. */
TEST_F_TIMEOUT(events, sleeps, 60)
{
	struct st_counts *c = &self->c[0];
	int sleeps = 100;

	/* The second one runs all the time, and must not appear as the waker. */
	self->n = 1;
	ASSERT_EQ(0, st_child_fork(&self->w[0], 0, sleep_often, &sleeps));
	ASSERT_TRUE(record(self));
	EXPECT_EQ(after[0].voluntary - before[0].voluntary, st_voluntary(c));
	EXPECT_EQ(after[0].involuntary - before[0].involuntary, c->out[STAPE_STATE_RUNNING]);
	EXPECT_EQ(0, c->waking_task);
	if (!st_rt_kernel()) {
		EXPECT_EQ(1, c->waking[STAPE_CTX_TASK]);
		EXPECT_EQ(sleeps, c->waking[STAPE_CTX_HARDIRQ]);
	}
	EXPECT_LE(sleeps + 1, st_wakings(c));
	EXPECT_GE(sleeps + 1 + st_lock_sleeps(), st_wakings(c));
}

static int burn(void *arg)
{
	st_burn(*(uint64_t *)arg);
	return 0;
}

TEST_F_TIMEOUT(events, timers_are_nobodys_doing, 60)
{
	uint64_t ns = 400000000;
	int sleeps = 50;

	self->n = 2;
	ASSERT_EQ(0, st_child_fork(&self->w[0], 0, sleep_often, &sleeps));
	ASSERT_EQ(0, st_child_fork(&self->w[1], 0, burn, &ns));
	ASSERT_TRUE(record(self));
	EXPECT_GE(st_lock_sleeps(), self->c[0].waking_task);
	EXPECT_LE(sleeps + 1, st_wakings(&self->c[0]));
	EXPECT_GE(sleeps + 1 + st_lock_sleeps(), st_wakings(&self->c[0]));
	/* The sleeper ran while the other one burned CPU time. */
	EXPECT_LT(0, self->c[1].out[STAPE_STATE_RUNNING]);
}

TEST_F_TIMEOUT(events, periodic_program, 60)
{
	static const char * const argv[] = { "periodic", "5", "1", "40", NULL };
	struct st_counts *c = &self->c[0];

	ASSERT_TRUE(record_program(self, 0, argv));
	EXPECT_EQ(40, st_child_value(&self->w[0], "periods"));
	EXPECT_EQ(0, c->waking_task);
	/*
	 * A timer wakes the program 40 times, also when the program is late: the timer then
	 * goes off at once.  On 7.3 clock_nanosleep() returns without a timer when its time
	 * has passed, so that each late period may lack its wake-up.  An emulated CPU may stall
	 * between the program's look at the clock and its sleep: that period is not in "late".
	 */
	EXPECT_LE(c->out[STAPE_STATE_SLEEPING], st_wakings(c));
	if (!st_rt_kernel())
		EXPECT_GE(40, c->waking[STAPE_CTX_HARDIRQ]);
	if (!st_rt_kernel() && st_exact())
		EXPECT_LE(36 - st_child_value(&self->w[0], "late"), c->waking[STAPE_CTX_HARDIRQ]);
	EXPECT_EQ(1, c->execs);
	EXPECT_EQ(1, c->exits);
	EXPECT_EQ(1, c->out[STAPE_STATE_DEAD]);
}

/* -- CPU time --------------------------------------------------------------- */

static bool close_enough(uint64_t a, uint64_t b)
{
	uint64_t off = a > b ? a - b : b - a;

	/* An emulator may stall between the readings of the two clocks as well. */
	return off < (st_exact() ? b / 50 + 5000000 : b / 4 + 50000000);
}

TEST_F_TIMEOUT(events, cpu_time, 60)
{
	uint64_t ns[2] = { 300000000, 200000000 };
	int i;

	self->n = 2;
	for (i = 0; i < 2; i++)
		ASSERT_EQ(0, st_child_fork(&self->w[i], 0, burn, &ns[i]));
	ASSERT_TRUE(record(self));
	for (i = 0; i < 2; i++) {
		uint64_t used = after[i].runtime - before[i].runtime;

		EXPECT_LE(ns[i], used);
		EXPECT_TRUE(close_enough(self->c[i].cpu_time, used)) {
			TH_LOG("%llu ns by events, %llu ns by schedstat",
			       (unsigned long long)self->c[i].cpu_time, (unsigned long long)used);
		}
	}
	/* Both on one CPU: they ran in turns. */
	EXPECT_LT(1, self->c[0].out[STAPE_STATE_RUNNING]);
}

/* -- times ------------------------------------------------------------------ */

struct stamp {
	uint64_t before, after;
};

#define STAMPS 200

static int rename_between_stamps(void *arg)
{
	struct stamp *stamps = arg;
	char name[16];
	int i;

	for (i = 0; i < STAMPS; i++) {
		snprintf(name, sizeof(name), "stamp %d", i);
		stamps[i].before = st_now();
		prctl(PR_SET_NAME, name);
		stamps[i].after = st_now();
	}
	return 0;
}

TEST_F(events, times_and_names)
{
	struct stamp *stamps = st_share(STAMPS * sizeof(*stamps));
	char name[16];
	size_t i;
	int n = 0;

	self->n = 1;
	ASSERT_EQ(0, st_child_fork(&self->w[0], -1, rename_between_stamps, stamps));
	ASSERT_TRUE(record(self));
	for (i = 0; i < self->r.n && n < STAMPS; i++) {
		const struct schedtape_event *ev = &self->r.events[i];

		if (ev->type != STAPE_EV_RENAME)
			continue;
		snprintf(name, sizeof(name), "stamp %d", n);
		EXPECT_STREQ(name, ev->comm);
		EXPECT_GE(ev->time, stamps[n].before);
		EXPECT_LE(ev->time, stamps[n].after);
		n++;
	}
	EXPECT_EQ(STAMPS, n);
	EXPECT_EQ(STAMPS, self->c[0].renames);
}

/* -- migration --------------------------------------------------------------- */

static int move_often(void *arg)
{
	int i;

	for (i = 1; i <= *(int *)arg; i++)
		if (st_pin(0, i & 1))
			return 1;
	return 0;
}

TEST_F_TIMEOUT(events, migration, 60)
{
	int moves = 50, n = 0;
	size_t i;

	if (st_cpus() < 2)
		SKIP(return, "needs two CPUs");
	self->n = 1;
	ASSERT_EQ(0, st_child_fork(&self->w[0], 0, move_often, &moves));
	ASSERT_TRUE(record(self));
	EXPECT_EQ(moves, self->c[0].migrates);
	/* Each migration goes to the other CPU, and the next switch to the task is on that CPU. */
	for (i = 0; i < self->r.n; i++) {
		const struct schedtape_event *ev = &self->r.events[i];

		if (ev->type == STAPE_EV_MIGRATE) {
			n++;
			EXPECT_EQ(n & 1, ev->arg);
		}
		if (ev->type == STAPE_EV_SWITCH && ev->pid)
			EXPECT_EQ(n & 1, ev->cpu);
	}
}

TEST_HARNESS_MAIN
