/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The tasks of a timeline: which PID is whose now, and how each task stands.
 */
#ifndef SCHEDTAPE_TASKS_H
#define SCHEDTAPE_TASKS_H

#include <schedtape.h>

#include "base/store.h"

/**
 * enum task_state - what a task does at the moment
 * @TASK_FOUND: there, and no event has told what it does: asleep, it seems
 * @TASK_NEW: forked, not yet woken for the first time
 * @TASK_READY: described as able to run; nobody knows since when it is
 * @TASK_RUNNING: on its CPU
 * @TASK_RUNNABLE: waits for a CPU
 * @TASK_ASLEEP: blocked
 * @TASK_STOPPED: stopped, traced or parked
 * @TASK_LOST: ran where events were lost then
 * @TASK_AWAY: the filter has it no longer
 * @TASK_DEAD: over
 */
enum task_state {
	TASK_FOUND,
	TASK_NEW,
	TASK_READY,
	TASK_RUNNING,
	TASK_RUNNABLE,
	TASK_ASLEEP,
	TASK_STOPPED,
	TASK_LOST,
	TASK_AWAY,
	TASK_DEAD,
};

/**
 * struct schedtape_track - what it takes to follow a task
 * @seen: when it first appeared: it was made before
 * @since: when @state began; of one that runs: how far its CPU time is counted
 * @ticket: of the waking whose wakeup is still to come, 0: no task's doing
 * @waker: its waker, with @ticket
 * @cpu: where it runs, with TASK_RUNNING
 * @threads: other threads of the group that it leads, without the exiting ones
 * @threads_xor: of their indices: where there is one, its index
 * @state: enum task_state
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
 * struct schedtape_tasks - all tasks of a tape
 * @tasks: side by side, so that one leads to any other
 * @tracks: one for each
 * @task_store, @track_store: where these are
 * @pids: by PID: index of its task, or TASKS_INFO with the index of the task
 *	that is described and not yet born, or SCHEDTAPE_NONE
 * @nr_pids: entries of @pids
 * @infos: the tape's descriptions of tasks
 * @order: indices of @infos, by their time
 */
struct schedtape_tasks {
	struct schedtape_task *tasks;
	struct schedtape_track *tracks;
	struct schedtape_store task_store;
	struct schedtape_store track_store;
	uint32_t nr;
	uint32_t *pids;
	uint32_t nr_pids;
	const struct schedtape_task_info *infos;
	uint32_t *order;
	size_t nr_infos;
};

#define TASKS_INFO	0x80000000U

int schedtape_tasks_init(struct schedtape_tasks *set, const struct schedtape_task_info *infos,
			 size_t n, struct schedtape_error *err);
void schedtape_tasks_free(struct schedtape_tasks *set);

/* What the PID table says; never fails. */
static inline uint32_t schedtape_tasks_get(const struct schedtape_tasks *set, uint32_t pid)
{
	return pid < set->nr_pids ? set->pids[pid] : SCHEDTAPE_NONE;
}

int schedtape_tasks_set(struct schedtape_tasks *set, uint32_t pid, uint32_t index);
/*
 * Hint for sequential walks: entries before @index will not be used again and may be dropped
 * from memory.
 */
void schedtape_tasks_passed(const struct schedtape_tasks *set, uint32_t index);
/* Index of a new task that has @pid from now on; SCHEDTAPE_NONE: no memory. */
uint32_t schedtape_tasks_add(struct schedtape_tasks *set, uint32_t pid, uint64_t time);
/* Its group is that of @leader from now on, which may be itself. */
void schedtape_tasks_join(struct schedtape_tasks *set, uint32_t index, uint32_t leader);
/* Its exit has begun: its group has it no longer; it still has to be switched out. */
void schedtape_tasks_exiting(struct schedtape_tasks *set, uint32_t index);
/* The one live thread of a group whose leader is over, or SCHEDTAPE_NONE. */
uint32_t schedtape_tasks_last_thread(const struct schedtape_tasks *set, uint32_t leader);

#endif /* SCHEDTAPE_TASKS_H */
