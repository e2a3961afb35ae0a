// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: which tasks a filter's rules include: threads, children, all, kernel threads,
 * names and CPUs; and that excluded tasks do not appear in the pages.
 */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/ioctl.h>

#include "invariants.h"
#include "servants.h"
#include "time-limit.h"

#define ROUNDS	3

/* -- threads and children ----------------------------------------------------- */

/* Each round creates a thread and a process, each of which renames itself. */
struct maker {
	pid_t tid;
	pid_t threads[ROUNDS];
	pid_t processes[ROUNDS];
	sem_t go, done;
};

static void *rename_thread(void *arg)
{
	*(pid_t *)arg = gettid();
	prctl(PR_SET_NAME, "thread");
	return NULL;
}

static void make(struct maker *m, int round)
{
	pthread_t thread;
	pid_t pid;

	prctl(PR_SET_NAME, "maker");
	if (!pthread_create(&thread, NULL, rename_thread, &m->threads[round]))
		pthread_join(thread, NULL);
	pid = fork();
	if (!pid) {
		prctl(PR_SET_NAME, "process");
		_exit(0);
	}
	m->processes[round] = pid;
	waitpid(pid, NULL, 0);
}

static void *make_in_thread(void *arg)
{
	struct maker *m = arg;
	int i;

	m->tid = gettid();
	for (i = 0; i < ROUNDS; i++) {
		sem_post(&m->done);
		sem_wait(&m->go);
		make(m, i);
	}
	sem_post(&m->done);
	pause();
	return NULL;
}

/* The leader and its sibling create tasks in turn. */
static int make_in_both(void *arg)
{
	struct maker *m = arg;
	pthread_t thread;
	int i;

	m[0].tid = gettid();
	sem_init(&m[1].go, 0, 0);
	sem_init(&m[1].done, 0, 0);
	if (pthread_create(&thread, NULL, make_in_thread, &m[1]))
		return 1;
	sem_wait(&m[1].done);
	for (i = 0; i < ROUNDS; i++) {
		st_gate();
		make(&m[0], i);
		sem_post(&m[1].go);
		sem_wait(&m[1].done);
	}
	return 0;
}

FIXTURE(threads)
{
	struct st_record r;
	struct st_child w;
	struct maker *makers;	/* the leader's and its sibling's */
};

FIXTURE_VARIANT(threads)
{
	bool in[2];		/* the leader, its sibling; neither: the process */
	bool no_inherit;
};

FIXTURE_VARIANT_ADD(threads, leader)
{
	.in = { true, false },
};

FIXTURE_VARIANT_ADD(threads, sibling)
{
	.in = { false, true },
};

FIXTURE_VARIANT_ADD(threads, process)
{
};

FIXTURE_VARIANT_ADD(threads, sibling_alone)
{
	.in = { false, true },
	.no_inherit = true,
};

FIXTURE_VARIANT_ADD(threads, process_alone)
{
	.no_inherit = true,
};

FIXTURE_SETUP(threads)
{
	struct schedtape_filter filter = { .no_inherit = variant->no_inherit };

	self->makers = st_share(2 * sizeof(struct maker));
	ASSERT_EQ(0, st_record_open(&self->r, PAGES));
	ASSERT_EQ(0, st_record_set(&self->r, &filter));
	ASSERT_EQ(0, st_child_fork(&self->w, -1, make_in_both, self->makers));
	ASSERT_TRUE(st_child_step(&self->w));
}

ST_TEARDOWN(threads)

TEST_F_TIMEOUT(threads, recorded, 60)
{
	bool process = !variant->in[0] && !variant->in[1], in;
	pid_t roots[2];
	int i, round, n = 0;

	for (i = 0; i < 2; i++)
		if (process || variant->in[i])
			roots[n++] = self->makers[i].tid;
	for (i = 0; i < n && !process; i++)
		ASSERT_EQ(0, st_record_add_thread(&self->r, roots[i]));
	if (process)
		ASSERT_EQ(0, st_record_add(&self->r, self->w.pid));
	ASSERT_EQ(0, st_record_start(&self->r));
	for (round = 0; round < ROUNDS; round++)
		ASSERT_TRUE(st_child_step(&self->w));
	EXPECT_TRUE(st_record_wait_tasks(&self->r, n));
	ASSERT_EQ(0, st_record_finish(&self->r));

	for (i = 0; i < 2; i++) {
		const struct maker *m = &self->makers[i];
		struct st_counts c;

		in = process || variant->in[i];
		st_count(&self->r, m->tid, &c);
		EXPECT_EQ(in ? ROUNDS : 0, c.renames);
		in = in && !variant->no_inherit;
		EXPECT_EQ(in ? 2 * ROUNDS : 0, c.forks);
		for (round = 0; round < ROUNDS; round++) {
			EXPECT_EQ(in, !!st_named(&self->r, m->threads[round]));
			EXPECT_EQ(in, !!st_named(&self->r, m->processes[round]));
		}
	}
	EXPECT_EQ(0, st_foreign(&self->r, roots, n));
	EXPECT_EQ(NULL, st_check(&self->r, roots, n));
}

/* -- inheritance -------------------------------------------------------------- */

/* Inheritance changes with each request; tasks that are in stay in. */
TEST_F(servants, inheritance_changes)
{
	struct schedtape_filter filter = { .no_inherit = true };

	ASSERT_TRUE(servant(self, 0));
	ASSERT_EQ(0, st_record_start_with(&self->r, &self->w[0], 1));
	ASSERT_TRUE(fork_named(self, 0, "one"));
	EXPECT_EQ(0, st_record_set(&self->r, &filter));
	ASSERT_TRUE(fork_named(self, 0, "two"));
	filter.no_inherit = false;
	EXPECT_EQ(0, st_record_set(&self->r, &filter));
	ASSERT_TRUE(fork_named(self, 0, "three"));
	ASSERT_EQ(0, st_record_finish(&self->r));
	EXPECT_EQ(2, st_count_type(&self->r, STAPE_EV_FORK));
	EXPECT_EQ(2, st_count_type(&self->r, STAPE_EV_RENAME));
	EXPECT_EQ(0, st_foreign(&self->r, &self->w[0].pid, 1));
	EXPECT_EQ(NULL, st_check(&self->r, &self->w[0].pid, 1));
}

/* -- all ------------------------------------------------------------------------ */

/* Field 9 of /proc/PID/stat: PF_KTHREAD. */
static bool is_kthread(pid_t pid)
{
	unsigned int flags;
	char text[512], *end;

	if (st_read_proc(pid, "stat", text, sizeof(text)))
		return false;
	end = strrchr(text, ')');
	return end && sscanf(end + 1, " %*c %*d %*d %*d %*d %*d %u", &flags) == 1 &&
	       flags & 0x00200000;
}

/* Number of kernel threads in the stream that still exist. */
static unsigned int kthreads(const struct st_record *r)
{
	static bool seen[1 << STAPE_PID_BITS];
	unsigned int n = 0;
	size_t i;

	memset(seen, 0, sizeof(seen));
	for (i = 0; i < r->n; i++) {
		uint32_t pid = r->events[i].pid;

		if (pid && !seen[pid])
			n += is_kthread(pid);
		seen[pid] = true;
	}
	return n;
}

/* The recorder has busy threads. */
static void *be_busy(void *arg)
{
	*(pid_t *)arg = gettid();
	for (;;)
		usleep(1000);
	return NULL;
}

/* The tasks that are in now: later ones are their descendants, or enter. */
static size_t roots_of(struct st_record *r, pid_t *roots, size_t max)
{
	struct schedtape_task_info *tasks;
	size_t i, n;

	if (schedtape_session_tasks(r->session, &tasks, &n, &r->err))
		return 0;
	for (i = 0; i < n && i < max; i++)
		roots[i] = tasks[i].pid;
	free(tasks);
	return n;
}

static volatile pid_t busy;

TEST_F_TIMEOUT(servants, all, 60)
{
	struct schedtape_filter filter = { .all = true };
	pid_t roots[1024];
	pthread_t thread;
	size_t n;

	ASSERT_EQ(0, pthread_create(&thread, NULL, be_busy, (void *)&busy));
	ASSERT_TRUE(servant(self, 0));
	EXPECT_EQ(0, st_record_tasks(&self->r));
	ASSERT_EQ(0, st_record_set(&self->r, &filter));
	n = roots_of(&self->r, roots, 1024);
	ASSERT_LT(1, n);
	ASSERT_GT(1024, n);
	ASSERT_EQ(0, st_record_start(&self->r));
	ASSERT_TRUE(rename_to(self, 0, "recorded"));
	ASSERT_TRUE(fork_named(self, 0, "too"));
	/* The recorder's child has no FORK event. */
	ASSERT_TRUE(servant(self, 1));
	ASSERT_TRUE(rename_to(self, 1, "recorded"));
	while (!busy)
		usleep(1000);
	ASSERT_EQ(0, st_record_finish(&self->r));

	st_count(&self->r, self->w[0].pid, &self->c);
	EXPECT_EQ(1, self->c.renames);
	EXPECT_EQ(1, self->c.forks);
	EXPECT_EQ(1, st_count_why(&self->r, self->w[1].pid, STAPE_TASK_ENTERS));
	EXPECT_EQ(1, st_count_why(&self->r, 0, STAPE_TASK_ENTERS));
	EXPECT_EQ(0, st_named(&self->r, getpid()));
	EXPECT_EQ(0, st_named(&self->r, busy));
	EXPECT_EQ(0, kthreads(&self->r));
	EXPECT_EQ(NULL, st_check(&self->r, roots, n));
}

/* No task was named: without "all", all tasks leave except those of another rule. */
TEST_F(servants, all_and_none)
{
	struct schedtape_filter filter = { .all = true };
	size_t i;

	ASSERT_TRUE(servant(self, 0));
	ASSERT_TRUE(servant(self, 1));
	ASSERT_EQ(0, st_record_start_with(&self->r, &self->w[0], 1));
	EXPECT_EQ(0, st_record_set(&self->r, &filter));
	EXPECT_LE(2, st_record_tasks(&self->r));
	ASSERT_TRUE(rename_to(self, 1, "in"));
	filter.all = false;
	EXPECT_EQ(0, st_record_set(&self->r, &filter));
	EXPECT_EQ(1, st_record_tasks(&self->r));
	ASSERT_TRUE(rename_to(self, 0, "still"));
	ASSERT_TRUE(rename_to(self, 1, "out"));
	ASSERT_EQ(0, st_record_finish(&self->r));
	EXPECT_EQ(2, st_count_type(&self->r, STAPE_EV_RENAME));
	EXPECT_EQ(1, st_count_why(&self->r, self->w[1].pid, STAPE_TASK_ENTERS));
	EXPECT_EQ(1, st_count_why(&self->r, self->w[1].pid, STAPE_TASK_LEAVES));
	i = st_find_why(&self->r, self->w[1].pid, STAPE_TASK_LEAVES, 0);
	EXPECT_STREQ("in", self->r.events[i].comm);
	EXPECT_EQ(0, st_count_why(&self->r, self->w[0].pid, STAPE_TASK_ENTERS));
	EXPECT_EQ(0, st_count_why(&self->r, self->w[0].pid, STAPE_TASK_LEAVES));
	EXPECT_EQ(NULL, st_check(&self->r, &self->w[0].pid, 1));
}

/* -- kernel threads ---------------------------------------------------------------- */

/* The kernel thread of CPU 0 moves a task that leaves CPU 0 while it runs there. */
static bool push(FIXTURE_DATA(servants) *self)
{
	return obeys(self, 0, (struct order){ .cpu = 1 }) &&
	       obeys(self, 0, (struct order){ .cpu = 2 });
}

TEST_F(servants, kernel_threads)
{
	struct schedtape_filter filter = { .all = true, .kthreads = true };
	pid_t pusher = st_find_task("migration/0");

	if (st_cpus() < 2)
		SKIP(return, "needs two CPUs");
	ASSERT_LT(0, pusher);
	ASSERT_TRUE(servant(self, 0));
	ASSERT_EQ(0, st_record_set(&self->r, &filter));
	ASSERT_EQ(0, st_record_start(&self->r));
	ASSERT_TRUE(push(self));
	filter.kthreads = false;
	ASSERT_EQ(0, st_record_set(&self->r, &filter));
	ASSERT_TRUE(push(self));
	ASSERT_EQ(0, st_record_finish(&self->r));
	EXPECT_EQ(1, st_count_why(&self->r, pusher, STAPE_TASK_LEAVES));
	st_count(&self->r, pusher, &self->c);
	EXPECT_LT(0, st_wakings(&self->c));
	EXPECT_EQ(self->c.in, st_voluntary(&self->c) + self->c.out[STAPE_STATE_RUNNING]);
	EXPECT_EQ(0, st_named(&self->r, getpid()));
}

/* One kernel thread by its PID, if the filter includes kernel threads. */
TEST_F(servants, one_kernel_thread)
{
	struct schedtape_filter filter = { .kthreads = true };
	pid_t pusher = st_find_task("migration/0");

	if (st_cpus() < 2)
		SKIP(return, "needs two CPUs");
	ASSERT_LT(0, pusher);
	ASSERT_TRUE(servant(self, 0));
	EXPECT_EQ(-EINVAL, st_record_add(&self->r, pusher));
	EXPECT_NE(NULL, strstr(self->r.err.text, "kernel thread"));
	ASSERT_EQ(0, st_record_set(&self->r, &filter));
	EXPECT_EQ(0, st_record_add(&self->r, pusher));
	EXPECT_EQ(1, st_record_tasks(&self->r));
	ASSERT_EQ(0, st_record_start(&self->r));
	ASSERT_TRUE(push(self));
	ASSERT_EQ(0, st_record_finish(&self->r));
	EXPECT_LT(0, st_named(&self->r, pusher));
	EXPECT_EQ(0, st_foreign(&self->r, &pusher, 1));
	EXPECT_EQ(NULL, st_check(&self->r, &pusher, 1));
}

/* -- CPUs --------------------------------------------------------------------------- */

static int try_map(struct st_record *r, uint32_t cpu)
{
	int fd = schedtape_session_fd(r->session);
	struct stape_session_info info;
	void *map;

	if (ioctl(fd, STAPE_IOC_INFO, &info))
		return -errno;
	map = mmap(NULL, getpagesize(), PROT_READ, MAP_SHARED, fd, cpu * info.ring_stride);
	if (map == MAP_FAILED)
		return -errno;
	munmap(map, getpagesize());
	return 0;
}

TEST_F(servants, one_cpu_of_two)
{
	struct schedtape_session_options options = {
		.ring_bytes = PAGES * STAPE_PAGE_SIZE,
		.cpus = (const unsigned char *)"\2\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0",
		.cpus_bytes = 17,
	};
	struct schedtape_session_state state;
	int round, to;
	size_t i;

	if (st_cpus() < 2)
		SKIP(return, "needs two CPUs");
	st_record_close(&self->r);
	ASSERT_EQ(0, st_record_open_with(&self->r, options));
	ASSERT_EQ(0, st_record_get(&self->r, &state));
	EXPECT_EQ(1, state.cpus);
	EXPECT_EQ(-ENXIO, try_map(&self->r, 0));
	EXPECT_EQ(0, try_map(&self->r, 1));
	ASSERT_TRUE(servant(self, 0));
	ASSERT_EQ(0, st_record_start_with(&self->r, &self->w[0], 1));
	for (round = 0; round < ROUNDS; round++)
		for (to = 2; to > 0; to--)
			ASSERT_TRUE(obeys(self, 0, (struct order){ .cpu = to, .name = "renamed" }));
	ASSERT_EQ(0, st_record_flush(&self->r));
	ASSERT_EQ(0, st_record_finish(&self->r));
	/* Names are recorded on both, switches on one. */
	EXPECT_EQ(2 * ROUNDS, st_count_type(&self->r, STAPE_EV_RENAME));
	EXPECT_LE(ROUNDS, st_count_type(&self->r, STAPE_EV_SWITCH));
	for (i = 0; i < self->r.n; i++)
		EXPECT_EQ(self->r.events[i].type == STAPE_EV_RENAME ||
			  self->r.events[i].type == SCHEDTAPE_EV_AFFINITY ? STAPE_CPU_NONE : 1,
			  self->r.events[i].cpu);
	EXPECT_EQ(0, st_foreign(&self->r, &self->w[0].pid, 1));
}

/* -- execve() -------------------------------------------------------------------- */

static void *sleep_in_another_program(void *arg)
{
	*(pid_t *)arg = gettid();
	st_gate();
	execl("/bin/sleep", "sleep", "1000", NULL);
	return NULL;
}

static int start_another_program(void *arg)
{
	pthread_t thread;

	return pthread_create(&thread, NULL, sleep_in_another_program, arg) ||
	       pthread_join(thread, NULL);
}

/* The name comes before the program. */
static bool runs_sleep(pid_t pid)
{
	char comm[32] = "";

	return st_read_proc(pid, "comm", comm, sizeof(comm)) >= 0 && !strcmp(comm, "sleep\n") &&
	       st_asleep(pid);
}

/* It takes over the PID of its leader, which may still be on its way out. */
TEST_F(servants, thread_alone_through_execve)
{
	pid_t *tid = st_share(sizeof(*tid));
	int i, tries;

	ASSERT_EQ(0, st_record_start(&self->r));
	for (i = 0; i < 50; i++) {
		ASSERT_EQ(0, st_child_fork(&self->w[0], -1, start_another_program, tid));
		ASSERT_TRUE(st_child_step(&self->w[0]));
		ASSERT_EQ(0, st_record_add_thread(&self->r, *tid));
		st_child_go(&self->w[0]);
		for (tries = 20000 * st_patience(); tries && !runs_sleep(self->w[0].pid); tries--)
			usleep(1000);
		ASSERT_NE(0, tries);
		EXPECT_EQ(1, st_record_tasks(&self->r));
		st_child_kill(&self->w[0]);
		ASSERT_TRUE(st_record_wait_tasks(&self->r, 0));
	}
}

TEST_HARNESS_MAIN
