/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Pairs tasks by what the tape of a replay says: which task of another tape each player plays.
 */
#ifndef SCHEDTAPE_COMPARE_PLAYERS_H
#define SCHEDTAPE_COMPARE_PLAYERS_H

#include <schedtape.h>

/**
 * struct match_side - the tasks of one timeline
 * @players: on the tape of a replay: which tasks of another tape they play
 */
struct match_side {
	const struct schedtape_task *tasks;
	uint32_t nr;
	const struct schedtape_player *players;
	size_t nr_players;
};

/*
 * Pairs the tasks of a tape with their players on another tape, in either direction, and the
 * players of one task on two tapes.
 * @a_to_b: receives for each task of A its counterpart or SCHEDTAPE_NONE.  0 or -ENOMEM.
 */
int schedtape_players_pair(const struct match_side *a, const struct match_side *b,
			   uint32_t *a_to_b);

#endif /* SCHEDTAPE_COMPARE_PLAYERS_H */
