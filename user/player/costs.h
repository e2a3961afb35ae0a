/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What steps, forks and ends of players cost, so that players do not burn it.
 */
#ifndef SCHEDTAPE_COSTS_H
#define SCHEDTAPE_COSTS_H

#include <stdint.h>

/**
 * struct schedtape_costs - CPU time that the kernel uses in a player's steps, forks and ends, ns;
 *	0: not measured
 * @step: cost of a sleep, from the last instruction before to the first after it
 * @fork: cost of a fork of a process with memory of its own, for the parent
 * @exit: cost of the end of such a process
 * @spawn: cost of a clone of a process that shares the memory, for the parent
 * @leave: cost of the end of such a process, or of a thread
 */
struct schedtape_costs {
	uint64_t step;
	uint64_t fork;
	uint64_t exit;
	uint64_t spawn;
	uint64_t leave;
};

/* Measures sleeps and forks of the calling process. */
void schedtape_measure_costs(struct schedtape_costs *costs);

/* Measures, writes the result to @fd, and ends the process. */
void costs_tell(int fd) __attribute__((noreturn));

#endif /* SCHEDTAPE_COSTS_H */
