// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: the effect on a filter of tasks that multiply, end in any order, or are created
 * by the kernel.
 */
#include <dirent.h>
#include <errno.h>
#include <linux/io_uring.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <kselftest_harness.h>

#include "child.h"
#include "invariants.h"
#include "record.h"
#include "task.h"
#include "time-limit.h"

#define PAGES 256

/* Shared by a child and the test. */
struct shared {
	volatile pid_t tid;
	volatile int ret;
	volatile unsigned int made;	/* threads */
	volatile bool enough;
	volatile bool gave_up;
	sem_t go;
};

FIXTURE(tasks)
{
	struct st_record r;
	struct st_child w;
	struct st_counts c;
	struct shared *shared;
	pid_t tracee;
};

FIXTURE_SETUP(tasks)
{
	ASSERT_EQ(0, st_record_open(&self->r, PAGES));
	self->shared = st_share(sizeof(*self->shared));
	ASSERT_EQ(0, sem_init(&self->shared->go, 1, 0));
}

FIXTURE_TEARDOWN(tasks)
{
	/* Before its leader can be reaped. */
	if (self->tracee && !kill(-self->w.pid, SIGKILL))
		waitpid(self->tracee, NULL, __WALL);
	st_child_kill(&self->w);
	st_record_close(&self->r);
}

static bool hung_up_within(struct st_record *r, int ms)
{
	struct pollfd p = { .fd = schedtape_session_fd(r->session) };

	return poll(&p, 1, ms) == 1 && p.revents & POLLHUP;
}

static bool hung_up(struct st_record *r)
{
	return hung_up_within(r, 5000 * st_patience());
}

static pthread_attr_t small;

static int make_thread(void *(*fn)(void *arg), void *arg)
{
	pthread_t thread;

	return pthread_create(&thread, &small, fn, arg);
}

/* -- a process that never stands still -------------------------------------------- */

/*
 * A walk over all threads takes longer than a link of the chain sleeps, and the links
 * preempt the walking task on the same CPU: most walks find a new link, if they are
 * repeated.  An emulator's timer may be late for some links.
 */
#define SLEEPERS	4000
#define LINK_US		500
#define LINKS		40000	/* at most; while a request runs, some tens are made */
#define REQUESTS	25

static void *sleep_on(void *arg)
{
	(void)arg;
	pause();
	return NULL;
}

/* Creates its successor before it ends. */
static void *be_link(void *arg)
{
	struct shared *shared = arg;

	if (__atomic_add_fetch(&shared->made, 1, __ATOMIC_RELAXED) == LINKS && !shared->enough) {
		shared->gave_up = true;
		shared->enough = true;
	}
	if (shared->enough)
		return NULL;
	usleep(LINK_US);
	while (make_thread(be_link, arg))
		usleep(100);
	return NULL;
}

static int multiply(void *arg)
{
	const struct sched_param first = { .sched_priority = 1 };
	struct shared *shared = arg;
	int i;

	munlockall();
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 65536);
	pthread_attr_setdetachstate(&small, PTHREAD_CREATE_DETACHED);
	for (i = 0; i < SLEEPERS; i++)
		if (make_thread(sleep_on, NULL))
			return 1;
	if (sched_setscheduler(0, SCHED_FIFO, &first) || make_thread(be_link, arg))
		return 1;
	while (!shared->enough)
		usleep(10000);
	return 0;
}

static uint64_t cpu_time(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

static int compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Median time, in ns, of a request that names the process again; 0: it failed. */
static uint64_t cost_of_request(FIXTURE_DATA(tasks) *self)
{
	uint64_t ns[REQUESTS];
	int i;

	for (i = 0; i < REQUESTS; i++) {
		usleep(2000);
		ns[i] = cpu_time();
		if (st_record_add(&self->r, self->w.pid))
			return 0;
		ns[i] = cpu_time() - ns[i];
	}
	qsort(ns, REQUESTS, sizeof(*ns), compare);
	return ns[REQUESTS / 2];
}

/* Children do not inherit, so there is always a thread that is not in the filter yet. */
TEST_F_TIMEOUT(tasks, always_new_threads, 60)
{
	struct schedtape_filter filter = { .no_inherit = true };
	uint64_t moving, still;

	ASSERT_EQ(0, st_pin(0, 0));
	ASSERT_EQ(0, st_child_fork(&self->w, 0, multiply, self->shared));
	ASSERT_EQ(0, st_record_set(&self->r, &filter));
	ASSERT_EQ(0, st_record_start(&self->r));
	st_child_go(&self->w);
	while (self->shared->made < 10)
		usleep(1000);
	ASSERT_EQ(0, st_record_add(&self->r, self->w.pid));
	moving = cost_of_request(self);
	/* No request had to wait for the end of the chain. */
	EXPECT_FALSE(self->shared->gave_up);
	self->shared->enough = true;
	ASSERT_TRUE(st_child_settled(&self->w));
	still = cost_of_request(self);
	EXPECT_LT(0, moving);
	/*
	 * The request takes one walk, as without new threads, which take some of that time.
	 * Without the limit it takes ten times as long or more, or the chain gives up.
	 */
	if (st_exact())
		EXPECT_LT(moving, 4 * still);
}

/* -- ends in another order ---------------------------------------------------------- */

static void *stay_behind(void *arg)
{
	struct shared *shared = arg;

	shared->tid = gettid();
	sem_wait(&shared->go);
	syscall(SYS_exit, 0);
	return NULL;
}

static int go_first(void *arg)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, stay_behind, arg))
		return 1;
	while (!((struct shared *)arg)->tid)
		usleep(1000);
	st_gate();
	syscall(SYS_exit, 0);	/* only this thread */
	return 1;
}

/* The leader ends, whose bit the filter keeps, then the other thread. */
static bool end_both(FIXTURE_DATA(tasks) *self, unsigned int tasks)
{
	bool still_there;

	st_child_go(&self->w);
	if (!st_wait_state(self->w.pid, 'Z'))
		return false;
	still_there = st_record_wait_tasks(&self->r, tasks);
	sem_post(&self->shared->go);
	return still_there;
}

/* Starts a process of two threads, and records one or both. */
static bool begin_two(FIXTURE_DATA(tasks) *self, bool both)
{
	if (st_child_fork(&self->w, -1, go_first, self->shared) || !st_child_step(&self->w))
		return false;
	if (both ? st_record_add(&self->r, self->w.pid) :
		   st_record_add_thread(&self->r, self->w.pid))
		return false;
	return !st_record_start(&self->r);
}

/* The remaining thread is not in the filter: the leader is not yet reaped. */
TEST_F(tasks, leader_ends_before_a_stranger)
{
	ASSERT_TRUE(begin_two(self, false));
	ASSERT_TRUE(end_both(self, 1));
	EXPECT_TRUE(hung_up(&self->r));
	EXPECT_TRUE(st_record_wait_tasks(&self->r, 0));
}

/* The thread's tracer does not react, so the dead thread stays in its process for long. */
static bool trace(FIXTURE_DATA(tasks) *self)
{
	if (ptrace(PTRACE_SEIZE, self->shared->tid, NULL, NULL))
		return false;
	self->tracee = self->shared->tid;
	return true;
}

TEST_F(tasks, leader_ends_before_a_traced_stranger)
{
	ASSERT_TRUE(begin_two(self, false));
	ASSERT_TRUE(trace(self));
	ASSERT_TRUE(end_both(self, 1));
	EXPECT_TRUE(hung_up(&self->r));
	EXPECT_TRUE(st_record_wait_tasks(&self->r, 0));
}

TEST_F(tasks, leader_ends_before_a_traced_thread)
{
	ASSERT_TRUE(begin_two(self, true));
	ASSERT_TRUE(trace(self));
	ASSERT_TRUE(end_both(self, 2));
	EXPECT_TRUE(hung_up(&self->r));
	EXPECT_TRUE(st_record_wait_tasks(&self->r, 0));
}

/* -- a named task that its name excludes -------------------------------------------- */

static int leave_out(struct st_record *r, const char *pattern)
{
	struct schedtape_filter filter = { .exclude_comm = &pattern, .nr_exclude_comm = 1 };

	return st_record_set(r, &filter);
}

/* The task stays in the filter, because it could get another name. */
TEST_F(tasks, left_out_until_its_end)
{
	ASSERT_EQ(0, leave_out(&self->r, "test_*"));
	ASSERT_TRUE(begin_two(self, true));
	EXPECT_TRUE(st_record_wait_tasks(&self->r, 0));
	EXPECT_FALSE(hung_up_within(&self->r, 0));
	st_child_go(&self->w);
	ASSERT_TRUE(st_wait_state(self->w.pid, 'Z'));
	EXPECT_FALSE(hung_up_within(&self->r, 100));
	sem_post(&self->shared->go);
	EXPECT_TRUE(hung_up(&self->r));
}

/* Another thread may take over its PID as long as there is one. */
TEST_F(tasks, leader_left_out_ends_before_a_stranger)
{
	ASSERT_EQ(0, leave_out(&self->r, "test_*"));
	ASSERT_TRUE(begin_two(self, false));
	st_child_go(&self->w);
	ASSERT_TRUE(st_wait_state(self->w.pid, 'Z'));
	EXPECT_FALSE(hung_up_within(&self->r, 100));
	sem_post(&self->shared->go);
	EXPECT_TRUE(hung_up(&self->r));
}

TEST_F(tasks, nobody_left_out)
{
	ASSERT_EQ(0, leave_out(&self->r, "none*"));
	ASSERT_TRUE(begin_two(self, true));
	EXPECT_FALSE(hung_up_within(&self->r, 100));
	ASSERT_TRUE(end_both(self, 2));
	EXPECT_TRUE(hung_up(&self->r));
}

/* -- threads that the kernel creates for a process --------------------------------- */

static void *use_io_uring(void *arg)
{
	struct io_uring_params params = {
		.flags = IORING_SETUP_SQPOLL,
		.sq_thread_idle = 1,
	};
	struct shared *shared = arg;
	int fd;

	shared->tid = gettid();
	st_gate();
	fd = syscall(SYS_io_uring_setup, 4, &params);
	shared->ret = fd < 0 ? -errno : 0;
	st_gate();
	return NULL;
}

static int use_it_in_a_thread(void *arg)
{
	pthread_t thread;

	return pthread_create(&thread, NULL, use_io_uring, arg) || pthread_join(thread, NULL);
}

/* Returns the thread of @pid whose name begins with @name; 0: no such thread. */
static pid_t find_thread(pid_t pid, const char *name)
{
	char path[300], comm[16];
	struct dirent *entry;
	pid_t found = 0;
	FILE *file;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	while (dir && !found && (entry = readdir(dir))) {
		snprintf(path, sizeof(path), "/proc/%d/task/%.12s/comm", pid, entry->d_name);
		file = fopen(path, "r");
		if (!file)
			continue;
		if (fgets(comm, sizeof(comm), file) && !strncmp(comm, name, strlen(name)))
			found = atoi(entry->d_name);
		fclose(file);
	}
	if (dir)
		closedir(dir);
	return found;
}

/* It has no FORK event, but works for the thread that uses it, and is its child. */
TEST_F(tasks, thread_of_io_uring)
{
	int tries = 5000 * st_patience();
	pid_t tid = 0;

	ASSERT_EQ(0, st_child_fork(&self->w, -1, use_it_in_a_thread, self->shared));
	ASSERT_TRUE(st_child_step(&self->w));
	ASSERT_EQ(0, st_record_add_thread(&self->r, self->shared->tid));
	ASSERT_EQ(0, st_record_start(&self->r));
	ASSERT_TRUE(st_child_step(&self->w));
	if (self->shared->ret)
		SKIP(return, "no io_uring here: %s", strerror(-self->shared->ret));
	/* The kernel's thread sets its own name. */
	while (!tid && tries--) {
		usleep(1000);
		tid = find_thread(self->w.pid, "iou-sqp");
	}
	ASSERT_NE(0, tid);
	ASSERT_TRUE(st_wait_state(tid, 'S'));
	EXPECT_TRUE(st_record_wait_tasks(&self->r, 2));
	ASSERT_EQ(0, st_record_finish(&self->r));
	st_count(&self->r, tid, &self->c);
	EXPECT_EQ(1, self->c.forked);
	EXPECT_EQ(1, self->c.wakeup_new);
	EXPECT_LE(1, self->c.in);
	EXPECT_LE(1, self->c.out[STAPE_STATE_SLEEPING]);
	st_count(&self->r, self->shared->tid, &self->c);
	EXPECT_EQ(1, self->c.forks);
	EXPECT_EQ(NULL, st_check(&self->r, (pid_t[]){ self->shared->tid }, 1));
}

TEST_HARNESS_MAIN
