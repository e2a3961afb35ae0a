// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: which parts of a session may be mapped and how, and that a reader that writes
 * nonsense into its page harms only itself.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <kselftest_harness.h>

#include "record.h"
#include "child.h"

#define PAGES 4

FIXTURE(mmap)
{
	struct st_record r;
	struct st_child w;
	struct stape_session_info info;
	long page;
	int fd;
};

FIXTURE_SETUP(mmap)
{
	ASSERT_EQ(0, st_record_open(&self->r, PAGES));
	self->fd = schedtape_session_fd(self->r.session);
	self->page = getpagesize();
	ASSERT_EQ(0, ioctl(self->fd, STAPE_IOC_INFO, &self->info));
}

ST_TEARDOWN(mmap)

/* Maps and unmaps.  Returns 0 or -errno. */
static int try(int fd, size_t length, int prot, int flags, off_t offset)
{
	void *map = mmap(NULL, length, prot, flags, fd, offset);

	if (map == MAP_FAILED)
		return -errno;
	munmap(map, length);
	return 0;
}

TEST_F(mmap, before_the_rings)
{
	int fd = open("/dev/schedtape", O_RDWR);

	ASSERT_LE(0, fd);
	EXPECT_EQ(-ENODATA, try(fd, self->page, PROT_READ, MAP_SHARED, 0));
	close(fd);
}

TEST_F(mmap, only_the_consumer_is_writable)
{
	const int rw = PROT_READ | PROT_WRITE;
	long page = self->page;

	EXPECT_EQ(0, try(self->fd, page, rw, MAP_SHARED, 0));
	EXPECT_EQ(-EPERM, try(self->fd, page, rw, MAP_PRIVATE, 0));
	EXPECT_EQ(-EPERM, try(self->fd, page, rw, MAP_SHARED, page));
	EXPECT_EQ(-EPERM, try(self->fd, page, rw, MAP_SHARED, 2 * page));
	EXPECT_EQ(-EPERM, try(self->fd, 2 * page, rw, MAP_SHARED, 0));
	EXPECT_EQ(-EPERM, try(self->fd, self->info.ring_stride, rw, MAP_SHARED, 0));
	EXPECT_EQ(-EPERM, try(self->fd, page, PROT_WRITE, MAP_SHARED, 2 * page));
	EXPECT_EQ(-EPERM, try(self->fd, page, PROT_READ | PROT_EXEC, MAP_SHARED, page));
	EXPECT_EQ(-EPERM, try(self->fd, page, rw | PROT_EXEC, MAP_SHARED, 0));
}

TEST_F(mmap, sizes_and_offsets)
{
	uint64_t stride = self->info.ring_stride;
	long page = self->page;
	uint64_t size;
	uint32_t cpu;

	for (cpu = 0; cpu < self->info.nr_cpus; cpu++) {
		EXPECT_EQ(0, try(self->fd, stride, PROT_READ, MAP_SHARED, cpu * stride));
		EXPECT_EQ(0, try(self->fd, stride - page, PROT_READ, MAP_SHARED,
				 cpu * stride + page));
		EXPECT_EQ(0, try(self->fd, page, PROT_READ, MAP_PRIVATE,
				 (cpu + 1) * stride - page));
		/* One mapping cannot have two rings. */
		EXPECT_EQ(-EINVAL, try(self->fd, stride + page, PROT_READ, MAP_SHARED,
				       cpu * stride));
		EXPECT_EQ(-EINVAL, try(self->fd, 2 * page, PROT_READ, MAP_SHARED,
				       (cpu + 1) * stride - page));
	}
	/* Behind the CPUs are the descriptions. */
	size = 2 * page + self->info.description_pages * STAPE_PAGE_SIZE;
	EXPECT_EQ(0, try(self->fd, size, PROT_READ, MAP_SHARED, self->info.nr_cpus * stride));
	EXPECT_EQ(-EINVAL, try(self->fd, size + page, PROT_READ, MAP_SHARED,
			       self->info.nr_cpus * stride));
	EXPECT_EQ(-EINVAL, try(self->fd, page, PROT_READ, MAP_SHARED,
			       (self->info.nr_cpus + 1) * stride));
	EXPECT_EQ(-EINVAL, try(self->fd, page, PROT_READ, MAP_SHARED, 1ll << 46));
	EXPECT_EQ(-EINVAL, try(self->fd, page, PROT_READ, MAP_SHARED, 1));
	EXPECT_NE(0, try(self->fd, page, PROT_READ, MAP_SHARED, INT64_MIN));
	EXPECT_NE(0, try(self->fd, page, PROT_READ, MAP_SHARED, -page));
	EXPECT_NE(0, try(self->fd, 0, PROT_READ, MAP_SHARED, 0));
}

TEST_F(mmap, mprotect_gives_nothing)
{
	long page = self->page;
	char *ro = mmap(NULL, self->info.ring_stride - page, PROT_READ, MAP_SHARED, self->fd, page);
	char *rw = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, self->fd, 0);

	ASSERT_NE(MAP_FAILED, ro);
	ASSERT_NE(MAP_FAILED, rw);
	EXPECT_EQ(-1, mprotect(ro, page, PROT_READ | PROT_WRITE));
	EXPECT_EQ(EACCES, errno);
	EXPECT_EQ(-1, mprotect(ro, page, PROT_READ | PROT_EXEC));
	EXPECT_EQ(EACCES, errno);
	EXPECT_EQ(-1, mprotect(rw, page, PROT_READ | PROT_EXEC));
	EXPECT_EQ(EACCES, errno);
	EXPECT_EQ(0, mprotect(rw, page, PROT_READ));
	EXPECT_EQ(0, mprotect(rw, page, PROT_READ | PROT_WRITE));
}

/* A private mapping cannot become writable either. */
TEST_F(mmap, private_mapping_is_not_writable)
{
	char *map = mmap(NULL, self->page, PROT_READ, MAP_PRIVATE, self->fd, self->page);

	ASSERT_NE(MAP_FAILED, map);
	EXPECT_EQ(-1, mprotect(map, self->page, PROT_READ | PROT_WRITE));
	EXPECT_EQ(EACCES, errno);
}

TEST_F(mmap, mremap_does_not_grow)
{
	char *map = mmap(NULL, self->page, PROT_READ, MAP_SHARED, self->fd, self->page);

	ASSERT_NE(MAP_FAILED, map);
	EXPECT_EQ(MAP_FAILED, mremap(map, self->page, 4 * self->page, MREMAP_MAYMOVE));
	EXPECT_EQ(EFAULT, errno);
}

/* The exit status of a child that reads its parent's mapping. */
static int status_of_child(volatile char *map)
{
	int status = -1;
	pid_t pid = fork();

	if (!pid) {
		signal(SIGSEGV, SIG_DFL);
		_exit(map[0] & 0);
	}
	waitpid(pid, &status, 0);
	return status;
}

/*
 * VM_DONTCOPY: a child of the recorder has no ring in its memory unless the recorder asks for
 * it.
 */
TEST_F(mmap, children_do_not_inherit)
{
	char *map = mmap(NULL, self->page, PROT_READ, MAP_SHARED, self->fd, self->page);
	int status;

	ASSERT_NE(MAP_FAILED, map);
	status = status_of_child(map);
	EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
	/* Recent kernels do not let a process change this flag of such a mapping. */
	if (madvise(map, self->page, MADV_DOFORK)) {
		EXPECT_EQ(EINVAL, errno);
		status = status_of_child(map);
		EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
	} else {
		EXPECT_EQ(0, status_of_child(map));
	}
}

static int rename_at_gates(void *arg)
{
	int i, round;

	for (round = 0; round < 4; round++) {
		for (i = 0; i < *(int *)arg; i++)
			prctl(PR_SET_NAME, i & 1 ? "odd" : "even");
		st_gate();
	}
	return 0;
}

static void set_tails(struct stape_ring_consumer **consumers, uint32_t n, const uint64_t *tails,
		      uint64_t add)
{
	uint32_t cpu;

	for (cpu = 0; cpu < n; cpu++)
		__atomic_store_n(&consumers[cpu]->tail, tails[cpu] + add, __ATOMIC_RELEASE);
}

/*
 * Tails in the future, in the far past, anywhere: there is nothing to read, events are lost and
 * counted, and a correct tail restores the session.
 */
TEST_F(mmap, garbage_in_tail)
{
	static const uint64_t garbage[] = { 1, 5, 1ull << 63, -100ull, 0xdeadbeefdeadbeefull };
	uint32_t cpu, nr = self->info.nr_cpus + 1, i;	/* and the descriptions */
	struct stape_ring_consumer *consumers[nr];
	struct schedtape_session_state before, after;
	char page[STAPE_PAGE_SIZE];
	uint64_t tails[nr];
	int times = 20;

	for (cpu = 0; cpu < nr; cpu++) {
		consumers[cpu] = mmap(NULL, self->page, PROT_READ | PROT_WRITE, MAP_SHARED,
				      self->fd, cpu * self->info.ring_stride);
		ASSERT_NE(MAP_FAILED, consumers[cpu]);
	}
	ASSERT_EQ(0, fcntl(self->fd, F_SETFL, O_NONBLOCK));
	ASSERT_EQ(0, st_record_child(&self->r, &self->w, 0, rename_at_gates, &times));
	ASSERT_EQ(0, ioctl(self->fd, STAPE_IOC_FLUSH));
	for (cpu = 0; cpu < nr; cpu++)
		tails[cpu] = consumers[cpu]->tail;

	for (i = 0; i < sizeof(garbage) / sizeof(garbage[0]); i++) {
		set_tails(consumers, nr, tails, garbage[i]);
		EXPECT_EQ(-1, read(self->fd, page, sizeof(page)));
		EXPECT_EQ(EAGAIN, errno);
	}
	/* While recording: events that come while a tail is garbage are lost and counted. */
	ASSERT_EQ(0, st_record_get(&self->r, &before));
	set_tails(consumers, nr, tails, 1000);
	ASSERT_TRUE(st_child_step(&self->w));
	ASSERT_EQ(0, st_record_get(&self->r, &after));
	EXPECT_LE(before.lost + times, after.lost);

	set_tails(consumers, nr, tails, 0);
	ASSERT_TRUE(st_child_step(&self->w));
	ASSERT_EQ(0, st_record_finish(&self->r));
	/* A CPU without later events has not reported its losses in a page. */
	EXPECT_GE(after.lost, self->r.lost);
	EXPECT_LE(times, self->r.lost);
	EXPECT_EQ(times, st_count_type(&self->r, STAPE_EV_RENAME));
}

TEST_HARNESS_MAIN
