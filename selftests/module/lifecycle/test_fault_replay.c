// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: calls about replays and players when memory runs out: see fault-call.h.
 */
#include "fault-call.h"

static uint64_t of_replay(struct try *t, unsigned int type)
{
	return ask(t, request(t, STAPE_CMD_REPLAY_GET, STAPE_A_REPLAY_ID, t->replay.id), type,
		   take_u32);
}

/* -- preparations: nothing fails here --------------------------------------------------- */

/* @wakers: NULL: without wakers. */
static int make_replay_of(struct try *t, const uint32_t *wakers)
{
	t->replay = (struct stape_replay_setup){
		.nr_players = 1000, .nr_edges = 2, .edges = (uintptr_t)t->edges,
		.wakers = (uintptr_t)wakers, .fd = -1,
	};
	return ioctl(schedtape_session_fd(t->r.session), STAPE_IOC_REPLAY, &t->replay) ? -errno : 0;
}

static int make_replay(struct try *t)
{
	return make_replay_of(t, NULL);
}

static int make_wakers(struct try *t)
{
	return make_replay_of(t, t->wakers);
}

static bool replay(struct try *t)
{
	return new_session(t) && !make_replay(t);
}

static int join(struct try *t)
{
	uint32_t number = 0;

	return ioctl(t->replay.fd, STAPE_IOC_JOIN, &number) ? -errno : 0;
}

static void *wait_beside(void *arg)
{
	pthread_mutex_lock(&beside);
	pthread_mutex_unlock(&beside);
	return NULL;
}

/* Adds a thread, because the mm of a process is pinned only if it has several threads. */
static bool threaded(struct try *t)
{
	pthread_mutex_lock(&beside);
	t->threaded = !pthread_create(&t->thread, NULL, wait_beside, NULL);
	return t->threaded && replay(t);
}

static bool player(struct try *t)
{
	t->joined = replay(t) && !join(t);
	return t->joined;
}

/* -- the calls -------------------------------------------------------------------------- */

static bool has_replay(struct try *t)
{
	return t->replay.fd >= 0 && of_module(t, STAPE_A_INFO_REPLAYS, take_u32) == 1;
}

static bool has_joined(struct try *t)
{
	t->joined = of_replay(t, STAPE_A_REPLAY_JOINED) == 1;
	return t->joined;
}

static int do_replay_start(struct try *t)
{
	return st_request(request(t, STAPE_CMD_REPLAY_START, STAPE_A_REPLAY_ID, t->replay.id));
}

static bool replay_runs(struct try *t)
{
	return of_replay(t, STAPE_A_REPLAY_STATE) == STAPE_REPLAY_RUNNING;
}

static int do_list_players(struct try *t)
{
	request(t, STAPE_CMD_PLAYER_GET, STAPE_A_PLAYER_REPLAY, t->replay.id)->flags = NLM_F_DUMP;
	return st_request(&t->q);
}

static bool is_out(struct try *t)
{
	return of_replay(t, STAPE_A_REPLAY_DONE) == 1;
}

FIXTURE_VARIANT_ADD(fault, replay) { new_session, make_replay, has_replay, false, 18 };
FIXTURE_VARIANT_ADD(fault, replay_wakers) { new_session, make_wakers, has_replay, false, 18 };
FIXTURE_VARIANT_ADD(fault, join) { replay, join, has_joined, false, 1 };
FIXTURE_VARIANT_ADD(fault, join_of_several) { threaded, join, has_joined, false, 2 };
FIXTURE_VARIANT_ADD(fault, step) { player, end_program, is_out, false, 0 };
FIXTURE_VARIANT_ADD(fault, replay_start) { replay, do_replay_start, replay_runs, true, 1 };
FIXTURE_VARIANT_ADD(fault, list_players) { player, do_list_players, NULL, true, 2 };

TEST_HARNESS_MAIN
