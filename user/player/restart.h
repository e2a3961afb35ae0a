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
 * Unmaps libraries that players do not call, and maps the code of the others, because a fork does
 * not inherit these mappings.  If players map a page when they first execute it, and at the same
 * time, one sleeps until another wakes it, which their tasks did not do.  This process and its
 * forks may only play, or exit.
 */
void restart_as_player(void);

/*
 * Loads all code into memory before players execute it, because a player that waits for the
 * disk has a sleep that its task did not have.
 */
void restart_load_code(void);

/* Measures the costs of a player's fork and exit in a process like a player's. */
void restart_measure_costs(struct schedtape_costs *costs);

#endif /* SCHEDTAPE_RESTART_H */
