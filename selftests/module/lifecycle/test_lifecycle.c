// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: a session from open() to its end: its states, the module's info, read() and
 * poll() in each state, several sessions, and loading and unloading of the module.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include <kselftest_harness.h>

#include "child.h"
#include "invariants.h"
#include "module.h"
#include "record.h"
#include "task.h"

#define PAGES 16

FIXTURE(lifecycle)
{
	struct st_record r;
	struct schedtape_session_state state;
	struct schedtape_error err;
	struct st_child w;
	int fd;
};

FIXTURE_SETUP(lifecycle)
{
	ASSERT_EQ(0, st_record_open(&self->r, 0));
	self->fd = schedtape_session_fd(self->r.session);
}

ST_TEARDOWN(lifecycle)

static int set(struct st_record *r, unsigned int pages)
{
	struct schedtape_session_options options = {
		.size = sizeof(options),
		.ring_bytes = (uint64_t)pages * STAPE_PAGE_SIZE,
	};

	return schedtape_session_set(r->session, &options, &r->err);
}

static int short_poll(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, 0) < 0 ? -errno : p.revents;
}

/* Renames itself so often: a known number of events. */
static int rename_often(void *arg)
{
	int i;

	for (i = 0; i < *(int *)arg; i++)
		prctl(PR_SET_NAME, i & 1 ? "odd" : "even");
	return 0;
}

/* Only the features that the kernel lacks are named. */
TEST_F(lifecycle, missing)
{
	struct schedtape_module_info info = { .size = sizeof(info) };
	const char *lacks = getenv("SCHEDTAPE_LACKS");
	struct timespec resolution;

	ASSERT_EQ(0, clock_getres(CLOCK_MONOTONIC, &resolution));
	ASSERT_EQ(0, schedtape_client_info(self->r.client, &info, &self->err));
	EXPECT_EQ(resolution.tv_nsec > 1, !!strstr(info.missing, "high-resolution timers: "));
	/* Debian's kernels have return probes, and allow probes of these functions. */
	EXPECT_EQ(lacks && !strcmp(lacks, "probes"), !!strstr(info.missing, "probe")) {
		TH_LOG("%s", info.missing);
	}
	EXPECT_TRUE(!info.missing[0] || info.missing[strlen(info.missing) - 1] == '\n');
}

TEST_F(lifecycle, info)
{
	struct stape_session_info info;
	uint32_t id = schedtape_session_id(self->r.session);

	ASSERT_EQ(0, ioctl(self->fd, STAPE_IOC_INFO, &info));
	EXPECT_EQ(id, info.id);
	EXPECT_EQ(STAPE_WIRE_VERSION, info.wire_version);
	EXPECT_EQ(STAPE_PAGE_SIZE, info.page_size);
	EXPECT_LE(st_cpus(), info.nr_cpus);
	EXPECT_EQ(0, info.ring_pages);
	EXPECT_EQ(0, info.ring_stride);
	EXPECT_EQ(0, info.description_pages);

	ASSERT_EQ(0, set(&self->r, PAGES));
	ASSERT_EQ(0, ioctl(self->fd, STAPE_IOC_INFO, &info));
	EXPECT_EQ(PAGES, info.ring_pages);
	EXPECT_EQ(PAGES, info.description_pages);
	EXPECT_EQ(2 * getpagesize() + PAGES * STAPE_PAGE_SIZE, info.ring_stride);

	EXPECT_EQ(-1, ioctl(self->fd, STAPE_IOC_INFO, (void *)8));
	EXPECT_EQ(EFAULT, errno);
	EXPECT_EQ(-1, ioctl(self->fd, _IO(STAPE_IOC_MAGIC, 0x7f)));
	EXPECT_EQ(ENOTTY, errno);
}

TEST_F(lifecycle, states)
{
	struct st_record *r = &self->r;

	ASSERT_EQ(0, st_record_get(r, &self->state));
	EXPECT_EQ(STAPE_SESSION_NEW, self->state.state);
	EXPECT_EQ(getpid(), self->state.owner);
	EXPECT_EQ(-EINVAL, schedtape_session_start(r->session, &self->err));
	EXPECT_EQ(-EINVAL, schedtape_session_stop(r->session, &self->err));

	EXPECT_EQ(0, set(r, PAGES));
	EXPECT_EQ(-EBUSY, set(r, PAGES));
	ASSERT_EQ(0, st_record_get(r, &self->state));
	EXPECT_EQ(STAPE_SESSION_READY, self->state.state);
	EXPECT_EQ(PAGES, self->state.ring_pages);
	EXPECT_EQ(PAGES / 4, self->state.watermark);
	EXPECT_EQ(0, self->state.start_time);
	EXPECT_EQ(-EINVAL, schedtape_session_stop(r->session, &self->err));

	EXPECT_EQ(0, schedtape_session_start(r->session, &self->err));
	EXPECT_EQ(-EALREADY, schedtape_session_start(r->session, &self->err));
	EXPECT_EQ(-EBUSY, set(r, PAGES));
	ASSERT_EQ(0, st_record_get(r, &self->state));
	EXPECT_EQ(STAPE_SESSION_RECORDING, self->state.state);
	EXPECT_NE(0, self->state.start_time);
	EXPECT_EQ(0, self->state.stop_time);

	EXPECT_EQ(0, schedtape_session_stop(r->session, &self->err));
	EXPECT_EQ(-EINVAL, schedtape_session_stop(r->session, &self->err));
	EXPECT_EQ(-EINVAL, schedtape_session_start(r->session, &self->err));
	EXPECT_EQ(-EBUSY, set(r, PAGES));
	ASSERT_EQ(0, st_record_get(r, &self->state));
	EXPECT_EQ(STAPE_SESSION_STOPPED, self->state.state);
	EXPECT_GE(self->state.stop_time, self->state.start_time);
	EXPECT_LE(self->state.stop_time, st_now());
}

TEST_F(lifecycle, times_are_monotonic_clock)
{
	uint64_t before, between, after;

	ASSERT_EQ(0, set(&self->r, PAGES));
	before = st_now();
	ASSERT_EQ(0, st_record_start(&self->r));
	between = st_now();
	ASSERT_EQ(0, st_record_stop(&self->r));
	after = st_now();
	ASSERT_EQ(0, st_record_get(&self->r, &self->state));
	EXPECT_GE(self->state.start_time, before);
	EXPECT_LE(self->state.start_time, between);
	EXPECT_GE(self->state.stop_time, between);
	EXPECT_LE(self->state.stop_time, after);
}

/*
 * The recording ends at the time of the request, and not when the stop is complete, because
 * that waits for RCU. On a busy machine a try may take long, but not all of them.
 */
TEST_F(lifecycle, stop_ends_it_at_once)
{
	uint64_t before, after;
	int tries = 5;

	do {
		st_record_close(&self->r);
		ASSERT_EQ(0, st_record_open(&self->r, PAGES));
		ASSERT_EQ(0, st_record_start(&self->r));
		before = st_now();
		ASSERT_EQ(0, st_record_stop(&self->r));
		after = st_now();
		ASSERT_EQ(0, st_record_get(&self->r, &self->state));
		EXPECT_LE(before, self->state.stop_time);
	} while (self->state.stop_time - before >= (after - before) / 2 && --tries);
	EXPECT_LT(0, tries) {
		TH_LOG("%llu of %llu ns", self->state.stop_time - before, after - before);
	}
}

static int count_session(const struct schedtape_session_state *state, void *arg)
{
	(void)state;
	++*(int *)arg;
	return 0;
}

TEST_F(lifecycle, close_ends_it)
{
	struct st_record other[3];
	int i, before = 0, during = 0, after = 0;

	ASSERT_EQ(0, schedtape_client_sessions(self->r.client, count_session, &before, NULL));
	for (i = 0; i < 3; i++) {
		ASSERT_EQ(0, st_record_open(&other[i], 4));
		ASSERT_EQ(0, st_record_start(&other[i]));
	}
	EXPECT_NE(schedtape_session_id(other[0].session), schedtape_session_id(other[1].session));
	ASSERT_EQ(0, schedtape_client_sessions(self->r.client, count_session, &during, NULL));
	EXPECT_EQ(before + 3, during);
	for (i = 0; i < 3; i++)
		st_record_close(&other[i]);
	ASSERT_EQ(0, schedtape_client_sessions(self->r.client, count_session, &after, NULL));
	EXPECT_EQ(before, after);
}

/* A duplicate, a child's copy and a mapping each hold the session. */
TEST_F(lifecycle, last_holder_ends_it)
{
	struct schedtape_session_state state;
	int fd = open("/dev/schedtape", O_RDWR), copy, n = 0, left = 0;
	struct stape_session_info info;
	void *map;

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, ioctl(fd, STAPE_IOC_INFO, &info));
	copy = dup(fd);
	close(fd);
	ASSERT_EQ(0, ioctl(copy, STAPE_IOC_INFO, &info));
	ASSERT_EQ(0, set(&self->r, 4));
	map = mmap(NULL, getpagesize(), PROT_READ, MAP_SHARED, self->fd, 0);
	ASSERT_NE(MAP_FAILED, map);
	schedtape_session_close(self->r.session);
	self->r.session = NULL;
	ASSERT_EQ(0, schedtape_client_sessions(self->r.client, count_session, &n, NULL));
	EXPECT_EQ(2, n);
	EXPECT_EQ(0, *(volatile uint64_t *)map);
	munmap(map, getpagesize());
	close(copy);
	ASSERT_EQ(0, schedtape_client_sessions(self->r.client, count_session, &left, NULL));
	EXPECT_EQ(0, left);
	(void)state;
}

TEST_F(lifecycle, sessions_are_independent)
{
	int times = 1000;
	struct st_record other;
	struct st_counts a, b;

	ASSERT_EQ(0, set(&self->r, 64));
	ASSERT_EQ(0, st_record_open(&other, 64));
	ASSERT_EQ(0, st_record_child(&self->r, &self->w, -1, rename_often, &times));
	ASSERT_EQ(0, st_record_start(&other));
	ASSERT_TRUE(st_child_step(&self->w));
	ASSERT_EQ(0, st_record_finish(&other));
	ASSERT_EQ(0, st_record_finish(&self->r));
	st_count(&self->r, self->w.pid, &a);
	st_count(&other, self->w.pid, &b);
	EXPECT_EQ(times, a.renames);
	EXPECT_EQ(0, b.renames);
	EXPECT_EQ(0, other.n);
	st_record_close(&other);
}

TEST_F(lifecycle, read)
{
	char *page = mmap(NULL, 4 * STAPE_PAGE_SIZE, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int times = 1000;
	ssize_t n, total = 0;

	ASSERT_EQ(0, fcntl(self->fd, F_SETFL, O_NONBLOCK));
	EXPECT_EQ(-1, read(self->fd, page, STAPE_PAGE_SIZE));
	EXPECT_EQ(ENODATA, errno);
	ASSERT_EQ(0, set(&self->r, PAGES));
	EXPECT_EQ(-1, read(self->fd, page, STAPE_PAGE_SIZE));
	EXPECT_EQ(EAGAIN, errno);
	ASSERT_EQ(0, st_record_child(&self->r, &self->w, 0, rename_often, &times));
	ASSERT_TRUE(st_child_step(&self->w));
	ASSERT_EQ(0, st_record_stop(&self->r));

	EXPECT_EQ(-1, read(self->fd, page, STAPE_PAGE_SIZE - 1));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(-1, read(self->fd, page, 0));
	EXPECT_EQ(EINVAL, errno);
	/* A read that fails with EFAULT consumes nothing. */
	munmap(page + STAPE_PAGE_SIZE, 3 * STAPE_PAGE_SIZE);
	EXPECT_EQ(-1, read(self->fd, page + STAPE_PAGE_SIZE, STAPE_PAGE_SIZE));
	EXPECT_EQ(EFAULT, errno);
	while ((n = read(self->fd, page, 2 * STAPE_PAGE_SIZE)) > 0) {
		EXPECT_EQ(STAPE_PAGE_SIZE, n);
		EXPECT_EQ(STAPE_PAGE_MAGIC, ((struct stape_page_header *)page)->magic);
		total += ((struct stape_page_header *)page)->events;
	}
	/* read() keeps returning 0 at the end. */
	EXPECT_EQ(0, n);
	EXPECT_EQ(0, read(self->fd, page, STAPE_PAGE_SIZE));
	ASSERT_EQ(0, st_record_get(&self->r, &self->state));
	EXPECT_EQ(self->state.events, total);
	EXPECT_LE(times, total);
}

static int blocked_read(void *arg)
{
	static char page[STAPE_PAGE_SIZE];

	ssize_t n;

	/* A stop tells what each CPU did. */
	while ((n = read(*(int *)arg, page, sizeof(page))) > 0)
		;
	return n != 0;
}

TEST_F(lifecycle, read_blocks_until_stop)
{
	ASSERT_EQ(0, set(&self->r, PAGES));
	ASSERT_EQ(0, st_record_start(&self->r));
	ASSERT_EQ(0, st_child_begin(&self->w, -1, blocked_read, &self->fd));
	usleep(50000);
	EXPECT_TRUE(st_wait_state(self->w.pid, 'S'));
	EXPECT_EQ(1, *self->w.arrived);
	ASSERT_EQ(0, st_record_stop(&self->r));
	ASSERT_TRUE(st_child_settled(&self->w));
	st_child_go(&self->w);
	EXPECT_EQ(0, st_child_wait(&self->w));
}

TEST_F(lifecycle, poll)
{
	int times = 2000;		/* fills 12 of the 16 pages */

	EXPECT_EQ(0, short_poll(self->fd));
	ASSERT_EQ(0, set(&self->r, PAGES));
	EXPECT_EQ(0, short_poll(self->fd));
	ASSERT_EQ(0, st_record_child(&self->r, &self->w, 0, rename_often, &times));
	EXPECT_EQ(0, short_poll(self->fd));
	ASSERT_TRUE(st_child_step(&self->w));
	/* Beyond the watermark, which is a quarter of the ring. */
	EXPECT_EQ(POLLIN, short_poll(self->fd));
	ASSERT_EQ(0, st_record_take(&self->r));
	EXPECT_EQ(0, short_poll(self->fd));
	st_child_go(&self->w);
	EXPECT_EQ(0, st_child_wait(&self->w));
	ASSERT_TRUE(st_record_wait_tasks(&self->r, 0));
	EXPECT_EQ(POLLHUP, short_poll(self->fd) & POLLHUP);
	ASSERT_EQ(0, st_record_stop(&self->r));
	EXPECT_EQ(POLLIN | POLLHUP, short_poll(self->fd));
}

TEST_F(lifecycle, flush)
{
	struct st_counts c;
	int times = 3;

	EXPECT_EQ(0, ioctl(self->fd, STAPE_IOC_FLUSH));
	ASSERT_EQ(0, set(&self->r, PAGES));
	EXPECT_EQ(0, ioctl(self->fd, STAPE_IOC_FLUSH));
	ASSERT_EQ(0, st_record_child(&self->r, &self->w, 0, rename_often, &times));
	ASSERT_TRUE(st_child_step(&self->w));
	ASSERT_EQ(0, st_record_take(&self->r));
	EXPECT_EQ(0, self->r.n);
	EXPECT_EQ(0, ioctl(self->fd, STAPE_IOC_FLUSH));
	ASSERT_EQ(0, st_record_take(&self->r));
	st_count(&self->r, self->w.pid, &c);
	EXPECT_EQ(3, c.renames);
	ASSERT_EQ(0, st_record_finish(&self->r));
	EXPECT_EQ(0, ioctl(self->fd, STAPE_IOC_FLUSH));
}

static int rename_at_gates(void *arg)
{
	int i;

	for (i = 0; i < *(int *)arg; i++) {
		prctl(PR_SET_NAME, i & 1 ? "odd" : "even");
		st_gate();
	}
	return 0;
}

/* A flush soon after another one waits, because it publishes all that came before it. */
TEST_F(lifecycle, flush_once_a_tick)
{
	struct schedtape_module_info info = { .size = sizeof(info) };
	int i, times = 20, flushes = 50;
	struct st_counts c;
	uint64_t begin;

	ASSERT_EQ(0, schedtape_client_info(self->r.client, &info, &self->err));
	ASSERT_EQ(0, set(&self->r, PAGES));
	ASSERT_EQ(0, st_record_child(&self->r, &self->w, 0, rename_at_gates, &times));
	for (i = 1; i <= times; i++) {
		ASSERT_TRUE(st_child_step(&self->w));
		ASSERT_EQ(0, st_record_flush(&self->r));
		st_count(&self->r, self->w.pid, &c);
		EXPECT_EQ(i, c.renames);
	}
	begin = st_now();
	for (i = 0; i < flushes; i++)
		ASSERT_EQ(0, ioctl(self->fd, STAPE_IOC_FLUSH));
	EXPECT_LE((flushes - 1) * (1000000000ull / info.hz), st_now() - begin);
}

/* Flushing at any rate neither loses nor repeats events. */
TEST_F_TIMEOUT(lifecycle, flush_while_recording, 60)
{
	int times = 20000;
	struct st_counts c;

	ASSERT_EQ(0, set(&self->r, 1024));
	ASSERT_EQ(0, st_record_child(&self->r, &self->w, -1, rename_often, &times));
	st_child_go(&self->w);
	while (*self->w.arrived < 2) {
		ASSERT_EQ(0, ioctl(self->fd, STAPE_IOC_FLUSH));
		ASSERT_EQ(0, st_record_take(&self->r));
	}
	ASSERT_TRUE(st_child_settled(&self->w));
	ASSERT_EQ(0, st_record_finish(&self->r));
	st_count(&self->r, self->w.pid, &c);
	EXPECT_EQ(times, c.renames);
	EXPECT_EQ(NULL, st_check(&self->r, &self->w.pid, 1));
}

TEST_F(lifecycle, module_in_use_stays)
{
	int ret = st_module_unload();

	EXPECT_TRUE(ret == -EWOULDBLOCK || ret == -EBUSY) {
		TH_LOG("delete_module: %d", ret);
	}
	ASSERT_EQ(0, set(&self->r, PAGES));
	ASSERT_EQ(0, st_record_start(&self->r));
	EXPECT_GT(0, st_module_unload());
	EXPECT_EQ(0, st_record_stop(&self->r));
	EXPECT_GT(0, st_module_unload());
	EXPECT_EQ(0, st_record_get(&self->r, &self->state));
}

TEST(module_comes_and_goes)
{
	const char *path = getenv("SCHEDTAPE_KO");
	struct st_record r;
	int i;

	if (!path)
		SKIP(return, "SCHEDTAPE_KO does not say which module to load again");
	for (i = 0; i < 5; i++) {
		ASSERT_EQ(0, st_module_unload());
		EXPECT_EQ(-1, access("/dev/schedtape", F_OK));
		EXPECT_EQ(-ENOENT, schedtape_client_open(&r.client, &r.err));
		ASSERT_EQ(0, st_module_load(path));
		EXPECT_EQ(-EEXIST, st_module_load(path));
		ASSERT_EQ(0, st_record_open(&r, 4));
		ASSERT_EQ(0, st_record_start(&r));
		st_record_close(&r);
	}
}

TEST_HARNESS_MAIN
