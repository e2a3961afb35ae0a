/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Measures how fast this machine spins.
 */
#ifndef SCHEDTAPE_CALIBRATION_H
#define SCHEDTAPE_CALIBRATION_H

#include <stdint.h>

/**
 * struct schedtape_calibration - how fast a CPU spins
 * @spins_per_ms: turns of schedtape_spin() in a ms of CPU time, the median
 * @spread: (slowest - fastest) / median of the rounds
 */
struct schedtape_calibration {
	double spins_per_ms;
	double spread;
};

/* Uses some 20 ms of CPU time. */
void schedtape_calibrate(struct schedtape_calibration *calibration);

/* Returns the calling thread's CPU time, ns. */
uint64_t schedtape_cpu_time(void);

/* Runs a loop that touches no memory. */
void schedtape_spin(uint64_t turns);

#endif /* SCHEDTAPE_CALIBRATION_H */
