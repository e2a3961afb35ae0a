// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: how replays end, how signals interrupt them, and their notifications.
 */
#include "players.h"

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

/*
 * A player is stopped by a signal within a wait and continued: it keeps waiting, and does not
 * repeat its wake-ups.
 */
TEST_F(replay, stop_and_continue)
{
	uint32_t wake = 0;
	int i;

	ASSERT_EQ(0, SETUP_EDGES(self, 2, 1, 0));
	ASSERT_EQ(0, join(0));
	ASSERT_EQ(0, st_child_begin(&self->w[0], -1, wake_and_wait, &self->notes[1]));
	for (i = 0; i < 3; i++) {
		ASSERT_TRUE(waiting(self, 1));
		ASSERT_EQ(0, kill(self->w[0].pid, SIGSTOP));
		ASSERT_TRUE(st_wait_state(self->w[0].pid, 'T'));
		ASSERT_EQ(0, kill(self->w[0].pid, SIGCONT));
	}
	ASSERT_TRUE(waiting(self, 1));
	EXPECT_EQ(1, self->notes[1].steps);
	EXPECT_EQ(1, self->state.steps);
	/* The player has made one wake-up: the first wait takes it, a second one would not end. */
	EXPECT_EQ(0, step_wakes(0, 0, STAPE_WAIT_EDGE, 1, &wake, 1));
	ASSERT_TRUE(st_child_settled(&self->w[0]));
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
	/* The wait was interrupted: make the same step again. */
	note(notes, step_wakes(1, 0, STAPE_WAIT_EDGE, 0, &wake, 1));
	note(notes, step(1, 1, STAPE_WAIT_DONE, 0));
	return 0;
}

TEST_F(replay, handlers)
{
	uint32_t wake = 0;

	ASSERT_EQ(0, SETUP_EDGES(self, 2, 1, 0));
	ASSERT_EQ(0, join(0));
	ASSERT_EQ(0, st_child_begin(&self->w[0], -1, wait_through_signals, &self->notes[1]));
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
	ASSERT_TRUE(st_child_settled(&self->w[0]));
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

/* Starts three players that wait for edges along which no wake-up comes. */
static bool start_three(FIXTURE_DATA(replay) *self)
{
	uintptr_t i;

	for (i = 0; i < 3; i++)
		self->edges[i] = i;
	if (setup(self, 3, 3))
		return false;
	for (i = 0; i < 3; i++)
		if (st_child_begin(&self->w[i], -1, wait_for_ever, (void *)i))
			return false;
	return waiting(self, 3) && !start(self, 0);
}

TEST_F(replay, stop_kills)
{
	int i;

	ASSERT_TRUE(start_three(self));
	EXPECT_EQ(0, schedtape_replay_stop(self->r.client, self->setup.id, &self->err));
	for (i = 0; i < 3; i++)
		EXPECT_EQ(128 + SIGKILL, st_child_wait(&self->w[i]));
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
		EXPECT_EQ(128 + SIGKILL, st_child_wait(&self->w[i]));
	/* The replay ends when its last player's file is closed. */
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
		EXPECT_EQ(128 + SIGKILL, st_child_wait(&self->w[i]));
	ASSERT_TRUE(get(self));
	EXPECT_EQ(STAPE_REPLAY_BROKEN, self->state.state);
	EXPECT_EQ(pid, self->state.failed_pid);
	EXPECT_EQ(-ECANCELED, join(1));
}

static int leave_early(void *arg)
{
	return join((uintptr_t)arg);
}

/*
 * A player that exits before its program's end breaks the replay, too: one of two players does
 * @what and ends, and the replay with it.
 */
static void breaks_it(struct __test_metadata *_metadata, FIXTURE_DATA(replay) *self,
		      int (*what)(void *arg))
{
	pid_t pid;

	ASSERT_EQ(0, setup(self, 2, 0));
	ASSERT_EQ(0, st_child_fork(&self->w[0], -1, what, (void *)0));
	pid = self->w[0].pid;
	st_child_go(&self->w[0]);
	st_child_go(&self->w[0]);
	EXPECT_EQ(0, st_child_wait(&self->w[0]));
	ASSERT_TRUE(state(self, STAPE_REPLAY_BROKEN));
	EXPECT_EQ(pid, self->state.failed_pid);
}

TEST_F(replay, an_early_exit_breaks_it)
{
	breaks_it(_metadata, self, leave_early);
}

static int become_another(void *arg)
{
	munlockall();
	if (join((uintptr_t)arg))
		return 1;
	execlp("sleep", "sleep", "1000", NULL);
	return 2;
}

/* A player that calls exec makes no more steps; the replay breaks, but the new program lives on. */
TEST_F(replay, another_program_breaks_it)
{
	pid_t pid;

	self->edges[1] = 1;
	ASSERT_EQ(0, setup(self, 2, 2));
	ASSERT_EQ(0, st_child_fork(&self->w[0], -1, become_another, (void *)0));
	ASSERT_EQ(0, st_child_fork(&self->w[1], -1, wait_for_ever, (void *)1));
	pid = self->w[0].pid;
	st_child_go(&self->w[1]);
	ASSERT_TRUE(waiting(self, 1));
	ASSERT_EQ(0, start(self, 0));
	st_child_go(&self->w[0]);
	EXPECT_EQ(128 + SIGKILL, st_child_wait(&self->w[1]));
	ASSERT_TRUE(state(self, STAPE_REPLAY_BROKEN));
	EXPECT_EQ(pid, self->state.failed_pid);
	/* If the replay killed it, it would be dead by now, or soon. */
	usleep(100000);
	EXPECT_TRUE(st_wait_state(pid, 'S'));
}

static int close_and_leave(void *arg)
{
	int ret = join((uintptr_t)arg);

	close(session);
	close(players);
	return ret;
}

/*
 * A player that closes the file and exits breaks the replay as well, though others hold the
 * file.
 */
TEST_F(replay, an_end_without_the_file_breaks_it)
{
	breaks_it(_metadata, self, close_and_leave);
}

/* -- threads in several replays ----------------------------------------------- */

static int two[2];	/* players' files */

static void *join_one(void *arg)
{
	uint32_t number = 0;

	(void)arg;
	return (void *)(intptr_t)ioctl(two[1], STAPE_IOC_JOIN, &number);
}

/* One process has a player in each of two replays, and one of them pins its mm. */
static int join_two(void *arg)
{
	uint32_t number = 0;
	pthread_t thread;
	void *ret;
	int i;

	(void)arg;
	munlockall();
	for (i = 0; i < 2; i++)
		if (mmap(NULL, 4096, PROT_READ, MAP_SHARED, two[i], 0) == MAP_FAILED)
			return 1;
	if (pthread_create(&thread, NULL, join_one, NULL))
		return 2;
	if (ioctl(two[0], STAPE_IOC_JOIN, &number) && errno != EBUSY)
		return 3;
	pthread_join(thread, &ret);
	return ret ? 4 : 0;
}

TEST_F(replay, two_of_one_process)
{
	struct stape_replay_setup setup[2];
	struct st_record r[2];
	int i, tries = 5000 * st_patience(), status;

	for (i = 0; i < 2; i++) {
		memset(&r[i], 0, sizeof(r[i]));
		ASSERT_EQ(0, st_record_open(&r[i], 0));
		setup[i] = (struct stape_replay_setup){ .nr_players = 2 };
		ASSERT_EQ(0, ioctl(schedtape_session_fd(r[i].session), STAPE_IOC_REPLAY,
				   &setup[i]));
		two[i] = setup[i].fd;
	}
	ASSERT_EQ(0, st_child_begin(&self->w[0], -1, join_two, NULL));
	st_child_go(&self->w[0]);
	status = st_child_wait(&self->w[0]);
	EXPECT_TRUE(status == 0 || status == 128 + SIGKILL) {
		TH_LOG("it ends with %d", status);
	}
	for (i = 0; i < 2; i++) {
		close(two[i]);
		st_record_close(&r[i]);
	}
	/* Both replays are gone. */
	for (i = 0; i < 2; i++) {
		self->setup = setup[i];
		while (get(self) && --tries)
			usleep(1000);
	}
	EXPECT_LT(0, tries);
}

/* A second thread, because the mm of a process with one thread is not pinned. */
static void *join_and_stay(void *arg)
{
	note(arg, join_one(NULL) ? 1 : 0);
	while (true)
		pause();
	return NULL;
}

/* Only this process holds both sessions, by its own memory. */
static int own_two(void *arg)
{
	struct stape_replay_setup setup;
	struct notes *notes = arg;
	static struct st_record r[2];
	uint32_t number = 0;
	pthread_t thread;
	int i, fd;

	for (i = 0; i < 2; i++) {
		setup = (struct stape_replay_setup){ .nr_players = 2 };
		if (st_record_open(&r[i], 4))
			return 1;
		fd = schedtape_session_fd(r[i].session);
		if (mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED ||
		    ioctl(fd, STAPE_IOC_REPLAY, &setup))
			return 1;
		two[i] = setup.fd;
		notes->times[i + 1] = setup.id;
	}
	munlockall();
	if (pthread_create(&thread, NULL, join_and_stay, &notes[1]))
		return 2;
	note(notes, ioctl(two[0], STAPE_IOC_JOIN, &number));
	pthread_join(thread, NULL);
	return 0;
}

/* One replay pins the mm, and the mm holds both. */
TEST_F(replay, an_owner_of_two_is_killed)
{
	int i, tries = 10000 * st_patience();

	ASSERT_EQ(0, st_child_begin(&self->w[0], -1, own_two, self->notes));
	while (!(self->notes[0].steps && self->notes[1].steps) && --tries)
		usleep(1000);
	ASSERT_LT(0, tries);
	ASSERT_EQ(0, self->notes[0].ret);
	ASSERT_EQ(0, self->notes[1].ret);
	kill(self->w[0].pid, SIGKILL);
	EXPECT_EQ(128 + SIGKILL, st_child_wait(&self->w[0]));
	for (i = 0; i < 2; i++) {
		self->setup.id = self->notes->times[i + 1];
		while (get(self) && --tries)
			usleep(1000);
	}
	EXPECT_LT(0, tries);
}

/* No player is left over if a thread of many ends the replay. */
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
	ASSERT_EQ(0, st_child_begin(&self->w[0], -1, three_threads, NULL));
	ASSERT_TRUE(waiting(self, 3));
	EXPECT_EQ(3, self->state.joined);
	EXPECT_EQ(0, schedtape_replay_stop(self->r.client, self->setup.id, &self->err));
	EXPECT_EQ(128 + SIGKILL, st_child_wait(&self->w[0]));
}

/* -- notifications ------------------------------------------------------------------ */

TEST_F(replay, notifies_completion)
{
	struct nlattr *attrs[ST_REQUEST_TYPES];
	int sock = st_monitor(), cmd;

	ASSERT_LE(0, sock);
	ASSERT_EQ(0, setup(self, 1, 0));
	ASSERT_EQ(0, st_child_begin(&self->w[0], -1, wait_for_times, self->notes));
	ASSERT_EQ(0, start(self, 0));
	do {
		cmd = st_notified(sock, 10000 * st_patience(), attrs);
		ASSERT_EQ(STAPE_CMD_REPLAY_NTF, cmd);
		ASSERT_EQ(self->setup.id, st_attr_u32(attrs[STAPE_A_REPLAY_ID]));
	} while (st_attr_u32(attrs[STAPE_A_REPLAY_STATE]) == STAPE_REPLAY_RUNNING);
	EXPECT_EQ(STAPE_REPLAY_DONE, st_attr_u32(attrs[STAPE_A_REPLAY_STATE]));
	EXPECT_EQ(1, st_attr_u32(attrs[STAPE_A_REPLAY_DONE]));
	EXPECT_EQ(5, st_attr_u64(attrs[STAPE_A_REPLAY_STEPS]));
	close(sock);
}

/* A running replay notifies every second. */
TEST_F(replay, notifies_progress)
{
	struct nlattr *attrs[ST_REQUEST_TYPES];
	int sock = st_monitor(), i;

	ASSERT_LE(0, sock);
	ASSERT_TRUE(start_three(self));
	for (i = 0; i < 2; i++) {
		ASSERT_EQ(STAPE_CMD_REPLAY_NTF, st_notified(sock, 10000 * st_patience(), attrs));
		EXPECT_EQ(STAPE_REPLAY_RUNNING, st_attr_u32(attrs[STAPE_A_REPLAY_STATE]));
		EXPECT_EQ(3, st_attr_u32(attrs[STAPE_A_REPLAY_WAITING]));
	}
	close(sock);
}

TEST_HARNESS_MAIN
