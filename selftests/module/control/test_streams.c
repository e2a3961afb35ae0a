// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: streams, files on which a reader waits for the rings of some CPUs: what wakes a
 * reader, what is refused, and each order of closing the files.
 */
#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <kselftest_harness.h>

#include "child.h"
#include "prio.h"
#include "record.h"
#include "task.h"

#define PAGES 64

FIXTURE(streams)
{
	struct st_record r;
	struct st_child w;
	struct st_child other;
	struct st_child hog;
	unsigned int *times;
	int fd;
	int streams[8];
	int fds;	/* open before the test */
};

static int count_fds(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int n = 0;

	while (dir && readdir(dir))
		n++;
	if (dir)
		closedir(dir);
	return n;
}

FIXTURE_SETUP(streams)
{
	struct schedtape_session_options options = {
		.ring_bytes = PAGES * STAPE_PAGE_SIZE,
		.watermark = 1,
	};

	ASSERT_EQ(0, st_record_open_with(&self->r, options));
	self->fd = schedtape_session_fd(self->r.session);
	self->times = st_share(4096);
	*self->times = 1000;
	self->fds = count_fds();
}

FIXTURE_TEARDOWN(streams)
{
	st_child_kill(&self->hog);
	st_child_kill(&self->other);
	st_child_kill(&self->w);
	st_record_close(&self->r);
}

static int stream_of(int fd, const char *cpus, size_t bytes)
{
	struct stape_stream stream = { .cpus = (uintptr_t)cpus, .bytes = bytes };

	return ioctl(fd, STAPE_IOC_STREAM, &stream) ? -errno : stream.fd;
}

static int events_of(int fd, int timeout)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, timeout) < 0 ? -errno : p.revents;
}

static int count_session(const struct schedtape_session_state *state, void *arg)
{
	(void)state;
	++*(int *)arg;
	return 0;
}

/* Number of sessions. */
static int sessions(void)
{
	struct schedtape_client *client;
	int n = 0;

	if (schedtape_client_open(&client, NULL))
		return -1;
	schedtape_client_sessions(client, count_session, &n, NULL);
	schedtape_client_close(client);
	return n;
}

/* A child inherits the test's files and closes them, so that it does not hold them. */
static void close_inherited(FIXTURE_DATA(streams) *self)
{
	int i;

	close(self->fd);
	for (i = 0; i < 8; i++)
		if (self->streams[i])
			close(self->streams[i]);
}

/* Fills the ring of its CPU, or that of the descriptions. */
static int sleep_often(void *arg)
{
	FIXTURE_DATA(streams) *self = arg;
	unsigned int i;

	close_inherited(self);
	for (;;) {
		st_gate();
		st_sleep_often(*self->times);
		for (i = 0; i < self->times[1]; i++)
			prctl(PR_SET_NAME, i & 1 ? "odd" : "even");
	}
	return 0;
}

static bool start(FIXTURE_DATA(streams) *self, int cpu)
{
	return !st_child_fork(&self->w, cpu, sleep_often, self) && st_child_step(&self->w) &&
	       !st_record_add(&self->r, self->w.pid) && !st_record_start(&self->r);
}

/* -- what is refused -------------------------------------------------------------------- */

TEST_F(streams, refused)
{
	struct stape_stream stream = { .cpus = 8, .bytes = 1 };
	struct st_record fresh;
	char none[4096] = { 0 };

	ASSERT_EQ(0, st_record_open(&fresh, 0));
	EXPECT_EQ(-ENODATA, stream_of(schedtape_session_fd(fresh.session), "\1", 1));
	st_record_close(&fresh);
	EXPECT_EQ(-EINVAL, stream_of(self->fd, none, 1));
	EXPECT_EQ(-EINVAL, stream_of(self->fd, none, sizeof(none)));
	EXPECT_EQ(-EINVAL, stream_of(self->fd, "\1", 0));
	/* A CPU that does not exist. */
	none[sizeof(none) - 1] = 1;
	EXPECT_EQ(-EINVAL, stream_of(self->fd, none, sizeof(none)));
	EXPECT_EQ(-EFAULT, stream_of(self->fd, NULL, 1));
	EXPECT_EQ(-1, ioctl(self->fd, STAPE_IOC_STREAM, &stream));
	EXPECT_EQ(EFAULT, errno);
	EXPECT_EQ(-1, ioctl(self->fd, STAPE_IOC_STREAM, (void *)8));
	EXPECT_EQ(EFAULT, errno);
	ASSERT_EQ(0, st_record_start(&self->r));
	EXPECT_EQ(-EBUSY, stream_of(self->fd, "\1", 1));
	ASSERT_EQ(0, st_record_pause(&self->r));
	EXPECT_EQ(-EBUSY, stream_of(self->fd, "\1", 1));
	ASSERT_EQ(0, st_record_stop(&self->r));
	EXPECT_EQ(-EBUSY, stream_of(self->fd, "\1", 1));
	EXPECT_EQ(self->fds, count_fds());
}

/* The answer cannot be written: its memory is read-only. */
TEST_F(streams, answer_without_a_place)
{
	struct stape_stream *stream = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
					   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int i;

	ASSERT_NE(MAP_FAILED, stream);
	*stream = (struct stape_stream){ .cpus = (uintptr_t)"\1", .bytes = 1 };
	ASSERT_EQ(0, mprotect(stream, 4096, PROT_READ));
	for (i = 0; i < 10; i++) {
		EXPECT_EQ(-1, ioctl(self->fd, STAPE_IOC_STREAM, stream));
		EXPECT_EQ(EFAULT, errno);
	}
	EXPECT_EQ(self->fds, count_fds());
	/* None of the refused streams holds the session. */
	st_record_close(&self->r);
	EXPECT_EQ(0, sessions());
}

/* A stream supports poll() only. */
TEST_F(streams, no_other_calls)
{
	int fd = stream_of(self->fd, "\1", 1);
	char page[STAPE_PAGE_SIZE];

	ASSERT_LE(0, fd);
	EXPECT_EQ(-1, read(fd, page, sizeof(page)));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(-1, write(fd, page, 1));
	EXPECT_EQ(-1, ioctl(fd, STAPE_IOC_FLUSH));
	EXPECT_EQ(ENOTTY, errno);
	EXPECT_EQ(MAP_FAILED, mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0));
	close(fd);
}

/* -- wake-ups ------------------------------------------------------------------------------ */

struct waiter {
	pthread_t thread;
	int fd;
	volatile pid_t tid;
	volatile int events;
};

static void *wait_in_thread(void *arg)
{
	struct waiter *waiter = arg;

	waiter->tid = gettid();
	waiter->events = events_of(waiter->fd, -1);
	return NULL;
}

static bool start_waiter(struct waiter *waiter, int fd)
{
	memset(waiter, 0, sizeof(*waiter));
	waiter->fd = fd;
	if (pthread_create(&waiter->thread, NULL, wait_in_thread, waiter))
		return false;
	while (!waiter->tid)
		usleep(1000);
	return st_wait_state(waiter->tid, 'S');
}

TEST_F(streams, each_its_own)
{
	struct waiter waiters[2];
	int *fds = self->streams, i;

	if (st_cpus() < 2)
		SKIP(return, "needs two CPUs");
	fds[0] = stream_of(self->fd, "\1", 1);
	fds[1] = stream_of(self->fd, "\2\0\0", 3);
	for (i = 0; i < 2; i++) {
		ASSERT_LE(0, fds[i]);
		EXPECT_EQ(0, events_of(fds[i], 0));
		ASSERT_TRUE(start_waiter(&waiters[i], fds[i]));
	}
	ASSERT_TRUE(start(self, 1));
	ASSERT_TRUE(st_child_step(&self->w));
	pthread_join(waiters[1].thread, NULL);
	EXPECT_EQ(POLLIN, waiters[1].events);
	EXPECT_EQ(POLLIN, events_of(fds[1], 0));
	EXPECT_EQ(POLLIN, events_of(self->fd, 0));
	EXPECT_EQ(0, events_of(fds[0], 0));
	EXPECT_EQ(0, waiters[0].events);
	/* The stop of the session wakes the readers of all streams. */
	ASSERT_EQ(0, st_record_stop(&self->r));
	pthread_join(waiters[0].thread, NULL);
	EXPECT_TRUE(waiters[0].events & POLLIN);
	EXPECT_TRUE(events_of(fds[0], 0) & POLLIN);
}

/* So does the end of the last task. */
TEST_F(streams, hang_up)
{
	struct waiter waiter;

	self->streams[0] = stream_of(self->fd, "\1", 1);
	ASSERT_LE(0, self->streams[0]);
	ASSERT_TRUE(start(self, st_cpus() > 1));
	ASSERT_TRUE(start_waiter(&waiter, self->streams[0]));
	st_child_kill(&self->w);
	pthread_join(waiter.thread, NULL);
	EXPECT_TRUE(waiter.events & (POLLHUP | POLLIN));
	ASSERT_TRUE(st_record_wait_tasks(&self->r, 0));
	EXPECT_TRUE(events_of(self->streams[0], 0) & POLLHUP);
}

/* The bit behind the last CPU's. */
TEST_F(streams, descriptions)
{
	uint32_t bit = schedtape_session_cpus(self->r.session);
	unsigned char mask[8192] = { 0 };
	int *fds = self->streams, i;
	struct waiter waiter;

	ASSERT_GT(sizeof(mask), bit / 8);
	for (i = 0; i < (int)bit; i++)
		mask[i / 8] |= 1 << i % 8;
	fds[0] = stream_of(self->fd, (char *)mask, sizeof(mask));
	memset(mask, 0, sizeof(mask));
	mask[bit / 8] = 1 << bit % 8;
	fds[1] = stream_of(self->fd, (char *)mask, sizeof(mask));
	ASSERT_LE(0, fds[0]);
	ASSERT_LE(0, fds[1]);
	self->times[0] = 1;
	self->times[1] = 4000;
	ASSERT_TRUE(start_waiter(&waiter, fds[1]));
	ASSERT_TRUE(start(self, 0));
	ASSERT_TRUE(st_child_step(&self->w));
	pthread_join(waiter.thread, NULL);
	EXPECT_EQ(POLLIN, waiter.events);
	EXPECT_EQ(0, events_of(fds[0], 0));
	EXPECT_EQ(POLLIN, events_of(self->fd, 0));
}

/* If two streams have the same CPU, the later one is woken. */
TEST_F(streams, the_last_is_woken)
{
	struct waiter waiter;
	int i;

	for (i = 0; i < 2; i++) {
		self->streams[i] = stream_of(self->fd, "\3", 1);
		ASSERT_LE(0, self->streams[i]);
	}
	ASSERT_TRUE(start_waiter(&waiter, self->streams[1]));
	ASSERT_TRUE(start(self, 0));
	ASSERT_TRUE(st_child_step(&self->w));
	pthread_join(waiter.thread, NULL);
	EXPECT_EQ(POLLIN, waiter.events);
	for (i = 0; i < 2; i++)
		EXPECT_EQ(POLLIN, events_of(self->streams[i], 0));
}

/* States of the hog.  The test ends it by changing HOG_RUNS to HOG_ENDS. */
enum { HOG_WAITS, HOG_RUNS, HOG_ENDS, HOG_GAVE_UP };

#define HOG_PRIORITY 10	/* above what kernel threads have, but for those of interrupts */

/* Keeps its CPU busy until the test ends that.  The time only ends a hang. */
static int hog(void *arg)
{
	FIXTURE_DATA(streams) *self = arg;
	unsigned int *state = self->times + 2;

	close_inherited(self);
	if (st_set_policy(0, SCHED_FIFO, HOG_PRIORITY))
		return 1;
	__atomic_store_n(state, HOG_RUNS, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(state, __ATOMIC_SEQ_CST) == HOG_RUNS)
		if (clock() > 15 * CLOCKS_PER_SEC)
			__atomic_store_n(state, HOG_GAVE_UP, __ATOMIC_SEQ_CST);
	return 0;
}

/* Reads as often as @fd says so, until a task's switches and renames have been read. */
static bool read_until(FIXTURE_DATA(streams) *self, int fd, pid_t pid, unsigned int switches,
		       unsigned int renames)
{
	struct st_counts c;

	for (;;) {
		st_count(&self->r, pid, &c);
		if (c.in >= switches && c.renames >= renames)
			return true;
		if (events_of(fd, -1) != POLLIN || st_record_take(&self->r))
			return false;
	}
}

/*
 * A task that keeps a CPU busy delays no reader and no close(), although on PREEMPT_RT threads of
 * that CPU with priority 1 never run. One of these is for RCU, for which close() has to wait.
 */
TEST_F_TIMEOUT(streams, busy_cpu, 60)
{
	unsigned int *state = self->times + 2;
	pid_t rcu;

	if (st_cpus() < 2)
		SKIP(return, "needs two CPUs");
	ASSERT_EQ(0, st_pin(0, 0));
	self->times[1] = 4000;
	self->streams[0] = stream_of(self->fd, "\2", 1);
	ASSERT_LE(0, self->streams[0]);
	ASSERT_EQ(0, st_child_fork(&self->other, 0, sleep_often, self));
	ASSERT_TRUE(st_child_step(&self->other));
	ASSERT_EQ(0, st_record_add(&self->r, self->other.pid));
	ASSERT_TRUE(start(self, 1));
	/* On PREEMPT_RT other tasks' timers are left to a thread of the CPU, too. */
	ASSERT_EQ(0, st_set_policy(self->w.pid, SCHED_FIFO, HOG_PRIORITY + 1));
	rcu = st_find_task("rcuc/1");
	if (rcu)
		ASSERT_EQ(0, st_set_policy(rcu, SCHED_FIFO, HOG_PRIORITY + 1));
	ASSERT_EQ(0, st_child_begin(&self->hog, 1, hog, self));
	while (__atomic_load_n(state, __ATOMIC_SEQ_CST) == HOG_WAITS)
		usleep(1000);

	st_child_go(&self->w);
	EXPECT_TRUE(read_until(self, self->streams[0], self->w.pid, *self->times / 2, 0));
	EXPECT_EQ(HOG_RUNS, *state);
	/* Descriptions have no stream. */
	EXPECT_TRUE(read_until(self, self->fd, self->w.pid, 0, self->times[1] / 2));
	EXPECT_EQ(HOG_RUNS, *state);
	ASSERT_TRUE(st_child_settled(&self->w));
	/* CPU 0 can wake the session's readers as well. */
	st_child_go(&self->other);
	EXPECT_TRUE(read_until(self, self->fd, self->other.pid, *self->times / 2, 0));
	EXPECT_EQ(HOG_RUNS, *state);
	ASSERT_TRUE(st_child_settled(&self->other));
	close(self->streams[0]);
	st_record_close(&self->r);
	EXPECT_EQ(HOG_RUNS, *state);
	*state = HOG_ENDS;
	ASSERT_TRUE(st_child_settled(&self->hog));
	if (rcu)
		ASSERT_EQ(0, st_set_policy(rcu, SCHED_FIFO, 1));
}

/* -- order of closing ---------------------------------------------------------------------- */

/* A stream that is closed during recording leaves its CPUs to the session. */
TEST_F(streams, stream_first)
{
	struct waiter waiter;

	self->streams[0] = stream_of(self->fd, "\3", 1);
	ASSERT_LE(0, self->streams[0]);
	ASSERT_TRUE(start(self, 0));
	close(self->streams[0]);
	ASSERT_TRUE(start_waiter(&waiter, self->fd));
	ASSERT_TRUE(st_child_step(&self->w));
	pthread_join(waiter.thread, NULL);
	EXPECT_EQ(POLLIN, waiter.events);
	ASSERT_EQ(0, st_record_finish(&self->r));
	EXPECT_LE(*self->times, st_count_type(&self->r, STAPE_EV_SWITCH));
	EXPECT_EQ(1, sessions());
	st_record_close(&self->r);
	EXPECT_EQ(0, sessions());
}

/* A stream holds its session, although nothing can read the session any more. */
TEST_F(streams, session_first)
{
	self->streams[0] = stream_of(self->fd, "\3", 1);
	ASSERT_LE(0, self->streams[0]);
	ASSERT_TRUE(start(self, 0));
	ASSERT_TRUE(st_child_step(&self->w));
	st_record_close(&self->r);
	EXPECT_EQ(1, sessions());
	EXPECT_EQ(POLLIN, events_of(self->streams[0], 0));
	ASSERT_TRUE(st_child_step(&self->w));
	close(self->streams[0]);
	EXPECT_EQ(0, sessions());
	/* No session records the child any more. */
	ASSERT_TRUE(st_child_step(&self->w));
}

/* A stream is closed during wake-ups. */
TEST_F_TIMEOUT(streams, closed_while_it_wakes, 60)
{
	int i;

	for (i = 0; i < 8; i++) {
		self->streams[i] = stream_of(self->fd, "\3", 1);
		ASSERT_LE(0, self->streams[i]);
	}
	ASSERT_TRUE(start(self, st_cpus() > 1));
	*self->times = 20000;
	st_child_go(&self->w);
	for (i = 8; i-- > 0;) {
		usleep(3000);
		close(self->streams[i]);
		ASSERT_EQ(0, st_record_take(&self->r));
	}
	ASSERT_TRUE(st_child_settled(&self->w));
	ASSERT_EQ(0, st_record_stop(&self->r));
	EXPECT_TRUE(events_of(self->fd, 0) & POLLIN);
	st_record_close(&self->r);
	EXPECT_EQ(0, sessions());
}

TEST_HARNESS_MAIN
