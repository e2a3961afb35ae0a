// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: kinds and states of players' waits, and how a replay's time passes.
 */
#include <sched.h>

#include "calls.h"
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

	return make_step(&step);
}

static int wait_for_lengths(void *arg)
{
	struct notes *notes = arg;

	note(notes, join(0));
	note(notes, step(0, 0, STAPE_WAIT_FOR, 20 * MS));	/* from the start */
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
	ASSERT_EQ(0, st_child_begin(&self->w[0], -1, wait_for_lengths, self->notes));
	ASSERT_TRUE(waiting(self, 1));
	usleep(50000);
	EXPECT_EQ(1, self->notes->steps);
	ASSERT_EQ(0, start(self, 10 * MS));
	ASSERT_TRUE(st_child_settled(&self->w[0]));
	EXPECT_EQ(5, self->notes->steps);
	EXPECT_EQ(0, self->notes->ret);
	ASSERT_TRUE(state(self, STAPE_REPLAY_DONE));
	for (i = 1; i < 4; i++) {
		began = i > 1 ? self->notes->times[i - 1] : self->state.start_time;
		EXPECT_LE(began + lengths[i] * MS, self->notes->times[i]);
	}
	EXPECT_EQ(3, self->state.timed_waits);
}

/* After an interruption, a wait for a length of time continues; it does not begin again. */
TEST_F(replay, length_interrupted)
{
	int i;

	ASSERT_EQ(0, setup(self, 1, 0));
	ASSERT_EQ(0, st_child_fork(&self->w[0], -1, wait_for_lengths, self->notes));
	ASSERT_EQ(0, start(self, 0));
	st_child_go(&self->w[0]);
	for (i = 0; i < 1000 && self->notes->steps < 4; i++) {
		kill(self->w[0].pid, SIGSTOP);
		kill(self->w[0].pid, SIGCONT);
		usleep(10000);
	}
	ASSERT_TRUE(st_child_settled(&self->w[0]));
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

/* In state D: wake-ups end the wait as usual, a signal does not, except a deadly one. */
TEST_F(replay, blocked)
{
	uint32_t wake = 0;

	ASSERT_EQ(0, SETUP_EDGES(self, 2, 1));
	ASSERT_EQ(0, join(0));
	ASSERT_EQ(0, st_child_begin(&self->w[0], -1, wait_blocked, &self->notes[1]));
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
	EXPECT_EQ(128 + SIGKILL, st_child_wait(&self->w[0]));
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

/* -- the replay's time ------------------------------------------------------------ */

static int pause_replay(FIXTURE_DATA(replay) *self)
{
	return schedtape_replay_pause(self->r.client, self->setup.id, &self->err);
}

static int set_speed(FIXTURE_DATA(replay) *self, double speed)
{
	return schedtape_replay_set_speed(self->r.client, self->setup.id,
					  speed * STAPE_REPLAY_SPEED_ONE, &self->err);
}

static int wait_for_a_second(void *arg)
{
	note(arg, join(0));
	note(arg, step(0, 0, STAPE_WAIT_UNTIL, 1000 * MS));
	note(arg, step(0, 1, STAPE_WAIT_UNTIL, 1001 * MS));
	note(arg, step(0, 2, STAPE_WAIT_DONE, 0));
	return 0;
}

/* One second at 100 times the speed, with a pause in its middle. */
TEST_F(replay, pause_and_speed)
{
	uint64_t time;

	ASSERT_EQ(0, setup(self, 1, 0));
	ASSERT_EQ(0, set_speed(self, 0.01));
	ASSERT_EQ(0, st_child_begin(&self->w[0], -1, wait_for_a_second, self->notes));
	ASSERT_TRUE(waiting(self, 1));
	EXPECT_EQ(-EINVAL, pause_replay(self));		/* not started */
	EXPECT_EQ(0, self->state.time);
	ASSERT_EQ(0, start(self, 0));
	usleep(50000);
	ASSERT_EQ(0, pause_replay(self));
	EXPECT_EQ(-EINVAL, pause_replay(self));
	ASSERT_TRUE(get(self));
	EXPECT_EQ(STAPE_REPLAY_PAUSED, self->state.state);
	EXPECT_EQ(STAPE_REPLAY_SPEED_ONE / 100, self->state.speed);
	time = self->state.time;
	EXPECT_LE(MS / 2, time);
	/* A speed that is set during a pause takes effect after it. */
	ASSERT_EQ(0, set_speed(self, 1000));
	usleep(50000);
	ASSERT_TRUE(get(self));
	EXPECT_EQ(time, self->state.time);
	EXPECT_EQ(1, self->state.waiting);
	EXPECT_EQ(1, self->notes->steps);
	ASSERT_EQ(0, set_speed(self, 100));
	ASSERT_EQ(0, start(self, 0));
	ASSERT_TRUE(st_child_settled(&self->w[0]));
	ASSERT_TRUE(state(self, STAPE_REPLAY_DONE));
	EXPECT_EQ(0, self->notes->ret);
	EXPECT_LE(1001 * MS, self->state.time);
	/* At the low speed it would have taken 100 s. */
	EXPECT_GE(30000 * MS, self->state.stop_time - self->state.start_time);
	EXPECT_EQ(-EALREADY, set_speed(self, 1));
}

/* The time of a replay that is stopped during a pause is the time of the pause. */
TEST_F(replay, stop_in_a_pause)
{
	uint64_t time;

	ASSERT_EQ(0, setup(self, 1, 0));
	ASSERT_EQ(0, start(self, 0));
	usleep(20000);
	ASSERT_EQ(0, pause_replay(self));
	ASSERT_TRUE(get(self));
	time = self->state.time;
	EXPECT_LE(20 * MS, time);
	usleep(300000);
	ASSERT_EQ(0, schedtape_replay_stop(self->r.client, self->setup.id, &self->err));
	ASSERT_TRUE(get(self));
	EXPECT_EQ(STAPE_REPLAY_STOPPED, self->state.state);
	EXPECT_EQ(time, self->state.time);
}

/* A pause before the common start: the replay gets a new start time, and ends after that. */
TEST_F(replay, pause_before_the_start)
{
	ASSERT_EQ(0, setup(self, 1, 0));
	ASSERT_EQ(0, start(self, 3600000 * MS));
	ASSERT_EQ(0, pause_replay(self));
	ASSERT_EQ(0, start(self, 0));
	ASSERT_TRUE(get(self));
	EXPECT_GE(st_now(), self->state.start_time);
	ASSERT_EQ(0, schedtape_replay_stop(self->r.client, self->setup.id, &self->err));
	ASSERT_TRUE(get(self));
	EXPECT_LE(self->state.start_time, self->state.stop_time);
}

TEST_F(replay, stop_before_the_start)
{
	ASSERT_EQ(0, setup(self, 1, 0));
	ASSERT_EQ(0, start(self, 3600000 * MS));
	ASSERT_EQ(0, schedtape_replay_stop(self->r.client, self->setup.id, &self->err));
	ASSERT_TRUE(get(self));
	EXPECT_EQ(0, self->state.time);
	EXPECT_EQ(self->state.start_time, self->state.stop_time);
}

static int wait_on_cpu_0(void *arg)
{
	note(arg, join(0));
	note(arg, step(0, 0, STAPE_WAIT_UNTIL, 200 * MS));
	note(arg, step(0, 1, STAPE_WAIT_DONE, 0));
	return 0;
}

/*
 * A wait is over, but its player does not get the CPU before the replay pauses: its lag
 * is the time since its timeout, and not more.
 */
TEST_F(replay, lag_of_a_wait_before_a_pause)
{
	struct sched_param param = { .sched_priority = 10 };
	uint64_t end;

	ASSERT_EQ(0, setup(self, 1, 0));
	ASSERT_EQ(0, st_child_begin(&self->w[0], 0, wait_on_cpu_0, self->notes));
	ASSERT_TRUE(waiting(self, 1));
	ASSERT_EQ(0, st_pin(0, 0));
	ASSERT_EQ(0, start(self, 0));
	ASSERT_TRUE(get(self));
	ASSERT_EQ(0, sched_setscheduler(0, SCHED_FIFO, &param));
	usleep(150000);
	/* A guest's timer may be as late as its host: then the pause would come first. */
	while (st_now() < self->state.start_time + 230 * MS ||
	       (self->notes->steps < 2 && st_task_state(self->w[0].pid) != 'R'))
		;
	ASSERT_EQ(0, pause_replay(self));
	param.sched_priority = 0;
	ASSERT_EQ(0, sched_setscheduler(0, SCHED_OTHER, &param));
	while (self->notes->steps < 2)
		usleep(1000);
	end = self->notes->times[1] - self->state.start_time;
	ASSERT_TRUE(get(self));
	EXPECT_EQ(1, self->state.timed_waits);
	EXPECT_LE(self->state.lag_max, end - 200 * MS);
	ASSERT_TRUE(st_child_settled(&self->w[0]));
	EXPECT_EQ(0, self->notes->ret);
}

/* A wait that began at a low speed ends at a high one. */
TEST_F(replay, speed_within_a_wait)
{
	ASSERT_EQ(0, setup(self, 1, 0));
	ASSERT_EQ(0, st_child_begin(&self->w[0], -1, wait_for_a_second, self->notes));
	ASSERT_EQ(0, set_speed(self, 0.001));
	ASSERT_EQ(0, start(self, 0));
	ASSERT_TRUE(waiting(self, 1));
	ASSERT_EQ(0, set_speed(self, 1000));
	ASSERT_TRUE(st_child_settled(&self->w[0]));
	EXPECT_EQ(0, self->notes->ret);
	/* At the old speed it would have taken 1,000 s. */
	ASSERT_TRUE(state(self, STAPE_REPLAY_DONE));
	EXPECT_GE(30000 * MS, self->state.stop_time - self->state.start_time);
}

TEST_F(replay, wrong_speeds)
{
	ASSERT_EQ(0, setup(self, 1, 0));
	EXPECT_GT(0, set_speed(self, 0));
	EXPECT_GT(0, set_speed(self, 0.000999));
	EXPECT_GT(0, set_speed(self, 1001));
	EXPECT_EQ(0, set_speed(self, 1000));
	ASSERT_TRUE(get(self));
	EXPECT_EQ(1000U * STAPE_REPLAY_SPEED_ONE, self->state.speed);
}

static int hold(void *arg)
{
	uint32_t number = 0;

	note(arg, join(0));
	note(arg, step(0, 0, STAPE_WAIT_UNTIL, 0));
	note(arg, ioctl(players, STAPE_IOC_HOLD, &number) ? -errno : 0);	/* it runs */
	st_gate();
	note(arg, ioctl(players, STAPE_IOC_HOLD, &number) ? -errno : 0);
	note(arg, step(0, 1, STAPE_WAIT_DONE, 0));
	return 0;
}

static int find_player(const struct schedtape_player_state *player, void *arg)
{
	*(struct schedtape_player_state *)arg = *player;
	return 0;
}

static int get_player(FIXTURE_DATA(replay) *self, struct schedtape_player_state *player)
{
	*player = (struct schedtape_player_state){ .number = UINT32_MAX };
	return schedtape_replay_players(self->r.client, self->setup.id, find_player, player,
					&self->err);
}

TEST_F(replay, holding)
{
	struct schedtape_player_state player;

	ASSERT_EQ(0, setup(self, 1, 0));
	EXPECT_EQ(0, get_player(self, &player));
	EXPECT_EQ(UINT32_MAX, player.number);
	ASSERT_EQ(0, st_child_begin(&self->w[0], -1, hold, self->notes));
	ASSERT_TRUE(waiting(self, 1));
	ASSERT_EQ(0, get_player(self, &player));
	EXPECT_EQ(STAPE_PLAYER_TIMED, player.state);
	ASSERT_EQ(0, start(self, 0));
	ASSERT_TRUE(st_child_settled(&self->w[0]));
	EXPECT_EQ(3, self->notes->steps);
	ASSERT_EQ(0, pause_replay(self));
	st_child_go(&self->w[0]);
	ASSERT_TRUE(waiting(self, 1));
	ASSERT_EQ(0, get_player(self, &player));
	EXPECT_EQ(0, player.number);
	EXPECT_EQ(self->w[0].pid, player.pid);
	EXPECT_EQ(STAPE_PLAYER_HELD, player.state);
	EXPECT_EQ(1, player.steps);
	EXPECT_EQ(1, player.timed_waits);
	EXPECT_LT(0, player.cpu_time);
	EXPECT_LE(player.lag_max, player.lag_total);
	ASSERT_EQ(0, start(self, 0));
	ASSERT_TRUE(st_child_settled(&self->w[0]));
	EXPECT_EQ(0, self->notes->ret);
	EXPECT_EQ(5, self->notes->steps);
}

/* -- timers that wait for late players ------------------------------------------------ */

#define TIMERS		64
#define LATE		(20 * MS)

static uint32_t to_the_late_one;	/* the number of an edge */

static void *wait_then_wake(void *arg)
{
	struct stape_step wait = {
		.player = (uintptr_t)arg,
		.wait = STAPE_WAIT_UNTIL,
		.value = LATE,
		.wakes = (uintptr_t)&to_the_late_one,
		.nr_next = 1,
	};
	int ret = join(wait.player) ?: make_step(&wait) ?: leave(wait.player, 1);

	return (void *)(intptr_t)ret;
}

/* The first thread that cannot play ends the process. */
static int wait_in_threads(void *arg)
{
	pthread_t threads[TIMERS];
	struct notes *notes = arg;
	uintptr_t i;
	void *ret;

	munlockall();
	for (i = 0; i < TIMERS; i++)
		if (pthread_create(&threads[i], NULL, wait_then_wake, (void *)(i + 1)))
			return 1;
	for (i = 0; i < TIMERS; i++)
		if (pthread_join(threads[i], &ret) || ret)
			return 1;
	note(notes, 0);
	return 0;
}

/*
 * Players are woken at the same time, and will wake one that never waits.  So their timers look at
 * it again and again, but only every 50 us, however many they are.
 */
TEST_F(replay, many_timers_look_as_rarely_as_one)
{
	struct st_calls calls;
	uint64_t took, looks;
	long hits;

	/* Counting patches the kernel's code: see lib/avoid-patching.sh. */
	if (st_cpus() > 1 || !st_calls_begin(&calls, "stape_timer_fire"))
		SKIP(return, "calls can be counted with one CPU only, and a kernel with kprobes");
	self->edges[0] = 0;
	ASSERT_EQ(0, setup(self, TIMERS + 1, 1));
	ASSERT_EQ(0, join(0));
	ASSERT_EQ(0, st_child_begin(&self->w[0], -1, wait_in_threads, self->notes));
	ASSERT_TRUE(waiting(self, TIMERS));
	ASSERT_EQ(0, start(self, 0));
	ASSERT_TRUE(st_child_settled(&self->w[0]));
	hits = st_calls_end(&calls);
	ASSERT_EQ(1, self->notes->steps);
	EXPECT_EQ(0, leave(0, 0));
	ASSERT_TRUE(state(self, STAPE_REPLAY_DONE));
	took = self->notes->times[0] - self->state.start_time - LATE;
	looks = took / (MS / 20);
	TH_LOG("%ld calls for %d timers in %llu us", hits, TIMERS, took / 1000ull);
	/* A timer fires twice if its player has not slept yet. */
	EXPECT_LT(TIMERS, hits);
	EXPECT_GE(looks + 2 * TIMERS, hits);
	/* If looks took all of the CPU's time, players could not go on for seconds. */
	if (st_exact())
		EXPECT_GT(1000 * MS, took);
}

/* -- deadlocks --------------------------------------------------------------------- */

static int wait_for_1(void *arg)
{
	close(session);
	note(arg, join(0));
	note(arg, step(0, 0, STAPE_WAIT_EDGE, 0));
	return 0;
}

static int wait_for_0(void *arg)
{
	close(session);
	note(arg, join(1));
	note(arg, step(1, 0, STAPE_WAIT_EDGE, 1));
	return 0;
}

/*
 * Two players wait for each other: the module detects it, they can be queried, and a stop kills
 * them.
 */
TEST_F(replay, deadlock)
{
	struct schedtape_player_state player;
	uint32_t i;

	for (i = 0; i < 2; i++)
		self->edges[i] = i;
	ASSERT_EQ(0, setup(self, 2, 2));
	ASSERT_EQ(0, st_child_fork(&self->w[0], -1, wait_for_1, &self->notes[0]));
	ASSERT_EQ(0, st_child_fork(&self->w[1], -1, wait_for_0, &self->notes[1]));
	st_child_go(&self->w[0]);
	ASSERT_TRUE(waiting(self, 1));
	ASSERT_EQ(0, start(self, 0));
	/* One that waits alone is no deadlock, because the other player may still run. */
	usleep(20000);
	ASSERT_TRUE(get(self));
	EXPECT_EQ(STAPE_REPLAY_RUNNING, self->state.state);
	st_child_go(&self->w[1]);
	ASSERT_TRUE(state(self, STAPE_REPLAY_STUCK));
	ASSERT_EQ(0, get_player(self, &player));
	EXPECT_EQ(1, player.number);
	EXPECT_EQ(STAPE_PLAYER_EDGE, player.state);
	EXPECT_EQ(1, player.edge);
	EXPECT_EQ(2, self->state.waiting);
	EXPECT_EQ(-EALREADY, schedtape_replay_stop(self->r.client, self->setup.id, &self->err));
	EXPECT_EQ(128 + SIGKILL, st_child_wait(&self->w[0]));
	EXPECT_EQ(128 + SIGKILL, st_child_wait(&self->w[1]));
	EXPECT_TRUE(state(self, STAPE_REPLAY_STUCK));
}

TEST_HARNESS_MAIN
