/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The compiler's inside: program.c turns what the timeline says into operations, processes.c
 * finds out which tasks are a process.
 */
#ifndef SCHEDTAPE_COMPILER_H
#define SCHEDTAPE_COMPILER_H

#include "base/store.h"
#include "program/program.h"
#include "program/store.h"
#include "timeline/edges.h"

/**
 * struct part - what a task plays
 * @number: its task in the program, SCHEDTAPE_NONE: it has none
 * @leader: of its process, if it plays no part itself: the first that does
 * @source: the tape's description of where it may run, its own or its parent's, or NULL
 * @affinity: where else, in the program; SCHEDTAPE_NONE: nothing has been told since
 * @tail: its task's operations
 * @base: CPU time that it had used when its program begins
 * @ticket: of the last waking(), 0: none that counts
 * @op: the waker's operation
 * @wait: this task's open wait
 * @since: when that began, 0: before the start
 * @set_going: time of the external wake-up that led to what it does now: its own, or that of
 *	the task that woke or forked it
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
};

/**
 * struct compiler - a tape that is being compiled
 * @parts: by task
 * @edges: between tasks
 * @kept: by task, NULL: all
 * @start: of what is replayed
 */
struct compiler {
	struct schedtape_program *program;
	struct part *parts;
	struct schedtape_store part_store;
	struct schedtape_edges edges;
	bool *kept;
	uint32_t nr_kept;
	uint64_t start;
	bool begun;
	const struct schedtape_program_options *options;
};

/* processes.c: what each task's process is, who starts it, and which threads it has. */
int program_set_processes(struct compiler *c);

#endif /* SCHEDTAPE_COMPILER_H */
