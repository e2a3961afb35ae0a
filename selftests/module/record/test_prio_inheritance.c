// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: priorities that waiters lend: each is recorded once, and nothing else is.
 */
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <sys/resource.h>
#include <unistd.h>

#include <kselftest_harness.h>

#include "child.h"
#include "prio.h"
#include "record.h"
#include "task.h"

#define PAGES 256

FIXTURE(lent)
{
	struct st_record r;
	struct st_child w;
	void *shared;
};

FIXTURE_SETUP(lent)
{
	self->shared = st_share(65536);
	ASSERT_EQ(0, st_record_open(&self->r, PAGES));
}

ST_TEARDOWN(lent)

/* In the child: a thread that takes mutexes at each post of @go. */
struct taker {
	int policy, priority;
	pthread_mutex_t *first, *second;	/* @second: NULL */
	sem_t go;
	volatile bool takes;			/* from now on it only sleeps for a mutex */
	pid_t *tid;
};

static void *take(void *arg)
{
	struct taker *t = arg;

	*t->tid = gettid();
	if (st_set_policy(0, t->policy, t->priority))
		_exit(1);
	if (t->second)
		pthread_mutex_lock(t->first);
	sem_wait(&t->go);
	t->takes = true;
	pthread_mutex_lock(t->second ? t->second : t->first);
	if (t->second)
		pthread_mutex_unlock(t->second);
	pthread_mutex_unlock(t->first);
	return NULL;
}

static bool start_taker(struct taker *t, pthread_t *thread)
{
	sem_init(&t->go, 0, 0);
	if (pthread_create(thread, NULL, take, t))
		return false;
	/* Waits until it sleeps at its semaphore. */
	while (!*t->tid)
		usleep(1000);
	return st_wait_state(*t->tid, 'S');
}

/* Posts @go; returns when the thread sleeps for the mutex. */
static bool let_take(struct taker *t)
{
	sem_post(&t->go);
	while (!t->takes)
		usleep(1000);
	return st_wait_state(*t->tid, 'S');
}

static pthread_mutex_t mutexes[2];

static bool make_mutexes(void)
{
	pthread_mutexattr_t attr;
	int i;

	if (pthread_mutexattr_init(&attr) ||
	    pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT))
		return false;
	for (i = 0; i < 2; i++)
		if (pthread_mutex_init(&mutexes[i], &attr))
			return false;
	return true;
}

/* The thread lends its priority to its leader, whose nice value grows meanwhile. */
static int lend(void *arg)
{
	struct taker taker = {
		.policy = SCHED_FIFO, .priority = 10, .first = &mutexes[0], .tid = arg,
	};
	pthread_t thread;

	if (!make_mutexes() || setpriority(PRIO_PROCESS, 0, 5) || !start_taker(&taker, &thread))
		return 1;
	st_gate();
	pthread_mutex_lock(&mutexes[0]);
	if (!let_take(&taker) || setpriority(PRIO_PROCESS, 0, 9))
		return 1;
	pthread_mutex_unlock(&mutexes[0]);
	pthread_join(thread, NULL);
	return 0;
}

TEST_F(lent, once)
{
	static const struct st_prio leader[] = {
		{ SCHED_OTHER, 5, 0, 89, true },
		{ SCHED_OTHER, 9, 0, 89, true },
		{ SCHED_OTHER, 9, 0, 129, false },
	};
	pid_t *tid = self->shared;

	ASSERT_EQ(0, st_child_fork(&self->w, -1, lend, tid));
	ASSERT_TRUE(st_child_step(&self->w));
	ASSERT_EQ(0, st_record_start_with(&self->r, &self->w, 1));
	ASSERT_TRUE(st_child_step(&self->w));
	ASSERT_EQ(0, st_record_finish(&self->r));
	EXPECT_PRIOS(&self->r, self->w.pid, leader);
	EXPECT_EQ(NULL, st_prio_compare(&self->r, *tid, NULL, 0));
}

/* A waiter with the same or a lower priority lends nothing. */
static int lend_nothing(void *arg)
{
	struct taker taker = { .policy = SCHED_OTHER, .first = &mutexes[0], .tid = arg };
	pthread_t thread;
	int i;

	if (!make_mutexes())
		return 1;
	for (i = 0; i < 2; i++) {
		taker.takes = false;
		*taker.tid = 0;
		if (!start_taker(&taker, &thread))
			return 1;
		if (i && setpriority(PRIO_PROCESS, *taker.tid, 5))
			return 1;
		st_gate();
		pthread_mutex_lock(&mutexes[0]);
		if (!let_take(&taker))
			return 1;
		pthread_mutex_unlock(&mutexes[0]);
		pthread_join(thread, NULL);
	}
	return 0;
}

TEST_F(lent, nothing)
{
	int i;

	ASSERT_EQ(0, st_child_fork(&self->w, -1, lend_nothing, self->shared));
	ASSERT_TRUE(st_child_step(&self->w));
	ASSERT_EQ(0, st_record_start_with(&self->r, &self->w, 1));
	for (i = 0; i < 2; i++)
		ASSERT_TRUE(st_child_step(&self->w));
	ASSERT_EQ(0, st_record_finish(&self->r));
	EXPECT_EQ(NULL, st_prio_compare(&self->r, self->w.pid, NULL, 0));
	if (!st_rt_kernel())
		EXPECT_EQ(1, st_count_type(&self->r, STAPE_EV_PRIO));
}

/* A thread waits for the leader, and another one waits for that thread. */
static int lend_on(void *arg)
{
	struct taker takers[2] = {
		{ .policy = SCHED_FIFO, .priority = 5, .first = &mutexes[1],
		  .second = &mutexes[0], .tid = arg },
		{ .policy = SCHED_FIFO, .priority = 10, .first = &mutexes[1],
		  .tid = (pid_t *)arg + 1 },
	};
	pthread_t threads[2];
	int i;

	if (!make_mutexes())
		return 1;
	for (i = 0; i < 2; i++)
		if (!start_taker(&takers[i], &threads[i]))
			return 1;
	st_gate();
	pthread_mutex_lock(&mutexes[0]);
	for (i = 0; i < 2; i++)
		if (!let_take(&takers[i]))
			return 1;
	pthread_mutex_unlock(&mutexes[0]);
	for (i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

TEST_F(lent, on)
{
	static const struct st_prio leader[] = {
		{ SCHED_OTHER, 0, 0, 94, true },
		{ SCHED_OTHER, 0, 0, 89, true },
		{ SCHED_OTHER, 0, 0, 120, false },
	};
	static const struct st_prio middle[] = {
		{ SCHED_FIFO, 0, 5, 89, true },
		{ SCHED_FIFO, 0, 5, 94, false },
	};
	pid_t *tids = self->shared;

	ASSERT_EQ(0, st_child_fork(&self->w, -1, lend_on, tids));
	ASSERT_TRUE(st_child_step(&self->w));
	ASSERT_EQ(0, st_record_start_with(&self->r, &self->w, 1));
	ASSERT_TRUE(st_child_step(&self->w));
	ASSERT_EQ(0, st_record_finish(&self->r));
	EXPECT_PRIOS(&self->r, self->w.pid, leader);
	EXPECT_PRIOS(&self->r, tids[0], middle);
	EXPECT_EQ(NULL, st_prio_compare(&self->r, tids[1], NULL, 0));
}

TEST_HARNESS_MAIN
