// SPDX-License-Identifier: LGPL-2.1-or-later
#include "player/engine.h"

#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"

/* What a player waits for: an edge's number or one of these. */
#define NOTHING		UINT32_MAX
#define A_TIMEOUT	(UINT32_MAX - 1)
#define NO_MORE		(UINT32_MAX - 2)	/* its program has ended */
#define TO_JOIN		(UINT32_MAX - 3)

/* A waker yields so often at most until its wakee waits. */
#define RENDEZVOUS_YIELDS	64

/**
 * struct shared - memory that all processes of a replay share
 * @state: enum stape_replay_state, and a futex for players that wait for the start
 * @speed: of STAPE_REPLAY_SPEED_ONE
 * @paused: for how long the players were stopped since @start_time, ns
 */
struct shared {
	uint32_t state;
	uint32_t joined;
	uint32_t waiting;
	uint32_t done;
	uint32_t failed;
	uint64_t speed;
	uint64_t start_time;
	uint64_t paused;
	uint64_t stop_time;
	uint64_t steps;
	uint64_t timed_waits;
	uint64_t lag_total;
	uint64_t lag_max;
};

/**
 * struct player_state - one player
 * @waits_for: number of an edge, or NOTHING, A_TIMEOUT, NO_MORE, TO_JOIN
 * @pid, @tid: its thread; 0: it has not joined
 */
struct player_state {
	uint32_t waits_for;
	uint32_t pid;
	uint32_t tid;
};

/**
 * struct schedtape_engine - pointers into the shared memory
 * @pending: by edge: wake-ups that no wait has taken yet; futexes
 * @edges: by edge: number of the player that it wakes
 */
struct schedtape_engine {
	void *memory;
	size_t bytes;
	struct shared *shared;
	struct player_state *players;
	uint32_t *pending;
	uint32_t *edges;
	uint32_t nr_players;
	uint32_t nr_edges;
};

#define get(word)	__atomic_load_n(&(word), __ATOMIC_SEQ_CST)
#define set(word, value)	__atomic_store_n(&(word), value, __ATOMIC_SEQ_CST)
#define add(word, n)	__atomic_add_fetch(&(word), n, __ATOMIC_SEQ_CST)

static long futex(uint32_t *word, int op, uint32_t value)
{
	return syscall(SYS_futex, word, op, value, NULL, NULL, 0);
}

int schedtape_engine_create(uint32_t nr_players, const uint32_t *edges, uint32_t nr_edges,
			    uint32_t speed, struct schedtape_engine **result,
			    struct schedtape_error *err)
{
	struct schedtape_engine *engine = calloc(1, sizeof(*engine));
	uint32_t i;

	*result = NULL;
	if (!engine)
		return schedtape_fail(err, -ENOMEM, "not enough memory");
	engine->nr_players = nr_players;
	engine->nr_edges = nr_edges;
	engine->bytes = sizeof(struct shared) + nr_players * sizeof(struct player_state) +
			nr_edges * (sizeof(*engine->pending) + sizeof(*engine->edges));
	engine->memory = mmap(NULL, engine->bytes, PROT_READ | PROT_WRITE,
			      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (engine->memory == MAP_FAILED) {
		free(engine);
		return schedtape_fail(err, -ENOMEM, "no memory to share with %u players",
				      nr_players);
	}
	engine->shared = engine->memory;
	engine->players = (struct player_state *)(engine->shared + 1);
	engine->pending = (uint32_t *)(engine->players + nr_players);
	engine->edges = engine->pending + nr_edges;
	if (nr_edges)
		memcpy(engine->edges, edges, nr_edges * sizeof(*edges));
	for (i = 0; i < nr_players; i++)
		engine->players[i].waits_for = TO_JOIN;
	engine->shared->speed = speed;
	*result = engine;
	return 0;
}

void schedtape_engine_free(struct schedtape_engine *engine)
{
	if (!engine)
		return;
	munmap(engine->memory, engine->bytes);
	free(engine);
}

const volatile uint64_t *schedtape_engine_speed(const struct schedtape_engine *engine)
{
	return &engine->shared->speed;
}

static bool live(struct schedtape_engine *engine)
{
	return get(engine->shared->state) <= STAPE_REPLAY_RUNNING;
}

static void set_player(struct schedtape_engine *engine, uint32_t number, uint32_t pid, uint32_t tid)
{
	engine->players[number].pid = pid;
	set(engine->players[number].tid, tid);
}

void schedtape_engine_forked(struct schedtape_engine *engine, uint32_t number, uint32_t pid)
{
	set_player(engine, number, pid, pid);
}

int schedtape_engine_join(struct schedtape_engine *engine, uint32_t number)
{
	if (!live(engine))
		return -ECANCELED;
	set_player(engine, number, getpid(), gettid());
	set(engine->players[number].waits_for, NOTHING);
	add(engine->shared->joined, 1);
	return 0;
}

/* -- wake-ups -------------------------------------------------------------- */

/* Yields for a while, as the module does, until the wakee waits. */
static void rendezvous(struct schedtape_engine *engine, uint32_t edge)
{
	struct player_state *player = &engine->players[engine->edges[edge]];
	uint32_t waits_for;
	int i;

	for (i = 0; i < RENDEZVOUS_YIELDS; i++) {
		waits_for = get(player->waits_for);
		if (waits_for == edge || waits_for == A_TIMEOUT || waits_for == NO_MORE)
			return;
		/* With SCHED_DEADLINE, a yield would give up the rest of the period. */
		if (!i && sched_getscheduler(0) == SCHED_DEADLINE)
			return;
		sched_yield();
	}
}

static void wake(struct schedtape_engine *engine, uint32_t edge)
{
	rendezvous(engine, edge);
	add(engine->pending[edge], 1);
	/* Both accesses are sequentially consistent: we see it wait, or it sees the wake-up. */
	if (get(engine->players[engine->edges[edge]].waits_for) == edge)
		futex(&engine->pending[edge], FUTEX_WAKE, 1);
}

/* -- waits ----------------------------------------------------------------- */

static bool take(uint32_t *pending)
{
	uint32_t n = get(*pending);

	while (n)
		if (__atomic_compare_exchange_n(pending, &n, n - 1, false, __ATOMIC_SEQ_CST,
						__ATOMIC_SEQ_CST))
			return true;
	return false;
}

static int wait_edge(struct schedtape_engine *engine, uint32_t edge)
{
	while (!take(&engine->pending[edge])) {
		if (!live(engine))
			return -ECANCELED;
		futex(&engine->pending[edge], FUTEX_WAIT, 0);
	}
	return 0;
}

static int wait_start(struct schedtape_engine *engine)
{
	while (get(engine->shared->state) == STAPE_REPLAY_READY)
		futex(&engine->shared->state, FUTEX_WAIT, STAPE_REPLAY_READY);
	return live(engine) ? 0 : -ECANCELED;
}

static void count_lag(struct shared *shared, uint64_t due)
{
	uint64_t time = schedtape_now(), max = get(shared->lag_max);
	uint64_t lag = time > due ? time - due : 0;

	add(shared->timed_waits, 1);
	add(shared->lag_total, lag);
	while (lag > max && !__atomic_compare_exchange_n(&shared->lag_max, &max, lag, false,
							 __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
		;
}

/* Returns the start time, moved by all pauses so far. */
static uint64_t origin(struct shared *shared)
{
	return shared->start_time + get(shared->paused);
}

/* @from: when the wait begins, ns after origin(); @value: its recorded length, ns */
static int wait_until(struct schedtape_engine *engine, uint64_t from, uint64_t value)
{
	struct shared *shared = engine->shared;
	uint64_t length = (double)value * STAPE_REPLAY_SPEED_ONE / shared->speed, due;
	struct timespec ts;

	/* Again if there was a pause meanwhile. */
	do {
		due = origin(shared) + from + length;
		ts = (struct timespec){ due / 1000000000, due % 1000000000 };
		while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL) == EINTR)
			;
	} while (due != origin(shared) + from + length);
	count_lag(shared, due);
	return live(engine) ? 0 : -ECANCELED;
}

static int wait_timed(struct schedtape_engine *engine, const struct stape_step *step)
{
	bool early = get(engine->shared->state) == STAPE_REPLAY_READY;
	int ret = wait_start(engine);

	if (ret)
		return ret;
	return wait_until(engine, step->wait == STAPE_WAIT_UNTIL || early ? 0 :
			  schedtape_now() - origin(engine->shared), step->value);
}

static int wait_for(struct schedtape_engine *engine, const struct stape_step *step)
{
	struct player_state *player = &engine->players[step->player];
	int ret;

	set(player->waits_for, step->wait == STAPE_WAIT_EDGE ? step->value : A_TIMEOUT);
	add(engine->shared->waiting, 1);
	if (step->wait == STAPE_WAIT_EDGE)
		ret = wait_edge(engine, step->value);
	else
		ret = wait_timed(engine, step);
	add(engine->shared->waiting, -1);
	set(player->waits_for, NOTHING);
	return ret;
}

static void finish(struct schedtape_engine *engine, uint32_t state)
{
	uint64_t at = schedtape_now();
	uint32_t i;

	/* The start may still be to come. */
	engine->shared->stop_time = at > engine->shared->start_time ? at :
				    engine->shared->start_time;
	set(engine->shared->state, state);
	futex(&engine->shared->state, FUTEX_WAKE, INT32_MAX);
	for (i = 0; i < engine->nr_edges; i++)
		futex(&engine->pending[i], FUTEX_WAKE, INT32_MAX);
}

int schedtape_engine_step(struct schedtape_engine *engine, const struct stape_step *step)
{
	const uint32_t *wakes = (const uint32_t *)(uintptr_t)step->wakes;
	uint32_t i;

	if (!live(engine))
		return -ECANCELED;
	for (i = 0; i < step->nr_wakes; i++)
		wake(engine, wakes[i]);
	add(engine->shared->steps, 1);
	switch (step->wait) {
	case STAPE_WAIT_NONE:
		return 0;
	case STAPE_WAIT_DONE:
		set(engine->players[step->player].waits_for, NO_MORE);
		if (add(engine->shared->done, 1) == engine->nr_players)
			finish(engine, STAPE_REPLAY_DONE);
		return 0;
	}
	return wait_for(engine, step);
}

/* -- control --------------------------------------------------------------- */

void schedtape_engine_start(struct schedtape_engine *engine, uint64_t delay)
{
	engine->shared->start_time = schedtape_now() + delay;
	set(engine->shared->state, STAPE_REPLAY_RUNNING);
	futex(&engine->shared->state, FUTEX_WAKE, INT32_MAX);
}

void schedtape_engine_delay(struct schedtape_engine *engine, uint64_t ns)
{
	if (get(engine->shared->state) == STAPE_REPLAY_RUNNING)
		add(engine->shared->paused, ns);
}

void schedtape_engine_stop(struct schedtape_engine *engine)
{
	if (live(engine))
		finish(engine, STAPE_REPLAY_STOPPED);
}

/* Ends the replay as broken if a player's thread is gone before the end of its program. */
static void find_dead(struct schedtape_engine *engine)
{
	struct player_state *player;
	uint32_t i;

	for (i = 0; i < engine->nr_players && live(engine); i++) {
		player = &engine->players[i];
		if (!get(player->tid))
			continue;
		if (!syscall(SYS_tgkill, player->pid, player->tid, 0) || errno != ESRCH ||
		    get(player->waits_for) == NO_MORE)
			continue;
		engine->shared->failed = player->tid;
		finish(engine, STAPE_REPLAY_BROKEN);
	}
}

void schedtape_engine_get(struct schedtape_engine *engine, struct schedtape_replay_state *state)
{
	const struct shared *shared = engine->shared;
	uint64_t until;

	find_dead(engine);
	*state = (struct schedtape_replay_state){
		.size = sizeof(*state),
		.state = get(shared->state),
		.players = engine->nr_players,
		.joined = get(shared->joined),
		.waiting = get(shared->waiting),
		.done = get(shared->done),
		.failed_pid = shared->failed,
		.speed = shared->speed,
		.steps = get(shared->steps),
		.timed_waits = get(shared->timed_waits),
		.lag_max = get(shared->lag_max),
		.lag_total = get(shared->lag_total),
		.start_time = shared->start_time,
		.stop_time = shared->stop_time,
	};
	until = state->stop_time ? state->stop_time : schedtape_now();
	if (state->start_time && until > state->start_time + shared->paused)
		state->time = (double)(until - state->start_time - shared->paused) * state->speed /
			      STAPE_REPLAY_SPEED_ONE;
}
