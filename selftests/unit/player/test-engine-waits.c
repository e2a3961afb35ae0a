// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: waits in the engine without the module: it ends them, measures them from the
 * right time, and lets wakers yield for wakees.
 *
 * The test defines sched_yield(), so that it counts how often a waker yields.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "engines.h"
#include "tap.h"

static unsigned int yields;
static int policy;

int sched_yield(void)
{
	yields++;
	return 0;
}

int sched_getscheduler(pid_t pid)
{
	(void)pid;
	return policy;
}

static uint64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

/* Two players; edge n wakes player n. */
static void create(double speed)
{
	static const uint32_t edges[] = { 0, 1 };

	if (schedtape_engine_create(2, 2, edges, 2, speed * STAPE_REPLAY_SPEED_ONE, &engine, NULL))
		abort();
}

/**
 * struct waiter - player 0, in a thread that waits once
 * @tid: TID of the thread
 * @ret: result of the wait
 * @returned: time of its return
 */
struct waiter {
	pthread_t thread;
	uint32_t wait;
	uint64_t value;
	pid_t tid;
	int ret;
	uint64_t returned;
};

static void *wait_once(void *arg)
{
	struct waiter *waiter = arg;

	__atomic_store_n(&waiter->tid, gettid(), __ATOMIC_SEQ_CST);
	waiter->ret = schedtape_engine_join(engine, 0, 0);
	if (!waiter->ret)
		waiter->ret = step(0, NOBODY, waiter->wait, waiter->value);
	waiter->returned = now();
	return NULL;
}

static bool sleeps(pid_t tid)
{
	char path[64], letter = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
	file = fopen(path, "r");
	if (!file || fscanf(file, "%*d (%*[^)]) %c", &letter) != 1)
		letter = 0;
	if (file)
		fclose(file);
	return letter == 'S';
}

/* Starts the thread, and returns when it sleeps in its wait. */
static void start_waiter(struct waiter *waiter, uint32_t wait, uint64_t value)
{
	*waiter = (struct waiter) { .wait = wait, .value = value };
	if (pthread_create(&waiter->thread, NULL, wait_once, waiter))
		abort();
	while (!state().waiting || !sleeps(waiter->tid))
		usleep(1000);
}

/* Joins within 20 s, the length of a wait that nothing ends. */
static bool join_waiter(struct waiter *waiter)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += 20;
	if (!pthread_timedjoin_np(waiter->thread, NULL, &until))
		return true;
	ok(false, "the wait ends");
	exit(tap_done());
}

TEST(stop)
{
	struct waiter waiter;

	create(1);
	start_waiter(&waiter, STAPE_WAIT_EDGE, 0);
	schedtape_engine_stop(engine);
	ok(join_waiter(&waiter) && waiter.ret == -ECANCELED, "a stop ends the wait for a waker");
	schedtape_engine_free(engine);

	create(1);
	start_waiter(&waiter, STAPE_WAIT_UNTIL, 0);
	schedtape_engine_stop(engine);
	ok(join_waiter(&waiter) && waiter.ret == -ECANCELED, "a stop ends the wait for the start");
	schedtape_engine_free(engine);
}

/* A player that has ended its program and exited does not count as dead. */
TEST(done)
{
	pid_t pid;

	create(1);
	pid = fork();
	if (!pid) {
		schedtape_engine_join(engine, 0, 0);
		_exit(step(0, NOBODY, STAPE_WAIT_DONE, 0));
	}
	waitpid(pid, NULL, 0);
	ok(state().state == STAPE_REPLAY_READY && state().done == 1,
	   "a player that ended its program is not dead");
	schedtape_engine_free(engine);
}

/* -- times ----------------------------------------------------------------- */

/* A wait that is late by 100 ms has a lag of that, however busy the machine is. */
TEST(until)
{
	struct schedtape_replay_state s;

	create(1);
	schedtape_engine_join(engine, 0, 0);
	schedtape_engine_start(engine, 0);
	usleep(100000);
	step(0, NOBODY, STAPE_WAIT_UNTIL, 1);
	s = state();
	ok(s.lag_max >= 90 * MS, "a timeout counts from the start (lag %llu us)",
	   (unsigned long long)s.lag_max / 1000);
	ok(s.lag_total == s.lag_max, "the first lag is the longest");
	step(0, NOBODY, STAPE_WAIT_FOR, 1);
	ok(state().lag_total >= s.lag_total && state().lag_max >= s.lag_max,
	   "a shorter one leaves that as it is");
	schedtape_engine_free(engine);
}

TEST(early)
{
	struct waiter waiter;
	uint64_t start;

	create(1);
	start_waiter(&waiter, STAPE_WAIT_FOR, 50 * MS);
	/* Long enough that the waiter has begun to wait before, also on a busy host. */
	schedtape_engine_start(engine, 800 * MS);
	start = state().start_time;
	join_waiter(&waiter);
	ok(!waiter.ret && waiter.returned >= start + 50 * MS,
	   "a wait of some length that began before the start counts from the start");
	schedtape_engine_free(engine);
}

TEST(speed)
{
	uint64_t before;

	create(0.1);
	schedtape_engine_join(engine, 0, 0);
	schedtape_engine_start(engine, 0);
	before = now();
	step(0, NOBODY, STAPE_WAIT_FOR, 20 * MS);
	ok(now() - before >= 200 * MS, "at a tenth of the speed a wait is ten times as long");
	schedtape_engine_free(engine);
}

/* -- rendezvous ------------------------------------------------------------ */

static unsigned int yields_of_wake(void)
{
	yields = 0;
	step(1, 0, STAPE_WAIT_NONE, 0);
	return yields;
}

TEST(rendezvous)
{
	struct waiter waiter;

	create(1);
	schedtape_engine_join(engine, 0, 0);
	schedtape_engine_join(engine, 1, 0);
	ok(yields_of_wake(), "a waker yields to a wakee that does not wait yet");
	policy = SCHED_DEADLINE;
	ok(!yields_of_wake(), "but not with a deadline, which a yield would give up");
	policy = SCHED_OTHER;
	step(0, NOBODY, STAPE_WAIT_DONE, 0);
	ok(!yields_of_wake(), "nor to one that has ended its program");
	schedtape_engine_free(engine);

	create(1);
	start_waiter(&waiter, STAPE_WAIT_UNTIL, 0);
	ok(!yields_of_wake(), "nor to one that waits for a time");
	schedtape_engine_start(engine, 0);
	join_waiter(&waiter);
	schedtape_engine_free(engine);

	create(1);
	start_waiter(&waiter, STAPE_WAIT_EDGE, 0);
	ok(!yields_of_wake(), "nor to one that waits for it");
	join_waiter(&waiter);
	ok(!waiter.ret, "which the wake-up ends");
	schedtape_engine_free(engine);

	create(1);
	start_waiter(&waiter, STAPE_WAIT_EDGE, 1);
	ok(yields_of_wake(), "it yields to one that waits for another wake-up");
	schedtape_engine_stop(engine);
	join_waiter(&waiter);
	schedtape_engine_free(engine);
}

TEST_MAIN
