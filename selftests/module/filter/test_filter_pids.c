// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: a PID that another task gets after the end of a recorded one. The module removes a
 * dead task at the next tick. Where time is counted in instructions, the second task gets the PID
 * before that, and has to stay.
 */
#include <linux/sched.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <kselftest_harness.h>

#include "child.h"
#include "invariants.h"
#include "record.h"

#define PAGES 256

FIXTURE(filter_pids)
{
	struct st_record r;
	struct st_child w[2];
	struct st_counts c;
	pid_t *shared;		/* the PID that a child reports */
};

FIXTURE_SETUP(filter_pids)
{
	ASSERT_EQ(0, st_record_open(&self->r, PAGES));
	self->shared = st_share(4096);
}

ST_TEARDOWN(filter_pids)

/* Renames itself once before a gate. */
static int rename_at_gate(void *arg)
{
	(void)arg;
	prctl(PR_SET_NAME, "renamed");
	st_gate();
	return 0;
}

/*
 * Forks a child that gets this PID; it renames itself and ends.  It lives for some ticks: at the
 * next one the module removes the task that had the PID before.
 */
static bool fork_as(pid_t pid)
{
	struct clone_args args = {
		.exit_signal = SIGCHLD,
		.set_tid = (uintptr_t)&pid,
		.set_tid_size = 1,
	};
	pid_t child = syscall(SYS_clone3, &args, sizeof(args));
	int status;

	if (!child) {
		prctl(PR_SET_NAME, "second life");
		usleep(20000);
		_exit(0);
	}
	return child == pid && waitpid(pid, &status, 0) == pid && !status;
}

TEST_F(filter_pids, used_again_by_a_stranger)
{
	pid_t pid;
	int i;

	ASSERT_EQ(0, st_record_child(&self->r, &self->w[1], -1, rename_at_gate, NULL));
	for (i = 0; i < 10; i++) {
		ASSERT_EQ(0, st_child_fork(&self->w[0], -1, rename_at_gate, NULL));
		pid = self->w[0].pid;
		ASSERT_EQ(0, st_record_add(&self->r, pid));
		/* Killed and reaped, and its PID reused as soon as possible. */
		st_child_kill(&self->w[0]);
		ASSERT_TRUE(fork_as(pid));
	}
	EXPECT_TRUE(st_record_wait_tasks(&self->r, 1));
	ASSERT_EQ(0, st_record_finish(&self->r));
	EXPECT_EQ(0, st_count_type(&self->r, STAPE_EV_RENAME));
	st_count(&self->r, pid, &self->c);
	EXPECT_EQ(1, self->c.exits);
}

/* The task dies before the start: the next task with its PID is not in the filter. */
TEST_F(filter_pids, used_again_after_the_start)
{
	pid_t pid;

	ASSERT_EQ(0, st_child_fork(&self->w[0], -1, rename_at_gate, NULL));
	pid = self->w[0].pid;
	ASSERT_EQ(0, st_record_add(&self->r, pid));
	st_child_kill(&self->w[0]);
	ASSERT_EQ(0, st_record_start(&self->r));
	ASSERT_TRUE(fork_as(pid));
	ASSERT_EQ(0, st_record_finish(&self->r));
	EXPECT_EQ(0, self->r.n);
}

static int be_born_again(void *arg)
{
	pid_t *pids = arg, pid = fork();
	int i;

	if (!pid)
		_exit(0);
	pids[0] = pid;
	waitpid(pid, NULL, 0);
	for (i = 0; i < 5; i++)
		if (!fork_as(pids[0]))
			return 1;
	return 0;
}

TEST_F(filter_pids, used_again_by_a_member)
{
	ASSERT_EQ(0, st_record_child(&self->r, &self->w[0], -1, be_born_again, self->shared));
	ASSERT_TRUE(st_child_step(&self->w[0]));
	EXPECT_TRUE(st_record_wait_tasks(&self->r, 1));
	ASSERT_EQ(0, st_record_finish(&self->r));
	st_count(&self->r, self->shared[0], &self->c);
	EXPECT_EQ(6, self->c.forked);
	EXPECT_EQ(6, self->c.exits);
	EXPECT_EQ(5, self->c.renames);
}

TEST_HARNESS_MAIN
