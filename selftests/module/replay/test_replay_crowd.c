// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: what the module does for many players, it does for some at a time. No other task
 * waits longer for the CPU, and no request takes longer, if a replay has ten times as many.
 */
#include <inttypes.h>
#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>

#include "players.h"
#include "prio.h"

#define THREADS_MAX	20
#define STACK		16384

/* -- how long a task of high priority waits for the CPU ------------------------------- */

#define PERIOD		(MS / 50)

static struct watcher {
	pthread_t thread;
	volatile bool begun;
	volatile bool end;
	uint64_t latest;	/* ns */
} watcher;

/* Sleeps for one period after the other, and notes by how much a sleep ended late at most. */
static void *watch(void *arg)
{
	struct watcher *w = arg;
	struct timespec t;
	uint64_t next, now;

	if (st_set_policy(0, SCHED_FIFO, 50))
		return arg;
	w->begun = true;
	while (!w->end) {
		next = st_now() + PERIOD;
		t = (struct timespec){ next / 1000000000, next % 1000000000 };
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
		now = st_now();
		if (now > next + w->latest)
			w->latest = now - next;
	}
	return NULL;
}

static bool watch_begin(void)
{
	unsigned int tries = 1000 * st_patience();

	watcher = (struct watcher){ 0 };
	if (pthread_create(&watcher.thread, NULL, watch, &watcher))
		return false;
	while (!watcher.begun && --tries)
		usleep(1000);
	return watcher.begun;
}

/* Returns the longest wait, ns; 0: there was no watch. */
static uint64_t watch_end(void)
{
	void *failed;

	watcher.end = true;
	return pthread_join(watcher.thread, &failed) || failed ? 0 : watcher.latest;
}

/* -- many players ------------------------------------------------------------------------ */

static uint32_t nr;			/* of processes */
static uint32_t threads;		/* of each */
static volatile uint32_t *wake;		/* futex: shared, so that the test wakes all players */

/* Joins as the next player of this process, and sleeps.  The last one closes the players' file. */
static int play(void *arg)
{
	static uint32_t begun, joined;
	uint32_t first = (uintptr_t)arg;

	if (join(first + __atomic_fetch_add(&begun, 1, __ATOMIC_SEQ_CST)))
		_exit(1);
	if (__atomic_add_fetch(&joined, 1, __ATOMIC_SEQ_CST) == threads)
		close(players);
	while (true)
		syscall(SYS_futex, wake, FUTEX_WAIT, 0, NULL);
	return 0;
}

/* Adds a thread, which costs less than one of the C library. */
static int add_thread(uint32_t number, void *arg)
{
	static char stacks[THREADS_MAX][STACK] __attribute__((aligned(16)));

	return clone(play, stacks[number] + STACK, CLONE_VM | CLONE_FS | CLONE_FILES |
		     CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM, arg);
}

static int be_a_process(uint32_t number)
{
	void *first = (void *)(uintptr_t)(number * threads);
	uint32_t i;

	for (i = 1; i < threads; i++)
		if (add_thread(i, first) < 0)
			_exit(1);
	return play(first);
}

static int be_many(void *arg)
{
	uint32_t i;

	(void)arg;
	munlockall();
	close(session);
	for (i = 0; i < nr; i++)
		if (!fork())
			return be_a_process(i);
	close(players);
	return 0;
}

/* Ends the replay, and opens another session. */
static int another_session(FIXTURE_DATA(replay) *self)
{
	int ret;

	st_child_kill(&self->w[0]);
	st_record_close(&self->r);
	memset(&self->r, 0, sizeof(self->r));
	ret = st_record_open(&self->r, 0);
	self->fd = ret ? -1 : schedtape_session_fd(self->r.session);
	session = self->fd;
	return ret;
}

/* Makes a replay of @n processes, and waits until all have joined. */
static bool play_many(FIXTURE_DATA(replay) *self, uint32_t n, uint32_t each)
{
	unsigned int tries = 3000 * st_patience();

	nr = n;
	threads = each;
	*wake = 0;
	if (setup(self, nr * threads, 0) ||
	    st_child_begin(&self->w[0], -1, be_many, NULL))
		return false;
	while (get(self) && self->state.joined < nr * threads && --tries)
		usleep(20000);
	return self->state.joined == nr * threads && st_child_settled(&self->w[0]);
}

/* Returns how long a request for the state takes, ns. */
static uint64_t request(FIXTURE_DATA(replay) *self)
{
	uint64_t began = st_now();
	unsigned int i;

	for (i = 0; i < 100; i++)
		if (!get(self))
			return 0;
	return (st_now() - began) / 100;
}

struct times {
	uint64_t request;
	uint64_t wait;
};

/*
 * Requests the state with many players, then releases their file, which removes them. They are
 * runnable, so that the kernel has little to do to kill them. They die after the release, because
 * the caller has a higher priority.
 */
static bool release(FIXTURE_DATA(replay) *self, uint32_t n, struct times *times)
{
	bool good;

	if (!play_many(self, n, THREADS_MAX))
		return false;
	times->request = request(self);
	good = !st_set_policy(0, SCHED_FIFO, 40);
	*wake = 1;
	syscall(SYS_futex, wake, FUTEX_WAKE, INT_MAX);
	good = good && watch_begin();
	watcher.latest = 0;
	close(self->setup.fd);
	times->wait = watch_end();
	good = good && !st_set_policy(0, SCHED_OTHER, 0) && get(self) &&
	       self->state.state == STAPE_REPLAY_BROKEN;
	return good && !another_session(self) && times->request && times->wait;
}

TEST_F(replay, requests_and_release)
{
	struct times few, many;

	if (!st_exact())
		SKIP(return, "times are not exact");
	wake = (void *)self->notes;
	ASSERT_TRUE(release(self, 5, &few));
	ASSERT_TRUE(release(self, 50, &many));
	TH_LOG("a request: %" PRIu64 " and %" PRIu64 " ns, a wait: %" PRIu64 " and %" PRIu64 " ns",
	       few.request, many.request, few.wait, many.wait);
	EXPECT_GE(few.request * 9 / 8, many.request);
	EXPECT_GE(few.wait * 2, many.wait);
}

/* -- pins --------------------------------------------------------------------------------- */

/* Returns the longest wait while the module looks each second at @n pins; 0: failed. */
static uint64_t look_at_pins(FIXTURE_DATA(replay) *self, uint32_t n)
{
	uint64_t wait;

	if (!play_many(self, n, 2) || start(self, 0))
		return 0;
	/* All else that new processes have caused comes to rest. */
	usleep(300000);
	if (!watch_begin())
		return 0;
	usleep(1100000);
	wait = watch_end();
	if (!get(self) || self->state.state != STAPE_REPLAY_RUNNING)
		return 0;
	close(self->setup.fd);
	return another_session(self) ? 0 : wait;
}

TEST_F(replay, pins)
{
	uint64_t few, many;

	if (!st_exact())
		SKIP(return, "times are not exact");
	wake = (void *)self->notes;
	few = look_at_pins(self, 80);
	many = look_at_pins(self, 800);
	TH_LOG("a wait: %" PRIu64 " and %" PRIu64 " ns", few, many);
	ASSERT_NE(0, few);
	ASSERT_NE(0, many);
	EXPECT_GE(few * 2, many);
}

TEST_HARNESS_MAIN
