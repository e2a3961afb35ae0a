/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * CPU time that is used up on purpose.
 */
#ifndef SCHEDTAPE_BURN_H
#define SCHEDTAPE_BURN_H

#include <stdbool.h>
#include <stdint.h>

#include "machine/calibration.h"

/**
 * struct schedtape_told - how a thread has used CPU time that it has not burnt
 * @steps: steps whose CPU time is known
 * @steps_ns: CPU time of these
 * @stalled: CPU time in which the thread did not get on and for which no burst has made up, ns
 * @used: CPU time so far, since that of its task counts, ns
 */
struct schedtape_told {
	uint64_t steps;
	double steps_ns;
	double stalled;
	double used;
};

/**
 * struct schedtape_burner - one thread's CPU time, and the target that it burns up to
 *
 * Targets are CPU times of the recorded task.  A player uses @rate times as much.
 * @rate changes with the replay's speed, for CPU time after the change.
 *
 * The module's clock costs little, and is read in each burst.  Where reading the clock is a system
 * call, it costs as much as a short burst.  So the burner reads that clock only when much may have
 * happened since the last time.  In between it adds up its spinning and the estimated cost of
 * steps.  Targets are absolute, so the next reading of the clock corrects errors of the estimate.
 *
 * @calibration: how fast this machine spins
 * @word: the module's clock of this player, NULL: the kernel's clock of the thread
 * @speed: the replay's speed, of STAPE_REPLAY_SPEED_ONE, 0: paused
 * @hold: called as long as the replay is paused
 * @arg: for @hold
 * @scale: CPU time to be used for each ns of the recorded task's, at the recorded speed
 * @rate: the same, at the current speed
 * @rated: the speed for which @rate was computed
 * @base: the player's CPU time that corresponds to @origin, ns
 * @origin: CPU time of the recorded task at the last change of speed, ns
 * @known: CPU time when the clock was read last
 * @since: estimate of the CPU time used since then
 * @look_cost: CPU time of a reading
 * @step_cost: estimate of a step's CPU time, system call and switches
 * @unread: steps since the clock was read
 * @usual_cost: a step's CPU time when that was measured before the replay, 0: it was not
 * @told: what the burner has found out, for the controller
 * @odd: the thread has used CPU time for other things than spinning and steps since
 */
struct schedtape_burner {
	const struct schedtape_calibration *calibration;
	const volatile uint64_t *word;
	const volatile uint64_t *speed;
	void (*hold)(void *arg);
	void *arg;
	double scale;
	double rate;
	uint64_t rated;
	double base;
	double origin;
	int64_t known;
	double since;
	double look_cost;
	double step_cost;
	unsigned int unread;
	double usual_cost;
	struct schedtape_told told;
	bool odd;
};

/*
 * Starts the burner of the calling thread, which has set @calibration, @word, @speed, @hold,
 * @arg, @scale and @usual_cost.
 * @from_birth: targets count all CPU time of the thread, else that from now on.
 */
void schedtape_burner_init(struct schedtape_burner *burner, bool from_birth);

/*
 * Spins until the calling thread has used the CPU time for @until ns of the recorded
 * task, less @spare ns of the thread's own.
 */
void schedtape_burn(struct schedtape_burner *burner, uint64_t until, uint64_t spare);

/* Estimates, without reading the clock, for how many ns that would spin. */
uint64_t schedtape_burner_left(const struct schedtape_burner *burner, uint64_t until);

/* Returns what has been found out by the target @until. */
struct schedtape_told schedtape_burner_told(const struct schedtape_burner *burner, uint64_t until);

/* To be called after other operations than steps. */
static inline void schedtape_burner_odd(struct schedtape_burner *burner)
{
	burner->odd = true;
}

/* To be called after each step (a system call that may sleep): adds its estimated cost. */
void schedtape_burner_stepped(struct schedtape_burner *burner);

#endif /* SCHEDTAPE_BURN_H */
