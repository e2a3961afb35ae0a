// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: a session that records only some CPUs interrupts no other CPU while it records:
 * not for a flush, not for a change of its filter, not for tasks that end there.
 */
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <kselftest_harness.h>

#include "child.h"
#include "record.h"
#include "task.h"

#define ROUNDS		100
#define PROCESSES	50
#define THREADS		60
#define TRIES		5

FIXTURE(left_out)
{
	struct st_record r;
	struct st_child stays;
	struct st_child storm;
};

FIXTURE_SETUP(left_out)
{
	memset(self, 0, sizeof(*self));
}

FIXTURE_TEARDOWN(left_out)
{
	st_child_kill(&self->storm);
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

static void *sleeps(void *arg)
{
	pause();
	return arg;
}

/* Processes whose threads end together: too many between two ticks to wait for the second one. */
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

/* Uses the session, if there is one, while the storm lasts; or only waits for its end. */
static bool use_during_storm(FIXTURE_DATA(left_out) *self, bool session)
{
	int i;

	if (st_child_fork(&self->storm, 1, storm_of_ends, NULL) ||
	    (session && st_record_add(&self->r, self->storm.pid)))
		return false;
	st_child_go(&self->storm);
	for (i = 0; session && i < ROUNDS; i++)
		if (st_record_flush(&self->r) || st_record_add(&self->r, getpid()) ||
		    st_record_del(&self->r, getpid()))
			return false;
	st_child_go(&self->storm);
	return !st_child_wait(&self->storm);
}

/*
 * Returns how many interrupts CPU 1 gets during a storm on it, or -1.  @mask: of the CPUs that a
 * session records meanwhile; NULL: without a session.  One task stays in the filter, because an
 * empty filter's message is sent by a worker, which the kernel may wake on CPU 1.
 */
static long interrupts_with(FIXTURE_DATA(left_out) *self, const char *mask)
{
	struct schedtape_session_options options = {
		.ring_bytes = 16 * STAPE_PAGE_SIZE,
		.cpus = (const unsigned char *)mask,
		.cpus_bytes = 1,
	};
	long before, after;
	bool used;

	if (mask &&
	    (st_record_open_with(&self->r, options) || st_record_add(&self->r, self->stays.pid) ||
	     st_record_start(&self->r)))
		return -1;
	before = interrupts_of_cpu1();
	used = use_during_storm(self, mask);
	after = interrupts_of_cpu1();
	st_child_kill(&self->storm);
	st_record_close(&self->r);
	memset(&self->r, 0, sizeof(self->r));
	return used ? after - before : -1;
}

static int compare(const void *a, const void *b)
{
	long x = *(const long *)a, y = *(const long *)b;

	return (x > y) - (x < y);
}

/*
 * The kernel's own interrupts differ from time to time, by hundreds on debug kernels and by a few
 * on others.  The median of some differences does without the odd one.
 */
TEST_F_TIMEOUT(left_out, storm, 300)
{
	long without[TRIES], more[TRIES], recorded;
	int i;

	if (st_cpus() < 2 || !interrupts_of_cpu1())
		SKIP(return, "there is one CPU, or the kernel does not count these interrupts");
	ASSERT_EQ(0, st_pin(0, 0));
	ASSERT_EQ(0, st_child_fork(&self->stays, 0, wait_at_gate, NULL));
	for (i = 0; i < TRIES; i++) {
		without[i] = interrupts_with(self, NULL);
		more[i] = interrupts_with(self, "\1");
		ASSERT_LE(0, without[i]);
		ASSERT_LE(0, more[i]);
		more[i] -= without[i];
		TH_LOG("%ld interrupts without a recording, %ld more with one", without[i],
		       more[i]);
	}
	recorded = interrupts_with(self, "\3") - without[0];
	qsort(without, TRIES, sizeof(*without), compare);
	qsort(more, TRIES, sizeof(*more), compare);
	EXPECT_GE(10 + without[TRIES - 1] - without[0], more[TRIES / 2]);
	/* A flush and a change of the filter each interrupt a CPU that is recorded. */
	EXPECT_LT(ROUNDS, recorded);
}

TEST_HARNESS_MAIN
