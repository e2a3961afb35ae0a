// SPDX-License-Identifier: LGPL-2.1-or-later
#include "player/engine.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/memory-file.h"
#include "player/sys.h"

/* What a player waits for: an edge's number or one of these. */
#define NOTHING		UINT32_MAX
#define A_TIMEOUT	(UINT32_MAX - 1)
#define TO_JOIN		(UINT32_MAX - 2)

/* A waker yields so often at most until its wakee waits. */
#define RENDEZVOUS_YIELDS	64

#define TURN_NS		1000000ULL	/* between two looks at whose turn it is to join */

/**
 * struct player_state - a number, and the player that has it
 * @owner: how many players of this number have ended, and in the lower half the TID of the one that
 *	has it now; 0: it has neither been forked nor joined
 * @waits_for: number of an edge, or NOTHING, A_TIMEOUT, TO_JOIN
 */
struct player_state {
	uint64_t owner;
	uint32_t waits_for;
};

/**
 * struct schedtape_engine - a file in memory that the controller and all players of a replay map
 * @fd: the controller's descriptor of the file
 * @bytes: of all of the memory
 * @state: enum stape_replay_state, and a futex for players that wait for the start
 * @speed: of STAPE_REPLAY_SPEED_ONE
 * @nr_tasks: players in all
 * @paused: for how long the players were stopped since @start_time, ns
 * @players: @nr_players of them.  @nr_edges words follow with wake-ups by edge that no wait has
 *	taken yet, which are futexes, and as many with the number of the player that an edge wakes
 */
struct schedtape_engine {
	int fd;
	uint32_t nr_players;
	uint32_t nr_tasks;
	uint32_t nr_edges;
	uint32_t state;
	uint32_t joined;
	uint32_t waiting;
	uint32_t done;
	uint32_t failed;
	uint64_t bytes;
	uint64_t speed;
	uint64_t start_time;
	uint64_t paused;
	uint64_t stop_time;
	uint64_t steps;
	uint64_t timed_waits;
	uint64_t lag_total;
	uint64_t lag_max;
	struct player_state players[];
};

#define get(word)	__atomic_load_n(&(word), __ATOMIC_SEQ_CST)
#define set(word, value)	__atomic_store_n(&(word), value, __ATOMIC_SEQ_CST)
#define add(word, n)	__atomic_add_fetch(&(word), n, __ATOMIC_SEQ_CST)

static uint32_t *pending(struct schedtape_engine *engine)
{
	return (uint32_t *)(engine->players + engine->nr_players);
}

static uint32_t *edges(struct schedtape_engine *engine)
{
	return pending(engine) + engine->nr_edges;
}

void schedtape_engine_rewind(struct schedtape_engine *engine)
{
	uint32_t i;

	*engine = (struct schedtape_engine){
		.fd = engine->fd,
		.nr_players = engine->nr_players,
		.nr_tasks = engine->nr_tasks,
		.nr_edges = engine->nr_edges,
		.bytes = engine->bytes,
		.speed = engine->speed,
	};
	for (i = 0; i < engine->nr_players; i++)
		engine->players[i] = (struct player_state){ .waits_for = TO_JOIN };
	for (i = 0; i < engine->nr_edges; i++)
		pending(engine)[i] = 0;
}

int schedtape_engine_create(uint32_t nr_players, uint32_t nr_tasks, const uint32_t *wakees,
			    uint32_t nr_edges, uint32_t speed, struct schedtape_engine **result,
			    struct schedtape_error *err)
{
	uint64_t bytes = sizeof(**result) + nr_players * sizeof(struct player_state) +
			 2 * sizeof(uint32_t) * nr_edges;
	struct schedtape_engine *engine = MAP_FAILED;
	int fd = memory_file_make("schedtape-engine", false);

	*result = NULL;
	if (fd >= 0 && !ftruncate(fd, bytes))
		engine = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (engine == MAP_FAILED) {
		if (fd >= 0)
			close(fd);
		return schedtape_fail(err, -ENOMEM, "no memory to share with %u players",
				      nr_players);
	}
	engine->fd = fd;
	engine->bytes = bytes;
	engine->nr_players = nr_players;
	engine->nr_tasks = nr_tasks;
	engine->nr_edges = nr_edges;
	engine->speed = speed;
	if (nr_edges)
		memcpy(edges(engine), wakees, nr_edges * sizeof(*wakees));
	schedtape_engine_rewind(engine);
	*result = engine;
	return 0;
}

void schedtape_engine_free(struct schedtape_engine *engine)
{
	if (!engine)
		return;
	close(engine->fd);
	munmap(engine, engine->bytes);
}

int schedtape_engine_fd(const struct schedtape_engine *engine, uint64_t *bytes)
{
	*bytes = engine->bytes;
	return engine->fd;
}

const volatile uint64_t *schedtape_engine_speed(const struct schedtape_engine *engine)
{
	return &engine->speed;
}

static bool live(struct schedtape_engine *engine)
{
	return get(engine->state) <= STAPE_REPLAY_RUNNING;
}

static uint64_t owner_of(uint32_t turn, uint32_t tid)
{
	return (uint64_t)turn << 32 | tid;
}

static uint32_t turn_of(struct player_state *player)
{
	return get(player->owner) >> 32;
}

void schedtape_engine_forked(struct schedtape_engine *engine, uint32_t number, uint32_t turn,
			     uint32_t pid)
{
	uint64_t nobody = owner_of(turn, 0);

	/* It may have joined by now, or may have to wait until the player before it has ended. */
	__atomic_compare_exchange_n(&engine->players[number].owner, &nobody, owner_of(turn, pid),
				    false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

static void wait_turn(struct schedtape_engine *engine, struct player_state *player, uint32_t turn)
{
	struct timespec ts;
	uint64_t until;

	if (turn_of(player) >= turn)
		return;
	add(engine->waiting, 1);
	while (live(engine) && turn_of(player) < turn) {
		until = schedtape_now() + TURN_NS;
		ts = (struct timespec){ until / 1000000000, until % 1000000000 };
		sys_sleep_until(&ts);
	}
	add(engine->waiting, -1);
}

int schedtape_engine_join(struct schedtape_engine *engine, uint32_t number, uint32_t turn)
{
	struct player_state *player = &engine->players[number];

	wait_turn(engine, player, turn);
	if (!live(engine))
		return -ECANCELED;
	set(player->waits_for, NOTHING);
	set(player->owner, owner_of(turn, sys_tid()));
	add(engine->joined, 1);
	return 0;
}

/* -- wake-ups -------------------------------------------------------------- */

/* Yields for a while, as the module does, until the wakee waits. */
static void rendezvous(struct schedtape_engine *engine, uint32_t edge)
{
	struct player_state *player = &engine->players[edges(engine)[edge]];
	uint32_t waits_for;
	int i;

	for (i = 0; i < RENDEZVOUS_YIELDS; i++) {
		waits_for = get(player->waits_for);
		if (waits_for == edge || waits_for == A_TIMEOUT)
			return;
		/* It has ended, and no other player gets its number. */
		if (turn_of(player) && engine->nr_tasks == engine->nr_players)
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
	add(pending(engine)[edge], 1);
	/* Both accesses are sequentially consistent: we see it wait, or it sees the wake-up. */
	if (get(engine->players[edges(engine)[edge]].waits_for) == edge)
		sys_futex(&pending(engine)[edge], FUTEX_WAKE, 1);
}

/* -- waits ----------------------------------------------------------------- */

static bool take(uint32_t *wakeups)
{
	uint32_t n = get(*wakeups);

	while (n)
		if (__atomic_compare_exchange_n(wakeups, &n, n - 1, false, __ATOMIC_SEQ_CST,
						__ATOMIC_SEQ_CST))
			return true;
	return false;
}

static int wait_edge(struct schedtape_engine *engine, uint32_t edge)
{
	while (!take(&pending(engine)[edge])) {
		if (!live(engine))
			return -ECANCELED;
		sys_futex(&pending(engine)[edge], FUTEX_WAIT, 0);
	}
	return 0;
}

static int wait_start(struct schedtape_engine *engine)
{
	while (get(engine->state) == STAPE_REPLAY_READY)
		sys_futex(&engine->state, FUTEX_WAIT, STAPE_REPLAY_READY);
	return live(engine) ? 0 : -ECANCELED;
}

static void count_lag(struct schedtape_engine *engine, uint64_t due)
{
	uint64_t time = schedtape_now(), max = get(engine->lag_max);
	uint64_t lag = time > due ? time - due : 0;

	add(engine->timed_waits, 1);
	add(engine->lag_total, lag);
	while (lag > max && !__atomic_compare_exchange_n(&engine->lag_max, &max, lag, false,
							 __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
		;
}

/* Returns the start time, moved by all pauses so far. */
static uint64_t origin(const struct schedtape_engine *engine)
{
	return engine->start_time + get(engine->paused);
}

/* @from: when the wait begins, ns after origin(); @value: its recorded length, ns */
static int wait_until(struct schedtape_engine *engine, uint64_t from, uint64_t value)
{
	uint64_t length = (double)value * STAPE_REPLAY_SPEED_ONE / engine->speed, due;
	struct timespec ts;

	/* Again if there was a pause meanwhile. */
	do {
		due = origin(engine) + from + length;
		ts = (struct timespec){ due / 1000000000, due % 1000000000 };
		while (sys_sleep_until(&ts) == -EINTR)
			;
	} while (due != origin(engine) + from + length);
	count_lag(engine, due);
	return live(engine) ? 0 : -ECANCELED;
}

static int wait_timed(struct schedtape_engine *engine, const struct stape_step *step)
{
	bool early = get(engine->state) == STAPE_REPLAY_READY;
	int ret = wait_start(engine);

	if (ret)
		return ret;
	return wait_until(engine, step->wait == STAPE_WAIT_UNTIL || early ? 0 :
			  schedtape_now() - origin(engine), step->value);
}

static int wait_for(struct schedtape_engine *engine, const struct stape_step *step)
{
	struct player_state *player = &engine->players[step->player];
	int ret;

	set(player->waits_for, step->wait == STAPE_WAIT_EDGE ? step->value : A_TIMEOUT);
	add(engine->waiting, 1);
	if (step->wait == STAPE_WAIT_EDGE)
		ret = wait_edge(engine, step->value);
	else
		ret = wait_timed(engine, step);
	add(engine->waiting, -1);
	set(player->waits_for, NOTHING);
	return ret;
}

static void finish(struct schedtape_engine *engine, uint32_t state)
{
	uint64_t at = schedtape_now();
	uint32_t i;

	/* The start may still be to come. */
	engine->stop_time = at > engine->start_time ? at : engine->start_time;
	set(engine->state, state);
	sys_futex(&engine->state, FUTEX_WAKE, INT32_MAX);
	for (i = 0; i < engine->nr_edges; i++)
		sys_futex(&pending(engine)[i], FUTEX_WAKE, INT32_MAX);
}

int schedtape_engine_step(struct schedtape_engine *engine, const struct stape_step *step)
{
	const uint32_t *wakes = (const uint32_t *)(uintptr_t)step->wakes;
	struct player_state *player = &engine->players[step->player];
	uint32_t i;

	if (!live(engine))
		return -ECANCELED;
	for (i = 0; i < step->nr_wakes; i++)
		wake(engine, wakes[i]);
	add(engine->steps, 1);
	switch (step->wait) {
	case STAPE_WAIT_NONE:
		return 0;
	case STAPE_WAIT_DONE:
		set(player->waits_for, TO_JOIN);
		/* From here on the number is that of the next player. */
		set(player->owner, owner_of(turn_of(player) + 1, 0));
		if (add(engine->done, 1) == engine->nr_tasks)
			finish(engine, STAPE_REPLAY_DONE);
		return 0;
	}
	return wait_for(engine, step);
}

/* -- control --------------------------------------------------------------- */

void schedtape_engine_start(struct schedtape_engine *engine, uint64_t delay)
{
	engine->start_time = schedtape_now() + delay;
	set(engine->state, STAPE_REPLAY_RUNNING);
	sys_futex(&engine->state, FUTEX_WAKE, INT32_MAX);
}

void schedtape_engine_delay(struct schedtape_engine *engine, uint64_t ns)
{
	if (get(engine->state) == STAPE_REPLAY_RUNNING)
		add(engine->paused, ns);
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
	uint32_t i, tid;
	uint64_t owner;

	for (i = 0; i < engine->nr_players && live(engine); i++) {
		player = &engine->players[i];
		owner = get(player->owner);
		tid = owner;
		if (!tid)
			continue;
		/* It may have ended meanwhile. */
		if (sys_tkill(tid, 0) != -ESRCH || get(player->owner) != owner)
			continue;
		engine->failed = tid;
		finish(engine, STAPE_REPLAY_BROKEN);
	}
}

void schedtape_engine_get(struct schedtape_engine *engine, struct schedtape_replay_state *state)
{
	uint64_t until;

	find_dead(engine);
	*state = (struct schedtape_replay_state){
		.size = sizeof(*state),
		.state = get(engine->state),
		.players = engine->nr_tasks,
		.joined = get(engine->joined),
		.waiting = get(engine->waiting),
		.done = get(engine->done),
		.failed_pid = engine->failed,
		.speed = engine->speed,
		.steps = get(engine->steps),
		.timed_waits = get(engine->timed_waits),
		.lag_max = get(engine->lag_max),
		.lag_total = get(engine->lag_total),
		.start_time = engine->start_time,
		.stop_time = engine->stop_time,
	};
	until = state->stop_time ? state->stop_time : schedtape_now();
	if (state->start_time && until > state->start_time + engine->paused)
		state->time = (double)(until - state->start_time - engine->paused) * state->speed /
			      STAPE_REPLAY_SPEED_ONE;
}
