/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Internals of the compiler: compile.c turns callbacks of the timeline into operations,
 * processes.c finds out which tasks are a process, numbers.c gives numbers to players.
 */
#ifndef SCHEDTAPE_COMPILER_H
#define SCHEDTAPE_COMPILER_H

#include "base/store.h"
#include "program/program.h"
#include "program/entries.h"
#include "timeline/edges.h"

/**
 * struct part - the compiler's state of one task
 * @number: its task in the program, SCHEDTAPE_NONE: it is not replayed
 * @leader: if it leads a process: the first task of that process that is replayed
 * @source: the tape's description with its first affinity, its own or its parent's, or NULL
 * @affinity: index of a later affinity in the program; SCHEDTAPE_NONE: that of @source
 * @tail: the end of its list of operations
 * @base: CPU time that it had used when its program begins
 * @ticket: ticket of the last waking() by a replayed task, 0: none
 * @op: the waker's operation for that waking()
 * @wait: this task's open wait
 * @since: when that wait began, 0: before the start
 * @set_going: time of the external wake-up that caused its current burst: its own, or that
 *	of the task that woke or forked it
 * @waiting: @wait is open
 * @leads: it leads its session, so that it cannot make another one
 * @plain: so far it has only run, woken tasks and changed its name
 */
struct part {
	uint32_t number;
	uint32_t leader;
	const struct schedtape_task_info *source;
	uint32_t affinity;
	struct schedtape_op_tail tail;
	uint64_t base;
	uint64_t ticket;
	uint64_t op;
	uint64_t wait;
	uint64_t since;
	uint64_t set_going;
	bool waiting;
	bool leads;
	bool plain;
};

/**
 * struct number - a player's number
 * @ended: when its last task ended; 0: it has not
 * @task: its last task
 * @next: the number that has begun to rest after it
 * @edge: one of the edges to it, or SCHEDTAPE_NONE
 */
struct number {
	uint64_t ended;
	uint32_t task;
	uint32_t next;
	uint32_t edge;
};

/**
 * struct edge_use - what an edge is used for
 * @pair: its waker and its wakee, index into the compiler's @edges
 * @task: the task that last woke along it
 * @next: another edge to the same wakee, in a circle
 */
struct edge_use {
	uint32_t pair;
	uint32_t task;
	uint32_t next;
};

/**
 * struct numbers - the numbers of players
 * @list: by number
 * @first, @last: those that have rested for the longest and the shortest time, of @nr_rest
 * @last_timed: when the last task appeared that no replayed task forks, and whose first wait is
 *	known to end at a given time
 * @uses: by edge
 */
struct numbers {
	struct number *list;
	size_t capacity;
	uint32_t first;
	uint32_t last;
	uint32_t nr_rest;
	uint64_t last_timed;
	struct edge_use *uses;
	size_t uses_capacity;
};

/**
 * struct compiler - a tape that is being compiled
 * @parts: by task
 * @edges: pairs of numbers that wake each other; @count is that of an edge, plus 1
 * @numbers: the numbers of players
 * @kept: by task: it is replayed; NULL: all are
 * @start: start of the replayed part
 * @last: when a replayed task last did anything
 * @begun: that start has been reached
 * @grouped: it matters which tasks share an autogroup
 */
struct compiler {
	struct schedtape_program *program;
	struct part *parts;
	struct schedtape_store part_store;
	struct schedtape_edges edges;
	struct numbers numbers;
	bool *kept;
	uint32_t nr_kept;
	uint64_t start;
	uint64_t last;
	bool begun;
	bool grouped;
	const struct schedtape_program_options *options;
};

/* processes.c: finds each task's process, the task that starts it, and its threads. */
int program_set_processes(struct compiler *c);

/* numbers.c */

/* Gives a number to a task whose player joins at @time at the earliest.  Returns 0 or -ENOMEM. */
int numbers_take(struct compiler *c, uint32_t task, uint64_t time);
/* A task that appeared at @time, and that no task forks, begins with a wait until a given time. */
void numbers_root_is_timed(struct compiler *c, uint64_t time);
/*
 * Returns when the player of a task may join that appears now and that no task forks.  The
 * controller starts it when the last such task before it that begins with a wait until a given time
 * is due soon.  A task whose first wait has not ended yet may wait for a wake-up instead.
 */
uint64_t numbers_root_begins(const struct compiler *c);
/*
 * Gets an edge between the players of two tasks for a wake-up at @time.  Returns 0 or -ENOMEM.
 *
 * An edge has one wakee at a time, and wakers one after the other.  So the wake-ups and the waits
 * of an edge are in order, and each wait takes the wake-up that it took on the tape.
 */
int numbers_edge(struct compiler *c, uint32_t from, uint32_t to, uint64_t time, uint32_t *edge);
/* The task has ended at @time. */
void numbers_give_back(struct compiler *c, uint32_t task, uint64_t time);

#endif /* SCHEDTAPE_COMPILER_H */
