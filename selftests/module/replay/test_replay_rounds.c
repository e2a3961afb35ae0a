// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: a replay of several rounds keeps its number, its speed and its monitor; between two
 * rounds it takes a new speed, a stop, and requests for its state; ioctls with structs that
 * are shorter or longer than the module's.
 */
#include <poll.h>

#include "players.h"

static int rewind_replay(FIXTURE_DATA(replay) *self)
{
	return ioctl(self->fd, STAPE_IOC_REWIND) ? -errno : 0;
}

static int set_speed(FIXTURE_DATA(replay) *self, uint32_t times)
{
	return schedtape_replay_set_speed(self->r.client, self->setup.id,
					  times * STAPE_REPLAY_SPEED_ONE, &self->err);
}

/* Makes a replay of several rounds. */
static int make(FIXTURE_DATA(replay) *self, uint32_t nr_players, uint32_t nr_edges)
{
	self->setup = (struct stape_replay_setup){
		.nr_players = nr_players,
		.nr_edges = nr_edges,
		.edges = (uintptr_t)self->edges,
		.flags = STAPE_REPLAY_ROUNDS,
	};
	if (ioctl(self->fd, STAPE_IOC_REPLAY, &self->setup))
		return -errno;
	players = self->setup.fd;
	return 0;
}

/* Sleeps until 200 ms of the replay's time. */
static int nap(void *arg)
{
	struct notes *notes = arg;

	note(notes, join(0));
	note(notes, step(0, 0, STAPE_WAIT_UNTIL, 200 * MS));
	note(notes, step(0, 1, STAPE_WAIT_DONE, 0));
	return 0;
}

/* Plays one round with one player.  Returns whether it was as expected. */
static bool play(FIXTURE_DATA(replay) *self)
{
	bool good;

	self->notes->steps = 0;
	if (st_child_begin(&self->w[0], -1, nap, self->notes))
		return false;
	good = waiting(self, 1) && !start(self, 0) && st_child_settled(&self->w[0]) &&
	       state(self, STAPE_REPLAY_DONE) && self->notes->steps == 3 && !self->notes->ret;
	st_child_kill(&self->w[0]);
	return good;
}

static uint64_t took(const FIXTURE_DATA(replay) *self)
{
	return self->state.stop_time - self->state.start_time;
}

TEST_F(replay, rounds)
{
	uint32_t id;
	int i;

	EXPECT_EQ(-ENODATA, rewind_replay(self));		/* there is no replay */
	ASSERT_EQ(0, make(self, 1, 0));
	id = self->setup.id;
	EXPECT_EQ(-EBUSY, rewind_replay(self));			/* not started */
	ASSERT_EQ(0, set_speed(self, 2));
	for (i = 0; i < 3; i++) {
		ASSERT_TRUE(play(self));
		EXPECT_EQ(id, self->state.id);
		EXPECT_EQ(1, self->state.joined);
		EXPECT_EQ(1, self->state.done);
		EXPECT_EQ(2, self->state.steps);
		EXPECT_EQ(1, self->state.timed_waits);
		EXPECT_EQ(2 * STAPE_REPLAY_SPEED_ONE, self->state.speed);
		EXPECT_LE(100 * MS, took(self));
		EXPECT_EQ(-ECANCELED, join(0));			/* not between rounds */
		ASSERT_EQ(0, rewind_replay(self));
		ASSERT_TRUE(get(self));
		EXPECT_EQ(id, self->state.id);
		EXPECT_EQ(STAPE_REPLAY_READY, self->state.state);
		EXPECT_EQ(0, self->state.joined);
		EXPECT_EQ(0, self->state.done);
		EXPECT_EQ(0, self->state.steps);
		EXPECT_EQ(0, self->state.timed_waits);
		EXPECT_EQ(0, self->state.start_time);
		EXPECT_EQ(0, self->state.stop_time);
		EXPECT_EQ(0, self->state.time);
		EXPECT_EQ(-EBUSY, rewind_replay(self));
	}
}

static int wait_and_leave(void *arg)
{
	struct notes *notes = arg;

	note(notes, join(0));
	note(notes, step(0, 0, STAPE_WAIT_EDGE, 0));
	note(notes, leave(0, 1));
	return 0;
}

static int wake_and_leave(void *arg)
{
	uint32_t wake = 0;

	if (join(1) || step_wakes(1, 0, STAPE_WAIT_DONE, 0, &wake, 1))
		return 1;
	if (!arg)
		return 0;
	st_gate();
	/* It has joined before, or the wakee has ended the replay by now. */
	return !join(1);
}

/* The wake-up of a process's last step comes when it exits, is killed, or joins again. */
TEST_F(replay, wakes_at_exit)
{
	int i;

	self->edges[0] = 0;
	ASSERT_EQ(0, make(self, 2, 1));
	for (i = 0; i < 3; i++) {
		self->notes->steps = 0;
		ASSERT_EQ(0, st_child_fork(&self->w[0], -1, wait_and_leave, self->notes));
		ASSERT_EQ(0, st_child_fork(&self->w[1], -1, wake_and_leave, i > 1 ? self : NULL));
		st_child_go(&self->w[0]);
		ASSERT_TRUE(waiting(self, 1));
		ASSERT_TRUE(st_child_step(&self->w[1]));
		/* It sleeps, and has not gone on. */
		ASSERT_TRUE(st_wait_state(self->w[0].pid, 'S'));
		EXPECT_EQ(1, self->notes->steps);
		if (i == 1)
			kill(self->w[1].pid, SIGKILL);
		else
			st_child_go(&self->w[1]);
		ASSERT_TRUE(st_child_settled(&self->w[0]));
		st_child_go(&self->w[1]);
		EXPECT_EQ(i == 1 ? 128 + SIGKILL : 0, st_child_wait(&self->w[1]));
		EXPECT_EQ(3, self->notes->steps);
		EXPECT_EQ(0, self->notes->ret);
		ASSERT_TRUE(state(self, STAPE_REPLAY_DONE));
		st_child_kill(&self->w[0]);
		ASSERT_EQ(0, rewind_replay(self));
	}
}

static void *stay(void *arg)
{
	pause();
	return arg;
}

/* @arg: edges along which it wakes in its last step; 0: along one, with another thread. */
static int wake_along(void *arg)
{
	static const uint32_t wakes[8] = { 0, 1, 2, 3, 4 };
	uint32_t n = (uintptr_t)arg;
	pthread_t thread;

	munlockall();
	if (!n && pthread_create(&thread, NULL, stay, NULL))
		return 1;
	return join(1) || step_wakes(1, 0, STAPE_WAIT_DONE, 0, wakes, n ? n : 1);
}

/* It waits for player 1. */
static int wait_for_one(void *arg)
{
	struct notes *notes = arg;

	note(notes, join(0));
	note(notes, step(0, 0, STAPE_WAIT_EDGE, 2ull << 32));
	note(notes, leave(0, 1));
	return 0;
}

/* Only the last of some few wake-ups of a process's only thread come when it exits. */
TEST_F(replay, wakes_before_the_exit)
{
	static const uint32_t ways[] = { 4, 5, 0 };
	unsigned int i;

	ASSERT_EQ(0, make(self, 2, 8));
	for (i = 0; i < 3; i++) {
		self->notes->steps = 0;
		ASSERT_EQ(0, st_child_fork(&self->w[0], -1, wait_for_one, self->notes));
		ASSERT_EQ(0, st_child_fork(&self->w[1], -1, wake_along,
					   (void *)(uintptr_t)ways[i]));
		st_child_go(&self->w[0]);
		ASSERT_TRUE(waiting(self, 1));
		ASSERT_TRUE(st_child_step(&self->w[1]));
		ASSERT_TRUE(i ? st_child_settled(&self->w[0]) : waiting(self, 1));
		EXPECT_EQ(i ? 3 : 1, self->notes->steps);
		st_child_kill(&self->w[1]);
		ASSERT_TRUE(st_child_settled(&self->w[0]));
		ASSERT_TRUE(state(self, STAPE_REPLAY_DONE));
		st_child_kill(&self->w[0]);
		ASSERT_EQ(0, rewind_replay(self));
	}
}

/* A replay is not stuck at once if a process is on its way to its exit. */
TEST_F(replay, stuck_at_exit)
{
	if (!st_exact())
		SKIP(return, "takes 13 s where the time of an idle machine passes");
	ASSERT_EQ(0, make(self, 2, 8));
	ASSERT_EQ(0, st_child_fork(&self->w[0], -1, wait_for_one, self->notes));
	ASSERT_EQ(0, st_child_fork(&self->w[1], -1, wake_along, (void *)1));
	st_child_go(&self->w[0]);
	ASSERT_TRUE(waiting(self, 1));
	ASSERT_EQ(0, start(self, 0));
	ASSERT_TRUE(st_child_step(&self->w[1]));
	ASSERT_TRUE(state(self, STAPE_REPLAY_STUCK));
	EXPECT_LE(12000 * MS, self->state.stop_time - self->state.start_time);
	EXPECT_GE(20000 * MS, self->state.stop_time - self->state.start_time);
}

static int kill_for_parent(void *arg)
{
	return st_wait_state(getppid(), 'D') ? kill((uintptr_t)arg, SIGKILL) : 1;
}

/* No wake-up of a round comes in the next one: rewind waits for the exits. */
TEST_F(replay, waits_for_exits)
{
	self->edges[0] = 0;
	ASSERT_EQ(0, make(self, 2, 1));
	ASSERT_EQ(0, join(0));
	ASSERT_EQ(0, leave(0, 0));
	ASSERT_EQ(0, st_child_begin(&self->w[1], -1, wake_and_leave, NULL));
	ASSERT_TRUE(st_child_settled(&self->w[1]));
	ASSERT_TRUE(state(self, STAPE_REPLAY_DONE));
	ASSERT_EQ(0, st_child_begin(&self->w[0], -1, kill_for_parent,
				    (void *)(uintptr_t)self->w[1].pid));
	EXPECT_EQ(0, rewind_replay(self));
	st_child_go(&self->w[0]);
	EXPECT_EQ(0, st_child_wait(&self->w[0]));
}

static int rewind_it(void *arg)
{
	(void)arg;
	return ioctl(session, STAPE_IOC_REWIND) ? errno : 0;
}

/* Another process waits in rewind; it is killed, or the replay is stopped meanwhile. */
TEST_F(replay, rewinds_at_once)
{
	int i;

	ASSERT_EQ(0, make(self, 2, 1));
	for (i = 0; i < 2; i++) {
		ASSERT_EQ(0, join(0));
		ASSERT_EQ(0, leave(0, 0));
		ASSERT_EQ(0, st_child_begin(&self->w[1], -1, wake_and_leave, NULL));
		ASSERT_TRUE(st_child_settled(&self->w[1]));
		ASSERT_TRUE(state(self, STAPE_REPLAY_DONE));
		ASSERT_EQ(0, st_child_begin(&self->w[0], -1, rewind_it, NULL));
		ASSERT_TRUE(st_wait_state(self->w[0].pid, 'D'));
		EXPECT_EQ(-EBUSY, rewind_replay(self));		/* one at a time */
		if (i) {
			EXPECT_EQ(0, schedtape_replay_stop(self->r.client, self->setup.id,
							   &self->err));
			st_child_kill(&self->w[1]);
			st_child_go(&self->w[0]);
			EXPECT_EQ(ECANCELED, st_child_wait(&self->w[0]));
			EXPECT_EQ(-ECANCELED, rewind_replay(self));
		} else {
			kill(self->w[0].pid, SIGKILL);
			EXPECT_EQ(128 + SIGKILL, st_child_wait(&self->w[0]));
			st_child_kill(&self->w[1]);
			EXPECT_EQ(0, rewind_replay(self));	/* another one may */
		}
	}
}

TEST_F(replay, speed_between_rounds)
{
	ASSERT_EQ(0, make(self, 1, 0));
	ASSERT_TRUE(play(self));
	EXPECT_LE(200 * MS, took(self));
	/* At this speed the next round takes 2 ms. */
	ASSERT_EQ(0, set_speed(self, 100));
	ASSERT_TRUE(get(self));
	EXPECT_EQ(STAPE_REPLAY_DONE, self->state.state);
	EXPECT_LE(200 * MS, self->state.time);			/* that of the round before */
	ASSERT_EQ(0, rewind_replay(self));
	ASSERT_TRUE(get(self));
	EXPECT_EQ(100 * STAPE_REPLAY_SPEED_ONE, self->state.speed);
	ASSERT_TRUE(play(self));
	EXPECT_LE(200 * MS, self->state.time);
	EXPECT_EQ(100 * STAPE_REPLAY_SPEED_ONE, self->state.speed);
	/* However late its end is, as on a busy host. */
	EXPECT_LE(99 * took(self), self->state.time);
	if (st_exact())
		EXPECT_GT(200 * MS, took(self));
}

TEST_F(replay, stop_between_rounds)
{
	ASSERT_EQ(0, make(self, 1, 0));
	ASSERT_TRUE(play(self));
	EXPECT_EQ(0, schedtape_replay_stop(self->r.client, self->setup.id, &self->err));
	ASSERT_TRUE(get(self));
	EXPECT_EQ(STAPE_REPLAY_STOPPED, self->state.state);
	EXPECT_EQ(-EALREADY, schedtape_replay_stop(self->r.client, self->setup.id, &self->err));
	EXPECT_EQ(-EALREADY, set_speed(self, 1));
	EXPECT_EQ(-ECANCELED, rewind_replay(self));
	EXPECT_EQ(-ECANCELED, join(0));
}

TEST_F(replay, stop_in_the_second_round)
{
	ASSERT_EQ(0, make(self, 1, 0));
	ASSERT_TRUE(play(self));
	ASSERT_EQ(0, rewind_replay(self));
	ASSERT_EQ(0, st_child_begin(&self->w[0], -1, nap, self->notes));
	ASSERT_TRUE(waiting(self, 1));
	EXPECT_EQ(0, schedtape_replay_stop(self->r.client, self->setup.id, &self->err));
	EXPECT_EQ(128 + SIGKILL, st_child_wait(&self->w[0]));
	EXPECT_EQ(-ECANCELED, rewind_replay(self));
}

static int wait_for_an_edge(void *arg)
{
	struct notes *notes = arg;

	note(notes, join(0));
	note(notes, step(0, 0, STAPE_WAIT_EDGE, 0));
	return 0;
}

/* A wake-up that no wait has taken does not get into the next round. */
TEST_F(replay, no_wake_of_the_round_before)
{
	uint32_t wake = 0;

	self->edges[0] = 0;
	ASSERT_EQ(0, make(self, 1, 1));
	ASSERT_EQ(0, join(0));
	ASSERT_EQ(0, step_wakes(0, 0, STAPE_WAIT_NONE, 0, &wake, 1));
	ASSERT_EQ(0, leave(0, 1));
	ASSERT_EQ(0, rewind_replay(self));
	ASSERT_EQ(0, st_child_begin(&self->w[0], -1, wait_for_an_edge, self->notes));
	ASSERT_TRUE(waiting(self, 1));
	usleep(50000);
	EXPECT_EQ(1, self->notes->steps);
}

static int count_ends(const struct schedtape_replay_state *state, void *arg)
{
	if (state->state == STAPE_REPLAY_DONE)
		++*(int *)arg;
	return 0;
}

/* The monitor gets the end of each round once. */
TEST_F(replay, the_monitor_of_all_rounds)
{
	struct pollfd fd = { .events = POLLIN };
	int i, ends = 0;

	ASSERT_EQ(0, make(self, 1, 0));
	fd.fd = schedtape_client_monitor(self->r.client, self->setup.id, &self->err);
	ASSERT_LE(0, fd.fd);
	ASSERT_EQ(0, set_speed(self, 1000));
	for (i = 0; i < 3; i++) {
		ASSERT_TRUE(play(self));
		ASSERT_EQ(0, rewind_replay(self));
	}
	/* After the ends of all rounds nothing comes for a while. */
	while (poll(&fd, 1, ends < 3 ? 20000 * st_patience() : 300) > 0)
		ASSERT_EQ(0, schedtape_client_monitor_read(self->r.client, count_ends, &ends,
							   &self->err));
	EXPECT_EQ(3, ends);
}

TEST_F(replay, one_round)
{
	ASSERT_EQ(0, setup(self, 1, 0));
	ASSERT_TRUE(play(self));
	EXPECT_EQ(-EINVAL, rewind_replay(self));
	EXPECT_EQ(-EALREADY, set_speed(self, 1));
}

/* -- requests between rounds ------------------------------------------------------ */

#define MANY		128
#define ROUNDS		40
#define ASKERS		4

/* A thread may be a player many times, one after the other.  Plays all rounds, with all numbers. */
static int play_rounds(void *arg)
{
	struct notes *notes = arg;
	int ret = 0, round, i;

	for (round = 0; round < ROUNDS && !ret; round++) {
		if (round && ioctl(session, STAPE_IOC_REWIND))
			return 1;
		for (i = MANY - 1; i >= 0 && !ret; i--)
			ret = join(i) ?: leave(i, 0);
		note(notes, ret);
	}
	return !!ret;
}

/* Requests the state without a pause.  Returns NULL if no request failed. */
static void *ask(void *arg)
{
	struct schedtape_replay_state state = { .size = sizeof(state) };
	struct schedtape_client *client;
	struct schedtape_error err;
	uint32_t id = *(uint32_t *)arg;
	bool good;

	if (schedtape_client_open(&client, &err))
		return arg;
	do {
		good = !schedtape_replay_get(client, id, &state, &err);
	} while (good && state.state != STAPE_REPLAY_STOPPED &&
		 state.state != STAPE_REPLAY_BROKEN);
	schedtape_client_close(client);
	return good ? NULL : arg;
}

/* A request that looks at the players of a round which is done does not kill those of the next. */
TEST_F(replay, requests_between_rounds)
{
	pthread_t askers[ASKERS];
	void *failed;
	int i;

	ASSERT_EQ(0, make(self, MANY, 0));
	ASSERT_EQ(0, st_child_fork(&self->w[0], -1, play_rounds, self->notes));
	for (i = 0; i < ASKERS; i++)
		ASSERT_EQ(0, pthread_create(&askers[i], NULL, ask, &self->setup.id));
	st_child_go(&self->w[0]);
	st_child_go(&self->w[0]);
	EXPECT_EQ(0, st_child_wait(&self->w[0]));
	EXPECT_EQ(ROUNDS, self->notes->steps);
	ASSERT_TRUE(get(self));
	EXPECT_EQ(STAPE_REPLAY_DONE, self->state.state);
	EXPECT_EQ(MANY, self->state.done);
	/* Ends the threads. */
	schedtape_replay_stop(self->r.client, self->setup.id, &self->err);
	for (i = 0; i < ASKERS; i++) {
		EXPECT_EQ(0, pthread_join(askers[i], &failed));
		EXPECT_EQ(NULL, failed);
	}
}

/* -- sizes ----------------------------------------------------------------------- */

/* A struct that begins like the module's, and is longer. */
struct longer {
	struct stape_replay_setup setup;
	uint64_t more[2];
};

#define REPLAY_OF_SIZE(size) \
	_IOC(_IOC_READ | _IOC_WRITE, STAPE_IOC_MAGIC, _IOC_NR(STAPE_IOC_REPLAY), size)

TEST_F(replay, setups_of_other_sizes)
{
	struct longer longer = { .setup = { .nr_players = 1 }, .more = { 0, 1 } };

	EXPECT_EQ(-1, ioctl(self->fd, REPLAY_OF_SIZE(sizeof(longer)), &longer));
	EXPECT_EQ(E2BIG, errno);
	EXPECT_EQ(-1, ioctl(self->fd, REPLAY_OF_SIZE(24), &longer));
	EXPECT_EQ(EINVAL, errno);
	longer.setup.flags = 2;
	longer.more[1] = 0;
	EXPECT_EQ(-1, ioctl(self->fd, REPLAY_OF_SIZE(sizeof(longer)), &longer));
	EXPECT_EQ(EINVAL, errno);
	longer.setup.flags = 0;
	longer.setup.reserved = 1;
	EXPECT_EQ(-1, ioctl(self->fd, REPLAY_OF_SIZE(sizeof(longer)), &longer));
	EXPECT_EQ(EINVAL, errno);
	longer.setup.reserved = 0;
	longer.setup.id = 0;
	ASSERT_EQ(0, ioctl(self->fd, REPLAY_OF_SIZE(sizeof(longer)), &longer));
	EXPECT_NE(0, longer.setup.id);
	close(longer.setup.fd);
}

/* A program that was built with the first version of the header: its struct ends before flags. */
TEST_F(replay, a_setup_of_the_first_version)
{
	struct stape_replay_setup setup = { .nr_players = 1, .flags = ~0, .reserved = ~0 };

	ASSERT_EQ(0, ioctl(self->fd, REPLAY_OF_SIZE(32), &setup));
	EXPECT_NE(0, setup.id);
	EXPECT_EQ(~0u, setup.flags);
	EXPECT_EQ(~0u, setup.reserved);
	EXPECT_EQ(-EINVAL, rewind_replay(self));
	close(setup.fd);
}

#define STREAM_OF_SIZE(size) \
	_IOC(_IOC_READ | _IOC_WRITE, STAPE_IOC_MAGIC, _IOC_NR(STAPE_IOC_STREAM), size)

TEST_F(replay, streams_of_other_sizes)
{
	uint8_t cpus = 1;
	struct {
		struct stape_stream stream;
		uint64_t more;
	} longer = { .stream = { .cpus = (uintptr_t)&cpus, .bytes = 1 }, .more = 1 };

	EXPECT_EQ(-1, ioctl(self->fd, STREAM_OF_SIZE(sizeof(longer)), &longer));
	EXPECT_EQ(E2BIG, errno);
	EXPECT_EQ(-1, ioctl(self->fd, STREAM_OF_SIZE(8), &longer));
	EXPECT_EQ(EINVAL, errno);
	longer.more = 0;
	/* The struct is accepted; the session has no rings. */
	EXPECT_EQ(-1, ioctl(self->fd, STREAM_OF_SIZE(sizeof(longer)), &longer));
	EXPECT_EQ(ENODATA, errno);
}

TEST_HARNESS_MAIN
