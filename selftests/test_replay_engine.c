// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: the replay engine without a tape: players are forked by hand,
 * and each makes the steps that the test wants of it.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <kselftest_harness.h>

#include "record.h"
#include "request.h"
#include "work.h"

#define MS 1000000ull

/**
 * struct notes - what players tell the test
 * @ret: of the last call, -errno
 * @steps: steps that have returned
 * @times: when they did, CLOCK_MONOTONIC
 */
struct notes {
	volatile int ret;
	volatile unsigned int steps;
	volatile uint64_t times[8];
};

FIXTURE(replay)
{
	struct st_record r;
	struct schedtape_replay_state state;
	struct schedtape_error err;
	struct st_work w[3];
	struct notes *notes;	/* by player */
	struct stape_replay_setup setup;
	uint32_t edges[8];
	int fd;
};

/* For the children: the players' file, and the session's, which they close. */
static int players, session;

FIXTURE_SETUP(replay)
{
	memset(self, 0, sizeof(*self));
	ASSERT_EQ(0, st_record_open(&self->r, 0));
	self->fd = schedtape_session_fd(self->r.session);
	self->notes = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, self->notes);
	session = self->fd;
	players = -1;
}

FIXTURE_TEARDOWN(replay)
{
	int i;

	for (i = 0; i < 3; i++)
		st_work_kill(&self->w[i]);
	st_record_close(&self->r);
}

static int setup(FIXTURE_DATA(replay) *self, uint32_t nr_players, uint32_t nr_edges)
{
	self->setup = (struct stape_replay_setup){
		.nr_players = nr_players,
		.nr_edges = nr_edges,
		.edges = (uintptr_t)self->edges,
	};
	if (ioctl(self->fd, STAPE_IOC_REPLAY, &self->setup))
		return -errno;
	players = self->setup.fd;
	return 0;
}

static int join(uint32_t number)
{
	return ioctl(players, STAPE_IOC_JOIN, &number) ? -errno : 0;
}

static int step_wakes(uint32_t player, uint64_t index, uint32_t wait, uint64_t value,
		      const uint32_t *wakes, uint32_t nr_wakes)
{
	struct stape_step step = {
		.player = player,
		.index = index,
		.wait = wait,
		.value = value,
		.wakes = (uintptr_t)wakes,
		.nr_wakes = nr_wakes,
	};

	return ioctl(players, STAPE_IOC_STEP, &step) ? -errno : 0;
}

static int step(uint32_t player, uint64_t index, uint32_t wait, uint64_t value)
{
	return step_wakes(player, index, wait, value, NULL, 0);
}

/*
 * The test itself is a player, and ends its program: as one that is left when
 * the session's file closes, it would be killed.
 */
static int leave(uint32_t player, uint64_t index)
{
	return step(player, index, STAPE_WAIT_DONE, 0);
}

static bool get(FIXTURE_DATA(replay) *self)
{
	return !schedtape_replay_get(self->r.client, self->setup.id, &self->state, &self->err);
}

static int start(FIXTURE_DATA(replay) *self, uint64_t delay)
{
	return schedtape_replay_start(self->r.client, self->setup.id, delay, &self->err);
}

/* Waits until so many players are in a wait. */
static bool waiting(FIXTURE_DATA(replay) *self, uint32_t n)
{
	int tries = 10000;

	while (tries--) {
		if (!get(self))
			return false;
		if (self->state.waiting == n)
			return true;
		usleep(1000);
	}
	return false;
}

static bool state(FIXTURE_DATA(replay) *self, uint32_t wanted)
{
	int tries = 10000;

	while (tries--) {
		if (!get(self))
			return false;
		if (self->state.state == wanted)
			return true;
		usleep(1000);
	}
	return false;
}

static void note(struct notes *notes, int ret)
{
	notes->ret = ret;
	notes->times[notes->steps % 8] = st_now();
	notes->steps++;
}

/* -- setup, join, step: what is wrong ------------------------------------------- */

TEST_F(replay, making)
{
	struct stape_replay_setup second;

	self->edges[0] = 2;
	EXPECT_EQ(-EINVAL, setup(self, 0, 0));
	EXPECT_EQ(-EINVAL, setup(self, 2, 1));		/* there is no player 2 */
	EXPECT_EQ(-EINVAL, setup(self, UINT32_MAX, 0));
	EXPECT_EQ(-EINVAL, setup(self, 1, UINT32_MAX));
	EXPECT_EQ(-1, ioctl(self->fd, STAPE_IOC_REPLAY, (void *)8));
	EXPECT_EQ(EFAULT, errno);
	self->setup = (struct stape_replay_setup){ .nr_players = 2, .nr_edges = 1, .edges = 8 };
	EXPECT_EQ(-1, ioctl(self->fd, STAPE_IOC_REPLAY, &self->setup));
	EXPECT_EQ(EFAULT, errno);
	/* Nothing of all that is left. */
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

/* The answer does not fit into memory that cannot be written: no file is left behind. */
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
	EXPECT_EQ(-EBUSY, join(0));		/* it is one already */
	ASSERT_TRUE(get(self));
	EXPECT_EQ(1, self->state.joined);
	EXPECT_EQ(0, step(1, 0, STAPE_WAIT_DONE, 0));
	ASSERT_TRUE(get(self));
	EXPECT_EQ(1, self->state.done);
	/* Its program is over, and nobody plays it once more. */
	EXPECT_EQ(-ESRCH, step(1, 1, STAPE_WAIT_NONE, 0));
	EXPECT_EQ(-EBUSY, join(1));
}

TEST_F(replay, stepping)
{
	uint32_t wakes[STAPE_STEP_MAX_WAKES + 1] = { 0 };
	struct stape_step bad = { .reserved = 1 };

	self->edges[0] = 0;
	self->edges[1] = 1;
	ASSERT_EQ(0, setup(self, 2, 2));
	EXPECT_EQ(-ESRCH, step(0, 0, STAPE_WAIT_NONE, 0));
	ASSERT_EQ(0, join(0));
	EXPECT_EQ(-ESRCH, step(1, 0, STAPE_WAIT_NONE, 0));
	EXPECT_EQ(-ESRCH, step(7, 0, STAPE_WAIT_NONE, 0));
	EXPECT_EQ(-EINVAL, step(0, 1, STAPE_WAIT_NONE, 0));
	EXPECT_EQ(-EINVAL, step(0, 0, STAPE_WAIT_DONE + 1, 0));
	EXPECT_EQ(-1, ioctl(players, STAPE_IOC_STEP, &bad));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(-1, ioctl(players, STAPE_IOC_STEP, (void *)8));
	EXPECT_EQ(EFAULT, errno);
	EXPECT_EQ(-1, ioctl(players, _IO(STAPE_IOC_MAGIC, 0x7f)));
	EXPECT_EQ(ENOTTY, errno);
	EXPECT_EQ(-E2BIG, step_wakes(0, 0, STAPE_WAIT_NONE, 0, wakes, STAPE_STEP_MAX_WAKES + 1));
	EXPECT_EQ(-EFAULT, step_wakes(0, 0, STAPE_WAIT_NONE, 0, (void *)8, 1));
	wakes[3] = 2;
	EXPECT_EQ(-EINVAL, step_wakes(0, 0, STAPE_WAIT_NONE, 0, wakes, 4));
	/* Nothing was done by all that: the step is still to be made. */
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

/* A wait that cannot be is refused before anyone is woken. */
TEST_F(replay, wrong_wait_wakes_nobody)
{
	uint32_t wake = 0;

	self->edges[0] = 0;
	self->edges[1] = 1;
	ASSERT_EQ(0, setup(self, 2, 2));
	ASSERT_EQ(0, join(0));
	EXPECT_EQ(-EINVAL, step_wakes(0, 0, STAPE_WAIT_EDGE, 1, &wake, 1));	/* another's */
	EXPECT_EQ(-EINVAL, step_wakes(0, 0, STAPE_WAIT_EDGE, 2, &wake, 1));	/* none's */
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

/* Four wake-ups along two edges: as many waits return at once, in any order. */
TEST_F(replay, counted_edges)
{
	static const uint32_t wakes[] = { 0, 0, 1, 0 };

	self->edges[0] = 1;
	self->edges[1] = 1;
	ASSERT_EQ(0, setup(self, 2, 2));
	ASSERT_EQ(0, join(0));
	EXPECT_EQ(0, step_wakes(0, 0, STAPE_WAIT_NONE, 0, wakes, 4));
	ASSERT_EQ(0, st_work_fork(&self->w[0], -1, wait_four_times, &self->notes[1]));
	st_work_go(&self->w[0]);
	ASSERT_TRUE(st_work_settled(&self->w[0]));
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

/* It waits for edge 0 and is woken along edge 1 first: it stays, and takes that later. */
TEST_F(replay, each_wait_takes_its_own_waker)
{
	uint32_t wake;

	self->edges[0] = 1;
	self->edges[1] = 1;
	ASSERT_EQ(0, setup(self, 2, 2));
	ASSERT_EQ(0, join(0));
	ASSERT_EQ(0, st_work_fork(&self->w[0], -1, wait_for_two_edges, &self->notes[1]));
	st_work_go(&self->w[0]);
	ASSERT_TRUE(waiting(self, 1));
	wake = 1;
	EXPECT_EQ(0, step_wakes(0, 0, STAPE_WAIT_NONE, 0, &wake, 1));
	usleep(50000);
	ASSERT_TRUE(get(self));
	EXPECT_EQ(1, self->state.waiting);
	EXPECT_EQ(1, self->notes[1].steps);
	wake = 0;
	EXPECT_EQ(0, step_wakes(0, 1, STAPE_WAIT_NONE, 0, &wake, 1));
	ASSERT_TRUE(st_work_settled(&self->w[0]));
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
	self->edges[0] = 1;
	self->edges[1] = 0;
	ASSERT_EQ(0, setup(self, 2, 2));
	ASSERT_EQ(0, st_work_fork(&self->w[0], -1, run_laps_0, &self->notes[0]));
	ASSERT_EQ(0, st_work_fork(&self->w[1], -1, run_laps_1, &self->notes[1]));
	st_work_go(&self->w[0]);
	st_work_go(&self->w[1]);
	ASSERT_EQ(0, start(self, 0));
	ASSERT_TRUE(st_work_settled(&self->w[0]));
	ASSERT_TRUE(st_work_settled(&self->w[1]));
	EXPECT_EQ(0, self->notes[0].ret);
	EXPECT_EQ(0, self->notes[1].ret);
	ASSERT_TRUE(state(self, STAPE_REPLAY_DONE));
	EXPECT_EQ(2, self->state.done);
	EXPECT_EQ(2 * (LAPS + 1), self->state.steps);
	EXPECT_EQ(0, self->state.failed_pid);
	EXPECT_LE(self->state.start_time, self->state.stop_time);
}

/* -- times ---------------------------------------------------------------------- */

static int wait_for_times(void *arg)
{
	struct notes *notes = arg;

	note(notes, join(0));
	note(notes, step(0, 0, STAPE_WAIT_UNTIL, 0));
	note(notes, step(0, 1, STAPE_WAIT_UNTIL, 30 * MS));
	note(notes, step(0, 2, STAPE_WAIT_UNTIL, 60 * MS));
	note(notes, step(0, 3, STAPE_WAIT_UNTIL, 10 * MS));	/* past: at once */
	note(notes, step(0, 4, STAPE_WAIT_DONE, 0));
	return 0;
}

TEST_F(replay, timed_waits)
{
	static const uint64_t until[] = { 0, 30 * MS, 60 * MS, 60 * MS };
	int i;

	ASSERT_EQ(0, setup(self, 1, 0));
	ASSERT_EQ(0, st_work_fork(&self->w[0], -1, wait_for_times, self->notes));
	st_work_go(&self->w[0]);
	/* Nobody goes before the start, and then nobody before its time. */
	ASSERT_TRUE(waiting(self, 1));
	usleep(30000);
	EXPECT_EQ(1, self->notes->steps);
	ASSERT_EQ(0, start(self, 20 * MS));
	EXPECT_EQ(-EINVAL, start(self, 0));
	ASSERT_TRUE(st_work_settled(&self->w[0]));
	EXPECT_EQ(6, self->notes->steps);
	EXPECT_EQ(0, self->notes->ret);
	ASSERT_TRUE(state(self, STAPE_REPLAY_DONE));
	for (i = 0; i < 4; i++) {
		EXPECT_LE(self->state.start_time + until[i], self->notes->times[i + 1]);
		EXPECT_GE(self->state.start_time + until[i] + 2000 * MS, self->notes->times[i + 1]);
	}
	EXPECT_EQ(4, self->state.timed_waits);
	EXPECT_LE(self->state.lag_max, self->state.lag_total);
	/* The third wait's time was 50 ms ago. */
	EXPECT_LE(50 * MS, self->state.lag_max);
}

/* -- signals --------------------------------------------------------------------- */

static int wake_and_wait(void *arg)
{
	struct notes *notes = arg;
	uint32_t wake = 1;

	note(notes, join(1));
	note(notes, step_wakes(1, 0, STAPE_WAIT_EDGE, 0, &wake, 1));
	note(notes, step(1, 1, STAPE_WAIT_DONE, 0));
	return 0;
}

/* Stopped within a wait and continued: it waits on, and wakes nobody twice. */
TEST_F(replay, stop_and_continue)
{
	uint32_t wake = 0;
	int i;

	self->edges[0] = 1;
	self->edges[1] = 0;
	ASSERT_EQ(0, setup(self, 2, 2));
	ASSERT_EQ(0, join(0));
	ASSERT_EQ(0, st_work_fork(&self->w[0], -1, wake_and_wait, &self->notes[1]));
	st_work_go(&self->w[0]);
	for (i = 0; i < 3; i++) {
		ASSERT_TRUE(waiting(self, 1));
		ASSERT_EQ(0, kill(self->w[0].pid, SIGSTOP));
		ASSERT_TRUE(st_wait_state(self->w[0].pid, 'T'));
		ASSERT_EQ(0, kill(self->w[0].pid, SIGCONT));
	}
	ASSERT_TRUE(waiting(self, 1));
	EXPECT_EQ(1, self->notes[1].steps);
	EXPECT_EQ(1, self->state.steps);
	/* One wake-up has come from it: the first wait takes it, a second would not end. */
	EXPECT_EQ(0, step_wakes(0, 0, STAPE_WAIT_EDGE, 1, &wake, 1));
	ASSERT_TRUE(st_work_settled(&self->w[0]));
	EXPECT_EQ(0, self->notes[1].ret);
	EXPECT_EQ(3, self->notes[1].steps);
	EXPECT_EQ(0, leave(0, 1));
}

static void on_signal(int number)
{
	(void)number;
}

static int wait_through_signals(void *arg)
{
	struct sigaction restart = { .sa_handler = on_signal, .sa_flags = SA_RESTART };
	struct sigaction interrupt = { .sa_handler = on_signal };
	struct notes *notes = arg;
	uint32_t wake = 1;

	sigaction(SIGUSR1, &restart, NULL);
	sigaction(SIGUSR2, &interrupt, NULL);
	note(notes, join(1));
	note(notes, step_wakes(1, 0, STAPE_WAIT_EDGE, 0, &wake, 1));
	/* Interrupted: the same step once more. */
	note(notes, step_wakes(1, 0, STAPE_WAIT_EDGE, 0, &wake, 1));
	note(notes, step(1, 1, STAPE_WAIT_DONE, 0));
	return 0;
}

TEST_F(replay, handlers)
{
	uint32_t wake = 0;

	self->edges[0] = 1;
	self->edges[1] = 0;
	ASSERT_EQ(0, setup(self, 2, 2));
	ASSERT_EQ(0, join(0));
	ASSERT_EQ(0, st_work_fork(&self->w[0], -1, wait_through_signals, &self->notes[1]));
	st_work_go(&self->w[0]);
	ASSERT_TRUE(waiting(self, 1));
	kill(self->w[0].pid, SIGUSR1);
	usleep(20000);
	ASSERT_TRUE(waiting(self, 1));
	EXPECT_EQ(1, self->notes[1].steps);
	kill(self->w[0].pid, SIGUSR2);
	while (self->notes[1].steps < 2)
		usleep(1000);
	EXPECT_EQ(-EINTR, self->notes[1].ret);
	ASSERT_TRUE(waiting(self, 1));
	EXPECT_EQ(1, self->state.steps);
	EXPECT_EQ(0, step_wakes(0, 0, STAPE_WAIT_NONE, 0, &wake, 1));
	ASSERT_TRUE(st_work_settled(&self->w[0]));
	EXPECT_EQ(4, self->notes[1].steps);
	EXPECT_EQ(0, self->notes[1].ret);
	EXPECT_EQ(0, leave(0, 1));
}

/* -- ends ------------------------------------------------------------------------- */

static int wait_for_ever(void *arg)
{
	uint32_t number = (uintptr_t)arg;

	close(session);
	if (join(number))
		return 1;
	return step(number, 0, STAPE_WAIT_EDGE, number);
}

/* Three that wait for edges that nobody wakes along. */
static bool start_three(FIXTURE_DATA(replay) *self)
{
	uintptr_t i;

	for (i = 0; i < 3; i++)
		self->edges[i] = i;
	if (setup(self, 3, 3))
		return false;
	for (i = 0; i < 3; i++) {
		if (st_work_fork(&self->w[i], -1, wait_for_ever, (void *)i))
			return false;
		st_work_go(&self->w[i]);
	}
	return waiting(self, 3) && !start(self, 0);
}

TEST_F(replay, stop_kills)
{
	int i;

	ASSERT_TRUE(start_three(self));
	EXPECT_EQ(0, schedtape_replay_stop(self->r.client, self->setup.id, &self->err));
	for (i = 0; i < 3; i++)
		EXPECT_EQ(128 + SIGKILL, st_work_wait(&self->w[i]));
	ASSERT_TRUE(get(self));
	EXPECT_EQ(STAPE_REPLAY_STOPPED, self->state.state);
	EXPECT_EQ(0, self->state.waiting);
	EXPECT_EQ(0, self->state.failed_pid);
	EXPECT_NE(0, self->state.stop_time);
	EXPECT_EQ(-EALREADY, schedtape_replay_stop(self->r.client, self->setup.id, &self->err));
	EXPECT_EQ(-EINVAL, start(self, 0));
	EXPECT_EQ(-ECANCELED, join(0));
}

TEST_F(replay, close_kills)
{
	uint32_t id;
	int i;

	ASSERT_TRUE(start_three(self));
	id = self->setup.id;
	close(players);
	schedtape_session_close(self->r.session);
	self->r.session = NULL;
	for (i = 0; i < 3; i++)
		EXPECT_EQ(128 + SIGKILL, st_work_wait(&self->w[i]));
	/* With its last player's file the replay is gone. */
	EXPECT_EQ(-ENOENT, schedtape_replay_get(self->r.client, id, &self->state, &self->err));
}

TEST_F(replay, a_dead_player_breaks_it)
{
	pid_t pid;
	int i;

	ASSERT_TRUE(start_three(self));
	pid = self->w[1].pid;
	ASSERT_EQ(0, kill(pid, SIGKILL));
	for (i = 0; i < 3; i++)
		EXPECT_EQ(128 + SIGKILL, st_work_wait(&self->w[i]));
	ASSERT_TRUE(get(self));
	EXPECT_EQ(STAPE_REPLAY_BROKEN, self->state.state);
	EXPECT_EQ(pid, self->state.failed_pid);
	EXPECT_EQ(-ECANCELED, join(1));
}

static int leave_early(void *arg)
{
	return join((uintptr_t)arg);
}

/* Whoever exits before its program's end breaks it, too. */
TEST_F(replay, an_early_exit_breaks_it)
{
	pid_t pid;

	ASSERT_EQ(0, setup(self, 2, 0));
	ASSERT_EQ(0, st_work_fork(&self->w[0], -1, leave_early, (void *)0));
	pid = self->w[0].pid;
	st_work_go(&self->w[0]);
	st_work_go(&self->w[0]);
	EXPECT_EQ(0, st_work_wait(&self->w[0]));
	ASSERT_TRUE(state(self, STAPE_REPLAY_BROKEN));
	EXPECT_EQ(pid, self->state.failed_pid);
}

/* Nobody is left over if a thread of many makes the end. */
static void *wait_in_thread(void *arg)
{
	wait_for_ever(arg);
	return NULL;
}

static int three_threads(void *arg)
{
	pthread_t threads[3];
	uintptr_t i;

	(void)arg;
	munlockall();
	for (i = 0; i < 3; i++)
		if (pthread_create(&threads[i], NULL, wait_in_thread, (void *)i))
			return 1;
	for (i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

TEST_F(replay, threads_are_players)
{
	uintptr_t i;

	for (i = 0; i < 3; i++)
		self->edges[i] = i;
	ASSERT_EQ(0, setup(self, 3, 3));
	ASSERT_EQ(0, st_work_fork(&self->w[0], -1, three_threads, NULL));
	st_work_go(&self->w[0]);
	ASSERT_TRUE(waiting(self, 3));
	EXPECT_EQ(3, self->state.joined);
	EXPECT_EQ(0, schedtape_replay_stop(self->r.client, self->setup.id, &self->err));
	EXPECT_EQ(128 + SIGKILL, st_work_wait(&self->w[0]));
}

/* -- notifications ------------------------------------------------------------------ */

TEST_F(replay, completion_is_told)
{
	struct nlattr *attrs[ST_REQUEST_TYPES];
	int sock = st_monitor(), cmd;

	ASSERT_LE(0, sock);
	ASSERT_EQ(0, setup(self, 1, 0));
	ASSERT_EQ(0, st_work_fork(&self->w[0], -1, wait_for_times, self->notes));
	st_work_go(&self->w[0]);
	ASSERT_EQ(0, start(self, 0));
	do {
		cmd = st_notified(sock, 10000, attrs);
		ASSERT_EQ(STAPE_CMD_REPLAY_NTF, cmd);
		ASSERT_EQ(self->setup.id, st_attr_u32(attrs[STAPE_A_REPLAY_ID]));
	} while (st_attr_u32(attrs[STAPE_A_REPLAY_STATE]) == STAPE_REPLAY_RUNNING);
	EXPECT_EQ(STAPE_REPLAY_DONE, st_attr_u32(attrs[STAPE_A_REPLAY_STATE]));
	EXPECT_EQ(1, st_attr_u32(attrs[STAPE_A_REPLAY_DONE]));
	EXPECT_EQ(5, st_attr_u64(attrs[STAPE_A_REPLAY_STEPS]));
	close(sock);
}

/* While it runs, every second. */
TEST_F(replay, progress_is_told)
{
	struct nlattr *attrs[ST_REQUEST_TYPES];
	int sock = st_monitor(), i;

	ASSERT_LE(0, sock);
	ASSERT_TRUE(start_three(self));
	for (i = 0; i < 2; i++) {
		ASSERT_EQ(STAPE_CMD_REPLAY_NTF, st_notified(sock, 10000, attrs));
		EXPECT_EQ(STAPE_REPLAY_RUNNING, st_attr_u32(attrs[STAPE_A_REPLAY_STATE]));
		EXPECT_EQ(3, st_attr_u32(attrs[STAPE_A_REPLAY_WAITING]));
	}
	close(sock);
}

TEST_HARNESS_MAIN
