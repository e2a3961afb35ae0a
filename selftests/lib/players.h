/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The replay engine without a tape: the test forks players itself, and each player makes the
 * steps that the test chooses.
 */
#ifndef SELFTESTS_PLAYERS_H
#define SELFTESTS_PLAYERS_H

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <kselftest_harness.h>

#include "child.h"
#include "record.h"
#include "request.h"
#include "task.h"
#include "time-limit.h"

#define MS 1000000ull

/**
 * struct notes - results that players pass to the test
 * @ret: of the last call: 0 or -errno
 * @steps: number of steps that have returned
 * @times: when they returned, CLOCK_MONOTONIC
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
	struct st_child w[3];
	struct notes *notes;	/* by player */
	struct stape_replay_setup setup;
	uint32_t edges[8];
	int fd;
};

/* For the children: the players' file, and the session's, which children close. */
static int players, session;

FIXTURE_SETUP(replay)
{
	ASSERT_EQ(0, st_record_open(&self->r, 0));
	self->fd = schedtape_session_fd(self->r.session);
	self->notes = st_share(4096);
	session = self->fd;
	players = -1;
}

ST_TEARDOWN(replay)

static inline int setup(FIXTURE_DATA(replay) *self, uint32_t nr_players, uint32_t nr_edges)
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

static inline int setup_edges(FIXTURE_DATA(replay) *self, uint32_t nr_players,
			      const uint32_t *edges, size_t nr_edges)
{
	memcpy(self->edges, edges, nr_edges * sizeof(*edges));
	return setup(self, nr_players, nr_edges);
}

/* The same with the wakee of each edge. */
#define SETUP_EDGES(self, nr_players, ...) \
	setup_edges(self, nr_players, (uint32_t[]){ __VA_ARGS__ }, \
		    sizeof((uint32_t[]){ __VA_ARGS__ }) / sizeof(uint32_t))

static inline int join(uint32_t number)
{
	return ioctl(players, STAPE_IOC_JOIN, &number) ? -errno : 0;
}

static inline int make_step(const struct stape_step *step)
{
	return ioctl(players, STAPE_IOC_STEP, step) ? -errno : 0;
}

static inline int step_wakes(uint32_t player, uint64_t index, uint32_t wait, uint64_t value,
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

	return make_step(&step);
}

static inline int step(uint32_t player, uint64_t index, uint32_t wait, uint64_t value)
{
	return step_wakes(player, index, wait, value, NULL, 0);
}

/*
 * Ends the program of @player. The test itself is a player: if it had not left when the
 * session's file closes, the module would kill it.
 */
static inline int leave(uint32_t player, uint64_t index)
{
	return step(player, index, STAPE_WAIT_DONE, 0);
}

static inline bool get(FIXTURE_DATA(replay) *self)
{
	self->state.size = sizeof(self->state);
	return !schedtape_replay_get(self->r.client, self->setup.id, &self->state, &self->err);
}

static inline int start(FIXTURE_DATA(replay) *self, uint64_t delay)
{
	return schedtape_replay_start(self->r.client, self->setup.id, delay, &self->err);
}

/* Waits until @n players are in a wait. */
static inline bool waiting(FIXTURE_DATA(replay) *self, uint32_t n)
{
	unsigned int tries = 10000 * st_patience();

	while (tries--) {
		if (!get(self))
			return false;
		if (self->state.waiting == n)
			return true;
		usleep(1000);
	}
	return false;
}

static inline bool state(FIXTURE_DATA(replay) *self, uint32_t wanted)
{
	unsigned int tries = 10000 * st_patience();

	while (tries--) {
		if (!get(self))
			return false;
		if (self->state.state == wanted)
			return true;
		usleep(1000);
	}
	return false;
}

static inline void note(struct notes *notes, int ret)
{
	notes->ret = ret;
	notes->times[notes->steps % 8] = st_now();
	notes->steps++;
}

static inline int wait_for_times(void *arg)
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

#endif /* SELFTESTS_PLAYERS_H */
