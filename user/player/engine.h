/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What drives players where there is no module: futexes and timers, in memory that
 * all players share.  It takes the module's steps and says what the module says.
 */
#ifndef SCHEDTAPE_ENGINE_H
#define SCHEDTAPE_ENGINE_H

#include <schedtape/client.h>

struct schedtape_engine;

/* @edges: by number: the player that it wakes.  @speed: of STAPE_REPLAY_SPEED_ONE. */
int schedtape_engine_create(uint32_t nr_players, const uint32_t *edges, uint32_t nr_edges,
			    uint32_t speed, struct schedtape_engine **engine,
			    struct schedtape_error *err);
void schedtape_engine_free(struct schedtape_engine *engine);
/* A word of shared memory, for a burner. */
const volatile uint64_t *schedtape_engine_speed(const struct schedtape_engine *engine);

/* The calling thread is a player.  -ECANCELED: the replay has ended. */
int schedtape_engine_join(struct schedtape_engine *engine, uint32_t number);
/* The calling process has forked a player, who may die before it joins. */
void schedtape_engine_forked(struct schedtape_engine *engine, uint32_t number, uint32_t pid);
/* As STAPE_IOC_STEP; @index and @flags mean nothing: no wait is in state D. */
int schedtape_engine_step(struct schedtape_engine *engine, const struct stape_step *step);

/* Sets the common start time, @delay ns from now. */
void schedtape_engine_start(struct schedtape_engine *engine, uint64_t delay);
/* Nobody steps any more; whoever waits has to be killed. */
void schedtape_engine_stop(struct schedtape_engine *engine);
/* How it stands; finds out whether a player has died. */
void schedtape_engine_get(struct schedtape_engine *engine, struct schedtape_replay_state *state);

#endif /* SCHEDTAPE_ENGINE_H */
