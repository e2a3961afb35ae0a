/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Makes the forks of a replay cheap.  A fork and an exit take longer with each mapping of the
 * process, and half of the controller's mappings are of libraries that no player calls.
 */
#ifndef SCHEDTAPE_RESTART_H
#define SCHEDTAPE_RESTART_H

#include <player/burn.h>

/*
 * Executes schedtape again with all symbols bound at the start, because a late look-up reads
 * tables of each library.  Returns if they are bound already, or cannot be.
 */
void restart_bound(char **argv);

/*
 * Leaves libraries that players do not call out of this process's later forks.  Such a fork
 * may only play, or exit.
 */
void restart_drop_libraries(void);

/*
 * Loads all code into memory before players execute it, because a player that waits for the
 * disk has a sleep that its task did not have.
 */
void restart_load_code(void);

/* Measures the costs of a player's fork and exit in a process like a player's. */
void restart_measure_costs(struct schedtape_costs *costs);

#endif /* SCHEDTAPE_RESTART_H */
