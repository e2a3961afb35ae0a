// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: triggers of a session fire for waits and runs of its tasks that are longer than
 * their limits, when they end and while they last, and for nothing else.
 */
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <kselftest_harness.h>

#include "caps.h"
#include "child.h"
#include "module.h"
#include "record.h"
#include "request.h"
#include "task.h"

#define MS	1000000ULL
#define LARGE	4096	/* pages */
/* A test on a machine that is busy with other things may be late by this. */
#define SLACK	(400 * MS)
#define ARRIVES	20000	/* ms until a notification has certainly come, if it comes at all */
#define QUIET	300	/* ms in which none comes */

/* A trigger for a task of any name. */
#define TRIGGER(what, task, least)	\
	{ .kind = STAPE_TRIGGER_##what, .pid = (task), .limit = (least) }

/* What the children are to do; shared with them. */
struct order {
	unsigned int ms;
	unsigned int times;
	unsigned int stop;
};

#define SEEN	64

/* Notifications that have arrived. */
struct seen {
	unsigned int n;
	struct schedtape_trigger_state states[SEEN];
};

FIXTURE(triggers)
{
	struct st_record r;
	struct st_record other;
	struct st_child w[2];
	struct order *order;
	struct seen seen;
	struct seen others;
};

/* Probes do the usual in another way with each of these. */
FIXTURE_VARIANT(triggers)
{
	uint32_t clock;
	bool syscalls;
};

FIXTURE_VARIANT_ADD(triggers, mono) { .clock = STAPE_CLOCK_MONO };
FIXTURE_VARIANT_ADD(triggers, counter) { .clock = STAPE_CLOCK_COUNTER };
FIXTURE_VARIANT_ADD(triggers, syscalls) { .clock = STAPE_CLOCK_COUNTER, .syscalls = true };

/* Of the sessions that a test opens. */
static struct schedtape_session_options options;

FIXTURE_SETUP(triggers)
{
	struct schedtape_module_info info = { .size = sizeof(info) };

	ASSERT_EQ(0, st_module_info(&info));
	if (variant->clock == STAPE_CLOCK_COUNTER && !info.counter_khz)
		SKIP(return, "this machine's counter is not fit as a clock");
	options = (struct schedtape_session_options) {
		.ring_bytes = LARGE * STAPE_PAGE_SIZE,
		.clock = variant->clock,
		.syscalls = variant->syscalls,
	};
	self->order = st_share(4096);
}

FIXTURE_TEARDOWN(triggers)
{
	st_children_kill(self->w, 2);
	st_record_close(&self->r);
	st_record_close(&self->other);
}

/* -- what tasks do ----------------------------------------------------------- */

static void spin(unsigned int ms)
{
	uint64_t end = st_now() + ms * MS;

	while (st_now() < end)
		;
}

/*
 * Runs as long as it is told, so that nothing else runs on its CPU, except for a little that recent
 * kernels (6.12) give to other tasks in the end.
 */
static int hog(void *arg)
{
	const struct sched_param param = { .sched_priority = 10 };
	const struct order *order = arg;

	for (;;) {
		if (sched_setscheduler(0, SCHED_FIFO, &param))
			return 1;
		spin(order->ms);
		sched_setscheduler(0, SCHED_OTHER, &(struct sched_param){ 0 });
		st_gate();
	}
	return 0;
}

/* Is ready to run until it is stopped. */
static int run_on(void *arg)
{
	struct order *order = arg;

	while (!__atomic_load_n(&order->stop, __ATOMIC_SEQ_CST))
		;
	return 0;
}

/* Is blocked until its child ends, or executes a program. */
static int block(void *arg)
{
	struct order *order = arg;

	for (;;) {
		struct timespec time = { order->ms / 1000, order->ms % 1000 * MS };
		pid_t pid = vfork();

		if (!pid) {
			nanosleep(&time, NULL);
			_exit(0);
		}
		waitpid(pid, NULL, 0);
		st_gate();
	}
	return 0;
}

/* The same with another name. */
static int block_as_web(void *arg)
{
	prctl(PR_SET_NAME, "web-server");
	return block(arg);
}

static int sleep_often(void *arg)
{
	struct order *order = arg;

	for (;;) {
		st_sleep_often(order->times);
		st_gate();
	}
	return 0;
}

/* -- notifications ----------------------------------------------------------- */

static int note(const struct schedtape_trigger_state *state, void *arg)
{
	struct seen *seen = arg;

	if (seen->n < SEEN)
		seen->states[seen->n++] = *state;
	return 0;
}

/* Opens a session with triggers that sends notifications.  Returns 0 or -errno. */
static int open_with(struct st_record *r, const struct schedtape_trigger *triggers, size_t n)
{
	int ret;

	options.triggers = triggers;
	options.nr_triggers = n;
	ret = st_record_open_with(r, options);
	if (!ret)
		ret = schedtape_session_monitor(r->session, &r->err);
	return ret < 0 ? ret : 0;
}

/* Takes the notifications that come in so many ms.  Returns the number of all. */
static unsigned int take(struct st_record *r, struct seen *seen, int ms)
{
	struct pollfd p = { schedtape_session_monitor(r->session, &r->err), POLLIN, 0 };
	uint64_t end = st_now() + ms * MS;

	do {
		if (poll(&p, 1, 10) > 0)
			schedtape_session_monitor_read(r->session, note, seen, &r->err);
	} while (st_now() < end);
	return seen->n;
}

/* Finds the first notification of a trigger. */
static const struct schedtape_trigger_state *find(const struct seen *seen, unsigned int number,
						  bool lasts)
{
	unsigned int i;

	for (i = 0; i < seen->n; i++)
		if (seen->states[i].number == number && seen->states[i].lasts == lasts)
			return &seen->states[i];
	return NULL;
}

/* The same, when it has come.  NULL: it does not come. */
static const struct schedtape_trigger_state *await(struct st_record *r, struct seen *seen,
						   unsigned int number, bool lasts)
{
	uint64_t end = st_now() + ARRIVES * MS;

	while (!find(seen, number, lasts) && st_now() < end)
		take(r, seen, 10);
	return find(seen, number, lasts);
}

struct sum {
	uint64_t fired[STAPE_TRIGGERS_MAX];
	unsigned int n;
	unsigned int named_web;
};

static int add_up(const struct schedtape_trigger_state *state, void *arg)
{
	struct sum *sum = arg;

	if (state->number < STAPE_TRIGGERS_MAX)
		sum->fired[state->number] = state->fired;
	sum->n++;
	sum->named_web += state->comm && !strcmp(state->comm, "web");
	return 0;
}

static struct sum fired(struct st_record *r)
{
	struct sum sum = { { 0 }, 0, 0 };

	schedtape_session_triggers(r->session, add_up, &sum, &r->err);
	return sum;
}

/* Finds the event of a notification on the tape. */
static const struct schedtape_event *find_event(const struct st_record *r,
						const struct schedtape_trigger_state *state)
{
	size_t i;

	for (i = 0; i < r->n; i++)
		if (r->events[i].type == SCHEDTAPE_EV_TRIGGER &&
		    r->events[i].pid == state->pid &&
		    r->events[i].trigger.number == state->number &&
		    r->events[i].trigger.kind == state->kind &&
		    r->events[i].trigger.lasts == state->lasts &&
		    r->events[i].trigger.value == state->value)
			return &r->events[i];
	return NULL;
}

/* -- each kind --------------------------------------------------------------- */

TEST_F_TIMEOUT(triggers, latency, 120)
{
	const struct schedtape_trigger trigger = TRIGGER(LATENCY, 0, 100 * MS);
	const struct schedtape_trigger_state *state;
	int cpu = st_cpus() > 1;

	self->order->ms = 600;
	ASSERT_EQ(0, open_with(&self->r, &trigger, 1));
	ASSERT_EQ(0, st_child_fork(&self->w[0], cpu, run_on, self->order));
	ASSERT_EQ(0, st_child_fork(&self->w[1], cpu, hog, self->order));
	ASSERT_EQ(0, st_record_start_with(&self->r, &self->w[0], 1));
	EXPECT_EQ(0, fired(&self->r).fired[0]);
	st_child_go(&self->w[0]);
	ASSERT_TRUE(st_child_step(&self->w[1]));
	state = await(&self->r, &self->seen, 0, false);
	ASSERT_NE(NULL, state);
	EXPECT_EQ(schedtape_session_id(self->r.session), state->session);
	EXPECT_EQ(STAPE_TRIGGER_LATENCY, state->kind);
	EXPECT_EQ(self->w[0].pid, state->pid);
	EXPECT_EQ(cpu, state->cpu);
	EXPECT_EQ(100 * MS, state->limit);
	EXPECT_LT(100 * MS, state->value);
	EXPECT_GT(600 * MS + SLACK, state->value);
	EXPECT_GT(st_now(), state->time);
	/* It was also found while it lasted. */
	state = find(&self->seen, 0, true);
	ASSERT_NE(NULL, state);
	EXPECT_EQ(self->w[0].pid, state->pid);
	EXPECT_LT(100 * MS, state->value);
	EXPECT_GT(100 * MS + 25 * MS + 10 * MS + SLACK, state->value);
	__atomic_store_n(&self->order->stop, 1, __ATOMIC_SEQ_CST);
	EXPECT_LE(2, fired(&self->r).fired[0]);
	ASSERT_EQ(0, st_record_finish(&self->r));
	EXPECT_NE(NULL, find_event(&self->r, find(&self->seen, 0, false)));
	EXPECT_NE(NULL, find_event(&self->r, find(&self->seen, 0, true)));
	EXPECT_EQ(0, self->r.lost);
}

TEST_F_TIMEOUT(triggers, blocked, 120)
{
	const struct schedtape_trigger trigger = TRIGGER(BLOCKED, 0, 100 * MS);
	const struct schedtape_trigger_state *state;

	self->order->ms = 500;
	ASSERT_EQ(0, open_with(&self->r, &trigger, 1));
	ASSERT_EQ(0, st_record_child(&self->r, &self->w[0], -1, block, self->order));
	ASSERT_TRUE(st_child_step(&self->w[0]));
	state = await(&self->r, &self->seen, 0, false);
	ASSERT_NE(NULL, state);
	EXPECT_EQ(STAPE_TRIGGER_BLOCKED, state->kind);
	EXPECT_EQ(self->w[0].pid, state->pid);
	EXPECT_LT(400 * MS, state->value);
	EXPECT_GT(500 * MS + SLACK, state->value);
	state = find(&self->seen, 0, true);
	ASSERT_NE(NULL, state);
	EXPECT_EQ(self->w[0].pid, state->pid);
	EXPECT_LT(100 * MS, state->value);
	EXPECT_GT(135 * MS + SLACK, state->value);
	EXPECT_LE(2, fired(&self->r).fired[0]);
	ASSERT_EQ(0, st_record_finish(&self->r));
	EXPECT_NE(NULL, find_event(&self->r, find(&self->seen, 0, false)));
	EXPECT_NE(NULL, find_event(&self->r, state));
}

TEST_F_TIMEOUT(triggers, burst, 120)
{
	const struct schedtape_trigger trigger = TRIGGER(BURST, 0, 100 * MS);
	const struct schedtape_trigger_state *state;
	int cpu = st_cpus() > 1;

	self->order->ms = 600;
	ASSERT_EQ(0, open_with(&self->r, &trigger, 1));
	ASSERT_EQ(0, st_record_child(&self->r, &self->w[0], cpu, hog, self->order));
	ASSERT_TRUE(st_child_step(&self->w[0]));
	state = await(&self->r, &self->seen, 0, false);
	ASSERT_NE(NULL, state);
	EXPECT_EQ(STAPE_TRIGGER_BURST, state->kind);
	EXPECT_EQ(self->w[0].pid, state->pid);
	EXPECT_EQ(cpu, state->cpu);
	EXPECT_LT(100 * MS, state->value);
	EXPECT_GT(600 * MS + SLACK, state->value);
	state = find(&self->seen, 0, true);
	ASSERT_NE(NULL, state);
	EXPECT_EQ(self->w[0].pid, state->pid);
	EXPECT_EQ(cpu, state->cpu);
	EXPECT_LT(100 * MS, state->value);
	EXPECT_GT(135 * MS + SLACK, state->value);
	ASSERT_EQ(0, st_record_finish(&self->r));
	EXPECT_NE(NULL, find_event(&self->r, find(&self->seen, 0, false)));
	EXPECT_NE(NULL, find_event(&self->r, state));
}

TEST_F_TIMEOUT(triggers, rate, 120)
{
	const struct schedtape_trigger trigger = TRIGGER(RATE, 0, 50);
	const struct schedtape_trigger_state *state;

	self->order->times = 20;
	ASSERT_EQ(0, open_with(&self->r, &trigger, 1));
	ASSERT_EQ(0, st_record_child(&self->r, &self->w[0], -1, sleep_often, self->order));
	ASSERT_TRUE(st_child_step(&self->w[0]));
	EXPECT_EQ(0, take(&self->r, &self->seen, 1500));
	self->order->times = 400;
	ASSERT_TRUE(st_child_step(&self->w[0]));
	state = await(&self->r, &self->seen, 0, false);
	ASSERT_NE(NULL, state);
	EXPECT_EQ(STAPE_TRIGGER_RATE, state->kind);
	EXPECT_EQ(0, state->pid);
	EXPECT_LT(50, state->value);
	EXPECT_GE(420, state->value);
	/* As often as that is no longer so, and is so again. */
	take(&self->r, &self->seen, 2000);
	EXPECT_EQ(1, fired(&self->r).fired[0]);
	ASSERT_TRUE(st_child_step(&self->w[0]));
	take(&self->r, &self->seen, QUIET);
	EXPECT_EQ(2, fired(&self->r).fired[0]);
	ASSERT_EQ(0, st_record_finish(&self->r));
	EXPECT_NE(NULL, find_event(&self->r, state));
}

/* -- nothing ----------------------------------------------------------------- */

TEST_F_TIMEOUT(triggers, not_below_the_limits, 120)
{
	const struct schedtape_trigger triggers[] = {
		TRIGGER(LATENCY, 0, 5000 * MS),
		TRIGGER(BLOCKED, 0, 5000 * MS),
		TRIGGER(BURST, 0, 5000 * MS),
		TRIGGER(RATE, 0, 1000000),
	};
	struct sum sum;
	unsigned int i;

	self->order->ms = 50;
	self->order->times = 200;
	ASSERT_EQ(0, open_with(&self->r, triggers, 4));
	ASSERT_EQ(0, st_child_fork(&self->w[0], -1, sleep_often, self->order));
	ASSERT_EQ(0, st_child_fork(&self->w[1], -1, block, self->order));
	ASSERT_EQ(0, st_record_start_with(&self->r, self->w, 2));
	ASSERT_TRUE(st_child_step(&self->w[0]));
	ASSERT_TRUE(st_child_step(&self->w[1]));
	/* Both sleep, which is no wait of any kind. */
	EXPECT_EQ(0, take(&self->r, &self->seen, 6000));
	sum = fired(&self->r);
	EXPECT_EQ(4, sum.n);
	for (i = 0; i < 4; i++)
		EXPECT_EQ(0, sum.fired[i]);
	ASSERT_EQ(0, st_record_finish(&self->r));
	EXPECT_EQ(0, st_count_type(&self->r, SCHEDTAPE_EV_TRIGGER));
}

TEST_F_TIMEOUT(triggers, not_of_other_tasks, 120)
{
	const struct schedtape_trigger triggers[] = {
		TRIGGER(BLOCKED, getpid(), 50 * MS),
		TRIGGER(BLOCKED, 0, 50 * MS),
	};

	self->order->ms = 200;
	ASSERT_EQ(0, open_with(&self->r, triggers, 2));
	ASSERT_EQ(0, st_child_fork(&self->w[0], -1, block, self->order));
	ASSERT_EQ(0, st_child_fork(&self->w[1], -1, block, self->order));
	ASSERT_EQ(0, st_record_start_with(&self->r, &self->w[0], 1));
	/* The one is no member. */
	ASSERT_TRUE(st_child_step(&self->w[1]));
	EXPECT_EQ(0, take(&self->r, &self->seen, QUIET));
	ASSERT_TRUE(st_child_step(&self->w[0]));
	EXPECT_NE(NULL, await(&self->r, &self->seen, 1, false));
	EXPECT_EQ(0, fired(&self->r).fired[0]);
}

TEST_F_TIMEOUT(triggers, only_one_task, 120)
{
	struct schedtape_trigger trigger = TRIGGER(BLOCKED, 0, 50 * MS);
	const struct schedtape_trigger_state *state;

	self->order->ms = 200;
	ASSERT_EQ(0, st_child_fork(&self->w[0], -1, block, self->order));
	ASSERT_EQ(0, st_child_fork(&self->w[1], -1, block, self->order));
	trigger.pid = self->w[1].pid;
	ASSERT_EQ(0, open_with(&self->r, &trigger, 1));
	ASSERT_EQ(0, st_record_start_with(&self->r, self->w, 2));
	ASSERT_TRUE(st_child_step(&self->w[0]));
	EXPECT_EQ(0, take(&self->r, &self->seen, QUIET));
	ASSERT_TRUE(st_child_step(&self->w[1]));
	state = await(&self->r, &self->seen, 0, false);
	ASSERT_NE(NULL, state);
	EXPECT_EQ(self->w[1].pid, state->pid);
}

TEST_F_TIMEOUT(triggers, only_tasks_of_a_name, 120)
{
	const struct schedtape_trigger triggers[] = {
		{ STAPE_TRIGGER_BLOCKED, 0, 50 * MS, "we[ab]-*" },
		{ STAPE_TRIGGER_BLOCKED, 0, 50 * MS, "web" },
	};
	const struct schedtape_trigger_state *state;

	self->order->ms = 200;
	ASSERT_EQ(0, open_with(&self->r, triggers, 2));
	ASSERT_EQ(0, st_child_fork(&self->w[0], -1, block, self->order));
	ASSERT_EQ(0, st_child_fork(&self->w[1], -1, block_as_web, self->order));
	ASSERT_EQ(0, st_record_start_with(&self->r, self->w, 2));
	ASSERT_TRUE(st_child_step(&self->w[0]));
	EXPECT_EQ(0, take(&self->r, &self->seen, QUIET));
	ASSERT_TRUE(st_child_step(&self->w[1]));
	state = await(&self->r, &self->seen, 0, false);
	ASSERT_NE(NULL, state);
	EXPECT_EQ(self->w[1].pid, state->pid);
	state = find(&self->seen, 0, true);
	ASSERT_NE(NULL, state);
	EXPECT_EQ(self->w[1].pid, state->pid);
	EXPECT_EQ(0, fired(&self->r).fired[1]);
	EXPECT_EQ(1, fired(&self->r).named_web);
}

TEST_F_TIMEOUT(triggers, not_in_a_pause, 120)
{
	const struct schedtape_trigger trigger = TRIGGER(BLOCKED, 0, 100 * MS);
	const struct schedtape_trigger_state *state;

	self->order->ms = 300;
	ASSERT_EQ(0, open_with(&self->r, &trigger, 1));
	ASSERT_EQ(0, st_child_fork(&self->w[0], -1, block, self->order));
	ASSERT_EQ(0, st_record_add(&self->r, self->w[0].pid));
	ASSERT_TRUE(st_child_step(&self->w[0]));
	ASSERT_EQ(0, st_record_start(&self->r));
	ASSERT_EQ(0, st_record_pause(&self->r));
	ASSERT_TRUE(st_child_step(&self->w[0]));
	EXPECT_EQ(0, take(&self->r, &self->seen, QUIET));
	/* Of a wait that began in the pause only the rest counts. */
	self->order->ms = 2000;
	st_child_go(&self->w[0]);
	EXPECT_TRUE(st_wait_state(self->w[0].pid, 'D'));
	EXPECT_EQ(0, take(&self->r, &self->seen, 1000));
	ASSERT_EQ(0, st_record_start(&self->r));
	state = await(&self->r, &self->seen, 0, true);
	ASSERT_NE(NULL, state);
	EXPECT_LT(100 * MS, state->value);
	EXPECT_GT(135 * MS + SLACK, state->value);
	state = await(&self->r, &self->seen, 0, false);
	ASSERT_NE(NULL, state);
	EXPECT_GT(1100 * MS + SLACK, state->value);
	ASSERT_TRUE(st_child_settled(&self->w[0]));
	ASSERT_EQ(0, st_record_stop(&self->r));
	self->seen.n = 0;
	ASSERT_TRUE(st_child_step(&self->w[0]));
	EXPECT_EQ(0, take(&self->r, &self->seen, QUIET));
}

/* -- several ----------------------------------------------------------------- */

TEST_F_TIMEOUT(triggers, several, 120)
{
	const struct schedtape_trigger triggers[] = {
		TRIGGER(BLOCKED, 0, 400 * MS),
		TRIGGER(LATENCY, 0, 10000 * MS),
		TRIGGER(BLOCKED, 0, 100 * MS),
		TRIGGER(BLOCKED, 0, 2000 * MS),
	};
	struct sum sum;

	self->order->ms = 800;
	ASSERT_EQ(0, open_with(&self->r, triggers, 4));
	ASSERT_EQ(0, st_record_child(&self->r, &self->w[0], -1, block, self->order));
	ASSERT_TRUE(st_child_step(&self->w[0]));
	EXPECT_NE(NULL, await(&self->r, &self->seen, 0, false));
	EXPECT_NE(NULL, await(&self->r, &self->seen, 2, false));
	EXPECT_NE(NULL, find(&self->seen, 0, true));
	EXPECT_NE(NULL, find(&self->seen, 2, true));
	sum = fired(&self->r);
	EXPECT_EQ(4, sum.n);
	EXPECT_EQ(2, sum.fired[0]);
	EXPECT_EQ(0, sum.fired[1]);
	EXPECT_EQ(2, sum.fired[2]);
	EXPECT_EQ(0, sum.fired[3]);
}

/* Many waits in a short time: some are only counted. */
TEST_F_TIMEOUT(triggers, storm, 120)
{
	const struct schedtape_trigger trigger = TRIGGER(LATENCY, 0, 1);
	struct sum sum;

	self->order->times = 500;
	ASSERT_EQ(0, open_with(&self->r, &trigger, 1));
	ASSERT_EQ(0, st_record_child(&self->r, &self->w[0], -1, sleep_often, self->order));
	ASSERT_TRUE(st_child_step(&self->w[0]));
	take(&self->r, &self->seen, QUIET);
	sum = fired(&self->r);
	EXPECT_LE(300, sum.fired[0]);
	EXPECT_LE(1, self->seen.n);
	EXPECT_GT(250, self->seen.n);
	ASSERT_EQ(0, st_record_finish(&self->r));
	EXPECT_LE(1, st_count_type(&self->r, SCHEDTAPE_EV_TRIGGER));
	EXPECT_GT(250, st_count_type(&self->r, SCHEDTAPE_EV_TRIGGER));
}

TEST_F_TIMEOUT(triggers, two_sessions, 120)
{
	const struct schedtape_trigger one = TRIGGER(BLOCKED, 0, 100 * MS);
	const struct schedtape_trigger other[] = {
		TRIGGER(BLOCKED, 0, 3000 * MS),
		TRIGGER(BURST, 0, 100 * MS),
	};
	int cpu = st_cpus() > 1;

	self->order->ms = 1000;
	ASSERT_EQ(0, open_with(&self->r, &one, 1));
	ASSERT_EQ(0, open_with(&self->other, other, 2));
	ASSERT_EQ(0, st_child_fork(&self->w[0], cpu, block, self->order));
	ASSERT_EQ(0, st_child_fork(&self->w[1], cpu, hog, self->order));
	ASSERT_EQ(0, st_record_add(&self->r, self->w[0].pid));
	ASSERT_EQ(0, st_record_add(&self->other, self->w[0].pid));
	ASSERT_EQ(0, st_record_add(&self->other, self->w[1].pid));
	ASSERT_EQ(0, st_record_start(&self->r));
	ASSERT_EQ(0, st_record_start(&self->other));
	/* A task of both. */
	ASSERT_TRUE(st_child_step(&self->w[0]));
	EXPECT_NE(NULL, await(&self->r, &self->seen, 0, false));
	EXPECT_NE(NULL, find(&self->seen, 0, true));
	EXPECT_EQ(0, take(&self->other, &self->others, QUIET));
	/* A task of the other. */
	self->seen.n = 0;
	ASSERT_TRUE(st_child_step(&self->w[1]));
	EXPECT_NE(NULL, await(&self->other, &self->others, 1, false));
	EXPECT_NE(NULL, find(&self->others, 1, true));
	EXPECT_EQ(0, take(&self->r, &self->seen, QUIET));
	ASSERT_EQ(0, st_record_finish(&self->r));
	ASSERT_EQ(0, st_record_finish(&self->other));
	EXPECT_EQ(0, self->r.lost + self->other.lost);
}

/* The other session of the task has no triggers, and the same events. */
TEST_F_TIMEOUT(triggers, one_of_two_sessions, 120)
{
	const struct schedtape_trigger trigger = TRIGGER(BLOCKED, 0, 100 * MS);
	struct st_counts c, others;

	self->order->ms = 300;
	ASSERT_EQ(0, open_with(&self->r, &trigger, 1));
	ASSERT_EQ(0, open_with(&self->other, NULL, 0));
	ASSERT_EQ(0, st_child_fork(&self->w[0], 0, block, self->order));
	ASSERT_EQ(0, st_record_add(&self->r, self->w[0].pid));
	ASSERT_EQ(0, st_record_add(&self->other, self->w[0].pid));
	ASSERT_EQ(0, st_record_start(&self->r));
	ASSERT_EQ(0, st_record_start(&self->other));
	ASSERT_TRUE(st_child_step(&self->w[0]));
	EXPECT_NE(NULL, await(&self->r, &self->seen, 0, false));
	ASSERT_EQ(0, st_record_finish(&self->r));
	ASSERT_EQ(0, st_record_finish(&self->other));
	EXPECT_LE(1, st_count_type(&self->r, SCHEDTAPE_EV_TRIGGER));
	EXPECT_EQ(0, st_count_type(&self->other, SCHEDTAPE_EV_TRIGGER));
	st_count(&self->r, self->w[0].pid, &c);
	st_count(&self->other, self->w[0].pid, &others);
	EXPECT_LT(0, others.in);
	EXPECT_EQ(c.in, others.in);
	EXPECT_EQ(0, memcmp(c.out, others.out, sizeof(c.out)));
	EXPECT_EQ(c.wakeup, others.wakeup);
	EXPECT_EQ(c.forks, others.forks);
}

/* Many tasks come and go: memory that they needed is given back. */
TEST_F_TIMEOUT(triggers, memory, 120)
{
	const struct schedtape_trigger trigger = TRIGGER(LATENCY, 0, 1000 * MS);
	struct schedtape_session_state state = { .size = sizeof(state) };
	struct st_record plain = { 0 };
	uint64_t before;

	ASSERT_EQ(0, st_record_open(&plain, LARGE));
	ASSERT_EQ(0, open_with(&self->r, &trigger, 1));
	ASSERT_EQ(0, st_record_get(&plain, &state));
	before = state.memory;
	ASSERT_EQ(0, st_record_get(&self->r, &state));
	EXPECT_LT(before + (64 << 10), state.memory);
	EXPECT_GT(before + (1 << 20), state.memory);
	st_record_close(&plain);
}

#define STOCK		32	/* tasks that get memory until the work makes more */
#define APART		128	/* PIDs, so that each task needs memory of its own */

/* Forks more children than two stocks are for, because the work may come once meanwhile. */
static int fork_apart(void *arg)
{
	unsigned int i;
	char text[16];

	(void)arg;
	for (i = 0; i < 2 * STOCK + 6; i++) {
		snprintf(text, sizeof(text), "%u", 2000 + i * APART);
		st_write_file("/proc/sys/kernel/ns_last_pid", text);
		if (!fork()) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			pause();
			_exit(0);
		}
	}
	st_gate();
	return 0;
}

static uint64_t memory_of(struct st_record *r)
{
	struct schedtape_session_state state = { .size = sizeof(state) };

	return st_record_get(r, &state) ? 0 : state.memory;
}

static uint64_t missed_by(struct st_record *r)
{
	struct schedtape_session_state state = { .size = sizeof(state) };

	return st_record_get(r, &state) ? UINT64_MAX : state.missed_waits;
}

/* The work makes memory for 32 tasks a second, also if limits are long. */
TEST_F_TIMEOUT(triggers, missed_waits, 120)
{
	const struct schedtape_trigger trigger = TRIGGER(LATENCY, 0, STAPE_TRIGGER_TIME_MAX);
	const struct schedtape_trigger rate = TRIGGER(RATE, 0, STAPE_TRIGGER_RATE_MAX);
	uint64_t end = st_now() + ARRIVES * MS, more;

	ASSERT_EQ(0, open_with(&self->r, &trigger, 1));
	ASSERT_EQ(0, open_with(&self->other, &rate, 1));
	ASSERT_EQ(0, st_child_fork(&self->w[0], -1, fork_apart, NULL));
	ASSERT_EQ(0, st_record_add(&self->r, self->w[0].pid));
	ASSERT_EQ(0, st_record_add(&self->other, self->w[0].pid));
	ASSERT_EQ(0, st_record_start(&self->r));
	ASSERT_EQ(0, st_record_start(&self->other));
	more = memory_of(&self->r) + STOCK / 2 * APART * sizeof(uint64_t);
	ASSERT_TRUE(st_child_step(&self->w[0]));
	EXPECT_LT(0, missed_by(&self->r));
	/* A rate needs no such memory. */
	EXPECT_EQ(0, missed_by(&self->other));
	while (memory_of(&self->r) < more && st_now() < end)
		st_sleep_often(10);
	EXPECT_LE(more, memory_of(&self->r));
}

/* -- wrong requests ---------------------------------------------------------- */

static void put(unsigned char *nest, size_t *used, uint16_t type, const void *data, size_t size)
{
	struct nlattr attr = { NLA_HDRLEN + size, type };

	memcpy(nest + *used, &attr, sizeof(attr));
	memcpy(nest + *used + NLA_HDRLEN, data, size);
	*used += NLA_ALIGN(NLA_HDRLEN + size);
}

/* Adds a trigger to a request; values of 0, and NULL, are left out. */
static void add_trigger(struct st_request *q, uint32_t kind, uint64_t limit, uint32_t pid,
			const char *comm)
{
	unsigned char nest[160] = { 0 };
	size_t used = 0;

	if (kind)
		put(nest, &used, STAPE_A_TRIGGER_KIND, &kind, sizeof(kind));
	if (limit)
		put(nest, &used, STAPE_A_TRIGGER_LIMIT, &limit, sizeof(limit));
	if (pid)
		put(nest, &used, STAPE_A_TRIGGER_PID, &pid, sizeof(pid));
	if (comm)
		put(nest, &used, STAPE_A_TRIGGER_COMM, comm, strlen(comm) + 1);
	st_request_add(q, STAPE_A_SESSION_TRIGGER | NLA_F_NESTED, nest, used);
}

static void begin(struct st_request *q, const struct st_record *r)
{
	st_request_init(q, STAPE_CMD_SESSION_SET);
	st_request_add_u32(q, STAPE_A_SESSION_ID, schedtape_session_id(r->session));
	st_request_add_u32(q, STAPE_A_SESSION_RING_PAGES, 4);
}

TEST_F(triggers, wrong_requests)
{
	static const struct {
		uint32_t kind;
		uint64_t limit;
		uint32_t pid;
		const char *comm;
		int ret;
		const char *words;
	} wrong[] = {
		{ 0, 1, 0, NULL, -EINVAL, "kind that is not known" },
		{ STAPE_TRIGGER_RATE + 1, 1, 0, NULL, -EINVAL, "kind that is not known" },
		{ STAPE_TRIGGER_LATENCY, 0, 0, NULL, -EINVAL, "without a limit, or with 0" },
		{ STAPE_TRIGGER_BURST, STAPE_TRIGGER_TIME_MAX + 1, 0, NULL, -EINVAL,
		  "at most a day" },
		{ STAPE_TRIGGER_RATE, STAPE_TRIGGER_RATE_MAX + 1, 0, NULL, -EINVAL,
		  "10^9 a second" },
		{ STAPE_TRIGGER_RATE, 1, 1, NULL, -EINVAL, "all tasks of the session" },
		{ STAPE_TRIGGER_RATE, 1, 0, "web", -EINVAL, "all tasks of the session" },
		{ STAPE_TRIGGER_BLOCKED, 1, 0,
		  "****************************************************************", -EINVAL, "" },
		{ STAPE_TRIGGER_BLOCKED, 1, 4194303, NULL, -ESRCH, "no such process or thread" },
		{ STAPE_TRIGGER_BLOCKED, 1, 4194304, NULL, -ERANGE, "" },
	};
	struct st_request q;
	unsigned int i;

	ASSERT_EQ(0, st_record_open(&self->r, 0));
	for (i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		begin(&q, &self->r);
		add_trigger(&q, wrong[i].kind, wrong[i].limit, wrong[i].pid, wrong[i].comm);
		EXPECT_EQ(wrong[i].ret, st_request(&q));
		EXPECT_TRUE(st_request_says(&q, wrong[i].words));
		EXPECT_LT(0, q.offset);
	}
	/* Not a nest, and a nest with what only a notification has. */
	begin(&q, &self->r);
	st_request_add_u32(&q, STAPE_A_SESSION_TRIGGER, 1);
	EXPECT_EQ(-EINVAL, st_request(&q));
	begin(&q, &self->r);
	for (i = 0; i < STAPE_TRIGGERS_MAX + 1; i++)
		add_trigger(&q, STAPE_TRIGGER_LATENCY, 1000, 0, NULL);
	EXPECT_EQ(-E2BIG, st_request(&q));
	EXPECT_TRUE(st_request_says(&q, "more triggers than"));
	/* The session is still as it was. */
	begin(&q, &self->r);
	for (i = 0; i < STAPE_TRIGGERS_MAX; i++)
		add_trigger(&q, STAPE_TRIGGER_LATENCY + i % 4, STAPE_TRIGGER_RATE_MAX, 0, NULL);
	EXPECT_EQ(0, st_request(&q));
	EXPECT_EQ(STAPE_TRIGGERS_MAX, fired(&self->r).n);
}

/* A user without the right gives no session triggers. */
TEST_F(triggers, without_the_right)
{
	struct st_request q;
	int status;
	pid_t pid;

	ASSERT_EQ(0, st_record_open(&self->r, 0));
	pid = fork();
	if (!pid) {
		if (st_become_nobody(0))
			_exit(1);
		begin(&q, &self->r);
		add_trigger(&q, STAPE_TRIGGER_LATENCY, 1000, 0, NULL);
		_exit(st_request(&q) == -EPERM ? 0 : 2);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
}

/* -- unloading --------------------------------------------------------------- */

TEST_F_TIMEOUT(triggers, unload, 120)
{
	const struct schedtape_trigger trigger = TRIGGER(LATENCY, 0, 1);
	const char *path = getenv("SCHEDTAPE_KO");

	if (!path)
		SKIP(return, "SCHEDTAPE_KO does not say which module to load again");
	self->order->times = 100;
	ASSERT_EQ(0, open_with(&self->r, &trigger, 1));
	ASSERT_EQ(0, st_record_child(&self->r, &self->w[0], -1, sleep_often, self->order));
	ASSERT_TRUE(st_child_step(&self->w[0]));
	/* The child has the session's file, too. */
	st_child_kill(&self->w[0]);
	/* Notifications may be on their way. */
	st_record_close(&self->r);
	ASSERT_EQ(0, st_module_unload());
	ASSERT_EQ(0, st_module_load(path));
	ASSERT_EQ(0, open_with(&self->r, &trigger, 1));
}

TEST_HARNESS_MAIN
