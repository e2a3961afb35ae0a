// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: a session that records only some CPUs interrupts no other CPU while it records:
 * not for a flush, not for a change of its filter, not for tasks that end there. It leaves no work
 * to another CPU either.
 */
#include <pthread.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <kselftest_harness.h>

#include "caps.h"
#include "child.h"
#include "module.h"
#include "record.h"
#include "task.h"
#include "time-limit.h"

#define ROUNDS		100
#define PROCESSES	20
#define THREADS		60
#define TRIES		5

#define TRACING	"/sys/kernel/tracing/"
#define ENABLE	TRACING "events/workqueue/workqueue_queue_work/enable"

FIXTURE(left_out)
{
	struct st_record r;
	struct st_child stays;
	struct st_child w;
	struct st_child storm;
};

FIXTURE_SETUP(left_out)
{
}

FIXTURE_TEARDOWN(left_out)
{
	st_write_file(ENABLE, "0");
	st_child_kill(&self->storm);
	st_child_kill(&self->w);
	st_child_kill(&self->stays);
	st_record_close(&self->r);
}

/*
 * Returns how many interrupts CPU 1 has had of the kinds that the module could cause: calls of
 * functions, irq_work, rescheduling, and invalidations of its TLB; 0: they are not counted here.
 */
static long interrupts_of_cpu1(void)
{
	FILE *file = fopen("/proc/interrupts", "re");
	char line[4096], name[16];
	long cpu0, cpu1, sum = 0;

	if (!file)
		return 0;
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, " %15[A-Z]: %ld %ld", name, &cpu0, &cpu1) == 3 &&
		    (!strcmp(name, "CAL") || !strcmp(name, "IWI") || !strcmp(name, "RES") ||
		     !strcmp(name, "TLB")))
			sum += cpu1;
	fclose(file);
	return sum;
}

static int wait_at_gate(void *arg)
{
	(void)arg;
	st_gate();
	return 0;
}

/* Starts a session of the CPUs in @mask, which records a task. */
static int record_on(FIXTURE_DATA(left_out) *self, const char *mask, pid_t pid)
{
	struct schedtape_session_options options = {
		.ring_bytes = 16 * STAPE_PAGE_SIZE,
		.cpus = (const unsigned char *)mask,
		.cpus_bytes = 1,
	};

	return st_record_open_with(&self->r, options) || st_record_add(&self->r, pid) ||
	       st_record_start(&self->r);
}

/*
 * Uses a session of the CPUs in @mask.  Returns how many interrupts CPU 1 gets meanwhile, or -1,
 * without those that it gets in as much time without a session.  One task stays in the filter,
 * because an empty filter's message is sent by a worker, which the kernel may wake on CPU 1.
 */
static long interrupts_for(FIXTURE_DATA(left_out) *self, const char *mask)
{
	long before, more;
	uint64_t began;
	int i;

	if (record_on(self, mask, self->stays.pid))
		return -1;
	began = st_now();
	before = interrupts_of_cpu1();
	for (i = 0; i < ROUNDS; i++)
		if (st_record_add(&self->r, self->w.pid) || st_record_flush(&self->r) ||
		    st_record_del(&self->r, self->w.pid))
			return -1;
	more = interrupts_of_cpu1() - before;
	began = st_now() - began;
	st_record_close(&self->r);
	memset(&self->r, 0, sizeof(self->r));
	before = interrupts_of_cpu1();
	usleep(began / 1000);
	return more - (interrupts_of_cpu1() - before);
}

static int compare(const void *a, const void *b)
{
	long x = *(const long *)a, y = *(const long *)b;

	return (x > y) - (x < y);
}

/* The kernel's own interrupts come in bursts on debug kernels: the median does without some. */
static long median_for(FIXTURE_DATA(left_out) *self, const char *mask)
{
	long more[TRIES];
	int i;

	for (i = 0; i < TRIES; i++)
		more[i] = interrupts_for(self, mask);
	qsort(more, TRIES, sizeof(*more), compare);
	return more[TRIES / 2];
}

TEST_F_TIMEOUT(left_out, flush_and_filter, 300)
{
	long left_out, recorded;

	if (st_cpus() < 2 || !interrupts_of_cpu1())
		SKIP(return, "there is one CPU, or the kernel does not count these interrupts");
	ASSERT_EQ(0, st_pin(0, 0));
	ASSERT_EQ(0, st_child_fork(&self->stays, 0, wait_at_gate, NULL));
	ASSERT_EQ(0, st_child_fork(&self->w, 0, wait_at_gate, NULL));
	/* A session makes three calls a round. */
	left_out = median_for(self, "\1");
	recorded = median_for(self, "\3");
	EXPECT_LT(ROUNDS, recorded);
	EXPECT_GT(recorded / 3, left_out);
}

static void *sleeps(void *arg)
{
	pause();
	return arg;
}

/* Ends more threads between two ticks than a CPU's list has room for: whole processes at once. */
static int storm_of_ends(void *arg)
{
	pthread_t thread;
	int i, status;
	pid_t pid;

	(void)arg;
	for (i = 0; i < PROCESSES; i++) {
		pid = fork();
		if (!pid) {
			for (i = 0; i < THREADS; i++)
				if (pthread_create(&thread, NULL, sleeps, NULL))
					_exit(1);
			_exit(0);
		}
		if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
			return 1;
	}
	return 0;
}

/* Returns how many interrupts CPU 1 gets during a storm on it, or -1.  @mask: NULL: no session */
static long interrupts_of_storm(FIXTURE_DATA(left_out) *self, const char *mask)
{
	long before, after;
	bool ended;

	if (st_child_fork(&self->storm, 1, storm_of_ends, NULL) ||
	    (mask && record_on(self, mask, self->storm.pid)))
		return -1;
	before = interrupts_of_cpu1();
	st_child_go(&self->storm);
	/* Its second gate. */
	while (*self->storm.arrived < 2)
		if (mask ? st_record_flush(&self->r) : usleep(10000))
			return -1;
	after = interrupts_of_cpu1();
	ended = !mask || st_count_type(&self->r, STAPE_EV_EXIT) > PROCESSES * THREADS;
	st_child_go(&self->storm);
	ended = !st_child_wait(&self->storm) && ended;
	st_record_close(&self->r);
	memset(&self->r, 0, sizeof(self->r));
	return ended ? after - before : -1;
}

TEST_F_TIMEOUT(left_out, ends, 300)
{
	long without[TRIES], more[TRIES];
	int i;

	if (st_cpus() < 2 || !interrupts_of_cpu1())
		SKIP(return, "there is one CPU, or the kernel does not count these interrupts");
	ASSERT_EQ(0, st_pin(0, 0));
	for (i = 0; i < TRIES; i++) {
		without[i] = interrupts_of_storm(self, NULL);
		more[i] = interrupts_of_storm(self, "\1");
		ASSERT_LE(0, without[i]);
		ASSERT_LE(0, more[i]);
		more[i] -= without[i];
		TH_LOG("%ld interrupts without a recording, %ld more with one", without[i],
		       more[i]);
	}
	qsort(without, TRIES, sizeof(*without), compare);
	qsort(more, TRIES, sizeof(*more), compare);
	/* On PREEMPT_RT the kernel's own differ by many. */
	EXPECT_GE(10 + without[TRIES - 1] - without[0], more[TRIES / 2]);
}

/* -- work ------------------------------------------------------------------------------- */

#define WORKS	5

/* Enters the filter and leaves it, for ever.  Its other thread may run, so CPUs are resynced. */
static int storm_of_names(void *arg)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, sleeps, NULL))
		return 1;
	for (;;) {
		prctl(PR_SET_NAME, "open");
		usleep(1000);
		prctl(PR_SET_NAME, "secret");
		usleep(1000);
	}
	return 0;
}

/* Returns how many resyncs a CPU has queued. */
static int resyncs_of(int cpu)
{
	char path[64];

	snprintf(path, sizeof(path), TRACING "per_cpu/cpu%d/trace", cpu);
	return st_count_lines(path, "stape_session_resync_work");
}

TEST_F_TIMEOUT(left_out, names, 60)
{
	const char *pattern = "secret";
	struct schedtape_filter filter = { .exclude_comm = &pattern, .nr_exclude_comm = 1 };
	int tries;

	if (st_cpus() < 2 || st_rt_kernel() || !st_write_file(ENABLE, "1"))
		SKIP(return, "there is one CPU, PREEMPT_RT, or no tracepoint for work");
	/* What an earlier run has left. */
	ASSERT_TRUE(st_write_file(TRACING "trace", ""));
	ASSERT_EQ(0, st_pin(0, 0));
	ASSERT_EQ(0, st_child_fork(&self->storm, 1, storm_of_names, NULL));
	ASSERT_EQ(0, record_on(self, "\1", self->storm.pid));
	ASSERT_EQ(0, st_record_set(&self->r, &filter));
	st_child_go(&self->storm);
	for (tries = 5000 * st_patience(); tries && resyncs_of(0) + resyncs_of(1) < WORKS; tries--)
		usleep(1000);
	EXPECT_LE(WORKS, resyncs_of(0));
	EXPECT_EQ(0, resyncs_of(1));
}

TEST_HARNESS_MAIN
