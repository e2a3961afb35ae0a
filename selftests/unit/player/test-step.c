// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: which operations are one step, and what is not burnt before an operation.
 */
#include <player/step.h>

#include "tap.h"

#define STEP	2000
#define MANY	(STAPE_STEP_MAX_WAKES + 6)

static struct schedtape_op ops[2 * MANY];
/* A process with memory of its own, and one that shares its parent's. */
static struct schedtape_program_task tasks[] = {
	{ .process = 0 }, { .process = 1, .brief = true },
};

static const struct schedtape_program program = { .ops = ops, .tasks = tasks };
static const struct schedtape_costs costs = {
	.step = STEP, .fork = 50000, .exit = 70000, .spawn = 9000, .leave = 8000,
};

static void set(unsigned int at, uint64_t cpu, enum schedtape_op_kind kind, uint64_t value)
{
	ops[at] = (struct schedtape_op){ .cpu = cpu, .kind = kind, .value = value };
}

TEST(wakes)
{
	uint32_t wakes[STAPE_STEP_MAX_WAKES] = { 0 };
	struct player_step step;
	unsigned int i;

	for (i = 0; i < MANY; i++)
		set(i, 100, SCHEDTAPE_OP_WAKE, i);
	set(MANY, 100, SCHEDTAPE_OP_WAIT_EDGE, 7);
	set(MANY + 1, 100, SCHEDTAPE_OP_EXIT, 0);
	step = player_find_step(&program, ops, 0, STEP, wakes);
	ok(step.nr_wakes == STAPE_STEP_MAX_WAKES && !step.wait &&
	   step.next == &ops[STAPE_STEP_MAX_WAKES] && wakes[63] == 63,
	   "a step has no more wake-ups than the module takes");
	step = player_find_step(&program, step.next, 0, STEP, wakes);
	ok(step.nr_wakes == 6 && step.wait == &ops[MANY] && step.next == &ops[MANY + 1] &&
	   wakes[5] == MANY - 1, "the next one has the others, and the wait");
	step = player_find_step(&program, step.next, 0, STEP, wakes);
	ok(!step.nr_wakes && step.wait == &ops[MANY + 1] && !step.next, "the end is the last");
}

TEST(folds)
{
	uint32_t wakes[STAPE_STEP_MAX_WAKES];
	struct player_step step;

	set(0, 10 * STEP, SCHEDTAPE_OP_WAKE, 0);
	set(1, 10 * STEP + 1, SCHEDTAPE_OP_NONE, 0);
	set(2, 11 * STEP, SCHEDTAPE_OP_WAKE, 1);
	set(3, 11 * STEP + 1, SCHEDTAPE_OP_WAIT_FOR, 5);
	set(4, 20 * STEP, SCHEDTAPE_OP_EXIT, 0);
	step = player_find_step(&program, ops, 0, STEP, wakes);
	ok(step.nr_wakes == 2 && !step.wait && step.next == &ops[3],
	   "what comes later than a step costs is another one");
	step = player_find_step(&program, ops, 9 * STEP, STEP, wakes);
	ok(step.nr_wakes == 2 && step.wait == &ops[3], "but not in a short burst");
	set(2, 11 * STEP, SCHEDTAPE_OP_FORK, 0);
	step = player_find_step(&program, ops, 9 * STEP, STEP, wakes);
	ok(step.nr_wakes == 1 && !step.wait && step.next == &ops[2], "a fork is in no step");
}

/* Returns what is spared of the operations from @first on, whose end and last step cost 72 us. */
static double spare(unsigned int first)
{
	const struct schedtape_op *op = &ops[first];

	if (!player_costs_soon(&program, &op, op, player_spare_most(&costs, STEP), 1))
		return 0;
	return player_spare(&program, &costs, &ops[first], costs.exit + STEP, 1);
}

TEST(spare)
{
	const double end = player_end_cost(&costs, false, true) + STEP;

	set(0, 0, SCHEDTAPE_OP_WAKE, 0);
	set(1, 40000, SCHEDTAPE_OP_FORK, 0);
	set(2, 40000, SCHEDTAPE_OP_FORK, 1);
	set(3, 100000, SCHEDTAPE_OP_EXIT, 0);
	ok(spare(3) == end, "the end's cost");
	ok(spare(2) == 9000 + end - 60000, "that of a fork, and what lies too near after it");
	ok(spare(0) == 50000 + 9000 + end - 100000, "before them less, by what is burnt between");
	ok(player_end_cost(&costs, true, true) == 8000 && !player_end_cost(&costs, false, false),
	   "shared memory has its own cost, a thread of the user's engine has none");
}

/* The first fork is farther ahead than one fork and the end cost; or not. */
TEST(most)
{
	const uint64_t most = player_spare_most(&costs, STEP);
	unsigned int i;

	set(0, 0, SCHEDTAPE_OP_WAKE, 0);
	for (i = 1; i <= 10; i++)
		set(i, most, SCHEDTAPE_OP_FORK, 0);
	set(i, 2 * most, SCHEDTAPE_OP_EXIT, 0);
	ok(spare(0) == 10 * costs.fork - (double)most, "many forks, at most so far ahead");
	for (i = 1; i <= 10; i++)
		ops[i].cpu++;
	ok(!spare(0) && spare(1) == 10 * costs.fork, "those farther ahead are not looked at");
	set(11, 0, SCHEDTAPE_OP_EXIT, 0);
	for (i = 0; i < 11; i++)
		set(i, 0, SCHEDTAPE_OP_WAKE, 0);
	set(4, 0, SCHEDTAPE_OP_FORK, 1);
	ops[11].cpu = most + 1;
	ok(spare(0) == costs.spawn, "others may be");
}

TEST_MAIN
