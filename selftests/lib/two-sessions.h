/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Two sessions, and two children that rename themselves and fork as often as a test wants.
 */
#ifndef SELFTESTS_TWO_SESSIONS_H
#define SELFTESTS_TWO_SESSIONS_H

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <kselftest_harness.h>

#include "child.h"
#include "invariants.h"
#include "record.h"

/* Pages of a ring that loses no events in these tests, and of one that does. */
#define LARGE	4096
#define SMALL	4

FIXTURE(two_sessions)
{
	struct st_record r;
	struct st_record other;
	struct st_child w[2];
	struct schedtape_session_state state;
	unsigned int *shared;	/* with the children */
};

FIXTURE_SETUP(two_sessions)
{
	self->shared = st_share(4096);
}

FIXTURE_TEARDOWN(two_sessions)
{
	st_child_kill(&self->w[0]);
	st_child_kill(&self->w[1]);
	st_record_close(&self->r);
	st_record_close(&self->other);
}

/* Runs between gates: renames itself so many times, and forks a child that renames itself once. */
static inline int rename_and_fork(void *arg)
{
	unsigned int *times = arg, i;
	pid_t pid;

	for (;;) {
		for (i = 0; i < *times; i++)
			prctl(PR_SET_NAME, i & 1 ? "odd" : "even");
		pid = fork();
		if (!pid) {
			prctl(PR_SET_NAME, "child");
			_exit(0);
		}
		waitpid(pid, NULL, 0);
		st_gate();
	}
	return 0;
}

#endif /* SELFTESTS_TWO_SESSIONS_H */
