/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The lives of a timeline: which PID is whose now, and how each life stands.
 */
#ifndef SCHEDTAPE_LIVES_H
#define SCHEDTAPE_LIVES_H

#include <schedtape.h>

#include "base/store.h"

/**
 * enum life_state - what a life does at the moment
 * @LIFE_FOUND: there, and no event has told what it does: asleep, it seems
 * @LIFE_NEW: forked, not yet woken for the first time
 * @LIFE_READY: described as able to run; nobody knows since when it is
 * @LIFE_RUNNING: on its CPU
 * @LIFE_RUNNABLE: waits for a CPU
 * @LIFE_ASLEEP: blocked
 * @LIFE_STOPPED: stopped, traced or parked
 * @LIFE_LOST: ran where events were lost then
 * @LIFE_AWAY: the filter has it no longer
 * @LIFE_DEAD: over
 */
enum life_state {
	LIFE_FOUND,
	LIFE_NEW,
	LIFE_READY,
	LIFE_RUNNING,
	LIFE_RUNNABLE,
	LIFE_ASLEEP,
	LIFE_STOPPED,
	LIFE_LOST,
	LIFE_AWAY,
	LIFE_DEAD,
};

/**
 * struct schedtape_track - what it takes to follow a life
 * @seen: when it first appeared: it was made before
 * @since: when @state began; of one that runs: how far its CPU time is counted
 * @ticket: of the waking whose wakeup is still to come, 0: no task's doing
 * @waker: its waker, with @ticket
 * @cpu: where it runs, with LIFE_RUNNING
 * @threads: other threads of the group that it leads, without the exiting ones
 * @threads_xor: of their indices: where there is one, its index
 * @state: enum life_state
 * @burst: it has run since it was last woken
 * @exiting: its exit has begun
 * @described: its thread group is known
 */
struct schedtape_track {
	uint64_t seen;
	uint64_t since;
	uint64_t ticket;
	uint32_t waker;
	uint32_t cpu;
	uint32_t threads;
	uint32_t threads_xor;
	uint8_t state;
	bool burst;
	bool exiting;
	bool described;
};

/**
 * struct schedtape_lives - all lives of a tape
 * @lives: side by side, so that one leads to any other
 * @tracks: one for each
 * @life_store, @track_store: where these are
 * @pids: by PID: index of its life, or LIVES_TASK with the index of the task
 *	that is described and not yet born, or SCHEDTAPE_NONE
 * @nr_pids: entries of @pids
 * @tasks: the tape's
 * @order: indices of @tasks by their time
 */
struct schedtape_lives {
	struct schedtape_life *lives;
	struct schedtape_track *tracks;
	struct schedtape_store life_store;
	struct schedtape_store track_store;
	uint32_t nr;
	uint32_t *pids;
	uint32_t nr_pids;
	const struct schedtape_task *tasks;
	uint32_t *order;
	size_t nr_tasks;
};

#define LIVES_TASK	0x80000000U

int schedtape_lives_init(struct schedtape_lives *set, const struct schedtape_task *tasks,
			 size_t n, struct schedtape_error *err);
void schedtape_lives_free(struct schedtape_lives *set);

/* What the PID table says; never fails. */
static inline uint32_t schedtape_lives_get(const struct schedtape_lives *set, uint32_t pid)
{
	return pid < set->nr_pids ? set->pids[pid] : SCHEDTAPE_NONE;
}

int schedtape_lives_set(struct schedtape_lives *set, uint32_t pid, uint32_t index);
/* Who walks over all lives, and has come to @index, leaves those behind it alone. */
void schedtape_lives_passed(const struct schedtape_lives *set, uint32_t index);
/* Index of a new life that has @pid from now on; SCHEDTAPE_NONE: no memory. */
uint32_t schedtape_lives_add(struct schedtape_lives *set, uint32_t pid, uint64_t time);
/* Its group is that of @leader from now on, which may be itself. */
void schedtape_lives_join(struct schedtape_lives *set, uint32_t index, uint32_t leader);
/* Its exit has begun: its group has it no longer; it still has to be switched out. */
void schedtape_lives_exiting(struct schedtape_lives *set, uint32_t index);
/* The one live thread of a group whose leader is over, or SCHEDTAPE_NONE. */
uint32_t schedtape_lives_last_thread(const struct schedtape_lives *set, uint32_t leader);

#endif /* SCHEDTAPE_LIVES_H */
