/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A tape compiles to a program for each task: a list of operations, each with the CPU time
 * that the task had used before it.
 */
#ifndef SCHEDTAPE_PROGRAM_H
#define SCHEDTAPE_PROGRAM_H

#include <schedtape.h>
#include "base/store.h"

/*
 * A process that no player forks is started when the one before it that begins with
 * SCHEDTAPE_OP_WAIT_UNTIL is due within this time.
 */
#define SCHEDTAPE_AHEAD_NS	500000000ULL

enum schedtape_op_kind {
	SCHEDTAPE_OP_NONE,	/* no operation: a waking that did not wake its wakee */
	SCHEDTAPE_OP_WAKE,	/* value: edge */
	SCHEDTAPE_OP_WAIT_EDGE,	/* value: schedtape_wait_pack() */
	SCHEDTAPE_OP_WAIT_UNTIL,	/* value: ns after the start */
	SCHEDTAPE_OP_FORK,	/* value: task */
	SCHEDTAPE_OP_RENAME,	/* value: index into names */
	SCHEDTAPE_OP_EXIT,	/* value: 0 */
	SCHEDTAPE_OP_WAIT_FOR,	/* value: ns from the beginning of the wait */
	SCHEDTAPE_OP_SETPRIO,	/* value: schedtape_prio_pack() */
	SCHEDTAPE_OP_SETAFFINITY,	/* value: index into affinities */
	SCHEDTAPE_OP_MOVE,	/* value: index into cgroups */
	SCHEDTAPE_OP_SETSID,	/* its process gets a session, and so an autogroup, of its own */
	SCHEDTAPE_OP_GOTO,	/* no operation; value: index of the next one */
};

/* How a wait is replayed that no task of the program ends. */
enum schedtape_external {
	SCHEDTAPE_EXTERNAL_AUTO,	/* in state D with its length, else until its end */
	SCHEDTAPE_EXTERNAL_ABSOLUTE,	/* until its end, since the start: keeps the load */
	SCHEDTAPE_EXTERNAL_RELATIVE,	/* with its length */
};

/**
 * struct schedtape_op - one operation of a task
 * @cpu: CPU time that the task had used by then, ns since its program begins
 * @kind: enum schedtape_op_kind
 * @blocked: a wait in state D
 * @expected: a wake-up whose wakee already waited before the external wake-up that caused
 *	the waker's burst, directly or through other tasks
 * @value: depends on @kind
 */
struct schedtape_op {
	uint64_t cpu;
	uint64_t kind:6, blocked:1, expected:1, value:56;
};

/**
 * struct schedtape_prio - how a task is scheduled
 * @policy: SCHED_*
 * @more: index into the program's, plus 1; 0: nothing more was set
 */
struct schedtape_prio {
	uint8_t policy;
	int8_t nice;
	uint8_t rt_priority;
	uint32_t more;
};

static inline uint64_t schedtape_prio_pack(const struct schedtape_prio *prio)
{
	return prio->policy | (uint64_t)(uint8_t)prio->nice << 8 |
	       (uint64_t)prio->rt_priority << 16 | (uint64_t)prio->more << 24;
}

static inline struct schedtape_prio schedtape_prio_unpack(uint64_t value)
{
	return (struct schedtape_prio){ value, value >> 8, value >> 16, value >> 24 };
}

/*
 * Returns the value of STAPE_WAIT_EDGE.  @waker: the player that ends this wait.  It is a hint: an
 * operation has no room for the largest numbers.  Each wait names its waker, also if the one before
 * had the same: in the next round of a replay the edge still has the last waker of this one.
 */
static inline uint64_t schedtape_wait_pack(uint32_t edge, uint32_t waker)
{
	return waker < (1U << 24) - 1 ? (waker + 1ULL) << 32 | edge : edge;
}

/* What belongs to a policy: @dl to SCHED_DEADLINE, @wish to the others. */
union schedtape_more {
	struct schedtape_deadline dl;
	struct schedtape_wish wish;
};

/**
 * struct schedtape_program_task - one task's program
 * @first: its first operation, index into the program's @ops; the last is SCHEDTAPE_OP_EXIT
 * @due: when it is needed, ns after the start, if it has no @parent
 * @affinity: affinity at its start, index into the program's; SCHEDTAPE_NONE: not known
 * @parent: task that forks it, SCHEDTAPE_NONE: no replayed task does
 * @process: the task that leads its thread group; its own number: a leader
 * @threads: for a leader: the first of its threads without @parent, which it starts
 *	at its own start; SCHEDTAPE_NONE: there is none
 * @sibling: for such a thread: the next one, or SCHEDTAPE_NONE
 * @player: the number of its player
 * @turn: tasks before this one that have the same number
 * @successor: the next task with that number; SCHEDTAPE_NONE: there is none
 * @cgroup: its first cgroup, index into the program's, if it has no @parent;
 *	SCHEDTAPE_NONE: not known
 * @autogroup: its first autogroup, if it has no @parent: PID of the session; 0: it is in none
 * @autogroup_nice: the nice value of that
 * @pid: its PID in the recording
 * @born: when it appeared in the recording, ns of CLOCK_MONOTONIC
 * @name: its name at its start
 * @prio: its priority at its start, if it has no @parent; with @prio_known
 * @ext: its policy is SCHED_EXT at some time
 * @slice, @clamped: it has a slice, or utilization clamps, of its own at some time
 * @grouped: it is in an autogroup at some time
 * @brief: it leads a process, has no thread, and ends before its @parent within a short first
 *	burst, in which it changes nothing of itself but its name
 */
struct schedtape_program_task {
	uint64_t first;
	uint64_t due;
	uint64_t born;
	uint32_t parent;
	uint32_t process;
	uint32_t threads;
	uint32_t sibling;
	uint32_t player;
	uint32_t turn;
	uint32_t successor;
	uint32_t cgroup;
	uint32_t affinity;
	uint32_t autogroup;
	int32_t autogroup_nice;
	uint32_t pid;
	char name[STAPE_COMM_LEN];
	struct schedtape_prio prio;
	bool prio_known;
	bool ext;
	bool slice;
	bool clamped;
	bool grouped;
	bool brief;
};

/**
 * struct schedtape_program_hash - finds equal entries of a store while it grows
 * @slots: by the hash of an entry: its index, or SCHEDTAPE_NONE
 * @nr: number of slots, a power of 2
 * @seed: seed of the hash, random so that no tape can be made with many collisions
 */
struct schedtape_program_hash {
	uint32_t *slots;
	uint64_t nr;
	uint64_t seed;
};

/**
 * struct schedtape_program - the programs of a tape, or of a part of it
 * @tasks: one program for each task
 * @ops: operations of all tasks
 * @roots: tasks without parent that are a process's first; those that do not exist at the
 *	start are in order of @due
 * @players: by number of a player: the first task that has it
 * @edges: by number of the edge: the player that is its wakee
 * @wakers: by number of the edge: the player that is its waker
 * @names: STAPE_COMM_LEN bytes each
 * @cgroups: ids of cgroups that tasks start in or move to
 * @more: what tasks have or get with their policies
 * @affinities: affinities that tasks get
 * @duration: duration of the replayed part, ns
 * @wakeups: number of wake-ups along edges
 * @timed: number of waits that end at a given time
 * @lengths: number of waits with a given length
 * @nr_ext: number of tasks whose policy is SCHED_EXT at some time
 * @nr_slices, @nr_clamped: number of tasks that have a slice, or clamps, of their own
 * @nr_grouped: number of tasks that are in an autogroup at some time.  0 also if autogroups make no
 *	difference, because all tasks share one whose nice value is 0 or not known, or if the tape
 *	has no GROUPS
 * @nr_cut: number of tasks that at first may also run on CPUs which @affinities cannot have
 * @nr_kthreads: number of kernel threads that were left out only because they are such
 *
 * The stores have the arrays.  Large ones lie in files, which all processes share.
 */
struct schedtape_program {
	struct schedtape_program_task *tasks;
	uint32_t nr_tasks;
	struct schedtape_op *ops;
	uint32_t *roots;
	uint32_t nr_roots;
	uint32_t *players;
	uint32_t nr_players;
	uint32_t *edges;
	uint32_t *wakers;
	uint32_t nr_edges;
	char (*names)[STAPE_COMM_LEN];
	size_t nr_names;
	uint64_t *cgroups;
	uint32_t nr_cgroups;
	union schedtape_more *more;
	uint32_t nr_more;
	unsigned char (*affinities)[SCHEDTAPE_AFFINITY_BYTES];
	uint32_t nr_affinities;
	uint64_t duration;
	uint64_t wakeups;
	uint64_t timed;
	uint64_t lengths;
	uint32_t nr_ext;
	uint32_t nr_slices;
	uint32_t nr_clamped;
	uint32_t nr_grouped;
	uint32_t nr_cut;
	uint32_t nr_kthreads;
	struct schedtape_store task_store, op_store, root_store, player_store, edge_store,
			       waker_store, name_store, cgroup_store, more_store,
			       affinity_store;
	struct schedtape_program_hash cgroup_hash, more_hash, affinity_hash;
};

/* Returns what belongs to a policy. */
static inline const union schedtape_more *
schedtape_program_more(const struct schedtape_program *program, const struct schedtape_prio *prio)
{
	static const union schedtape_more none;

	return prio->more ? &program->more[prio->more - 1] : &none;
}

/* Returns the first operation of a task. */
static inline const struct schedtape_op *
schedtape_program_begin(const struct schedtape_program *program, uint32_t number)
{
	return &program->ops[program->tasks[number].first];
}

/* Returns the operation after @op; NULL: @op was the last. */
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
 * @keep: returns true for a task that is to be replayed, given its state at the tape's end;
 *	NULL: all tasks.  A wake-up by a task that is left out becomes an external one at its
 *	recorded time
 * @arg: for @keep
 * @kthreads: kernel threads, too; without them, their wake-ups are external, as on a tape that has
 *	no kernel threads
 * @hasty: give numbers of players away as soon as their tasks have ended, for tests
 * @from, @to: replay the time in between, ns of the session's clock; @to 0: until the end
 */
struct schedtape_program_options {
	enum schedtape_external external;
	bool (*keep)(void *arg, const struct schedtape_task *task);
	void *arg;
	bool kthreads;
	bool hasty;
	uint64_t from;
	uint64_t to;
};

/* Compiles a tape. */
int schedtape_program_compile(struct schedtape_tape *tape,
			      const struct schedtape_program_options *options,
			      struct schedtape_program **program, struct schedtape_error *err);
void schedtape_program_free(struct schedtape_program *program);

/* Returns the task of a player's number after @turn others; SCHEDTAPE_NONE: there is none. */
uint32_t schedtape_program_task_of(const struct schedtape_program *program, uint32_t player,
				   uint32_t turn);

#endif /* SCHEDTAPE_PROGRAM_H */
