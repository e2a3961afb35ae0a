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
 * struct schedtape_burner - one thread's CPU time, and what it is to become
 *
 * Targets are what the recorded task had used.  A player uses @rate times as
 * much, which changes with the replay's speed: from then on.
 *
 * Reading the clock costs as much as a short burst has, where it is a system
 * call.  So it is read only where much may have happened since the last time; in
 * between the burner adds up what it spins and what a step costs by
 * experience.  Targets are absolute: what an estimate got wrong, the next
 * reading puts right.
 *
 * @calibration: how fast this machine spins
 * @word: the module's clock of this player, NULL: the kernel's clock of the thread
 * @speed: the replay's speed, of STAPE_REPLAY_SPEED_ONE, 0: paused
 * @hold: called while it is
 * @arg: for @hold
 * @scale: CPU time to be used for that of the recorded task, at the recorded speed
 * @rate: the same, at the speed of now
 * @rated: the speed that @rate is for
 * @base: CPU time that @origin of the recorded task corresponds to, ns
 * @origin: as targets
 * @known: CPU time when the clock was read last
 * @since: estimate of what was used since then
 * @step_cost: estimate of a step's CPU time, system call and switches
 * @unread: steps since the clock was read
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
	double step_cost;
	unsigned int unread;
};

/*
 * Of the calling thread; @calibration, @word, @speed, @hold, @arg and @scale are set.
 * @from_birth: targets count all of its CPU time, else what it uses from now on.
 */
void schedtape_burner_init(struct schedtape_burner *burner, bool from_birth);

/*
 * Spins until the calling thread has used what stands for @until ns of the recorded
 * task, less @spare ns of its own.
 */
void schedtape_burn(struct schedtape_burner *burner, uint64_t until, uint64_t spare);

/* How much of its CPU time that would be, as far as is known without a look; ns. */
uint64_t schedtape_burner_left(const struct schedtape_burner *burner, uint64_t until);

/* A step (a system call that perhaps slept) lies behind the thread. */
void schedtape_burner_stepped(struct schedtape_burner *burner);

/**
 * struct schedtape_costs - CPU time that a player does not burn, because it comes by
 *	itself, ns; 0: not known
 * @fork: of a fork of this program, in the parent
 * @exit: of the end of such a process
 * @leave: of the end of a process or thread whose memory others have, too
 */
struct schedtape_costs {
	uint64_t fork;
	uint64_t exit;
	uint64_t leave;
};

void schedtape_measure_costs(struct schedtape_costs *costs);

#endif /* SCHEDTAPE_BURN_H */
