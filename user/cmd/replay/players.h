/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Writes to the tape of a replay which task each player plays.
 */
#ifndef SCHEDTAPE_REPLAY_PLAYERS_H
#define SCHEDTAPE_REPLAY_PLAYERS_H

#include <schedtape/client.h>

#include "record/recorder.h"
#include "replay/processes.h"

/**
 * struct players - the players that are written to a tape
 * @same_pids: the module and the controller have the same PIDs: they are not in different
 *	PID namespaces
 */
struct players {
	struct recorder *recorder;
	const struct schedtape_program *program;
	bool same_pids;
};

/* Writes all players of the replay @id that exist.  Returns 0, or -errno after a message. */
int players_write(struct players *players, struct schedtape_client *client, uint32_t id,
		  const struct processes *processes);
/* Writes the processes from the @before-th on, which have been started since. */
int players_write_since(const struct players *players, const struct processes *processes,
			size_t before);

#endif /* SCHEDTAPE_REPLAY_PLAYERS_H */
