// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: what players wait for, and in which state.
 */
#include "players.h"

static int wait_step(uint32_t player, uint64_t index, uint32_t wait, uint64_t value)
{
	struct stape_step step = {
		.player = player,
		.index = index,
		.wait = wait,
		.flags = STAPE_STEP_BLOCKED,
		.value = value,
	};

	return ioctl(players, STAPE_IOC_STEP, &step) ? -errno : 0;
}

static int wait_for_lengths(void *arg)
{
	struct notes *notes = arg;

	note(notes, join(0));
	note(notes, step(0, 0, STAPE_WAIT_FOR, 20 * MS));	/* from the start on */
	note(notes, step(0, 1, STAPE_WAIT_FOR, 30 * MS));
	note(notes, wait_step(0, 2, STAPE_WAIT_FOR, 40 * MS));
	note(notes, step(0, 3, STAPE_WAIT_DONE, 0));
	return 0;
}

TEST_F(replay, lengths)
{
	static const uint64_t lengths[] = { 0, 20, 30, 40 };
	uint64_t began;
	int i;

	ASSERT_EQ(0, setup(self, 1, 0));
	ASSERT_EQ(0, st_work_fork(&self->w[0], -1, wait_for_lengths, self->notes));
	st_work_go(&self->w[0]);
	ASSERT_TRUE(waiting(self, 1));
	usleep(50000);
	EXPECT_EQ(1, self->notes->steps);
	ASSERT_EQ(0, start(self, 10 * MS));
	ASSERT_TRUE(st_work_settled(&self->w[0]));
	EXPECT_EQ(5, self->notes->steps);
	EXPECT_EQ(0, self->notes->ret);
	ASSERT_TRUE(state(self, STAPE_REPLAY_DONE));
	for (i = 1; i < 4; i++) {
		began = i > 1 ? self->notes->times[i - 1] : self->state.start_time;
		EXPECT_LE(began + lengths[i] * MS, self->notes->times[i]);
	}
	EXPECT_EQ(3, self->state.timed_waits);
}

/* A length goes on behind an interruption: it does not begin again. */
TEST_F(replay, length_interrupted)
{
	int i;

	ASSERT_EQ(0, setup(self, 1, 0));
	ASSERT_EQ(0, st_work_fork(&self->w[0], -1, wait_for_lengths, self->notes));
	ASSERT_EQ(0, start(self, 0));
	st_work_go(&self->w[0]);
	for (i = 0; i < 1000 && self->notes->steps < 4; i++) {
		kill(self->w[0].pid, SIGSTOP);
		kill(self->w[0].pid, SIGCONT);
		usleep(10000);
	}
	ASSERT_TRUE(st_work_settled(&self->w[0]));
	EXPECT_EQ(0, self->notes->ret);
}

static int wait_blocked(void *arg)
{
	close(session);
	note(arg, join(1));
	note(arg, wait_step(1, 0, STAPE_WAIT_EDGE, 0));
	note(arg, wait_step(1, 1, STAPE_WAIT_EDGE, 0));
	return 0;
}

/* In state D: woken as others are, not disturbed by a signal, but by death. */
TEST_F(replay, blocked)
{
	uint32_t wake = 0;

	self->edges[0] = 1;
	ASSERT_EQ(0, setup(self, 2, 1));
	ASSERT_EQ(0, join(0));
	ASSERT_EQ(0, st_work_fork(&self->w[0], -1, wait_blocked, &self->notes[1]));
	st_work_go(&self->w[0]);
	ASSERT_TRUE(waiting(self, 1));
	ASSERT_TRUE(st_wait_state(self->w[0].pid, 'D'));
	kill(self->w[0].pid, SIGSTOP);
	usleep(50000);
	EXPECT_EQ('D', st_task_state(self->w[0].pid));
	kill(self->w[0].pid, SIGCONT);
	EXPECT_EQ(0, step_wakes(0, 0, STAPE_WAIT_NONE, 0, &wake, 1));
	while (self->notes[1].steps < 2)
		usleep(1000);
	EXPECT_EQ(0, self->notes[1].ret);
	ASSERT_TRUE(st_wait_state(self->w[0].pid, 'D'));
	EXPECT_EQ(0, leave(0, 1));
	kill(self->w[0].pid, SIGKILL);
	EXPECT_EQ(128 + SIGKILL, st_work_wait(&self->w[0]));
	EXPECT_TRUE(state(self, STAPE_REPLAY_BROKEN));
}

TEST_F(replay, wrong_flags)
{
	ASSERT_EQ(0, setup(self, 1, 0));
	ASSERT_EQ(0, join(0));
	EXPECT_EQ(-EINVAL, wait_step(0, 0, STAPE_WAIT_NONE, 0));
	EXPECT_EQ(-EINVAL, wait_step(0, 0, STAPE_WAIT_DONE, 0));
	EXPECT_EQ(-EINVAL, wait_step(0, 0, STAPE_WAIT_FOR, UINT64_MAX));
	EXPECT_EQ(0, leave(0, 0));
}

TEST_HARNESS_MAIN
