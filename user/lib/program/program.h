/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a tape compiles to: for each task its program, a list of what it did
 * and at which point of its own CPU time.
 */
#ifndef SCHEDTAPE_PROGRAM_H
#define SCHEDTAPE_PROGRAM_H

#include <schedtape.h>
#include "base/store.h"

enum schedtape_op_kind {
	SCHEDTAPE_OP_NONE,	/* a wake-up that turned out to be none */
	SCHEDTAPE_OP_WAKE,	/* value: edge */
	SCHEDTAPE_OP_WAIT_EDGE,	/* value: edge */
	SCHEDTAPE_OP_WAIT_UNTIL,	/* value: ns after the start */
	SCHEDTAPE_OP_FORK,	/* value: task */
	SCHEDTAPE_OP_RENAME,	/* value: index into names */
	SCHEDTAPE_OP_EXIT,	/* value: 0 */
	SCHEDTAPE_OP_WAIT_FOR,	/* value: ns from when it is reached on */
	SCHEDTAPE_OP_SETPRIO,	/* value: schedtape_prio_pack() */
	SCHEDTAPE_OP_SETAFFINITY,	/* value: index into affinities */
	SCHEDTAPE_OP_MOVE,	/* value: index into cgroups */
	SCHEDTAPE_OP_GOTO,	/* none: the next one is the program's @value */
};

/* What a wait that no task of the program ends is kept by. */
enum schedtape_external {
	SCHEDTAPE_EXTERNAL_AUTO,	/* by its length in state D, else by its end */
	SCHEDTAPE_EXTERNAL_ABSOLUTE,	/* by its end, since the start: the load is kept */
	SCHEDTAPE_EXTERNAL_RELATIVE,	/* by its length */
};

/**
 * struct schedtape_op - one thing that a task did
 * @cpu: CPU time that it had used by then, ns since its program begins
 * @kind: enum schedtape_op_kind
 * @blocked: a wait in state D
 * @expected: a wake-up of a task that was in that wait since before the external wake-up
 *	that set its waker going, directly or by way of other tasks
 * @value: as the kind says
 */
struct schedtape_op {
	uint64_t cpu;
	uint64_t kind:6, blocked:1, expected:1, value:56;
};

/**
 * struct schedtape_prio - how a task is scheduled
 * @policy: SCHED_*
 * @deadline: index into the program's, with SCHED_DEADLINE
 */
struct schedtape_prio {
	uint8_t policy;
	int8_t nice;
	uint8_t rt_priority;
	uint32_t deadline;
};

static inline uint64_t schedtape_prio_pack(const struct schedtape_prio *prio)
{
	return prio->policy | (uint64_t)(uint8_t)prio->nice << 8 |
	       (uint64_t)prio->rt_priority << 16 | (uint64_t)prio->deadline << 24;
}

static inline struct schedtape_prio schedtape_prio_unpack(uint64_t value)
{
	return (struct schedtape_prio){ value, value >> 8, value >> 16, value >> 24 };
}

/**
 * struct schedtape_program_task - one task's program
 * @first: what it does first, in the program's @ops; the last is SCHEDTAPE_OP_EXIT
 * @due: when it is needed, ns after the start, if nobody forks it
 * @source: the description on the tape that says where it may run when it begins, of it
 *	or of who forked it; NULL: there is none
 * @affinity: where else, index into the program's; SCHEDTAPE_NONE: as @source says
 * @parent: task that forks it, SCHEDTAPE_NONE: nobody does
 * @process: the task that leads its thread group; its own number: a leader
 * @threads: of a leader: the first of its threads that nobody forks, and that it starts
 *	when it begins itself; SCHEDTAPE_NONE: none
 * @sibling: of such a thread: the next one, the same
 * @cgroup: index into the program's, if nobody forks it; SCHEDTAPE_NONE: not known
 * @pid: in the recording
 * @name: when it begins
 * @prio: the same, if nobody forks it; with @prio_known
 * @ext: its policy is SCHED_EXT at some time
 */
struct schedtape_program_task {
	uint64_t first;
	uint64_t due;
	const struct schedtape_task_info *source;
	uint32_t parent;
	uint32_t process;
	uint32_t threads;
	uint32_t sibling;
	uint32_t cgroup;
	uint32_t affinity;
	uint32_t pid;
	char name[STAPE_COMM_LEN];
	struct schedtape_prio prio;
	bool prio_known;
	bool ext;
};

/**
 * struct schedtape_program_hash - which entry of a store is like another, while it grows
 * @slots: by the hash of an entry: its index, or SCHEDTAPE_NONE
 * @nr: of them, a power of 2
 * @seed: of the hash: who makes a tape does not know it
 */
struct schedtape_program_hash {
	uint32_t *slots;
	uint64_t nr;
	uint64_t seed;
};

/**
 * struct schedtape_program - a whole tape, or what was chosen of it
 * @tasks: their programs
 * @ops: of all of them
 * @roots: the first tasks of processes that nobody forks; the @due of those that are
 *	not there at the start does not go back
 * @edges: by number: the task that the edge wakes
 * @wakers: by number: the task that wakes along it
 * @names: STAPE_COMM_LEN bytes each
 * @cgroups: ids of those that tasks are in, or come into
 * @deadlines: that tasks have
 * @affinities: that they get
 * @duration: of what was recorded, ns
 * @wakeups: along edges
 * @timed: waits that end at a given time
 * @lengths: waits of a length
 * @nr_ext: tasks whose policy is SCHED_EXT at some time
 *
 * Where these are, if they are many, is in files, which all processes share.
 */
struct schedtape_program {
	struct schedtape_program_task *tasks;
	uint32_t nr_tasks;
	struct schedtape_op *ops;
	uint32_t *roots;
	uint32_t nr_roots;
	uint32_t *edges;
	uint32_t *wakers;
	uint32_t nr_edges;
	char (*names)[STAPE_COMM_LEN];
	size_t nr_names;
	uint64_t *cgroups;
	uint32_t nr_cgroups;
	struct schedtape_deadline *deadlines;
	uint32_t nr_deadlines;
	unsigned char (*affinities)[SCHEDTAPE_AFFINITY_BYTES];
	uint32_t nr_affinities;
	uint64_t duration;
	uint64_t wakeups;
	uint64_t timed;
	uint64_t lengths;
	uint32_t nr_ext;
	struct schedtape_store task_store, op_store, root_store, edge_store, waker_store,
			       name_store, cgroup_store, deadline_store, affinity_store;
	struct schedtape_program_hash cgroup_hash, deadline_hash, affinity_hash;
};

/* The first operation of a task. */
static inline const struct schedtape_op *
schedtape_program_begin(const struct schedtape_program *program, uint32_t number)
{
	return &program->ops[program->tasks[number].first];
}

/* What follows an operation, NULL: it was the last. */
static inline const struct schedtape_op *
schedtape_program_next(const struct schedtape_program *program, const struct schedtape_op *op)
{
	if (op->kind == SCHEDTAPE_OP_EXIT)
		return NULL;
	op++;
	return op->kind == SCHEDTAPE_OP_GOTO ? &program->ops[op->value] : op;
}

/**
 * struct schedtape_program_options - how to compile
 * @external: how external wake-ups are timed
 * @keep: which tasks, as they are at the tape's end; NULL: all.  A wake-up by another
 *	is an external one, which comes at its recorded time
 * @arg: for @keep
 * @from, @to: what happened in between, ns of the session's clock; @to 0: the end
 */
struct schedtape_program_options {
	enum schedtape_external external;
	bool (*keep)(void *arg, const struct schedtape_task *task);
	void *arg;
	uint64_t from;
	uint64_t to;
};

/* @tape must outlive the program. */
int schedtape_program_compile(struct schedtape_tape *tape,
			      const struct schedtape_program_options *options,
			      struct schedtape_program **program, struct schedtape_error *err);
void schedtape_program_free(struct schedtape_program *program);

#endif /* SCHEDTAPE_PROGRAM_H */
