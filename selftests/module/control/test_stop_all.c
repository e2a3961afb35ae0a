// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: the parameter stop_all ends all sessions and replays, their owners are told why,
 * and none may start until it is N again.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>

#include "long-request.h"
#include "parameter.h"
#include "players.h"

#define TEXT	"an administrator has switched the module off"

FIXTURE(stop_all)
{
	struct st_record r[3];
	struct st_long_request request;
	struct schedtape_session_state state;
};

FIXTURE_SETUP(stop_all)
{
	ASSERT_TRUE(st_parameter_set("stop_all", "N"));
}

FIXTURE_TEARDOWN(stop_all)
{
	int i;

	st_parameter_set("stop_all", "N");
	st_long_request_kill(&self->request);
	for (i = 0; i < 3; i++)
		st_record_close(&self->r[i]);
}

static bool is(FIXTURE_DATA(stop_all) *self, int i, uint32_t state, uint32_t stopped_by)
{
	self->state.size = sizeof(self->state);
	return !st_record_get(&self->r[i], &self->state) && self->state.state == state &&
	       self->state.stopped_by == stopped_by;
}

/* A session that records, one that is paused, and one that only follows its tasks. */
static bool open_three(FIXTURE_DATA(stop_all) *self)
{
	int i;

	for (i = 0; i < 3; i++)
		if (st_record_open(&self->r[i], 16) || st_record_add(&self->r[i], 1))
			return false;
	return !st_record_start(&self->r[0]) && !st_record_start(&self->r[1]) &&
	       !st_record_pause(&self->r[1]);
}

TEST_F(stop_all, stops_all_sessions)
{
	struct pollfd fd = { .events = POLLIN };
	int i;

	ASSERT_TRUE(open_three(self));
	EXPECT_TRUE(is(self, 0, STAPE_SESSION_RECORDING, STAPE_STOPPED_BY_NOTHING));
	ASSERT_TRUE(st_parameter_set("stop_all", "Y"));
	for (i = 0; i < 3; i++) {
		EXPECT_TRUE(is(self, i, STAPE_SESSION_STOPPED, STAPE_STOPPED_BY_ADMIN));
		fd.fd = schedtape_session_fd(self->r[i].session);
		EXPECT_EQ(1, poll(&fd, 1, 0));
	}
	EXPECT_EQ(-EINVAL, st_record_stop(&self->r[0]));
	/* What was recorded is still there. */
	EXPECT_EQ(0, st_record_take(&self->r[0]));
}

TEST_F(stop_all, none_may_start)
{
	ASSERT_EQ(0, st_record_open(&self->r[0], 16));
	ASSERT_EQ(0, st_record_open(&self->r[1], 16));
	ASSERT_EQ(0, st_record_add(&self->r[1], 1));
	ASSERT_TRUE(st_parameter_set("stop_all", "1"));
	/* The first one has done nothing yet, but it has rings. */
	EXPECT_TRUE(is(self, 0, STAPE_SESSION_STOPPED, STAPE_STOPPED_BY_ADMIN));
	ASSERT_EQ(0, st_record_open(&self->r[2], 16));
	EXPECT_EQ(-EPERM, st_record_start(&self->r[2]));
	EXPECT_NE(NULL, strstr(self->r[2].err.text, TEXT));
	EXPECT_EQ(-EPERM, st_record_add(&self->r[2], 1));
	EXPECT_NE(NULL, strstr(self->r[2].err.text, TEXT));
	ASSERT_TRUE(st_parameter_set("stop_all", "0"));
	EXPECT_EQ(0, st_record_start(&self->r[2]));
	EXPECT_FALSE(st_parameter_set("stop_all", "perhaps"));
}

TEST_F(stop_all, the_module_says_so)
{
	struct schedtape_module_info info = { .size = sizeof(info) };

	ASSERT_EQ(0, st_record_open(&self->r[0], 0));
	ASSERT_EQ(0, schedtape_client_info(self->r[0].client, &info, &self->r[0].err));
	EXPECT_FALSE(info.stop_all);
	ASSERT_TRUE(st_parameter_set("stop_all", "Y"));
	ASSERT_EQ(0, schedtape_client_info(self->r[0].client, &info, &self->r[0].err));
	EXPECT_TRUE(info.stop_all);
}

TEST_F(stop_all, a_request_is_told_apart)
{
	ASSERT_EQ(0, st_record_open(&self->r[0], 16));
	ASSERT_EQ(0, st_record_start(&self->r[0]));
	ASSERT_EQ(0, st_record_stop(&self->r[0]));
	EXPECT_TRUE(is(self, 0, STAPE_SESSION_STOPPED, STAPE_STOPPED_BY_REQUEST));
	/* It has stopped before. */
	ASSERT_TRUE(st_parameter_set("stop_all", "Y"));
	EXPECT_TRUE(is(self, 0, STAPE_SESSION_STOPPED, STAPE_STOPPED_BY_REQUEST));
}

/* Its filter-add fails before it is complete. */
TEST_F(stop_all, ends_a_request)
{
	char text[256];

	ASSERT_EQ(0, st_record_open(&self->r[0], 16));
	ASSERT_TRUE(st_long_request_begin(&self->request,
					  schedtape_session_id(self->r[0].session), 0));
	ASSERT_TRUE(st_parameter_set("stop_all", "Y"));
	EXPECT_EQ(-EPERM, st_long_request_end(&self->request, text, NULL));
	EXPECT_NE(NULL, strstr(text, TEXT));
	EXPECT_TRUE(is(self, 0, STAPE_SESSION_STOPPED, STAPE_STOPPED_BY_ADMIN));
}

/* A request holds the lock of the first session: the second one is stopped before it. */
TEST_F(stop_all, waits_for_a_request_last)
{
	uint64_t first;
	int i;

	for (i = 0; i < 2; i++) {
		ASSERT_EQ(0, st_record_open(&self->r[i], 16));
		ASSERT_EQ(0, st_record_start(&self->r[i]));
	}
	ASSERT_TRUE(st_long_request_begin(&self->request,
					  schedtape_session_id(self->r[0].session), 0));
	ASSERT_TRUE(st_long_request_hold(&self->request));
	ASSERT_TRUE(st_parameter_set("stop_all", "Y"));
	EXPECT_EQ(-EPERM, st_long_request_end(&self->request, NULL, NULL));
	EXPECT_TRUE(is(self, 0, STAPE_SESSION_STOPPED, STAPE_STOPPED_BY_ADMIN));
	first = self->state.stop_time;
	EXPECT_TRUE(is(self, 1, STAPE_SESSION_STOPPED, STAPE_STOPPED_BY_ADMIN));
	EXPECT_LT(self->state.stop_time, first);
}

/* -- replays --------------------------------------------------------------------- */

static int wait_for_ever(void *arg)
{
	(void)arg;
	close(session);
	if (join(0))
		return 1;
	return step(0, 0, STAPE_WAIT_EDGE, 0);
}

TEST_F(replay, stop_all_kills_players)
{
	ASSERT_EQ(0, setup(self, 1, 1));
	ASSERT_EQ(0, st_child_begin(&self->w[0], -1, wait_for_ever, NULL));
	ASSERT_TRUE(waiting(self, 1));
	ASSERT_EQ(0, start(self, 0));
	ASSERT_TRUE(st_parameter_set("stop_all", "Y"));
	EXPECT_EQ(128 + SIGKILL, st_child_wait(&self->w[0]));
	EXPECT_TRUE(get(self));
	EXPECT_EQ(STAPE_REPLAY_STOPPED, self->state.state);
	EXPECT_EQ(STAPE_STOPPED_BY_ADMIN, self->state.stopped_by);
	st_parameter_set("stop_all", "N");
}

TEST_F(replay, stop_all_lets_none_begin)
{
	ASSERT_TRUE(st_parameter_set("stop_all", "Y"));
	EXPECT_EQ(-EPERM, setup(self, 1, 0));
	ASSERT_TRUE(st_parameter_set("stop_all", "N"));
	ASSERT_EQ(0, setup(self, 1, 0));
	EXPECT_EQ(0, schedtape_replay_stop(self->r.client, self->setup.id, &self->err));
	EXPECT_TRUE(get(self));
	EXPECT_EQ(STAPE_STOPPED_BY_REQUEST, self->state.stopped_by);
}

/* Between two rounds there is no player that would notice. */
TEST_F(replay, stop_all_between_rounds)
{
	self->setup = (struct stape_replay_setup){
		.nr_players = 1,
		.flags = STAPE_REPLAY_ROUNDS,
	};
	ASSERT_EQ(0, ioctl(self->fd, STAPE_IOC_REPLAY, &self->setup));
	players = self->setup.fd;
	ASSERT_EQ(0, join(0));
	ASSERT_EQ(0, leave(0, 0));
	ASSERT_TRUE(state(self, STAPE_REPLAY_DONE));
	ASSERT_TRUE(st_parameter_set("stop_all", "Y"));
	EXPECT_EQ(-1, ioctl(self->fd, STAPE_IOC_REWIND));
	EXPECT_EQ(ECANCELED, errno);
	EXPECT_TRUE(get(self));
	EXPECT_EQ(STAPE_STOPPED_BY_ADMIN, self->state.stopped_by);
	st_parameter_set("stop_all", "N");
}

TEST_HARNESS_MAIN
