// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: the replay engine's calls, edges and times.
 */
#include "players.h"

/* -- setup, join, step: wrong calls ---------------------------------------------- */

TEST_F(replay, making)
{
	struct stape_replay_setup second;

	self->edges[0] = 2;
	EXPECT_EQ(-EINVAL, setup(self, 0, 0));
	EXPECT_EQ(-EINVAL, setup(self, 2, 1));		/* there is no player 2 */
	EXPECT_EQ(-EINVAL, setup(self, UINT32_MAX, 0));
	EXPECT_EQ(-EINVAL, setup(self, 1, UINT32_MAX));
	self->setup = (struct stape_replay_setup){ .nr_players = 2, .turns = 1 };
	EXPECT_EQ(-1, ioctl(self->fd, STAPE_IOC_REPLAY, &self->setup));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(-1, ioctl(self->fd, STAPE_IOC_REPLAY, (void *)8));
	EXPECT_EQ(EFAULT, errno);
	self->setup = (struct stape_replay_setup){ .nr_players = 2, .nr_edges = 1, .edges = 8 };
	EXPECT_EQ(-1, ioctl(self->fd, STAPE_IOC_REPLAY, &self->setup));
	EXPECT_EQ(EFAULT, errno);
	/* The waker's number is wrong. */
	self->setup.nr_players = 3;
	self->setup.edges = (uintptr_t)self->edges;
	self->setup.wakers = 8;
	EXPECT_EQ(-1, ioctl(self->fd, STAPE_IOC_REPLAY, &self->setup));
	EXPECT_EQ(EFAULT, errno);
	self->setup.wakers = (uintptr_t)&self->edges[1];
	self->edges[1] = 3;
	EXPECT_EQ(-1, ioctl(self->fd, STAPE_IOC_REPLAY, &self->setup));
	EXPECT_EQ(EINVAL, errno);
	/* None of the failed calls has left a replay. */
	EXPECT_EQ(0, setup(self, 3, 1));
	second = self->setup;
	EXPECT_EQ(-1, ioctl(self->fd, STAPE_IOC_REPLAY, &second));
	EXPECT_EQ(EBUSY, errno);
	ASSERT_LE(0, players);
	EXPECT_EQ(FD_CLOEXEC, fcntl(players, F_GETFD));
	ASSERT_TRUE(get(self));
	EXPECT_EQ(STAPE_REPLAY_READY, self->state.state);
	EXPECT_EQ(3, self->state.players);
	EXPECT_EQ(0, self->state.joined);
}

/* The answer cannot be written, because the memory is read-only: no file is left open. */
TEST_F(replay, making_in_read_only_memory)
{
	static const struct stape_replay_setup constant = { .nr_players = 1 };
	int before = open("/dev/null", O_RDONLY), after;

	close(before);
	EXPECT_EQ(-1, ioctl(self->fd, STAPE_IOC_REPLAY, &constant));
	EXPECT_EQ(EFAULT, errno);
	after = open("/dev/null", O_RDONLY);
	EXPECT_EQ(before, after);
	EXPECT_EQ(0, setup(self, 1, 0));
}

TEST_F(replay, joining)
{
	ASSERT_EQ(0, setup(self, 2, 0));
	EXPECT_EQ(-EINVAL, join(2));
	EXPECT_EQ(-EINVAL, join(UINT32_MAX));
	EXPECT_EQ(-1, ioctl(players, STAPE_IOC_JOIN, (void *)8));
	EXPECT_EQ(EFAULT, errno);
	EXPECT_EQ(0, join(1));
	EXPECT_EQ(-EBUSY, join(1));
	EXPECT_EQ(-EBUSY, join(0));		/* it has joined */
	ASSERT_TRUE(get(self));
	EXPECT_EQ(1, self->state.joined);
	EXPECT_EQ(0, step(1, 0, STAPE_WAIT_DONE, 0));
	ASSERT_TRUE(get(self));
	EXPECT_EQ(1, self->state.done);
	/* Its program is over, and no player can play it again. */
	EXPECT_EQ(-ESRCH, step(1, 1, STAPE_WAIT_NONE, 0));
	EXPECT_EQ(-EBUSY, join(1));
}

static int join_turn(uint32_t number, uint32_t turn)
{
	const struct stape_join join = { number, turn };

	return ioctl(players, STAPE_IOC_JOIN_TURN, &join) ? -errno : 0;
}

/* Makes a replay of one number, which @turns players have one after the other. */
static int make_turns(FIXTURE_DATA(replay) *self, uint64_t turns)
{
	self->setup = (struct stape_replay_setup){
		.nr_players = 1,
		.nr_edges = 1,
		.edges = (uintptr_t)self->edges,
		.turns = turns,
	};
	if (ioctl(self->fd, STAPE_IOC_REPLAY, &self->setup))
		return -errno;
	players = self->setup.fd;
	return 0;
}

/* The second player of a number: a wake-up, and its end. */
static int play_second(void *arg)
{
	struct notes *notes = arg;

	note(notes, join_turn(0, 1));
	if (notes->ret)
		return 0;
	/* Player 0 wakes along edge 0 from now on. */
	note(notes, step(0, 0, STAPE_WAIT_EDGE, 1ull << 32));
	note(notes, leave(0, 1));
	return 0;
}

TEST_F(replay, turns)
{
	uint32_t wake = 0;

	ASSERT_EQ(0, make_turns(self, 3));
	ASSERT_EQ(0, join(0));
	ASSERT_EQ(0, st_child_begin(&self->w[0], -1, play_second, self->notes));
	ASSERT_TRUE(waiting(self, 1));
	EXPECT_EQ(0, self->notes->steps);
	EXPECT_EQ(3, self->state.players);
	EXPECT_EQ(1, self->state.joined);
	/* It gets the wake-up of the player before, which that has not taken. */
	ASSERT_EQ(0, step_wakes(0, 0, STAPE_WAIT_NONE, 0, &wake, 1));
	ASSERT_EQ(0, leave(0, 1));
	ASSERT_TRUE(st_child_settled(&self->w[0]));
	EXPECT_EQ(3, self->notes->steps);
	EXPECT_EQ(0, self->notes->ret);
	EXPECT_EQ(-EBUSY, join(0));
	EXPECT_EQ(-EBUSY, join_turn(0, 1));
	EXPECT_EQ(-EINVAL, join_turn(1, 0));
	EXPECT_EQ(-1, ioctl(players, STAPE_IOC_JOIN_TURN, (void *)8));
	EXPECT_EQ(EFAULT, errno);
	ASSERT_EQ(0, join_turn(0, 2));
	EXPECT_EQ(-EBUSY, join_turn(0, 2));
	ASSERT_TRUE(get(self));
	EXPECT_EQ(STAPE_REPLAY_READY, self->state.state);
	ASSERT_EQ(0, leave(0, 0));
	ASSERT_TRUE(get(self));
	EXPECT_EQ(STAPE_REPLAY_DONE, self->state.state);
	EXPECT_EQ(3, self->state.joined);
	EXPECT_EQ(3, self->state.done);
}

static int wait_for_wakeup(void *arg)
{
	struct notes *notes = arg;

	note(notes, join(1));
	note(notes, step(1, 0, STAPE_WAIT_EDGE, 0));
	return 0;
}

/* Without announced turns, a number that is taken again would end the replay for others, too. */
TEST_F(replay, turn_too_many)
{
	ASSERT_EQ(0, SETUP_EDGES(self, 2, 1));
	ASSERT_EQ(0, st_child_begin(&self->w[0], -1, wait_for_wakeup, self->notes));
	ASSERT_TRUE(waiting(self, 1));
	ASSERT_EQ(0, join(0));
	ASSERT_EQ(0, leave(0, 0));
	EXPECT_EQ(-EBUSY, join_turn(0, 1));
	ASSERT_TRUE(get(self));
	EXPECT_EQ(STAPE_REPLAY_READY, self->state.state);
}

TEST_F(replay, turn_that_does_not_come)
{
	EXPECT_EQ(-EINVAL, make_turns(self, 1ull << 32));
	ASSERT_EQ(0, make_turns(self, UINT32_MAX));
	ASSERT_EQ(0, st_child_begin(&self->w[0], -1, play_second, self->notes));
	ASSERT_TRUE(waiting(self, 1));
	EXPECT_EQ(0, schedtape_replay_stop(self->r.client, self->setup.id, &self->err));
	ASSERT_TRUE(st_child_settled(&self->w[0]));
	EXPECT_EQ(-ECANCELED, self->notes->ret);
	EXPECT_TRUE(waiting(self, 0));
}

TEST_F(replay, stepping)
{
	uint32_t wakes[STAPE_STEP_MAX_WAKES + 1] = { 0 };
	struct stape_step bad = { .flags = ~STAPE_STEP_BLOCKED };
	struct stape_step next = { .wakes = (uintptr_t)wakes };

	ASSERT_EQ(0, SETUP_EDGES(self, 2, 0, 1));
	EXPECT_EQ(-ESRCH, step(0, 0, STAPE_WAIT_NONE, 0));
	ASSERT_EQ(0, join(0));
	EXPECT_EQ(-ESRCH, step(1, 0, STAPE_WAIT_NONE, 0));
	EXPECT_EQ(-ESRCH, step(7, 0, STAPE_WAIT_NONE, 0));
	EXPECT_EQ(-EINVAL, step(0, 1, STAPE_WAIT_NONE, 0));
	EXPECT_EQ(-EINVAL, step(0, 0, STAPE_WAIT_FOR + 1, 0));
	EXPECT_EQ(-EINVAL, make_step(&bad));
	EXPECT_EQ(-1, ioctl(players, STAPE_IOC_STEP, (void *)8));
	EXPECT_EQ(EFAULT, errno);
	EXPECT_EQ(-1, ioctl(players, _IO(STAPE_IOC_MAGIC, 0x7f)));
	EXPECT_EQ(ENOTTY, errno);
	EXPECT_EQ(-E2BIG, step_wakes(0, 0, STAPE_WAIT_NONE, 0, wakes, STAPE_STEP_MAX_WAKES + 1));
	EXPECT_EQ(-EFAULT, step_wakes(0, 0, STAPE_WAIT_NONE, 0, (void *)8, 1));
	next.nr_next = STAPE_STEP_MAX_NEXT + 1;
	EXPECT_EQ(-E2BIG, make_step(&next));
	wakes[3] = 2;
	EXPECT_EQ(-EINVAL, step_wakes(0, 0, STAPE_WAIT_NONE, 0, wakes, 4));
	next.nr_next = 4;
	EXPECT_EQ(-EINVAL, make_step(&next));
	next.nr_next = 1;
	next.reserved = 1;
	EXPECT_EQ(-EINVAL, make_step(&next));
	/* None of these calls had an effect: the step is still to be made. */
	ASSERT_TRUE(get(self));
	EXPECT_EQ(0, self->state.steps);
	wakes[3] = 0;
	EXPECT_EQ(0, step_wakes(0, 0, STAPE_WAIT_NONE, 0, wakes, STAPE_STEP_MAX_WAKES));
	EXPECT_EQ(-EINVAL, step(0, 2, STAPE_WAIT_NONE, 0));
	EXPECT_EQ(0, step(0, 1, STAPE_WAIT_NONE, 0));
	EXPECT_EQ(-EINVAL, step(0, 0, STAPE_WAIT_NONE, 0));
	ASSERT_TRUE(get(self));
	EXPECT_EQ(2, self->state.steps);
	EXPECT_EQ(0, leave(0, 2));
}

/* A wrong wait is refused before the step wakes any player. */
TEST_F(replay, wrong_wait_wakes_nobody)
{
	uint32_t wake = 0;

	ASSERT_EQ(0, SETUP_EDGES(self, 2, 0, 1));
	ASSERT_EQ(0, join(0));
	EXPECT_EQ(-EINVAL, step_wakes(0, 0, STAPE_WAIT_EDGE, 1, &wake, 1));	/* another's */
	EXPECT_EQ(-EINVAL, step_wakes(0, 0, STAPE_WAIT_EDGE, 2, &wake, 1));	/* no player's */
	/* There is no player 2 that could wake along it. */
	EXPECT_EQ(-EINVAL, step_wakes(0, 0, STAPE_WAIT_EDGE, 3ull << 32, &wake, 1));
	EXPECT_EQ(-EINVAL, step_wakes(0, 0, STAPE_WAIT_UNTIL, UINT64_MAX, &wake, 1));
	ASSERT_TRUE(get(self));
	EXPECT_EQ(0, self->state.steps);
	EXPECT_EQ(0, leave(0, self->state.steps));
}

/* -- edges ---------------------------------------------------------------------- */

static int wait_four_times(void *arg)
{
	struct notes *notes = arg;

	note(notes, join(1));
	note(notes, step(1, 0, STAPE_WAIT_EDGE, 1));
	note(notes, step(1, 1, STAPE_WAIT_EDGE, 0));
	note(notes, step(1, 2, STAPE_WAIT_EDGE, 0));
	note(notes, step(1, 3, STAPE_WAIT_EDGE, 0));
	note(notes, step(1, 4, STAPE_WAIT_DONE, 0));
	return 0;
}

/* Four wake-ups along two edges: four waits return at once, in any order. */
TEST_F(replay, counted_edges)
{
	static const uint32_t wakes[] = { 0, 0, 1, 0 };

	ASSERT_EQ(0, SETUP_EDGES(self, 2, 1, 1));
	ASSERT_EQ(0, join(0));
	EXPECT_EQ(0, step_wakes(0, 0, STAPE_WAIT_NONE, 0, wakes, 4));
	ASSERT_EQ(0, st_child_begin(&self->w[0], -1, wait_four_times, &self->notes[1]));
	ASSERT_TRUE(st_child_settled(&self->w[0]));
	EXPECT_EQ(6, self->notes[1].steps);
	EXPECT_EQ(0, self->notes[1].ret);
	ASSERT_TRUE(get(self));
	EXPECT_EQ(0, self->state.waiting);
	EXPECT_EQ(6, self->state.steps);
	EXPECT_EQ(0, leave(0, 1));
}

static int wait_for_two_edges(void *arg)
{
	struct notes *notes = arg;

	note(notes, join(1));
	note(notes, step(1, 0, STAPE_WAIT_EDGE, 0));
	note(notes, step(1, 1, STAPE_WAIT_EDGE, 1));
	note(notes, step(1, 2, STAPE_WAIT_DONE, 0));
	return 0;
}

/* It waits for edge 0 and is woken along edge 1 first: it stays asleep, and takes that later. */
TEST_F(replay, each_wait_takes_its_own_waker)
{
	uint32_t wake;

	ASSERT_EQ(0, SETUP_EDGES(self, 2, 1, 1));
	ASSERT_EQ(0, join(0));
	ASSERT_EQ(0, st_child_begin(&self->w[0], -1, wait_for_two_edges, &self->notes[1]));
	ASSERT_TRUE(waiting(self, 1));
	wake = 1;
	EXPECT_EQ(0, step_wakes(0, 0, STAPE_WAIT_NONE, 0, &wake, 1));
	usleep(50000);
	ASSERT_TRUE(get(self));
	EXPECT_EQ(1, self->state.waiting);
	EXPECT_EQ(1, self->notes[1].steps);
	wake = 0;
	EXPECT_EQ(0, step_wakes(0, 1, STAPE_WAIT_NONE, 0, &wake, 1));
	ASSERT_TRUE(st_child_settled(&self->w[0]));
	EXPECT_EQ(4, self->notes[1].steps);
	EXPECT_EQ(0, self->notes[1].ret);
	EXPECT_EQ(0, leave(0, 2));
}

#define LAPS 300

static int run_laps(uint32_t player, uint32_t to, uint32_t from)
{
	uint64_t i;
	int ret = join(player);

	for (i = 0; i < LAPS && !ret; i++)
		ret = step_wakes(player, i, STAPE_WAIT_EDGE, from, &to, 1);
	return ret ? ret : step(player, i, STAPE_WAIT_DONE, 0);
}

static int run_laps_0(void *arg)
{
	note(arg, run_laps(0, 0, 1));
	return 0;
}

static int run_laps_1(void *arg)
{
	note(arg, run_laps(1, 1, 0));
	return 0;
}

TEST_F_TIMEOUT(replay, pingpong, 60)
{
	ASSERT_EQ(0, SETUP_EDGES(self, 2, 1, 0));
	ASSERT_EQ(0, st_child_fork(&self->w[0], -1, run_laps_0, &self->notes[0]));
	ASSERT_EQ(0, st_child_fork(&self->w[1], -1, run_laps_1, &self->notes[1]));
	st_child_go(&self->w[0]);
	st_child_go(&self->w[1]);
	ASSERT_EQ(0, start(self, 0));
	ASSERT_TRUE(st_child_settled(&self->w[0]));
	ASSERT_TRUE(st_child_settled(&self->w[1]));
	EXPECT_EQ(0, self->notes[0].ret);
	EXPECT_EQ(0, self->notes[1].ret);
	ASSERT_TRUE(state(self, STAPE_REPLAY_DONE));
	EXPECT_EQ(2, self->state.done);
	EXPECT_EQ(2 * (LAPS + 1), self->state.steps);
	EXPECT_EQ(0, self->state.failed_pid);
	EXPECT_LE(self->state.start_time, self->state.stop_time);
}

/* -- times ---------------------------------------------------------------------- */

TEST_F(replay, timed_waits)
{
	static const uint64_t until[] = { 0, 30 * MS, 60 * MS, 60 * MS };
	int i;

	ASSERT_EQ(0, setup(self, 1, 0));
	ASSERT_EQ(0, st_child_begin(&self->w[0], -1, wait_for_times, self->notes));
	/* No player runs before the start, and none before its time. */
	ASSERT_TRUE(waiting(self, 1));
	usleep(30000);
	EXPECT_EQ(1, self->notes->steps);
	ASSERT_EQ(0, start(self, 20 * MS));
	ASSERT_TRUE(st_child_settled(&self->w[0]));
	EXPECT_EQ(6, self->notes->steps);
	EXPECT_EQ(0, self->notes->ret);
	ASSERT_TRUE(state(self, STAPE_REPLAY_DONE));
	for (i = 0; i < 4; i++) {
		EXPECT_LE(self->state.start_time + until[i], self->notes->times[i + 1]);
		EXPECT_GE(self->state.start_time + until[i] + 2000 * MS, self->notes->times[i + 1]);
	}
	EXPECT_EQ(4, self->state.timed_waits);
	EXPECT_LE(self->state.lag_max, self->state.lag_total);
	/* The third wait's time was over 50 ms ago. */
	EXPECT_LE(50 * MS, self->state.lag_max);
}

/* The first start is in an hour. */
TEST_F(replay, started_twice)
{
	ASSERT_EQ(0, setup(self, 1, 0));
	ASSERT_EQ(0, start(self, 3600000 * MS));
	EXPECT_EQ(-EINVAL, start(self, 0));
	EXPECT_EQ(0, schedtape_replay_stop(self->r.client, self->setup.id, &self->err));
}

TEST_HARNESS_MAIN
