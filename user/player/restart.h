/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Light processes: what a fork and an end cost goes by how many mappings there are, and
 * half of this program's are of libraries that no player calls.
 */
#ifndef SCHEDTAPE_LIGHT_H
#define SCHEDTAPE_LIGHT_H

#include <player/burn.h>

/*
 * Starts the program once more, with all symbols bound from the start: who looks one up
 * reads tables of each library.  Returns if that is so already, or cannot be.
 */
void light_restart(char **argv);

/* From now on what this process forks has players' libraries only: it plays, or ends. */
void light_begin(void);

/*
 * What players execute is in memory before they do: a player that waits for the disk
 * has a sleep more than its task.
 */
void light_load_code(void);

/* What players' forks and ends cost, by trying in a process like theirs. */
void light_measure_costs(struct schedtape_costs *costs);

#endif /* SCHEDTAPE_LIGHT_H */
