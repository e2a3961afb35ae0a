// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: changes of policy, nice value and priority, by any task: each is recorded once,
 * and nothing else is.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <kselftest_harness.h>

#include "attributes.h"
#include "child.h"
#include "invariants.h"
#include "prio.h"
#include "record.h"
#include "request.h"
#include "task.h"

#define PAGES 256

FIXTURE(prio)
{
	struct st_record r;
	struct st_child w[2];
	void *shared;
};

FIXTURE_SETUP(prio)
{
	self->shared = st_share(65536);
	ASSERT_EQ(0, st_record_open(&self->r, PAGES));
}

ST_TEARDOWN(prio)

#define DEADLINE_POLICY	6

/* @runtime in each 100 ms. */
static int set_deadline(uint64_t runtime)
{
	return st_attributes_set((struct st_attributes){
		.policy = DEADLINE_POLICY, .runtime = runtime,
		.deadline = 100000000, .period = 100000000,
	});
}

/* -- by the task itself ------------------------------------------------------------------ */

enum call { NICE, POLICY, NICE_AND_POLICY, DEADLINE };

/* Changes in this order; @event: the event that the change causes, if any. */
static const struct change {
	enum call call;
	int policy, value;
	int error;
	bool told;
	struct st_prio event;
} changes[] = {
	{ NICE, 0, 5, 0, true, { SCHED_OTHER, 5, 0, 125, false } },
	{ NICE, 0, 5, 0, false, { 0 } },
	{ POLICY, SCHED_BATCH, 0, 0, true, { SCHED_BATCH, 5, 0, 125, false } },
	{ POLICY, SCHED_BATCH, 0, 0, false, { 0 } },
	{ POLICY, SCHED_FIFO, 10, 0, true, { SCHED_FIFO, 5, 10, 89, false } },
	{ POLICY, SCHED_FIFO | SCHED_RESET_ON_FORK, 10, 0, false, { 0 } },
	{ POLICY, SCHED_FIFO, 20, 0, true, { SCHED_FIFO, 5, 20, 79, false } },
	{ POLICY, SCHED_FIFO, 100, EINVAL, false, { 0 } },
	{ POLICY, SCHED_RR, 20, 0, true, { SCHED_RR, 5, 20, 79, false } },
	{ NICE, 0, 7, 0, true, { SCHED_RR, 7, 20, 79, false } },
	{ POLICY, SCHED_OTHER, 0, 0, true, { SCHED_OTHER, 7, 0, 127, false } },
	{ NICE_AND_POLICY, SCHED_OTHER, -3, 0, true, { SCHED_OTHER, -3, 0, 117, false } },
	{ POLICY, SCHED_IDLE, 0, 0, true, { SCHED_IDLE, -3, 0, 117, false } },
	{ NICE, 0, -1, 0, true, { SCHED_IDLE, -1, 0, 119, false } },
	{ DEADLINE, 0, 0, 0, true, { DEADLINE_POLICY, -1, 0, -1, false } },
	{ POLICY, SCHED_OTHER, 0, 0, true, { SCHED_OTHER, -1, 0, 119, false } },
};

#define CHANGES	(sizeof(changes) / sizeof(changes[0]))

static int make_change(const struct change *c)
{
	int ret = -1;

	switch (c->call) {
	case NICE:
		ret = setpriority(PRIO_PROCESS, 0, c->value);
		break;
	case POLICY:
		ret = st_set_policy(0, c->policy, c->value);
		break;
	case NICE_AND_POLICY:
		ret = st_attributes_set((struct st_attributes){
			.policy = c->policy, .nice = c->value,
		});
		break;
	case DEADLINE:
		ret = set_deadline(1000000);
	}
	return ret ? errno : 0;
}

struct stamps {
	uint64_t before[CHANGES], after[CHANGES];
	int error[CHANGES];
};

static int change_all(void *arg)
{
	struct stamps *stamps = arg;
	size_t i;

	for (i = 0; i < CHANGES; i++) {
		stamps->before[i] = st_now();
		stamps->error[i] = make_change(&changes[i]);
		stamps->after[i] = st_now();
	}
	return 0;
}

/* Counts the events within the call, and those among them that are as expected (@right). */
static unsigned int events_of(const struct st_record *r, pid_t pid, const struct stamps *stamps,
			      size_t change, unsigned int *right)
{
	unsigned int n = 0;
	size_t i;

	*right = 0;
	for (i = 0; i < r->n; i++) {
		const struct schedtape_event *ev = &r->events[i];

		if (ev->type != STAPE_EV_PRIO || ev->time < stamps->before[change] ||
		    ev->time > stamps->after[change])
			continue;
		n++;
		*right += st_prio_is(ev, changes[change].event) && ev->pid == (uint32_t)pid;
	}
	return n;
}

/* Each event is within the call that causes it. */
TEST_F(prio, own_changes)
{
	struct st_prio expected[CHANGES];
	unsigned int all, right;
	size_t i, n = 0;

	ASSERT_EQ(0, st_record_child(&self->r, &self->w[0], -1, change_all, self->shared));
	ASSERT_TRUE(st_child_step(&self->w[0]));
	ASSERT_EQ(0, st_record_finish(&self->r));
	EXPECT_EQ(NULL, st_check(&self->r, &self->w[0].pid, 1));
	for (i = 0; i < CHANGES; i++) {
		EXPECT_EQ(changes[i].error, ((struct stamps *)self->shared)->error[i]) {
			TH_LOG("change %zu", i);
		}
		all = events_of(&self->r, self->w[0].pid, self->shared, i, &right);
		EXPECT_EQ(changes[i].told, right) {
			TH_LOG("change %zu: %u events", i, all);
		}
		if (changes[i].told)
			expected[n++] = changes[i].event;
	}
	EXPECT_EQ(NULL, st_prio_compare(&self->r, self->w[0].pid, expected, n));
}

/* -- by other tasks ---------------------------------------------------------------------- */

struct others {
	pid_t sibling;		/* a thread of the same process */
	pid_t stranger;		/* another process, in the filter or not */
};

static void *sleep_in_thread(void *arg)
{
	*(pid_t *)arg = gettid();
	pause();
	return NULL;
}

static int change_others(void *arg)
{
	volatile struct others *others = arg;
	pthread_t thread;

	if (pthread_create(&thread, NULL, sleep_in_thread, arg))
		return 1;
	while (!others->sibling)
		usleep(1000);
	st_gate();
	if (st_set_policy(others->sibling, SCHED_FIFO, 3) ||
	    setpriority(PRIO_PROCESS, others->sibling, 4) ||
	    st_set_policy(others->stranger, SCHED_BATCH, 0) ||
	    setpriority(PRIO_PGRP, others->stranger, 6))
		return 1;
	return 0;
}

static int just_sleep(void *arg)
{
	(void)arg;
	return 0;
}

static const struct st_prio sibling_changes[] = {
	{ SCHED_FIFO, 0, 3, 96, false },
	{ SCHED_FIFO, 4, 3, 96, false },
	{ SCHED_OTHER, 4, 0, 124, false },
};

static const struct st_prio stranger_changes[] = {
	{ SCHED_BATCH, 0, 0, 120, false },
	{ SCHED_BATCH, 6, 0, 126, false },
};

static void change_both(struct __test_metadata *_metadata, FIXTURE_DATA(prio) *self, int recorded)
{
	struct others *others = self->shared;
	pid_t roots[3];

	ASSERT_EQ(0, st_child_fork(&self->w[1], -1, just_sleep, NULL));
	ASSERT_EQ(0, st_child_fork(&self->w[0], -1, change_others, others));
	others->stranger = self->w[1].pid;
	ASSERT_TRUE(st_child_step(&self->w[0]));
	ASSERT_EQ(0, st_record_start_with(&self->r, self->w, recorded));
	ASSERT_TRUE(st_child_step(&self->w[0]));
	/* By the recorder, which has no identity. */
	ASSERT_EQ(0, st_set_policy(others->sibling, SCHED_OTHER, 0));
	ASSERT_EQ(0, st_set_policy(others->sibling, SCHED_OTHER, 0));
	ASSERT_EQ(0, st_record_finish(&self->r));
	roots[0] = self->w[0].pid;
	roots[1] = others->sibling;
	roots[2] = self->w[1].pid;
	EXPECT_EQ(0, st_foreign(&self->r, roots, recorded + 1));
	EXPECT_EQ(NULL, st_check(&self->r, roots, recorded + 1));
	EXPECT_PRIOS(&self->r, others->sibling, sibling_changes);
}

TEST_F(prio, changes_of_others)
{
	change_both(_metadata, self, 2);
	EXPECT_PRIOS(&self->r, self->w[1].pid, stranger_changes);
}

TEST_F(prio, changes_of_strangers)
{
	change_both(_metadata, self, 1);
}

/* Tasks are described with their attributes when they come into the filter. */
TEST_F(prio, described)
{
	static const struct st_prio is_now[] = {
		{ SCHED_OTHER, 3, 0, 123, false },
		{ SCHED_RR, 0, 5, 94, false },
	};
	size_t at, i;

	for (i = 0; i < 2; i++)
		ASSERT_EQ(0, st_child_fork(&self->w[i], -1, just_sleep, NULL));
	ASSERT_EQ(0, setpriority(PRIO_PROCESS, self->w[0].pid, 3));
	ASSERT_EQ(0, st_set_policy(self->w[1].pid, SCHED_RR, 5));
	ASSERT_EQ(0, st_record_start(&self->r));
	for (i = 0; i < 2; i++)
		ASSERT_EQ(0, st_record_add(&self->r, self->w[i].pid));
	ASSERT_EQ(0, st_record_finish(&self->r));
	for (i = 0; i < 2; i++) {
		at = st_find_why(&self->r, self->w[i].pid, STAPE_TASK_ENTERS, 0);
		ASSERT_LT(at, self->r.n);
		EXPECT_TRUE(st_prio_is(&self->r.events[at], is_now[i]));
	}
}

/* -- children that do not inherit them ----------------------------------------------------- */

static int fork_one(void *arg)
{
	pid_t pid;

	if (setpriority(PRIO_PROCESS, 0, 5) ||
	    st_set_policy(0, SCHED_FIFO | SCHED_RESET_ON_FORK, 10))
		return 1;
	pid = fork();
	if (!pid)
		_exit(0);
	*(pid_t *)arg = pid;
	return waitpid(pid, NULL, 0) != pid;
}

/* Readers assume that a child inherits its parent's attributes unless an event says otherwise. */
TEST_F(prio, reset_on_fork)
{
	static const struct st_prio parents[] = {
		{ SCHED_OTHER, 5, 0, 125, false },
		{ SCHED_FIFO, 5, 10, 89, false },
	};
	static const struct st_prio of_child[] = { { SCHED_OTHER, 0, 0, 120, false } };
	const pid_t *child = self->shared;

	ASSERT_EQ(0, st_record_child(&self->r, &self->w[0], -1, fork_one, self->shared));
	ASSERT_TRUE(st_child_step(&self->w[0]));
	ASSERT_EQ(0, st_record_finish(&self->r));
	EXPECT_EQ(NULL, st_check(&self->r, &self->w[0].pid, 1));
	EXPECT_PRIOS(&self->r, self->w[0].pid, parents);
	ASSERT_LT(0, *child);
	EXPECT_PRIOS(&self->r, *child, of_child);
}

/* -- slices and utilization clamps --------------------------------------------------------- */

#define MS	1000000

static int set_wishes(uint64_t slice, int clamp_min)
{
	return st_attributes_set((struct st_attributes){
		.runtime = slice, .flags = clamp_min < 0 ? 0 : ST_CLAMPS,
		.clamp_min = clamp_min, .clamp_max = -1,
	});
}

struct wishes {
	pid_t child;
	bool slices, clamps;
};

/* The last change takes the slice away again. */
static int make_wishes(void *arg)
{
	struct wishes *wishes = arg;
	pid_t child;

	if (set_wishes(20 * MS, -1))
		return 1;
	wishes->slices = st_has_slice(20 * MS);
	child = fork();
	if (!child)
		_exit(set_wishes(50 * MS, -1) || prctl(PR_SET_TIMERSLACK, 123456));
	wishes->child = child;
	if (waitpid(child, NULL, 0) != child)
		return 1;
	wishes->clamps = !set_wishes(20 * MS, 512);
	return set_wishes(20 * MS, -1) || set_wishes(0, -1);
}

/* Finds the next PRIO of a task, which must have this slice and lower clamp. */
static size_t expect_wish(struct __test_metadata *_metadata, const struct st_record *r, pid_t pid,
			  size_t at, uint64_t slice, int clamp_min)
{
	while (at < r->n && (r->events[at].type != STAPE_EV_PRIO || r->events[at].pid != pid))
		at++;
	EXPECT_LT(at, r->n);
	if (at == r->n)
		return at;
	EXPECT_EQ(slice, r->events[at].wish.slice);
	EXPECT_EQ(clamp_min, schedtape_clamp_min(&r->events[at].wish));
	EXPECT_EQ(-1, schedtape_clamp_max(&r->events[at].wish));
	return at + 1;
}

TEST_F(prio, slices_and_clamps)
{
	const struct wishes *wishes = self->shared;
	unsigned int n = 0;
	size_t at = 0, i;
	pid_t pid;

	ASSERT_EQ(0, st_record_child(&self->r, &self->w[0], -1, make_wishes, self->shared));
	pid = self->w[0].pid;
	ASSERT_TRUE(st_child_step(&self->w[0]));
	ASSERT_EQ(0, st_record_finish(&self->r));
	EXPECT_EQ(NULL, st_check(&self->r, &pid, 1));
	if (wishes->slices) {
		at = expect_wish(_metadata, &self->r, pid, at, 20 * MS, -1);
		/* The child inherits it, so that its own change is the first event. */
		expect_wish(_metadata, &self->r, wishes->child, 0, 50 * MS, -1);
	}
	if (wishes->clamps)
		at = expect_wish(_metadata, &self->r, pid, at, wishes->slices * 20 * MS, 512);
	/* A change of the timer slack has no event. */
	i = st_find_why(&self->r, wishes->child, STAPE_TASK_EXITS, 0);
	ASSERT_LT(i, self->r.n);
	EXPECT_EQ(123457, self->r.events[i].wish.slack);
	/* Without the flag, the clamp stays. */
	if (wishes->slices)
		expect_wish(_metadata, &self->r, pid, at, 0, wishes->clamps ? 512 : -1);
	for (i = 0; i < self->r.n; i++)
		n += self->r.events[i].type == STAPE_EV_PRIO;
	EXPECT_EQ(wishes->slices * 3 + wishes->clamps, n);
}

/* -- many at a time ---------------------------------------------------------------------- */

#define CROWD	100
#define TURNS	12

static void *change_often(void *arg)
{
	int i;

	pthread_barrier_wait(arg);
	for (i = 0; i < TURNS; i++)
		if (st_set_policy(0, i & 1 ? SCHED_OTHER : SCHED_BATCH, 0))
			_exit(1);
	return NULL;
}

static int change_in_crowd(void *arg)
{
	pthread_barrier_t barrier;
	pthread_t threads[CROWD];
	int i;

	(void)arg;
	pthread_barrier_init(&barrier, NULL, CROWD);
	for (i = 0; i < CROWD; i++)
		if (pthread_create(&threads[i], NULL, change_often, &barrier))
			return 1;
	for (i = 0; i < CROWD; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

TEST_F_TIMEOUT(prio, crowd, 60)
{
	unsigned int told = 0;
	size_t i;

	ASSERT_EQ(0, st_record_child(&self->r, &self->w[0], -1, change_in_crowd, NULL));
	ASSERT_TRUE(st_child_step(&self->w[0]));
	ASSERT_EQ(0, st_record_finish(&self->r));
	EXPECT_EQ(0, self->r.lost);
	for (i = 0; i < self->r.n; i++)
		told += self->r.events[i].type == STAPE_EV_PRIO && !self->r.events[i].boosted;
	/* On PREEMPT_RT the kernel's own locks give back what they have lent. */
	EXPECT_LE(CROWD * TURNS, told);
	if (!st_rt_kernel())
		EXPECT_EQ(CROWD * TURNS, told);
}

/* -- changes during task-get --------------------------------------------------------------- */

#define TOLD	3000

static int change_policy(void *arg)
{
	volatile bool *enough = arg;

	while (!*enough)
		if (set_deadline(50000000) || st_set_policy(0, SCHED_OTHER, 0))
			return 1;
	return 0;
}

/* Deadline attributes are there exactly if the policy is SCHED_DEADLINE. */
static void count_right(struct nlattr **attrs, void *arg)
{
	bool has = st_attr_u32(attrs[STAPE_A_TASK_POLICY]) == DEADLINE_POLICY;
	unsigned int *right = arg;

	*right += has == !!attrs[STAPE_A_TASK_DL_RUNTIME] &&
		  has == !!attrs[STAPE_A_TASK_DL_PERIOD];
}

TEST_F_TIMEOUT(prio, told_of_while_it_changes, 60)
{
	struct st_request q = { 0 };
	bool *enough = self->shared;
	unsigned int i, right = 0;

	st_request_init(&q, STAPE_CMD_TASK_GET);
	st_request_add_u32(&q, STAPE_A_TASK_SESSION, schedtape_session_id(self->r.session));
	q.flags = NLM_F_DUMP;
	q.each = count_right;
	q.arg = &right;
	ASSERT_EQ(0, st_child_fork(&self->w[0], -1, change_policy, enough));
	ASSERT_EQ(0, st_record_add(&self->r, self->w[0].pid));
	st_child_go(&self->w[0]);
	for (i = 0; i < TOLD; i++)
		ASSERT_EQ(0, st_request(&q));
	*enough = true;
	/*
	 * A task may use up its runtime while it leaves SCHED_DEADLINE.  If it returns after its
	 * timer has fired, the kernel takes it for throttled and never runs it again, because
	 * dl_task_timer() ignores a task of another policy.  A further change of policy frees it.
	 */
	EXPECT_EQ(0, st_set_policy(self->w[0].pid, SCHED_OTHER, 0));
	EXPECT_TRUE(st_child_settled(&self->w[0]));
	EXPECT_EQ(TOLD, right);
}

TEST_HARNESS_MAIN
