// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: several sessions at once: each has the events of its own filter, whichever other
 * sessions record the same tasks, and however many there are.
 */
#include <sys/prctl.h>
#include <unistd.h>

#include <kselftest_harness.h>

#include "module.h"
#include "task.h"
#include "two-sessions.h"

#define PAGES	64
#define ROUNDS	300
/* As many sessions as there may be. */
#define MANY 30

/* -- two tasks, and the sessions that record them ----------------------------- */

enum { PING, PONG, BYSTANDER, TASKS };

/* The tasks in each filter, as bits, and the session's clock. */
struct plan {
	unsigned int tasks;
	uint32_t clock;
};

static const struct plan plans[] = {
	{ .tasks = 1 << PING }, { .tasks = 1 << PONG }, { .tasks = 1 << PING | 1 << PONG },
	{ .tasks = 1 << PING | 1 << PONG }, { .tasks = 1 << BYSTANDER },
};

#define SESSIONS ARRAY_SIZE(plans)

FIXTURE(sessions)
{
	struct st_record r[SESSIONS];
	struct stape_clock_sample begin, end;	/* of session 0 */
	struct st_child w[TASKS];
	unsigned long sleeps[TASKS];	/* in the rounds, by the kernel's counters */
	int pipes[2][2];
};

FIXTURE_SETUP(sessions)
{
	ASSERT_EQ(0, pipe(self->pipes[0]));
	ASSERT_EQ(0, pipe(self->pipes[1]));
}

FIXTURE_TEARDOWN(sessions)
{
	size_t i;

	st_children_kill(self->w, TASKS);
	for (i = 0; i < SESSIONS; i++)
		st_record_close(&self->r[i]);
}

static int play(int in, int out, int first)
{
	char c = 'x';
	int i;

	for (i = 0; i < ROUNDS; i++) {
		if (first && write(out, &c, 1) != 1)
			return 1;
		if (read(in, &c, 1) != 1)
			return 1;
		if (!first && write(out, &c, 1) != 1)
			return 1;
	}
	return 0;
}

static int ping(void *arg)
{
	FIXTURE_DATA(sessions) *self = arg;

	return play(self->pipes[1][0], self->pipes[0][1], 1);
}

static int pong(void *arg)
{
	FIXTURE_DATA(sessions) *self = arg;

	return play(self->pipes[0][0], self->pipes[1][1], 0);
}

static int rename_once(void *arg)
{
	(void)arg;
	prctl(PR_SET_NAME, "bystander");
	return 0;
}

static int open_session(struct st_record *r, uint32_t clock)
{
	struct schedtape_session_options options = {
		.ring_bytes = PAGES * STAPE_PAGE_SIZE,
		.clock = clock,
	};

	return st_record_open_with(r, options);
}

static void record_all(struct __test_metadata *_metadata, FIXTURE_DATA(sessions) *self,
		       const struct plan *plan, size_t n)
{
	int (*const fns[TASKS])(void *arg) = { ping, pong, rename_once };
	struct st_usage usage;
	size_t i, task;

	for (task = 0; task < TASKS; task++)
		ASSERT_EQ(0, st_child_fork(&self->w[task], 0, fns[task], self));
	for (i = 0; i < n; i++) {
		ASSERT_EQ(0, open_session(&self->r[i], plan[i].clock));
		for (task = 0; task < TASKS; task++) {
			if (plan[i].tasks & 1 << task)
				ASSERT_EQ(0, st_record_add(&self->r[i], self->w[task].pid));
		}
		ASSERT_EQ(0, st_record_start(&self->r[i]));
	}
	ASSERT_EQ(0, schedtape_session_clock(self->r[0].session, &self->begin, &self->r[0].err));
	for (task = 0; task < TASKS; task++) {
		ASSERT_EQ(0, st_usage(self->w[task].pid, &usage));
		self->sleeps[task] = usage.voluntary;
	}
	for (task = 0; task < TASKS; task++)
		st_child_go(&self->w[task]);
	for (task = 0; task < TASKS; task++) {
		ASSERT_TRUE(st_child_settled(&self->w[task]));
		ASSERT_EQ(0, st_usage(self->w[task].pid, &usage));
		self->sleeps[task] = usage.voluntary - self->sleeps[task];
	}
	ASSERT_EQ(0, schedtape_session_clock(self->r[0].session, &self->end, &self->r[0].err));
	for (i = 0; i < n; i++)
		ASSERT_EQ(0, st_record_finish(&self->r[i]));
}

TEST_F_TIMEOUT(sessions, only_their_own_tasks, 120)
{
	pid_t roots[TASKS];
	size_t i, task, n;

	record_all(_metadata, self, plans, SESSIONS);
	for (i = 0; i < SESSIONS; i++) {
		for (task = 0, n = 0; task < TASKS; task++) {
			if (plans[i].tasks & 1 << task)
				roots[n++] = self->w[task].pid;
		}
		EXPECT_EQ(0, self->r[i].lost);
		EXPECT_EQ(0, st_foreign(&self->r[i], roots, n));
		EXPECT_EQ(NULL, st_check(&self->r[i], roots, n));
		for (task = 0; task < n; task++)
			EXPECT_LT(0, st_named(&self->r[i], roots[task]));
	}
}

TEST_F_TIMEOUT(sessions, the_same_of_a_shared_task, 120)
{
	struct st_counts c, other;
	size_t i, task;

	record_all(_metadata, self, plans, SESSIONS);
	for (task = PING; task <= PONG; task++) {
		st_count(&self->r[task], self->w[task].pid, &c);
		EXPECT_EQ(self->sleeps[task], st_voluntary(&c));
		/* The waker has an identity only in sessions that record it, too. */
		EXPECT_EQ(0, c.waking_task);
		for (i = 0; i < SESSIONS; i++) {
			if (i == task || !(plans[i].tasks & 1 << task))
				continue;
			st_count(&self->r[i], self->w[task].pid, &other);
			EXPECT_EQ(0, memcmp(c.out, other.out, sizeof(c.out)));
			EXPECT_EQ(0, memcmp(c.waking, other.waking, sizeof(c.waking)));
			EXPECT_EQ(c.in, other.in);
			EXPECT_EQ(c.wakeup, other.wakeup);
			EXPECT_EQ(c.cpu_time, other.cpu_time);
			/* All wake-ups except those by the test, which opened the gate. */
			EXPECT_GE(c.waking[STAPE_CTX_TASK] - 1, other.waking_task);
			EXPECT_LE(c.waking[STAPE_CTX_TASK] - 1,
				  other.waking_task + st_lock_sleeps());
		}
	}
}

/* Each task is in one session, whose clock takes a call. */
TEST_F_TIMEOUT(sessions, switch_to_each_other, 120)
{
	const struct plan two[] = {
		{ 1 << PING, STAPE_CLOCK_MONO }, { 1 << PONG, STAPE_CLOCK_MONO },
	};
	struct st_counts c;
	int i;

	record_all(_metadata, self, two, 2);
	for (i = 0; i < 2; i++) {
		EXPECT_EQ(0, self->r[i].lost);
		EXPECT_EQ(0, st_foreign(&self->r[i], &self->w[i].pid, 1));
		EXPECT_EQ(NULL, st_check(&self->r[i], &self->w[i].pid, 1));
		st_count(&self->r[i], self->w[i].pid, &c);
		EXPECT_EQ(self->sleeps[i], st_voluntary(&c));
		EXPECT_EQ(0, c.waking_task);
	}
}

/* Returns CLOCK_MONOTONIC when the clock of session 0 had this value. */
static uint64_t to_mono(const FIXTURE_DATA(sessions) *self, uint64_t clock)
{
	double rate = (double)(self->end.mono - self->begin.mono) /
		      (self->end.counter - self->begin.counter);

	return self->begin.mono + (int64_t)((int64_t)(clock - self->begin.counter) * rate);
}

TEST_F_TIMEOUT(sessions, two_clocks, 120)
{
	const struct plan two[] = {
		{ 1 << PING, STAPE_CLOCK_COUNTER }, { 1 << PING, STAPE_CLOCK_MONO },
	};
	struct schedtape_module_info info = { .size = sizeof(info) };
	const struct st_record *a = &self->r[0], *b = &self->r[1];
	size_t i, late = 0;
	struct st_counts c;

	ASSERT_EQ(0, st_module_info(&info));
	if (!info.counter_khz)
		SKIP(return, "this machine's counter is not fit as a clock");
	record_all(_metadata, self, two, 2);
	st_count(a, self->w[PING].pid, &c);
	EXPECT_EQ(self->sleeps[PING], st_voluntary(&c));
	EXPECT_EQ(0, a->lost + b->lost);
	ASSERT_EQ(a->n, b->n);
	for (i = 0; i < a->n; i++) {
		const struct schedtape_event *x = &a->events[i], *y = &b->events[i];
		uint64_t time = to_mono(self, x->time);

		ASSERT_EQ(x->type, y->type);
		EXPECT_EQ(x->pid, y->pid);
		EXPECT_EQ(x->cpu, y->cpu);
		/* The probe may be interrupted between the two clocks, by the emulator. */
		late += time > y->time + 100000 || y->time > time + 100000;
	}
	EXPECT_GE(a->n / 10, late) {
		TH_LOG("of %zu times %zu differ by more than 0.1 ms", a->n, late);
	}
}

/* -- many ---------------------------------------------------------------------- */

/* One task that all sessions record, one task for each session, and the sessions. */
FIXTURE(many)
{
	struct st_record r[MANY];
	struct st_child w[MANY], shared;
};

FIXTURE_SETUP(many)
{
}

FIXTURE_TEARDOWN(many)
{
	int i;

	for (i = 0; i < MANY; i++) {
		st_child_kill(&self->w[i]);
		st_record_close(&self->r[i]);
	}
	st_child_kill(&self->shared);
}

static int pass_gates(void *arg)
{
	for (;;)
		st_gate();
	return 0;
}

static void begin(struct __test_metadata *_metadata, FIXTURE_DATA(many) *self, int i)
{
	ASSERT_EQ(0, st_record_open(&self->r[i], 8));
	ASSERT_EQ(0, st_record_add(&self->r[i], self->w[i].pid));
	ASSERT_EQ(0, st_record_add(&self->r[i], self->shared.pid));
	ASSERT_EQ(0, st_record_start(&self->r[i]));
}

/* Ends session @i, which saw @steps steps of its own task and of the shared one. */
static void end(struct __test_metadata *_metadata, FIXTURE_DATA(many) *self, int i,
		unsigned int steps)
{
	pid_t roots[2] = { self->w[i].pid, self->shared.pid };
	struct st_counts c;
	int task;

	ASSERT_EQ(0, st_record_finish(&self->r[i]));
	EXPECT_EQ(0, self->r[i].lost);
	EXPECT_EQ(0, st_foreign(&self->r[i], roots, 2));
	EXPECT_EQ(NULL, st_check(&self->r[i], roots, 2));
	for (task = 0; task < 2; task++) {
		st_count(&self->r[i], roots[task], &c);
		EXPECT_LE(steps, c.out[STAPE_STATE_SLEEPING]);
		EXPECT_GE(steps + st_lock_sleeps(), c.out[STAPE_STATE_SLEEPING]);
	}
	st_record_close(&self->r[i]);
	memset(&self->r[i], 0, sizeof(self->r[i]));
}

TEST_F_TIMEOUT(many, come_and_go, 300)
{
	int i;

	/* The children come first, because they inherit the files of sessions. */
	ASSERT_EQ(0, st_child_fork(&self->shared, -1, pass_gates, NULL));
	for (i = 0; i < MANY; i++) {
		ASSERT_EQ(0, st_child_fork(&self->w[i], -1, pass_gates, NULL));
		ASSERT_TRUE(st_child_step(&self->w[i]));
	}
	for (i = 0; i < MANY; i++)
		begin(_metadata, self, i);
	ASSERT_TRUE(st_child_step(&self->shared));
	for (i = 0; i < MANY; i++)
		ASSERT_TRUE(st_child_step(&self->w[i]));
	/* The numbers of every second session become free, and are used again. */
	for (i = 0; i < MANY; i += 2)
		end(_metadata, self, i, 1);
	for (i = 0; i < MANY; i += 2)
		begin(_metadata, self, i);
	ASSERT_TRUE(st_child_step(&self->shared));
	for (i = 0; i < MANY; i++)
		ASSERT_TRUE(st_child_step(&self->w[i]));
	for (i = 0; i < MANY; i++)
		end(_metadata, self, i, 1 + i % 2);
}

/* -- tasks of its own, and some in common ------------------------------------------ */

/* Both sessions have the same renames of the task, in the same order. */
static bool same_renames(const struct st_record *a, const struct st_record *b, uint32_t pid)
{
	size_t i = 0, j = 0;

	for (;;) {
		while (i < a->n && (a->events[i].type != STAPE_EV_RENAME ||
				    a->events[i].pid != pid))
			i++;
		while (j < b->n && (b->events[j].type != STAPE_EV_RENAME ||
				    b->events[j].pid != pid))
			j++;
		if (i == a->n || j == b->n)
			return i == a->n && j == b->n;
		if (strcmp(a->events[i++].comm, b->events[j++].comm))
			return false;
	}
}

/* Each session has tasks of its own and some in common; one of them loses nearly all events. */
TEST_F_TIMEOUT(two_sessions, sessions, 60)
{
	struct schedtape_filter all = { .all = true };
	struct st_record third;
	int i;

	*self->shared = 2000;
	ASSERT_EQ(0, st_record_open(&self->r, LARGE / 4));
	ASSERT_EQ(0, st_record_open(&self->other, SMALL));
	ASSERT_EQ(0, st_record_open(&third, LARGE / 4));
	for (i = 0; i < 2; i++)
		ASSERT_EQ(0, st_child_fork(&self->w[i], -1, rename_and_fork, self->shared));
	ASSERT_EQ(0, st_record_add(&self->r, self->w[0].pid));
	ASSERT_EQ(0, st_record_add(&self->other, self->w[1].pid));
	ASSERT_EQ(0, st_record_set(&third, &all));
	ASSERT_EQ(0, st_record_start(&self->r));
	ASSERT_EQ(0, st_record_start(&self->other));
	ASSERT_EQ(0, st_record_start(&third));
	for (i = 0; i < 2; i++)
		ASSERT_TRUE(st_child_step(&self->w[i]));
	/* One session pauses, the others do not. */
	ASSERT_EQ(0, st_record_pause(&self->r));
	*self->shared = 10;
	for (i = 0; i < 2; i++)
		ASSERT_TRUE(st_child_step(&self->w[i]));
	ASSERT_EQ(0, st_record_start(&self->r));
	ASSERT_EQ(0, st_record_finish(&third));
	ASSERT_EQ(0, st_record_finish(&self->other));
	/* The other sessions have ended. */
	for (i = 0; i < 2; i++)
		ASSERT_TRUE(st_child_step(&self->w[i]));
	ASSERT_EQ(0, st_record_finish(&self->r));

	EXPECT_EQ(0, self->r.lost);
	EXPECT_EQ(0, third.lost);
	ASSERT_EQ(0, st_record_get(&self->other, &self->state));
	EXPECT_LT(0, self->state.lost);
	EXPECT_EQ(0, st_named(&self->other, self->w[0].pid));
	EXPECT_EQ(0, st_foreign(&self->r, &self->w[0].pid, 1));
	EXPECT_EQ(2001 + 11, st_count_type(&self->r, STAPE_EV_RENAME));
	EXPECT_EQ(2 * (2001 + 11), st_count_type(&third, STAPE_EV_RENAME));
	EXPECT_TRUE(same_renames(&self->r, &third, self->w[0].pid));
	EXPECT_EQ(NULL, st_check(&self->r, &self->w[0].pid, 1));
	st_record_close(&third);
}

TEST_HARNESS_MAIN
