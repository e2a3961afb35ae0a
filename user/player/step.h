/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which operations of its program a player makes as one step, and what it does not burn before an
 * operation.  "diff" goes by the same rules when it computes what the operations of a player cost.
 */
#ifndef SCHEDTAPE_STEP_H
#define SCHEDTAPE_STEP_H

#include <stdbool.h>

#include <player/costs.h>
#include <program/program.h>
#include <schedtape/device.h>

/*
 * Wake-ups and the wait of one burst become one step where separate ones would cost more than lies
 * between them, or if the whole burst is shorter than this number of steps: it has no time for two
 * and for its own wake-ups.
 */
#define PLAYER_FOLD_STEPS	2.5

#define PLAYER_SPARE_OPS	16	/* operations to look at for costs to spare */

/**
 * struct player_step - operations that a player makes as one step
 * @wait: the wait at its end, or the end of the program; NULL: it has only wake-ups
 * @next: the first operation after it, or NULL
 * @nr_wakes: its wake-ups
 */
struct player_step {
	const struct schedtape_op *wait;
	const struct schedtape_op *next;
	uint32_t nr_wakes;
};

static inline enum stape_wait player_wait(const struct schedtape_op *op)
{
	switch (op->kind) {
	case SCHEDTAPE_OP_WAIT_EDGE:
		return STAPE_WAIT_EDGE;
	case SCHEDTAPE_OP_WAIT_UNTIL:
		return STAPE_WAIT_UNTIL;
	case SCHEDTAPE_OP_WAIT_FOR:
		return STAPE_WAIT_FOR;
	case SCHEDTAPE_OP_EXIT:
		return STAPE_WAIT_DONE;
	}
	return STAPE_WAIT_NONE;
}

/*
 * Returns true if @op belongs to the step that begins at the CPU time @cpu, in the burst that began
 * at @began.  @step: cost of a step
 */
static inline bool player_folds(const struct schedtape_op *op, double step, uint64_t cpu,
				uint64_t began)
{
	return (int64_t)(op->cpu - cpu) <= step ||
	       (int64_t)(op->cpu - began) <= PLAYER_FOLD_STEPS * step;
}

/*
 * Finds the step that begins with @op, a wake-up, a wait or the end.  @began, @cost: as for
 * player_folds(); @wakes: the edges of its wake-ups are stored here
 */
static inline struct player_step player_find_step(const struct schedtape_program *program,
						  const struct schedtape_op *op, uint64_t began,
						  double cost,
						  uint32_t wakes[STAPE_STEP_MAX_WAKES])
{
	const uint64_t cpu = op->cpu;
	struct player_step step = { 0 };

	while (op && (op->kind == SCHEDTAPE_OP_WAKE || op->kind == SCHEDTAPE_OP_NONE) &&
	       step.nr_wakes < STAPE_STEP_MAX_WAKES && player_folds(op, cost, cpu, began)) {
		if (op->kind == SCHEDTAPE_OP_WAKE)
			wakes[step.nr_wakes++] = op->value;
		op = schedtape_program_next(program, op);
	}
	/* A step without wake-ups begins with its wait. */
	if (op && player_wait(op) != STAPE_WAIT_NONE &&
	    (!step.nr_wakes || player_folds(op, cost, cpu, began))) {
		step.wait = op;
		op = schedtape_program_next(program, op);
	}
	step.next = op;
	return step;
}

/*
 * Returns the CPU time that the kernel uses for the end of a task's player.  @shares: other threads
 * or processes have its memory, or the module's mm pin keeps it; @leads: it leads a process
 */
static inline uint64_t player_end_cost(const struct schedtape_costs *costs, bool shares, bool leads)
{
	return shares ? costs->leave : leads ? costs->exit : 0;
}

/* Returns the CPU time that the kernel uses for a fork or, if that is @end, for the end. */
static inline double player_cost(const struct schedtape_program *program,
				 const struct schedtape_costs *costs,
				 const struct schedtape_op *op, double end)
{
	const struct schedtape_program_task *task;

	switch (op->kind) {
	case SCHEDTAPE_OP_FORK:
		task = &program->tasks[op->value];
		return task->process != op->value ? 0 : task->brief ? costs->spawn : costs->fork;
	case SCHEDTAPE_OP_EXIT:
		return end;
	}
	return 0;
}

/*
 * Returns how far ahead of an operation the next fork or end may be for something to be spared, ns.
 * With a larger distance, bursts of 4 us would look at more operations than they have time for.
 * @step: cost of a step
 */
static inline double player_spare_most(const struct schedtape_costs *costs, double step)
{
	return costs->fork + costs->exit + step;
}

/*
 * Sets *@op to the next fork or end, or to an operation that is farther ahead of @first than @most.
 * Returns true if it is near enough.  *@op: as the call for an earlier operation has left it, so
 * that no operation is looked at twice, or @first; @most: of player_spare_most(); @rate: CPU time
 * of the player for each ns of its task's
 */
static inline bool player_costs_soon(const struct schedtape_program *program,
				     const struct schedtape_op **op,
				     const struct schedtape_op *first, double most, double rate)
{
	/* Compare CPU times, because operations are in several blocks. */
	const struct schedtape_op *next = (*op)->cpu < first->cpu ? first : *op;

	while (next->kind != SCHEDTAPE_OP_FORK && next->kind != SCHEDTAPE_OP_EXIT &&
	       (int64_t)(next->cpu - first->cpu) * rate <= most)
		next = schedtape_program_next(program, next);
	*op = next;
	return (int64_t)(next->cpu - first->cpu) * rate <= most;
}

/*
 * Returns the CPU time that must not be burnt before an operation, because the kernel uses it for
 * that operation and those that follow closely.  For example, most CPU time of a process's end is
 * used before its parent is woken, and that wake-up precedes the exit.
 *
 * @first: an operation before which player_costs_soon() is true; @end: cost of the task's end, with
 * its last step, for which no burst makes up
 */
static inline double player_spare(const struct schedtape_program *program,
				  const struct schedtape_costs *costs,
				  const struct schedtape_op *first, double end, double rate)
{
	const struct schedtape_op *op = first;
	double sum = 0, most = 0, left;
	int i;

	for (i = 0; op && i < PLAYER_SPARE_OPS; i++, op = schedtape_program_next(program, op)) {
		sum += player_cost(program, costs, op, end);
		left = sum - (op->cpu - first->cpu) * rate;
		if (left > most)
			most = left;
	}
	return most;
}

#endif /* SCHEDTAPE_STEP_H */
