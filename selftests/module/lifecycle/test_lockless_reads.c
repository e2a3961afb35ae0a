// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: values that are read without a lock while others change them are never seen half
 * changed. A kernel that detects data races finds more here than the tests do.
 */
#include <poll.h>
#include <sys/resource.h>

#include "players.h"

#define CHANGES		300
#define DEPARTURES	2000
#define ENTRIES		400

/**
 * struct look - a thread that reads all the time
 * @right: returns whether the values are consistent
 * @client: its own netlink client
 * @memory: size of one session's rings
 * @fd: a session's file
 * @enough: asks the thread to end
 * @looks: number of reads; @wrong: number of inconsistent ones
 */
struct look {
	bool (*right)(struct look *look);
	struct schedtape_client *client;
	uint64_t memory;
	int fd;
	volatile bool enough;
	volatile unsigned long looks;
	unsigned long wrong;
	pthread_t thread;
};

static void *look_on(void *arg)
{
	struct look *look = arg;

	while (!look->enough) {
		look->wrong += !look->right(look);
		look->looks++;
	}
	return NULL;
}

static bool begin_to_look(struct look *look)
{
	if (pthread_create(&look->thread, NULL, look_on, look))
		return false;
	while (!look->looks)
		usleep(1000);
	return true;
}

static unsigned long end_to_look(struct look *look)
{
	look->enough = true;
	pthread_join(look->thread, NULL);
	return look->wrong;
}

static int short_poll(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, 0) < 0 ? -errno : p.revents;
}

FIXTURE(session)
{
	struct st_record r;
	struct look look;
	struct st_child w;
};

FIXTURE_SETUP(session)
{
	ASSERT_EQ(0, st_record_open(&self->r, 8));
}

FIXTURE_TEARDOWN(session)
{
	if (self->look.client)
		schedtape_client_close(self->look.client);
	st_child_kill(&self->w);
	st_record_close(&self->r);
}

/* Reads what the CPUs tell of their idle time: the end of the session is the end of the file. */
static bool has_not_ended(struct look *look)
{
	static char pages[16 * STAPE_PAGE_SIZE];

	return !short_poll(look->fd) || read(look->fd, pages, sizeof(pages)) > 0;
}

/* A session that is started and paused must not appear as ended in between. */
TEST_F_TIMEOUT(session, polled_while_it_changes, 60)
{
	int i;

	self->look.right = has_not_ended;
	self->look.fd = schedtape_session_fd(self->r.session);
	ASSERT_TRUE(begin_to_look(&self->look));
	for (i = 0; i < CHANGES; i++) {
		ASSERT_EQ(0, schedtape_session_start(self->r.session, &self->r.err));
		ASSERT_EQ(0, schedtape_session_pause(self->r.session, &self->r.err));
	}
	EXPECT_EQ(0, end_to_look(&self->look));
	while (short_poll(self->look.fd))
		ASSERT_TRUE(has_not_ended(&self->look));
	ASSERT_EQ(0, schedtape_session_stop(self->r.session, &self->r.err));
	while (short_poll(self->look.fd) && has_not_ended(&self->look))
		;
	EXPECT_EQ(POLLIN, short_poll(self->look.fd));
}

static uint64_t ring_memory(struct schedtape_client *client)
{
	struct schedtape_module_info info = { .size = sizeof(info) };
	struct schedtape_error err;

	return schedtape_client_info(client, &info, &err) ? UINT64_MAX : info.memory;
}

static bool one_or_two_sessions(struct look *look)
{
	uint64_t memory = ring_memory(look->client);

	return memory == look->memory || memory == 2 * look->memory;
}

/* The memory of all sessions' rings, while a session is created and closed. */
TEST_F_TIMEOUT(session, memory_while_it_changes, 60)
{
	struct schedtape_session_options options = { .size = sizeof(options) };
	struct schedtape_session *other;
	int i;

	options.ring_bytes = 8 * STAPE_PAGE_SIZE;
	self->look.memory = ring_memory(self->r.client);
	ASSERT_EQ(0, schedtape_client_open(&self->look.client, &self->r.err));
	self->look.right = one_or_two_sessions;
	ASSERT_TRUE(begin_to_look(&self->look));
	for (i = 0; i < CHANGES / 3; i++) {
		ASSERT_EQ(0, schedtape_session_open(self->r.client, &other, &self->r.err));
		EXPECT_EQ(0, schedtape_session_set(other, &options, &self->r.err));
		EXPECT_EQ(2 * self->look.memory, ring_memory(self->r.client));
		schedtape_session_close(other);
	}
	EXPECT_EQ(0, end_to_look(&self->look));
	EXPECT_EQ(self->look.memory, ring_memory(self->r.client));
}

static int sleep_often(void *arg)
{
	(void)arg;
	for (;;)
		usleep(1);
	return 0;
}

/* Numbers of rounds that have begun, and that are over. */
struct rounds {
	volatile int begun;
	volatile int over;
};

#define BURST	30

static int nice_after(int round)
{
	return round % 19 + 1;
}

static int change_nice(void *arg)
{
	struct rounds *rounds = arg;
	int round, i;

	for (round = 1; round <= ENTRIES; round++) {
		while (rounds->begun < round)
			;
		for (i = 0; i < BURST; i++)
			setpriority(PRIO_PROCESS, 0, i % 20);
		setpriority(PRIO_PROCESS, 0, nice_after(round));
		rounds->over = round;
	}
	return 0;
}

/* Number of rounds at whose end the stream had another nice value than the task. */
static int wrong_rounds(const struct st_record *r, pid_t pid)
{
	int round = 0, wrong = 0, nice = 0;
	size_t i;

	for (i = 0; i < r->n; i++) {
		const struct schedtape_event *ev = &r->events[i];
		bool described = ev->type == STAPE_EV_TASK;

		if (ev->pid != (uint32_t)pid || (!described && ev->type != STAPE_EV_PRIO))
			continue;
		if (described && schedtape_task_why(ev) == STAPE_TASK_LEAVES)
			wrong += nice != nice_after(++round);
		nice = ev->nice;
	}
	return round == ENTRIES ? wrong : -1;
}

/* A task enters while its nice value changes: its description must not have the old value. */
TEST_F_TIMEOUT(session, renices_itself_while_it_enters, 60)
{
	struct rounds *rounds = st_share(4096);
	int i;

	if (st_cpus() < 2)
		SKIP(return, "needs two CPUs");
	ASSERT_EQ(0, st_pin(0, 0));
	ASSERT_EQ(0, st_child_begin(&self->w, 1, change_nice, rounds));
	ASSERT_EQ(0, st_record_start(&self->r));
	for (i = 1; i <= ENTRIES; i++) {
		rounds->begun = i;
		ASSERT_EQ(0, st_record_add(&self->r, self->w.pid));
		while (rounds->over < i)
			usleep(10);
		ASSERT_EQ(0, st_record_del(&self->r, self->w.pid));
		ASSERT_EQ(0, st_record_take(&self->r));
	}
	ASSERT_EQ(0, st_record_finish(&self->r));
	EXPECT_EQ(0, self->r.lost);
	EXPECT_EQ(0, wrong_rounds(&self->r, self->w.pid));
}

static bool leave_and_come_back(struct st_record *r, pid_t pid)
{
	return !st_record_del(r, pid) && !st_record_add(r, pid);
}

/* Interrupts on another CPU wake a task at the moment when it leaves the filter. */
TEST_F_TIMEOUT(session, woken_while_it_leaves, 60)
{
	int i;

	if (st_cpus() < 2)
		SKIP(return, "needs two CPUs");
	ASSERT_EQ(0, st_pin(0, 0));
	ASSERT_EQ(0, st_child_begin(&self->w, 1, sleep_often, NULL));
	ASSERT_EQ(0, st_record_start_with(&self->r, &self->w, 1));
	for (i = 0; i < DEPARTURES; i++)
		ASSERT_TRUE(leave_and_come_back(&self->r, self->w.pid));
	EXPECT_EQ(1, st_record_tasks(&self->r));
}

/* -- players ------------------------------------------------------------------------- */

static int wait_often(void *arg)
{
	unsigned int i;

	note(arg, join(0));
	for (i = 0; i < CHANGES; i++)
		note(arg, step(0, i, STAPE_WAIT_FOR, MS));
	note(arg, step(0, i, STAPE_WAIT_DONE, 0));
	return 0;
}

static int find_player(const struct schedtape_player_state *player, void *arg)
{
	*(struct schedtape_player_state *)arg = *player;
	return 0;
}

/* All counters only grow.  The last step is the end. */
static bool went_on(const struct schedtape_player_state *now,
		    const struct schedtape_player_state *before)
{
	return now->steps >= before->steps && now->cpu_time >= before->cpu_time &&
	       now->timed_waits >= before->timed_waits && now->lag_total >= before->lag_total &&
	       now->lag_max >= before->lag_max && now->steps <= CHANGES + 1;
}

TEST_F_TIMEOUT(replay, players_while_they_play, 60)
{
	struct schedtape_player_state now = { 0 }, before = { 0 };
	unsigned int wrong = 0;

	ASSERT_EQ(0, setup(self, 1, 0));
	ASSERT_EQ(0, st_child_begin(&self->w[0], -1, wait_often, self->notes));
	ASSERT_TRUE(waiting(self, 1));
	ASSERT_EQ(0, start(self, 0));
	do {
		before = now;
		ASSERT_EQ(0, schedtape_replay_players(self->r.client, self->setup.id, find_player,
						      &now, &self->err));
		wrong += !went_on(&now, &before);
		ASSERT_TRUE(get(self));
		EXPECT_EQ(self->state.state == STAPE_REPLAY_DONE, !!self->state.stop_time);
	} while (self->state.state == STAPE_REPLAY_RUNNING);
	EXPECT_EQ(0, wrong);
	EXPECT_LT(0, now.steps);
	EXPECT_EQ(STAPE_REPLAY_DONE, self->state.state);
	EXPECT_EQ(CHANGES, self->state.timed_waits);
	EXPECT_EQ(0, self->notes->ret);
	ASSERT_TRUE(st_child_settled(&self->w[0]));
}

TEST_HARNESS_MAIN
