// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: what tells how a session is without a reader of its events: /proc/PID/fdinfo, and
 * the count of probed calls that were missed.
 */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "parameter.h"
#include "players.h"

/* Returns the number after "KEY:" in the fdinfo of @fd, or -1 if it has none. */
static long long shown(int fd, const char *key)
{
	char path[64], line[256];
	long long value = -1;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file))
		if (!strncmp(line, key, strlen(key)) && line[strlen(key)] == ':')
			value = atoll(line + strlen(key) + 1);
	if (file)
		fclose(file);
	return value;
}

FIXTURE(health)
{
	struct st_record r;
	struct st_child w;
	struct schedtape_session_state state;
};

FIXTURE_SETUP(health)
{
	memset(self, 0, sizeof(*self));
	self->state.size = sizeof(self->state);
}

FIXTURE_TEARDOWN(health)
{
	st_parameter_set("calls_max", "512");
	st_child_kill(&self->w);
	st_record_close(&self->r);
}

static int nap(void *arg)
{
	int i;

	(void)arg;
	for (i = 0; i < 50; i++)
		usleep(100);
	return 0;
}

TEST_F(health, fdinfo_of_a_session)
{
	int fd;

	ASSERT_EQ(0, st_record_open(&self->r, 0));
	fd = schedtape_session_fd(self->r.session);
	EXPECT_EQ(schedtape_session_id(self->r.session), shown(fd, "session"));
	EXPECT_EQ(STAPE_SESSION_NEW, shown(fd, "state"));
	EXPECT_EQ(0, shown(fd, "memory"));
	EXPECT_EQ(-1, shown(fd, "replay"));
	st_record_close(&self->r);

	ASSERT_EQ(0, st_record_open(&self->r, 64));
	fd = schedtape_session_fd(self->r.session);
	ASSERT_EQ(0, st_child_fork(&self->w, -1, nap, NULL));
	ASSERT_EQ(0, st_record_add(&self->r, self->w.pid));
	ASSERT_EQ(0, st_record_start(&self->r));
	EXPECT_EQ(STAPE_SESSION_RECORDING, shown(fd, "state"));
	EXPECT_EQ(1, shown(fd, "tasks"));
	ASSERT_TRUE(st_child_step(&self->w));
	ASSERT_EQ(0, st_record_stop(&self->r));
	ASSERT_EQ(0, st_record_get(&self->r, &self->state));
	EXPECT_LT(50, self->state.events);
	EXPECT_EQ(self->state.events, shown(fd, "events"));
	EXPECT_EQ(self->state.lost, shown(fd, "lost"));
	EXPECT_EQ(0, shown(fd, "overwritten"));
	EXPECT_EQ(0, shown(fd, "missed_calls"));
	EXPECT_EQ(self->state.memory, shown(fd, "memory"));
	EXPECT_EQ(STAPE_SESSION_STOPPED, shown(fd, "state"));
}

TEST_F(replay, fdinfo_of_a_replay)
{
	ASSERT_EQ(0, setup(self, 2, 0));
	ASSERT_EQ(0, join(1));
	/* The file of the players, and that of the session. */
	EXPECT_EQ(self->setup.id, shown(players, "replay"));
	EXPECT_EQ(self->setup.id, shown(self->fd, "replay"));
	EXPECT_EQ(STAPE_REPLAY_READY, shown(players, "replay_state"));
	EXPECT_EQ(2, shown(players, "players"));
	EXPECT_EQ(1, shown(players, "joined"));
	EXPECT_EQ(0, shown(players, "steps"));
	ASSERT_EQ(0, leave(1, 0));
	EXPECT_EQ(1, shown(players, "done"));
	EXPECT_EQ(1, shown(players, "steps"));
}

/* -- missed calls ---------------------------------------------------------------- */

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
	EXPECT_EQ(self->state.missed_calls,
		  shown(schedtape_session_fd(self->r.session), "missed_calls"));
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
