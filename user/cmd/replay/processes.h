/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The processes of a replay that no player forks: each is started when it is due, and
 * not earlier, so that those that are there are about as many as in the recording.
 */
#ifndef SCHEDTAPE_PROCESSES_H
#define SCHEDTAPE_PROCESSES_H

#include "player/player.h"

/**
 * struct process_death - an end that is none of a program
 * @pid: 0: there was none
 * @task: whom it played
 * @status: as wait(2) has it
 */
struct process_death {
	uint32_t pid;
	uint32_t task;
	int status;
};

/**
 * struct processes - those of one replay
 * @pids: of those that live
 * @tasks: whom each of them plays
 * @nr: how many
 * @next: in the program's roots: those before have been looked at
 * @latest: when the last of those that were started later is due
 * @players: threads of all that were started
 * @none_left: nor a process that they have forked
 * @died: the first that did; after the replay's end they are killed, too
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
	struct process_death died;
};

/* Starts those that are there at the start, or soon after.  -errno, and says so. */
int processes_begin(struct processes *processes, const struct player_cast *cast);
/*
 * Starts those that are due soon: @time of the replay, ns, goes @speed millionths as
 * fast as ours.  What is new is at the end of @pids.
 */
int processes_start_due(struct processes *processes, uint64_t time, uint32_t speed);
/* There are some to be started later. */
bool processes_to_come(const struct processes *processes);
/* Notices those that have ended, or waits for the end of @all. */
void processes_reap(struct processes *processes, bool all);
void processes_free(struct processes *processes);

#endif /* SCHEDTAPE_PROCESSES_H */
