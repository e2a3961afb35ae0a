// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: a recorded CPU goes offline and comes back: no event is lost, and its events can
 * be read, even while it is offline.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include <kselftest_harness.h>

#include "caps.h"
#include "child.h"
#include "invariants.h"
#include "record.h"
#include "task.h"

#define CPU1	"/sys/devices/system/cpu/cpu1/online"
#define PAGES	2048

/* Work that the tasks of the load have done, together. */
struct done {
	unsigned int stop;
	unsigned int renames;
	unsigned int forks;
	unsigned int on_cpu1;	/* looks at the own CPU that found CPU 1 */
};

FIXTURE(hotplug)
{
	struct st_record r;
	struct st_child w;
	struct st_counts c;
	struct done *done;
	bool off;
};

static bool switch_cpu(FIXTURE_DATA(hotplug) *self, bool on)
{
	if (!st_write_file(CPU1, on ? "1" : "0"))
		return false;
	self->off = !on;
	return true;
}

static int open_with_watermark(struct st_record *r)
{
	struct schedtape_session_options options = {
		.ring_bytes = PAGES * STAPE_PAGE_SIZE,
		.watermark = 1,
	};

	return st_record_open_with(r, options);
}

FIXTURE_SETUP(hotplug)
{
	if (!switch_cpu(self, false))
		SKIP(return, "CPU 1 cannot go offline: %s", strerror(errno));
	ASSERT_TRUE(switch_cpu(self, true));
	self->done = st_share(4096);
	ASSERT_EQ(0, open_with_watermark(&self->r));
}

FIXTURE_TEARDOWN(hotplug)
{
	if (self->off)
		switch_cpu(self, true);
	st_child_kill(&self->w);
	st_record_close(&self->r);
}

/* A bit of everything: a rename, a sleep, CPU time, a fork. */
static void work(struct done *done)
{
	struct timespec t = { .tv_nsec = 300000 };
	pid_t pid;

	prctl(PR_SET_NAME, "renamed");
	__atomic_add_fetch(&done->renames, 1, __ATOMIC_SEQ_CST);
	nanosleep(&t, NULL);
	if (sched_getcpu() == 1)
		__atomic_add_fetch(&done->on_cpu1, 1, __ATOMIC_SEQ_CST);
	st_burn(300000);
	pid = fork();
	if (!pid)
		_exit(0);
	__atomic_add_fetch(&done->forks, 1, __ATOMIC_SEQ_CST);
	waitpid(pid, NULL, 0);
}

/* Three processes, on any CPU. */
static int load(void *arg)
{
	struct done *done = arg;
	int i;

	munlockall();
	for (i = 0; i < 3; i++) {
		pid_t pid = fork();

		if (pid) {
			__atomic_add_fetch(&done->forks, 1, __ATOMIC_SEQ_CST);
			continue;
		}
		while (!__atomic_load_n(&done->stop, __ATOMIC_SEQ_CST))
			work(done);
		_exit(0);
	}
	while (wait(NULL) > 0)
		;
	return 0;
}

static bool start(FIXTURE_DATA(hotplug) *self)
{
	if (st_record_child(&self->r, &self->w, -1, load, self->done))
		return false;
	st_child_go(&self->w);
	return true;
}

/* Waits until the load has done more work, however long that takes. */
static void wait_for_work(FIXTURE_DATA(hotplug) *self)
{
	unsigned int until = __atomic_load_n(&self->done->renames, __ATOMIC_SEQ_CST) + 30;

	while (__atomic_load_n(&self->done->renames, __ATOMIC_SEQ_CST) < until)
		usleep(1000);
}

/* Waits until the load has done work, some of it on CPU 1. */
static void wait_for_cpu1(FIXTURE_DATA(hotplug) *self)
{
	unsigned int before = __atomic_load_n(&self->done->on_cpu1, __ATOMIC_SEQ_CST);

	do {
		wait_for_work(self);
	} while (__atomic_load_n(&self->done->on_cpu1, __ATOMIC_SEQ_CST) == before);
}

static bool end_load(FIXTURE_DATA(hotplug) *self)
{
	__atomic_store_n(&self->done->stop, 1, __ATOMIC_SEQ_CST);
	return st_child_settled(&self->w) && st_record_wait_tasks(&self->r, 1);
}

static unsigned int events_on(const struct st_record *r, uint32_t cpu)
{
	unsigned int n = 0;
	size_t i;

	for (i = 0; i < r->n; i++)
		n += r->events[i].cpu == cpu;
	return n;
}

TEST_F_TIMEOUT(hotplug, nothing_is_lost, 140)
{
	unsigned int on_it = 0;
	int round;

	ASSERT_TRUE(start(self));
	for (round = 0; round < 4; round++) {
		wait_for_cpu1(self);
		ASSERT_TRUE(switch_cpu(self, false));
		wait_for_work(self);
		/* The CPU's earlier events can be read, and no later ones come. */
		ASSERT_EQ(0, st_record_flush(&self->r));
		EXPECT_LT(on_it, events_on(&self->r, 1));
		on_it = events_on(&self->r, 1);
		wait_for_work(self);
		ASSERT_EQ(0, st_record_flush(&self->r));
		EXPECT_EQ(on_it, events_on(&self->r, 1));
		ASSERT_TRUE(switch_cpu(self, true));
	}
	wait_for_cpu1(self);
	ASSERT_TRUE(end_load(self));
	ASSERT_EQ(0, st_record_finish(&self->r));
	EXPECT_LT(on_it, events_on(&self->r, 1));
	EXPECT_EQ(0, self->r.lost);
	EXPECT_EQ(self->done->renames, st_count_type(&self->r, STAPE_EV_RENAME));
	EXPECT_EQ(self->done->forks, st_count_type(&self->r, STAPE_EV_FORK));
	EXPECT_EQ(self->done->forks, st_count_type(&self->r, STAPE_EV_EXIT));
	EXPECT_EQ(0, st_foreign(&self->r, &self->w.pid, 1));
	EXPECT_EQ(NULL, st_check(&self->r, &self->w.pid, 1));
}

/* The filter changes and the session pauses while the CPU is offline; the session ends then. */
TEST_F_TIMEOUT(hotplug, without_it, 140)
{
	struct schedtape_filter filter = { .all = true };

	ASSERT_TRUE(start(self));
	wait_for_cpu1(self);
	ASSERT_TRUE(switch_cpu(self, false));
	ASSERT_EQ(0, st_record_pause(&self->r));
	ASSERT_EQ(0, st_record_take(&self->r));
	EXPECT_LT(0, events_on(&self->r, 1));
	wait_for_work(self);
	ASSERT_EQ(0, st_record_start(&self->r));
	wait_for_work(self);
	ASSERT_TRUE(switch_cpu(self, true));
	wait_for_work(self);
	ASSERT_TRUE(switch_cpu(self, false));
	ASSERT_EQ(0, st_record_set(&self->r, &filter));
	wait_for_work(self);
	filter.all = false;
	ASSERT_EQ(0, st_record_set(&self->r, &filter));
	ASSERT_EQ(0, st_record_finish(&self->r));
	EXPECT_EQ(0, self->r.lost);
	__atomic_store_n(&self->done->stop, 1, __ATOMIC_SEQ_CST);
	ASSERT_TRUE(st_child_settled(&self->w));
	/* The close does not wait for the CPU. */
	st_record_close(&self->r);
	ASSERT_EQ(0, open_with_watermark(&self->r));
	ASSERT_EQ(0, st_record_start(&self->r));
	ASSERT_EQ(0, st_record_finish(&self->r));
	EXPECT_EQ(0, self->r.n);
}

/* A session of this CPU only, created while it is offline. */
TEST_F_TIMEOUT(hotplug, its_own_session, 140)
{
	struct schedtape_session_options options = {
		.ring_bytes = PAGES * STAPE_PAGE_SIZE,
		.cpus = (const unsigned char *)"\2",
		.cpus_bytes = 1,
	};

	st_record_close(&self->r);
	ASSERT_TRUE(switch_cpu(self, false));
	ASSERT_EQ(0, st_record_open_with(&self->r, options));
	ASSERT_TRUE(start(self));
	wait_for_work(self);
	ASSERT_EQ(0, st_record_flush(&self->r));
	EXPECT_EQ(0, events_on(&self->r, 1));
	/* What its tasks are is recorded wherever they are. */
	EXPECT_LT(0, events_on(&self->r, STAPE_CPU_NONE));
	ASSERT_TRUE(switch_cpu(self, true));
	/* Some task will run there sooner or later. */
	while (!events_on(&self->r, 1)) {
		wait_for_work(self);
		ASSERT_EQ(0, st_record_flush(&self->r));
	}
	ASSERT_TRUE(end_load(self));
	ASSERT_EQ(0, st_record_finish(&self->r));
	EXPECT_EQ(self->r.n, events_on(&self->r, 1) + events_on(&self->r, STAPE_CPU_NONE));
	EXPECT_EQ(0, self->r.lost);
}

TEST_HARNESS_MAIN
