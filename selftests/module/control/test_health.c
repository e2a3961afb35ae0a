// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: probed calls that were missed are counted.
 */
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <kselftest_harness.h>

#include "parameter.h"
#include "record.h"
#include "time-limit.h"

FIXTURE(health)
{
	struct st_record r;
	struct schedtape_session_state state;
};

FIXTURE_SETUP(health)
{
	self->state.size = sizeof(self->state);
}

FIXTURE_TEARDOWN(health)
{
	st_parameter_set("calls_max", "512");
	st_record_close(&self->r);
}

#define CALLERS	8

static int call_often(void *arg)
{
	cpu_set_t set;

	(void)arg;
	sched_getaffinity(0, sizeof(set), &set);
	for (;;)
		sched_setaffinity(0, sizeof(set), &set);
	return 0;
}

static uint64_t module_missed(struct st_record *r)
{
	struct schedtape_module_info info = { .size = sizeof(info) };

	return schedtape_client_info(r->client, &info, &r->err) ? UINT64_MAX : info.missed_calls;
}

/* Waits until calls were missed. */
static bool missed(FIXTURE_DATA(health) *self)
{
	unsigned int tries = 6000 * st_patience();

	while (tries--) {
		if (st_record_get(&self->r, &self->state) || self->state.missed_calls)
			break;
		usleep(10000);
	}
	return self->state.missed_calls;
}

TEST_F_TIMEOUT(health, missed_calls_are_counted, 120)
{
	uint64_t before, all;
	pid_t callers[CALLERS];
	int i;

	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		SKIP(return, "calls overlap only on several CPUs");
	/* The probes must be off, so that they are registered with the new limit. */
	ASSERT_TRUE(st_parameter_set("calls_max", "1"));
	ASSERT_EQ(0, st_record_open(&self->r, 64));
	before = module_missed(&self->r);
	ASSERT_NE(UINT64_MAX, before);
	ASSERT_EQ(0, st_record_start(&self->r));
	for (i = 0; i < CALLERS; i++) {
		callers[i] = fork();
		if (!callers[i])
			_exit(call_often(NULL));
	}
	EXPECT_TRUE(missed(self));
	for (i = 0; i < CALLERS; i++) {
		kill(callers[i], SIGKILL);
		waitpid(callers[i], NULL, 0);
	}
	ASSERT_EQ(0, st_record_stop(&self->r));
	ASSERT_EQ(0, st_record_get(&self->r, &self->state));
	EXPECT_NE(0, self->state.missed_calls);
	all = module_missed(&self->r);
	EXPECT_LE(before + self->state.missed_calls, all);
	st_record_close(&self->r);

	/* Another session begins to count at 0, and the module goes on. */
	ASSERT_TRUE(st_parameter_set("calls_max", "512"));
	ASSERT_EQ(0, st_record_open(&self->r, 64));
	ASSERT_EQ(0, st_record_start(&self->r));
	ASSERT_EQ(0, st_record_get(&self->r, &self->state));
	EXPECT_EQ(0, self->state.missed_calls);
	EXPECT_EQ(all, module_missed(&self->r));
}

TEST_HARNESS_MAIN
