/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The processes of a replay that no player forks.  Each is started shortly before it is
 * due, so that about as many processes exist as in the recording.
 */
#ifndef SCHEDTAPE_PROCESSES_H
#define SCHEDTAPE_PROCESSES_H

#include "player/player.h"
#include "replay/sessions.h"

/**
 * struct process_death - unexpected end of a player process
 * @pid: its PID; 0: no process has died
 * @task: the program's number of the task that it played
 * @status: as wait(2) returns it
 */
struct process_death {
	uint32_t pid;
	uint32_t task;
	int status;
};

/**
 * struct processes - the player processes of one replay that the controller starts
 * @pids: PIDs of the live processes
 * @tasks: number of the task that each of them plays
 * @nr: number of live processes
 * @next: index of the first of the program's roots that processes_start_due() has not visited
 * @latest: when the last process that it started is due, ns
 * @players: number of threads of all started processes
 * @none_left: no live process is left, also no process that a player forked
 * @sessions: those that processes are started in
 * @died: the first process that died; after the replay's end, a kill is also a death
 */
struct processes {
	const struct player_cast *cast;
	uint32_t *pids;
	uint32_t *tasks;
	size_t nr;
	uint32_t next;
	uint64_t latest;
	uint32_t players;
	bool none_left;
	struct sessions sessions;
	struct process_death died;
};

/* Starts the processes that are due at the start or soon after.  Returns 0 or -errno. */
int processes_begin(struct processes *processes, const struct player_cast *cast);
/*
 * Starts processes that are due soon after @time of the replay, ns, whose speed is @speed
 * millionths.  New processes are at the end of @pids.
 */
int processes_start_due(struct processes *processes, uint64_t time, uint32_t speed);
/* Returns true if there are processes to start later. */
bool processes_to_come(const struct processes *processes);
/* Removes processes that have ended.  @all: waits until no process is left. */
void processes_reap(struct processes *processes, bool all);
void processes_free(struct processes *processes);

#endif /* SCHEDTAPE_PROCESSES_H */
