// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: the engine without the module: counted edges, times, ends.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engines.h"
#include "tap.h"

#define LAPS	2000

static void create(uint32_t nr_players, const uint32_t *edges, uint32_t nr_edges, double speed)
{
	if (schedtape_engine_create(nr_players, nr_players, edges, nr_edges,
				    speed * STAPE_REPLAY_SPEED_ONE, &engine, NULL))
		abort();
}

/* Wakes the other player and waits for it, repeatedly. */
static void *run_laps(void *arg)
{
	uint32_t self = (uintptr_t)arg, i;
	int ret = schedtape_engine_join(engine, self, 0);

	for (i = 0; i < LAPS && !ret; i++)
		ret = step(self, 1 - self, STAPE_WAIT_EDGE, self);
	if (!ret)
		ret = step(self, NOBODY, STAPE_WAIT_DONE, 0);
	return (void *)(intptr_t)ret;
}

static void run_both(void)
{
	void *first, *second;
	pthread_t threads[2];
	uintptr_t i;

	for (i = 0; i < 2; i++)
		if (pthread_create(&threads[i], NULL, run_laps, (void *)i))
			abort();
	schedtape_engine_start(engine, 0);
	pthread_join(threads[0], &first);
	pthread_join(threads[1], &second);
	ok(!first && !second, "two that wake each other come to their ends");
	ok(state().state == STAPE_REPLAY_DONE && state().done == 2 &&
	   state().steps == 2 * (LAPS + 1) && !state().waiting, "and that is counted");
}

TEST(edges)
{
	static const uint32_t edges[] = { 0, 1 };	/* edge n wakes player n */

	create(2, edges, 2, 1);
	run_both();
	schedtape_engine_rewind(engine);
	ok(state().state == STAPE_REPLAY_READY && !state().joined && !state().start_time,
	   "another round is as new");
	run_both();
	schedtape_engine_free(engine);
}

static void *wait_twice(void *arg)
{
	int ret = schedtape_engine_join(engine, 0, 0);

	if (!ret)
		ret = step(0, NOBODY, STAPE_WAIT_UNTIL, 100 * MS);
	if (!ret)
		ret = step(0, NOBODY, STAPE_WAIT_FOR, 200 * MS);
	if (!ret)
		ret = step(0, NOBODY, STAPE_WAIT_DONE, 0);
	return ret ? &engine : arg;
}

TEST(times)
{
	struct schedtape_replay_state s;
	pthread_t thread;
	void *failed;

	create(1, NULL, 0, 10);
	if (pthread_create(&thread, NULL, wait_twice, NULL))
		abort();
	while (!state().waiting)
		usleep(1000);
	ok(state().state == STAPE_REPLAY_READY && !state().time && state().steps == 1,
	   "no player runs before the start");
	schedtape_engine_start(engine, 5 * MS);
	pthread_join(thread, &failed);
	s = state();
	ok(!failed && s.state == STAPE_REPLAY_DONE && s.timed_waits == 2, "two timed waits");
	ok(s.stop_time - s.start_time >= 30 * MS, "a time and a length, ten times as fast");
	ok(s.time >= 300 * MS && s.lag_max <= s.lag_total, "the replay's own time, and lags");
	schedtape_engine_free(engine);
}

/* A player is stopped by a signal, and its waits move by the length of the stop. */
TEST(stop)
{
	struct schedtape_replay_state s;
	pid_t pid;
	int status;

	create(1, NULL, 0, 10);
	pid = fork();
	if (!pid)
		_exit(!!wait_twice(NULL));
	while (!state().waiting)
		usleep(1000);
	kill(pid, SIGSTOP);
	waitpid(pid, &status, WUNTRACED);
	schedtape_engine_delay(engine, 1000 * MS);
	schedtape_engine_start(engine, 0);
	schedtape_engine_delay(engine, 100 * MS);
	kill(pid, SIGCONT);
	waitpid(pid, &status, 0);
	s = state();
	ok(!status && s.stop_time - s.start_time >= 130 * MS, "a stop moves what comes after it");
	ok(s.time >= 300 * MS && s.time <= 10 * (s.stop_time - s.start_time - 100 * MS),
	   "and is no time of the replay, nor one before the start");
	schedtape_engine_free(engine);
}

/* A player dies in a wait; the other one's wait fails when the replay is stopped. */
TEST(ends)
{
	static const uint32_t edges[] = { 0, 1 };
	pid_t pid;
	int status;

	create(2, edges, 2, 1);
	pid = fork();
	if (!pid) {
		schedtape_engine_join(engine, 0, 0);
		step(0, NOBODY, STAPE_WAIT_EDGE, 0);
		_exit(1);
	}
	while (!state().waiting)
		usleep(1000);
	ok(state().state == STAPE_REPLAY_READY, "it waits");
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	ok(state().state == STAPE_REPLAY_BROKEN && state().failed_pid == (uint32_t)pid,
	   "the player that dies is found");
	ok(schedtape_engine_join(engine, 1, 0) == -ECANCELED, "and no player can join any more");
	schedtape_engine_free(engine);

	create(2, edges, 2, 1);
	pid = fork();
	if (!pid)
		_exit(1);
	schedtape_engine_forked(engine, 0, 0, pid);
	waitpid(pid, &status, 0);
	ok(state().state == STAPE_REPLAY_BROKEN && state().failed_pid == (uint32_t)pid,
	   "a player that dies before it joins, too");
	schedtape_engine_free(engine);

	create(2, edges, 2, 1);
	ok(!schedtape_engine_join(engine, 1, 0), "joined");
	schedtape_engine_stop(engine);
	ok(step(1, NOBODY, STAPE_WAIT_EDGE, 1) == -ECANCELED, "no player steps after the end");
	schedtape_engine_stop(engine);
	ok(state().state == STAPE_REPLAY_STOPPED, "it was stopped");
	schedtape_engine_free(engine);

	create(1, edges, 0, 1);
	schedtape_engine_start(engine, 3600000 * MS);
	schedtape_engine_stop(engine);
	ok(state().start_time && state().stop_time == state().start_time,
	   "a replay that is stopped before its start takes no time");
	schedtape_engine_free(engine);
}

static void *end_at_once(void *arg)
{
	schedtape_engine_join(engine, 0, 0);
	step(0, NOBODY, STAPE_WAIT_DONE, 0);
	return arg;
}

/* One of two players ends its program, and then its thread ends. */
TEST(gone)
{
	pthread_t thread;

	create(2, NULL, 0, 1);
	if (pthread_create(&thread, NULL, end_at_once, NULL))
		abort();
	pthread_join(thread, NULL);
	ok(state().state == STAPE_REPLAY_READY && state().done == 1 && !state().failed_pid,
	   "a player that has gone after its program's end is not dead");
	schedtape_engine_free(engine);
}

/* Plays the second turn of number 0. */
static void *play_second(void *arg)
{
	(void)arg;
	return (void *)(intptr_t)(schedtape_engine_join(engine, 0, 1) ||
				  step(0, NOBODY, STAPE_WAIT_DONE, 0));
}

/* A number has several players, one after the other. */
TEST(turns)
{
	struct schedtape_error err;
	pthread_t thread;
	void *failed;
	int status;
	pid_t pid;

	if (schedtape_engine_create(1, 3, NULL, 0, STAPE_REPLAY_SPEED_ONE, &engine, &err))
		abort();
	ok(!schedtape_engine_join(engine, 0, 0), "the first player joins");
	if (pthread_create(&thread, NULL, play_second, NULL))
		abort();
	while (!state().waiting)
		usleep(1000);
	ok(state().joined == 1 && state().players == 3, "the second one waits until it has ended");
	step(0, NOBODY, STAPE_WAIT_DONE, 0);
	pthread_join(thread, &failed);
	ok(!failed && state().joined == 2 && state().done == 2 && !state().waiting,
	   "and joins then");
	/* Nothing is known of the third one's fork, as long as the number is another one's. */
	schedtape_engine_forked(engine, 0, 1, 1);
	pid = fork();
	if (!pid)
		_exit(1);
	schedtape_engine_forked(engine, 0, 2, pid);
	ok(state().state == STAPE_REPLAY_READY || state().failed_pid == (uint32_t)pid,
	   "the third one is forked");
	waitpid(pid, &status, 0);
	ok(state().state == STAPE_REPLAY_BROKEN && state().failed_pid == (uint32_t)pid,
	   "and dies before it joins");
	schedtape_engine_free(engine);
}

TEST_MAIN
