// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: what ends a wait, and for which wakees a waker waits.
 */
#include "programs.h"

/* 1 and 2 sleep.  A timer wakes 1. */
static void make_sleepers(void)
{
	fake_begin(1000, 9000);
	fake_info(tape, 1, "one", STAPE_STATE_SLEEPING, 0);
	fake_info(tape, 2, "two", STAPE_STATE_SLEEPING, 0);
	fake_story(tape, "1500 [0] irq wakes 1; 2000 [0] R -> 1");
}

/* A timer wakes 1, which forks 3, which wakes 2. */
TEST(child)
{
	make_sleepers();
	fake_story(tape, "2100 [0] forks 3; 2200 [0] S -> 3; 2300 [0] wakes 2; 2400 [0] X -> idle");
	compile();
	is_program(2, "100:wake 0!; 200:exit",
		   "a child expects those to sleep that slept when its parent was set going");
}

/* The part begins between 1's waking of 2 and the wake-up. */
TEST(waking_before)
{
	const struct schedtape_program_options options = { .from = 2150 };

	fake_begin(1000, 9000);
	fake_info(tape, 1, "one", STAPE_STATE_SLEEPING, 0);
	fake_info(tape, 2, "two", STAPE_STATE_SLEEPING, 1);
	fake_story(tape, "1500 [0] irq wakes 1; 2000 [0] R -> 1; 2100 [0] waking 2; "
			 "2200 [1] woken 2; 2300 [1] R -> 2; 2400 [1] S -> idle; "
			 "2500 [0] S -> idle");
	compile_as(&options);
	is_program(0, "0:until 0; 350:exit", "a waking from before is no wake-up");
	is_program(1, "0:until 50; 100:exit", "its wake-up comes from outside");
}

/* 1 runs until 2300.  2 is only described. */
TEST(idle)
{
	make_sleepers();
	fake_switch(tape, 2300, 0, STAPE_STATE_SLEEPING, 0);
	compile();
	is_program(0, "0:until 500; 300:exit", "a last wait is left out");
	is_program(1, "0:until 1300; 0:exit",
		   "a task that never runs stays until the last task that does has slept");
	ok(program && program->timed == 2, "that is a timed wait");
	ok(program && program->tasks[1].born == 1000, "a task has the time of its birth");
}

/* In the next round an edge has the last waker of this one, so the first wait names its own. */
TEST(wakers)
{
	const struct schedtape_op *op;

	make_sleepers();
	fake_story(tape, "2100 [0] wakes 2; 2200 [0] S -> 2; 2300 [0] wakes 1; 2400 [0] X -> 1; "
			 "2500 [0] X -> idle");
	compile();
	is_program(1, "0:wait 0; 100:wake 1; 200:exit", "it waits for 1");
	op = program ? schedtape_program_begin(program, 1) : NULL;
	ok(op && op->value == (1ull + program->tasks[0].player) << 32, "and says so");
}

TEST(only_idle)
{
	fake_begin(1000, 9000);
	fake_info(tape, 1, "one", STAPE_STATE_SLEEPING, 0);
	compile();
	is_program(0, "0:until 0; 0:exit", "if no task runs, all wait for the start");
}

TEST_MAIN
