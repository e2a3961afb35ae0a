// SPDX-License-Identifier: LGPL-2.1-or-later
#include "player/burn.h"

#include <time.h>

#include <schedtape/netlink.h>

/*
 * The most steps between two readings of the clock, and where that is a system call, also the most
 * CPU time.  No step costs more than TRUST_NS.
 */
#define TRUST_NS	30000
#define TRUST_STEPS	16

/* The burner spins at most this long without reading clock and speed, even if a pause begins. */
#define SPIN_NS		20000

/* By this part of its length a spin is shortened, if it may be off by more than a reading costs. */
#define SPIN_DOUBT	(1. / 16)

/* The module moves the word only while the player is switched out. */
static int64_t word_time(const volatile uint64_t *word)
{
	struct timespec ts;
	uint64_t before;

	do {
		before = *word;
		clock_gettime(CLOCK_MONOTONIC, &ts);
	} while (*word != before);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec - before;
}

static int64_t burner_time(const struct schedtape_burner *burner)
{
	return burner->word ? word_time(burner->word) : (int64_t)schedtape_cpu_time();
}

/* A thread that spins has made up for all stalls so far. */
static void spin_ns(struct schedtape_burner *burner, double ns)
{
	burner->told.stalled = 0;
	burner->since += ns;
	schedtape_spin(ns * burner->calibration->spins_per_ms / 1e6);
}

/* @error: how much more CPU time than expected was used since the clock was read */
static void judge(struct schedtape_burner *burner, double error)
{
	double cost = burner->usual_cost;
	bool odd = burner->odd;

	burner->odd = false;
	if (odd || !cost)
		return;
	if (cost < burner->step_cost)
		cost = burner->step_cost;
	/* Even if each step, and one more, had cost twice as much again. */
	if (error > 2 * (burner->unread + 1) * cost) {
		burner->told.stalled += error;
	} else if (burner->unread) {
		burner->told.steps += burner->unread;
		burner->told.steps_ns += error + burner->unread * burner->step_cost;
	}
}

static void look(struct schedtape_burner *burner)
{
	int64_t now = burner_time(burner);
	double error = now - (burner->known + burner->since);

	judge(burner, error);
	/* Correct the estimate by half of the error of each step, so that it converges soon. */
	if (burner->unread)
		burner->step_cost += error / burner->unread / 2;
	if (burner->step_cost < 0)
		burner->step_cost = 0;
	/* A step in which the player yielded is no measure for the next one. */
	if (burner->step_cost > TRUST_NS)
		burner->step_cost = TRUST_NS;
	burner->known = now;
	burner->since = 0;
	burner->unread = 0;
}

static void set_rate(struct schedtape_burner *burner, uint64_t speed)
{
	burner->rated = speed;
	burner->rate = burner->scale * STAPE_REPLAY_SPEED_ONE / speed;
}

/* Returns the lesser of two readings' cost, because an interrupt may come in between. */
static double measure_look(const struct schedtape_burner *burner)
{
	int64_t first = burner_time(burner), second = burner_time(burner);
	int64_t third = burner_time(burner);

	return second - first < third - second ? second - first : third - second;
}

void schedtape_burner_init(struct schedtape_burner *burner, bool from_birth)
{
	burner->known = burner_time(burner);
	burner->base = burner->known - (from_birth ? (int64_t)schedtape_cpu_time() : 0);
	burner->origin = 0;
	burner->since = 0;
	burner->step_cost = 0;
	burner->unread = 0;
	burner->told = (struct schedtape_told){ 0 };
	burner->odd = false;
	burner->look_cost = measure_look(burner);
	set_rate(burner, *burner->speed ? *burner->speed : STAPE_REPLAY_SPEED_ONE);
}

/* Follows a change of the replay's speed; waits while the replay is paused. */
static void follow(struct schedtape_burner *burner)
{
	uint64_t speed = *burner->speed;
	double done;

	while (!speed) {
		burner->hold(burner->arg);
		speed = *burner->speed;
		burner->odd = true;
	}
	look(burner);
	done = burner->origin + (burner->known - burner->base) / burner->rate;
	burner->told.used += burner->known - burner->base;
	burner->base = burner->known;
	burner->origin = done;
	set_rate(burner, speed);
}

/* Returns the CPU time from the current estimate to a target, ns. */
static double left_to(const struct schedtape_burner *burner, uint64_t until, uint64_t spare)
{
	/* Unsigned numbers take a branch each. */
	return burner->base + ((int64_t)until - burner->origin) * burner->rate - (int64_t)spare -
	       burner->known - burner->since;
}

uint64_t schedtape_burner_left(const struct schedtape_burner *burner, uint64_t until)
{
	double left = left_to(burner, until, 0);

	return left > 0 ? left : 0;
}

struct schedtape_told schedtape_burner_told(const struct schedtape_burner *burner, uint64_t until)
{
	double late = -left_to(burner, until, 0);
	struct schedtape_told told = burner->told;

	if (told.stalled > late)
		told.stalled = late > 0 ? late : 0;
	told.used += burner->known + burner->since - burner->base;
	return told;
}

/*
 * Spins for shorter and shorter times and reads the clock in between.  The clock counts this
 * thread's CPU time whatever the CPU's frequency is, and whichever tasks preempt the thread.
 */
static void burn_by_clock(struct schedtape_burner *burner, uint64_t until, uint64_t spare)
{
	double left, doubt;

	for (;; look(burner)) {
		if (*burner->speed != burner->rated)
			follow(burner);
		left = left_to(burner, until, spare);
		if (left <= 0)
			return;
		doubt = left * SPIN_DOUBT;
		if (left <= SPIN_NS && doubt <= burner->look_cost)
			break;
		spin_ns(burner, left < SPIN_NS ? left - doubt : SPIN_NS);
	}
	spin_ns(burner, left);
}

/*
 * Burns what is left by the estimate of the CPU time, if that is so little, or if so much would be
 * wasted by reading the clock.  Returns whether it has done so.
 */
static bool burn_by_estimate(struct schedtape_burner *burner, uint64_t until, uint64_t spare)
{
	double left = left_to(burner, until, spare);

	if (burner->unread >= TRUST_STEPS)
		return false;
	if (left <= 0)
		return true;
	if (burner->word ? left > burner->look_cost : burner->since + left >= TRUST_NS)
		return false;
	spin_ns(burner, left);
	return true;
}

void schedtape_burn(struct schedtape_burner *burner, uint64_t until, uint64_t spare)
{
	if (*burner->speed != burner->rated)
		follow(burner);
	if (burn_by_estimate(burner, until, spare))
		return;
	look(burner);
	burn_by_clock(burner, until, spare);
}

void schedtape_burner_stepped(struct schedtape_burner *burner)
{
	burner->since += burner->step_cost;
	burner->unread++;
}
