// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: odd users of a session that records: two readers at once, a process that moves
 * and cuts its mappings, one that writes garbage into every writable page, processes that
 * inherit the session's file or get it through a socket.  No other user loses an event, and
 * the session ends with its last holder.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <kselftest_harness.h>

#include "child.h"
#include "invariants.h"
#include "random.h"
#include "record.h"
#include "request.h"
#include "send-fd.h"
#include "task.h"

#define PAGES	1024
#define RENAMES	20000

FIXTURE(files)
{
	struct st_record r;
	struct st_child w;
	struct schedtape_session_state state;
	struct stape_session_info info;
	int fd;
	volatile bool stop;
};

FIXTURE_SETUP(files)
{
	ASSERT_EQ(0, st_record_open(&self->r, PAGES));
	self->fd = schedtape_session_fd(self->r.session);
	ASSERT_EQ(0, ioctl(self->fd, STAPE_IOC_INFO, &self->info));
}

ST_TEARDOWN(files)

static int rename_often(void *arg)
{
	int i;

	for (i = 0; i < RENAMES; i++)
		prctl(PR_SET_NAME, i & 1 ? "odd" : "even");
	return 0;
}

/* Starts to record a child that will cause events. */
static bool start(FIXTURE_DATA(files) *self)
{
	return !st_child_fork(&self->w, -1, rename_often, NULL) &&
	       !st_record_add(&self->r, self->w.pid) && !st_record_start(&self->r);
}

/* The child inherited the session's file and so holds the session, too. */
static bool work_to_the_end(FIXTURE_DATA(files) *self)
{
	bool settled;

	st_child_go(&self->w);
	settled = st_child_settled(&self->w);
	st_child_kill(&self->w);
	return settled;
}

static bool working(FIXTURE_DATA(files) *self)
{
	return __atomic_load_n(self->w.arrived, __ATOMIC_SEQ_CST) < 2;
}

/* -- two readers -------------------------------------------------------------------- */

/**
 * struct reader - a thread that takes pages by read()
 * @seen: how often it has seen a page, by CPU and sequence; shared by all readers
 * @ret: of the last read(): 0 at the end
 */
struct reader {
	pthread_t thread;
	int fd;
	unsigned int (*seen)[PAGES];
	uint64_t events;
	uint64_t pages;
	int ret;
};

static void take(struct reader *reader, const struct stape_page_header *page)
{
	reader->events += page->events;
	reader->pages++;
	/* The descriptions are the first: STAPE_CPU_NONE + 1 is 0. */
	__atomic_add_fetch(&reader->seen[page->cpu + 1][page->seq % PAGES], 1, __ATOMIC_SEQ_CST);
}

static void *read_all(void *arg)
{
	static _Thread_local char pages[3 * STAPE_PAGE_SIZE];
	struct reader *reader = arg;
	ssize_t n, i;

	while ((n = read(reader->fd, pages, sizeof(pages))) > 0)
		for (i = 0; i < n; i += STAPE_PAGE_SIZE)
			take(reader, (void *)(pages + i));
	reader->ret = n < 0 ? -errno : 0;
	return NULL;
}

TEST_F_TIMEOUT(files, two_readers, 60)
{
	unsigned int (*seen)[PAGES] = calloc(self->info.nr_cpus + 1, sizeof(*seen));
	struct reader readers[2] = { 0 };
	uint32_t cpu, seq, twice = 0, pages = 0;
	int i;

	ASSERT_NE(NULL, seen);
	ASSERT_TRUE(start(self));
	for (i = 0; i < 2; i++) {
		readers[i].fd = self->fd;
		readers[i].seen = seen;
		ASSERT_EQ(0, pthread_create(&readers[i].thread, NULL, read_all, &readers[i]));
	}
	st_child_go(&self->w);
	/* Few pages are full: most are published partly filled. */
	while (working(self))
		ASSERT_EQ(0, schedtape_session_flush(self->r.session, &self->r.err));
	ASSERT_TRUE(st_child_settled(&self->w));
	ASSERT_EQ(0, st_record_stop(&self->r));
	for (i = 0; i < 2; i++) {
		pthread_join(readers[i].thread, NULL);
		EXPECT_EQ(0, readers[i].ret);
	}
	ASSERT_EQ(0, st_record_get(&self->r, &self->state));
	EXPECT_EQ(0, self->state.lost);
	EXPECT_LE(RENAMES, self->state.events);
	EXPECT_EQ(self->state.events, readers[0].events + readers[1].events);
	if (readers[0].pages + readers[1].pages > PAGES)
		SKIP(goto out, "more pages than a ring has: several share a counter");
	for (cpu = 0; cpu <= self->info.nr_cpus; cpu++) {
		for (seq = 0; seq < PAGES; seq++) {
			pages += seen[cpu][seq] != 0;
			twice += seen[cpu][seq] > 1;
		}
	}
	EXPECT_EQ(0, twice);
	EXPECT_EQ(pages, readers[0].pages + readers[1].pages);
out:
	free(seen);
}

/* -- mappings --------------------------------------------------------------------------- */

/* Returns the size of the read-only part of a ring: that of a CPU, or of the descriptions. */
static size_t ring_size(FIXTURE_DATA(files) *self, uint32_t n)
{
	uint32_t pages = n < self->info.nr_cpus ? self->info.ring_pages :
						  self->info.description_pages;

	return getpagesize() + pages * STAPE_PAGE_SIZE;
}

static void *map_ring(FIXTURE_DATA(files) *self, uint32_t n)
{
	return mmap(NULL, ring_size(self, n), PROT_READ, MAP_SHARED, self->fd,
		    n * self->info.ring_stride + getpagesize());
}

/* Moves the mapping, cuts a hole into it, forks, and unmaps it. */
static bool play_with(FIXTURE_DATA(files) *self, uint32_t n)
{
	size_t size = ring_size(self, n), half = size / 2 & -getpagesize();
	char *map = map_ring(self, n), *moved;
	pid_t pid;
	bool done;

	moved = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (map == MAP_FAILED || moved == MAP_FAILED)
		return false;
	(void)*(volatile char *)map;
	if (mremap(map, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, moved) != moved)
		return false;
	(void)*(volatile char *)(moved + half);
	done = !madvise(moved, half, MADV_DONTNEED) && !munmap(moved + half, getpagesize()) &&
	       mremap(moved, half, half + 2 * getpagesize(), 0) == MAP_FAILED &&
	       !mprotect(moved, half, PROT_NONE) && !mprotect(moved, half, PROT_READ);
	(void)*(volatile char *)moved;
	pid = fork();
	if (!pid)
		_exit(0);
	return waitpid(pid, NULL, 0) == pid && done && !munmap(moved, size);
}

TEST_F_TIMEOUT(files, mappings_move, 60)
{
	struct st_counts c;
	uint32_t rounds = 0;

	ASSERT_TRUE(start(self));
	st_child_go(&self->w);
	while (working(self) || rounds <= self->info.nr_cpus) {
		ASSERT_TRUE(play_with(self, rounds++ % (self->info.nr_cpus + 1)));
		ASSERT_EQ(0, st_record_take(&self->r));
	}
	ASSERT_TRUE(st_child_settled(&self->w));
	ASSERT_EQ(0, st_record_finish(&self->r));
	st_count(&self->r, self->w.pid, &c);
	EXPECT_EQ(0, self->r.lost);
	EXPECT_EQ(RENAMES, c.renames);
	EXPECT_EQ(NULL, st_check(&self->r, &self->w.pid, 1));
}

/* -- garbage -------------------------------------------------------------------------------- */

/* Writes garbage into all words of all writable pages. */
static void *scribble(void *arg)
{
	FIXTURE_DATA(files) *self = arg;
	struct st_random random = { .state = st_now() };
	volatile uint64_t *pages[self->info.nr_cpus + 1];
	uint32_t cpu;

	for (cpu = 0; cpu <= self->info.nr_cpus; cpu++) {
		pages[cpu] = mmap(NULL, getpagesize(), PROT_READ | PROT_WRITE, MAP_SHARED,
				  self->fd, cpu * self->info.ring_stride);
		if (pages[cpu] == MAP_FAILED)
			return "a page cannot be mapped";
	}
	while (!self->stop) {
		volatile uint64_t *page = pages[st_random_below(&random, self->info.nr_cpus + 1)];

		*page = st_random_odd(&random, *page);
		page[st_random_below(&random, getpagesize() / 8)] = st_random_next(&random);
	}
	return NULL;
}

static void *read_garbage(void *arg)
{
	static _Thread_local char pages[3 * STAPE_PAGE_SIZE];
	FIXTURE_DATA(files) *self = arg;
	struct pollfd p = { .fd = self->fd, .events = POLLIN };

	while (!self->stop) {
		if (poll(&p, 1, 0) < 0)
			return "poll() fails";
		if (read(self->fd, pages, sizeof(pages)) < 0 && errno != EAGAIN)
			return "read() fails";
	}
	return NULL;
}

TEST_F_TIMEOUT(files, garbage, 60)
{
	void *(*const what[])(void *arg) = { scribble, scribble, read_garbage, read_garbage };
	pthread_t threads[4];
	struct st_counts c;
	void *wrong;
	int i;

	ASSERT_EQ(0, fcntl(self->fd, F_SETFL, O_NONBLOCK));
	ASSERT_TRUE(start(self));
	for (i = 0; i < 4; i++)
		ASSERT_EQ(0, pthread_create(&threads[i], NULL, what[i], self));
	st_child_go(&self->w);
	while (working(self))
		ASSERT_EQ(0, schedtape_session_flush(self->r.session, &self->r.err));
	ASSERT_TRUE(st_child_settled(&self->w));
	self->stop = true;
	for (i = 0; i < 4; i++) {
		pthread_join(threads[i], &wrong);
		EXPECT_EQ(NULL, wrong) {
			TH_LOG("%s", (char *)wrong);
		}
	}
	ASSERT_EQ(0, st_record_stop(&self->r));
	/*
	 * The kernel's own counters are not in the mapping: each event is there or counted as
	 * lost.
	 */
	ASSERT_EQ(0, st_record_get(&self->r, &self->state));
	EXPECT_LE(RENAMES, self->state.events + self->state.lost);
	EXPECT_GT(10 * RENAMES, self->state.events + self->state.lost);
	st_child_kill(&self->w);

	/* The garbage does not affect the next session. */
	st_record_close(&self->r);
	ASSERT_EQ(0, st_record_open(&self->r, PAGES));
	ASSERT_TRUE(start(self));
	ASSERT_TRUE(st_child_step(&self->w));
	ASSERT_EQ(0, st_record_finish(&self->r));
	st_count(&self->r, self->w.pid, &c);
	EXPECT_EQ(RENAMES, c.renames);
	EXPECT_EQ(0, self->r.lost);
}

/* -- holders ---------------------------------------------------------------------------------- */

static uint32_t sessions(struct schedtape_client *client)
{
	struct schedtape_module_info info = { .size = sizeof(info) };
	struct schedtape_error err;

	return schedtape_client_info(client, &info, &err) ? ~0u : info.sessions;
}

/* A process that gets the file from the socket, reads everything, and reports if it got any. */
static int read_passed(int sock)
{
	struct reader reader = { .fd = st_receive_fd(sock) };

	reader.seen = calloc(1024 + 1, sizeof(*reader.seen));
	if (reader.fd < 0 || !reader.seen)
		return 1;
	read_all(&reader);
	return reader.ret || reader.events < RENAMES;
}

TEST_F_TIMEOUT(files, passed_on, 60)
{
	struct schedtape_client *client;
	int socks[2], status;
	uint32_t id = self->info.id;
	pid_t pid;

	ASSERT_EQ(0, schedtape_client_open(&client, &self->r.err));
	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, socks));
	ASSERT_TRUE(start(self));
	/* Only the socket holds the file now. */
	ASSERT_EQ(0, st_send_fd(socks[0], self->fd));
	st_record_close(&self->r);
	EXPECT_EQ(1, sessions(client));
	ASSERT_TRUE(work_to_the_end(self));
	pid = fork();
	if (!pid)
		_exit(read_passed(socks[1]));
	EXPECT_EQ(0, st_request_u32(STAPE_CMD_SESSION_STOP, STAPE_A_SESSION_ID, id, 0, 0));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_EQ(0, sessions(client));
	close(socks[0]);
	close(socks[1]);
	schedtape_client_close(client);
}

/* The file is closed together with the socket that it is queued in. */
TEST_F(files, lost_on_the_way)
{
	struct schedtape_client *client;
	int socks[2];

	ASSERT_EQ(0, schedtape_client_open(&client, &self->r.err));
	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, socks));
	ASSERT_TRUE(start(self));
	ASSERT_EQ(0, st_send_fd(socks[0], self->fd));
	st_record_close(&self->r);
	ASSERT_TRUE(work_to_the_end(self));
	EXPECT_EQ(1, sessions(client));
	close(socks[0]);
	close(socks[1]);
	EXPECT_EQ(0, sessions(client));
	schedtape_client_close(client);
}

/* A child inherits the file, and neither its end nor its parent's end ends the session. */
TEST_F_TIMEOUT(files, inherited, 60)
{
	struct schedtape_client *client;
	uint32_t id = self->info.id;
	int gate[2], status;
	struct reader reader = { .fd = self->fd };
	pid_t pid;
	char c;

	ASSERT_EQ(0, schedtape_client_open(&client, &self->r.err));
	ASSERT_TRUE(start(self));
	ASSERT_EQ(0, pipe2(gate, O_CLOEXEC));
	pid = fork();
	if (!pid) {
		close(gate[1]);
		(void)!read(gate[0], &c, 1);
		_exit(fcntl(self->fd, F_GETFD) < 0);
	}
	/* First while the child is alive, then after its end. */
	ASSERT_TRUE(work_to_the_end(self));
	close(gate[1]);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_EQ(1, sessions(client));
	pid = fork();
	if (!pid) {
		reader.seen = calloc(1024 + 1, sizeof(*reader.seen));
		read_all(&reader);
		_exit(reader.ret || reader.events < RENAMES);
	}
	st_record_close(&self->r);
	EXPECT_EQ(0, st_request_u32(STAPE_CMD_SESSION_STOP, STAPE_A_SESSION_ID, id, 0, 0));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_EQ(0, sessions(client));
	schedtape_client_close(client);
}

TEST_HARNESS_MAIN
