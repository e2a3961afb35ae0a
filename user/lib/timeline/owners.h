/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which task has a PID.  All readers of tapes ask here: the timeline, and the commands that look at
 * events one after the other.
 *
 * A PID is used again after its task has ended.  It also changes hands in an execve(): a thread
 * that does not lead its process waits until all other threads have ended, and swaps its PID with
 * that of the leader, which may still run its last instructions.  The event of the execve()
 * comes later, or never if the execve() fails.  Until then the thread gets its leader's PID here
 * with the first event that only the thread can have.  If a later event contradicts, the thread
 * gets its own PID back.
 */
#ifndef SCHEDTAPE_OWNERS_H
#define SCHEDTAPE_OWNERS_H

#include <stdbool.h>
#include <stdint.h>

#include <schedtape.h>

#include "base/store.h"

/* In the table of PIDs, with the number of a task that had the PID and has its leader's now. */
#define OWNERS_FORMER	0x40000000U
/* The same, with the number of a description of a task that no event has named yet. */
#define OWNERS_INFO	0x80000000U

/* A fork takes less than this, even if it is preempted often, ns. */
#define OWNERS_FORK_MAX	1000000000

/**
 * struct schedtape_owner - a task
 * @pid: its PID; after an execve() that of its process
 * @process: number of the task that leads its process; its own: a leader
 * @before: the leader whose PID it has taken, until the event of its execve(), else SCHEDTAPE_NONE
 * @threads_xor: numbers of other threads of the process that it leads, without the exiting ones,
 *	XORed: with one thread, its number
 * @threads: the number of these threads
 * @found: set by the caller: an event names it that is no fork, and its PID was that of a task that
 *	has ended, or it enters the filter then
 * @exiting: its exit has begun
 * @ended: it has ended
 */
struct schedtape_owner {
	uint32_t pid;
	uint32_t process;
	uint32_t before;
	uint32_t threads_xor;
	uint32_t threads : 29;
	bool found : 1;
	bool exiting : 1;
	bool ended : 1;
};

/**
 * struct schedtape_owners - the tasks that have, or had, PIDs
 * @owners: one array, @nr of them
 * @store: its memory
 * @pids: by PID: the number of its task, OWNERS_FORMER or OWNERS_INFO with a number, or
 *	SCHEDTAPE_NONE
 * @nr_pids: entries of @pids
 * @reuse: the next task of a PID gets the number of the last one that has ended
 */
struct schedtape_owners {
	struct schedtape_owner *owners;
	uint32_t nr;
	struct schedtape_store store;
	uint32_t *pids;
	uint32_t nr_pids;
	bool reuse;
};

void schedtape_owners_free(struct schedtape_owners *owners);

/* Returns what the table of PIDs has: see @pids.  Never fails. */
static inline uint32_t schedtape_owners_get(const struct schedtape_owners *owners, uint32_t pid)
{
	return pid < owners->nr_pids ? owners->pids[pid] : SCHEDTAPE_NONE;
}

/* Sets what the table of PIDs has.  Returns 0 or -ENOMEM. */
int schedtape_owners_set(struct schedtape_owners *owners, uint32_t pid, uint32_t at);
/* Adds a task, which has @pid from now on.  Returns its number; SCHEDTAPE_NONE: no memory. */
uint32_t schedtape_owners_add(struct schedtape_owners *owners, uint32_t pid);
/* Puts a task into the process of @leader, which may be the task itself. */
void schedtape_owners_join(struct schedtape_owners *owners, uint32_t task, uint32_t leader);
/* The exit of a task begins; its last switch-out is still to come. */
void schedtape_owners_exiting(struct schedtape_owners *owners, uint32_t task);
void schedtape_owners_end(struct schedtape_owners *owners, uint32_t task);

/*
 * Returns the task that exists and is meant by a PID; its @pid may be another one now.
 * SCHEDTAPE_NONE: no task that has been added.
 */
uint32_t schedtape_owners_find(struct schedtape_owners *owners, uint32_t pid);
/*
 * The same for an event that an exiting task cannot have: its name is changed, or its exit begins
 * once more.
 */
uint32_t schedtape_owners_find_living(struct schedtape_owners *owners, uint32_t pid);
/*
 * Returns the other task that may be meant by the PID of @task, if @task is running and the PID is
 * switched in on another CPU: of an exiting leader the thread that has taken the PID; of that
 * thread its leader.  SCHEDTAPE_NONE: none.
 */
uint32_t schedtape_owners_other(const struct schedtape_owners *owners, uint32_t task);
/* Returns true if a PID is that of a leader that has ended before its last thread. */
bool schedtape_owners_is_zombie(const struct schedtape_owners *owners, uint32_t pid);
/* A thread takes its leader's PID, which the event of its execve() does not show yet. */
void schedtape_owners_take(struct schedtape_owners *owners, uint32_t thread, uint32_t pid);
/**
 * schedtape_owners_exec() - follow the event of an execve() by a thread
 * @owners: the tasks
 * @pid: the PID that it has now
 * @old_pid: the PID that it had
 * @leader: returned: the task that had @pid, which is over; SCHEDTAPE_NONE: none, or it is not
 *	known
 *
 * If no task has @old_pid, the thread was not recorded before.  The task that its new name has made
 * under @pid is returned.
 *
 * Returns the thread.  SCHEDTAPE_NONE with errno 0: it is not known; with ENOMEM: no memory.
 */
uint32_t schedtape_owners_exec(struct schedtape_owners *owners, uint32_t pid, uint32_t old_pid,
			       uint32_t *leader);

#endif /* SCHEDTAPE_OWNERS_H */
