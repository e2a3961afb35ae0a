/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Replays for the controller's own players; the public functions control them.
 */
#ifndef SCHEDTAPE_REPLAY_H
#define SCHEDTAPE_REPLAY_H

#include <schedtape/client.h>

/*
 * Makes the session's replay.  @players: of numbers, which @tasks players have in all; @rounds:
 * schedtape_replay_rewind() will be called; *fd: descriptor for the players; *id: the replay's id.
 */
int schedtape_replay_create(struct schedtape_session *session, uint32_t players,
			    uint32_t tasks, const uint32_t *edges, const uint32_t *wakers,
			    uint32_t nr_edges, bool rounds, int *fd, uint32_t *id,
			    struct schedtape_error *err);
/*
 * Begins another round when all players have ended their programs: they may join again.
 * -ECANCELED: the replay was stopped between the rounds.
 */
int schedtape_replay_rewind(struct schedtape_session *session, struct schedtape_error *err);
/* Returns the average lag of the timed waits of a replay or a player, ns. */
static inline uint64_t schedtape_lag_average(uint64_t lag_total, uint64_t timed_waits)
{
	return timed_waits ? lag_total / timed_waits : 0;
}

#endif /* SCHEDTAPE_REPLAY_H */
