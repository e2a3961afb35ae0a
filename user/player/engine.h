/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The engine of a replay without the module: futexes and timers, in memory that the controller and
 * all players share.  It has the same steps and reports the same state as the module.
 */
#ifndef SCHEDTAPE_ENGINE_H
#define SCHEDTAPE_ENGINE_H

#include <schedtape/client.h>

struct schedtape_engine;

/*
 * @nr_players: of numbers, which @nr_tasks players have in all.  @wakees: by edge: its number.
 * @speed: STAPE_REPLAY_SPEED_ONE is the recorded one.
 */
int schedtape_engine_create(uint32_t nr_players, uint32_t nr_tasks, const uint32_t *wakees,
			    uint32_t nr_edges, uint32_t speed, struct schedtape_engine **engine,
			    struct schedtape_error *err);
/* Begins another round, with the same speed, when no player is left. */
void schedtape_engine_rewind(struct schedtape_engine *engine);
void schedtape_engine_free(struct schedtape_engine *engine);
/* Returns the descriptor of the engine's file, and its size, for players to map. */
int schedtape_engine_fd(const struct schedtape_engine *engine, uint64_t *bytes);
/* Returns the address of the speed in shared memory, for a burner. */
const volatile uint64_t *schedtape_engine_speed(const struct schedtape_engine *engine);

/* As STAPE_IOC_JOIN_TURN: makes the calling thread a player.  -ECANCELED: the replay has ended. */
int schedtape_engine_join(struct schedtape_engine *engine, uint32_t number, uint32_t turn);
/* Registers a player that the calling process has forked, because it may die before it joins. */
void schedtape_engine_forked(struct schedtape_engine *engine, uint32_t number, uint32_t turn,
			     uint32_t pid);
/* As STAPE_IOC_STEP, but ignores @index and @flags, because futexes cannot wait in state D. */
int schedtape_engine_step(struct schedtape_engine *engine, const struct stape_step *step);

/* Sets the common start time, @delay ns from now. */
void schedtape_engine_start(struct schedtape_engine *engine, uint64_t delay);
/* Moves all times that are still to come by @ns, for which all players were stopped. */
void schedtape_engine_delay(struct schedtape_engine *engine, uint64_t ns);
/* Makes further steps fail.  The caller has to kill players that still wait. */
void schedtape_engine_stop(struct schedtape_engine *engine);
/* Reports the replay's state.  Ends the replay as broken if a player has died. */
void schedtape_engine_get(struct schedtape_engine *engine, struct schedtape_replay_state *state);

#endif /* SCHEDTAPE_ENGINE_H */
