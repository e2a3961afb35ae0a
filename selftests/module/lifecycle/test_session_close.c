// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: sessions close while another one records a storm of forks, execs, renames and
 * exits: a probe that was preempted meanwhile does not use a closed session's memory.
 *
 * SCHEDTAPE_ROUNDS (5) is the number of rounds in which all close. A kernel with KASAN, or one
 * that was booted with slab_debug=FPU, finds more.
 */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <kselftest_harness.h>

#include "child.h"
#include "random.h"
#include "record.h"
#include "task.h"

#define CPUS		4	/* with storms, at most */
#define RENAMES		1000
#define SESSIONS	8	/* with more sessions, more of a rename's time is in its probe */

static void *be_renamed(void *arg)
{
	prctl(PR_SET_NAME, "thread");
	return arg;
}

static void live(unsigned int n)
{
	pthread_t thread;
	int i;

	/* Most of the time of such a system call is in the probe. */
	for (i = 0; i < RENAMES; i++)
		prctl(PR_SET_NAME, i & 1 ? "odd" : "even");
	if (n % 4 == 0)
		execl("/bin/true", "true", NULL);
	if (n % 4 == 1 && !pthread_create(&thread, NULL, be_renamed, NULL))
		pthread_join(thread, NULL);
	_exit(0);
}

/* Counts its forks in shared memory. */
static int rage(void *forks)
{
	unsigned int n = 0;
	pid_t pid;

	for (;;) {
		pid = fork();
		if (!pid)
			live(n);
		if (pid < 0)
			return 1;
		waitpid(pid, NULL, 0);
		__atomic_store_n((unsigned int *)forks, ++n, __ATOMIC_SEQ_CST);
	}
	return 0;
}

/* Preempts the storm on its CPU, often within a probe, for longer than a session needs to close. */
static int preempt(void *arg)
{
	struct sched_param param = { .sched_priority = 1 };
	struct st_random random = { .state = st_now() };

	(void)arg;
	if (sched_setscheduler(0, SCHED_FIFO, &param))
		return 1;
	for (;;) {
		usleep(st_random_below(&random, 20000));
		st_burn(50000000);
	}
	return 0;
}

FIXTURE(close)
{
	struct st_record r;
	unsigned int *forks;
	struct st_child storms[CPUS];
	struct st_child preempters[CPUS];
	struct st_random random;
	int cpus;		/* with a storm: not CPU 0, on which sessions close */
};

FIXTURE_SETUP(close)
{
	struct schedtape_filter all = { .all = true };

	if (st_cpus() < 2)
		SKIP(return, "needs two CPUs");
	self->cpus = st_cpus() <= CPUS ? st_cpus() - 1 : CPUS;
	self->forks = st_share(4096);
	self->random.state = st_now();
	ASSERT_EQ(0, st_pin(0, 0));
	ASSERT_EQ(0, st_record_open(&self->r, 16));
	ASSERT_EQ(0, st_record_set(&self->r, &all));
	ASSERT_EQ(0, st_record_start(&self->r));
}

FIXTURE_TEARDOWN(close)
{
	int i;

	for (i = 0; i < CPUS; i++) {
		st_child_kill(&self->preempters[i]);
		st_child_kill(&self->storms[i]);
	}
	st_record_close(&self->r);
}

static bool begin_storms(FIXTURE_DATA(close) *self)
{
	int i;

	for (i = 0; i < self->cpus; i++) {
		if (st_child_fork(&self->storms[i], i + 1, rage, &self->forks[i]) ||
		    st_child_fork(&self->preempters[i], i + 1, preempt, NULL))
			return false;
		st_child_go(&self->storms[i]);
		st_child_go(&self->preempters[i]);
	}
	return true;
}

/* Opens a session and records all tasks with it. */
static int begin(struct st_record *r)
{
	struct schedtape_filter all = { .all = true };
	int ret;

	ret = st_record_open(r, 4);
	if (!ret)
		ret = st_record_set(r, &all);
	if (!ret)
		ret = st_record_start(r);
	return ret;
}

/* Opens sessions and closes them one after the other, some after a stop. */
static int open_and_close(struct st_random *random)
{
	struct st_record r[SESSIONS];
	int i, n, ret = 0;

	for (n = 0; n < SESSIONS && !ret; n++)
		ret = begin(&r[n]);
	for (i = 0; i < n; i++) {
		if (!ret && st_random_one_in(random, 2))
			ret = st_record_stop(&r[i]);
		st_record_close(&r[i]);
	}
	return ret;
}

TEST_F_TIMEOUT(close, beneath_a_storm, 3600)
{
	const char *rounds = getenv("SCHEDTAPE_ROUNDS");
	int i, wanted = rounds ? atoi(rounds) : 5;
	struct schedtape_session_state state;

	ASSERT_TRUE(begin_storms(self));
	for (i = 0; i < wanted; i++)
		ASSERT_EQ(0, open_and_close(&self->random));
	for (i = 0; i < self->cpus; i++) {
		EXPECT_LT(0, self->forks[i]);
		TH_LOG("%d sessions closed beneath %u forks", wanted * SESSIONS, self->forks[i]);
	}
	ASSERT_EQ(0, st_record_get(&self->r, &state));
	EXPECT_EQ(STAPE_SESSION_RECORDING, state.state);
	EXPECT_LT(0, state.events);
}

TEST_HARNESS_MAIN
