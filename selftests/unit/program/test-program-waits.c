// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: what ends a wait, and for which wakees a waker waits.
 */
#include "programs.h"

/* 1 and 2 sleep.  A timer wakes 1. */
static struct schedtape_tape *make_sleepers(void)
{
	struct schedtape_tape *tape = fake_new(1000, 9000);

	fake_info(tape, 1, "one", STAPE_STATE_SLEEPING, 0);
	fake_info(tape, 2, "two", STAPE_STATE_SLEEPING, 0);
	fake_wake(tape, 1500, 0, 1, STAPE_CTX_HARDIRQ);
	fake_switch(tape, 2000, 0, STAPE_STATE_RUNNING, 1);
	return tape;
}

/* A timer wakes 1, which forks 3, which wakes 2. */
TEST(child)
{
	struct schedtape_tape *tape = make_sleepers();
	struct schedtape_program *program;

	fake_fork(tape, 2100, 0, 3, false);
	fake_switch(tape, 2200, 0, STAPE_STATE_SLEEPING, 3);
	fake_wake(tape, 2300, 0, 2, STAPE_CTX_TASK);
	fake_switch(tape, 2400, 0, STAPE_STATE_DEAD, 0);
	program = compile(tape);
	is_program(program, 2, "100:wake 0!; 200:exit",
		   "a child expects those to sleep that slept when its parent was set going");
	schedtape_program_free(program);
}

/* The part begins between 1's waking of 2 and the wake-up. */
TEST(waking_before)
{
	const struct schedtape_program_options options = { .from = 2150 };
	struct schedtape_tape *tape = fake_new(1000, 9000);
	struct schedtape_program *program;

	fake_info(tape, 1, "one", STAPE_STATE_SLEEPING, 0);
	fake_info(tape, 2, "two", STAPE_STATE_SLEEPING, 1);
	fake_wake(tape, 1500, 0, 1, STAPE_CTX_HARDIRQ);
	fake_switch(tape, 2000, 0, STAPE_STATE_RUNNING, 1);
	fake_waking(tape, 2100, 0, 2, STAPE_CTX_TASK);
	fake_wakeup(tape, 2200, 1, 2);
	fake_switch(tape, 2300, 1, STAPE_STATE_RUNNING, 2);
	fake_switch(tape, 2400, 1, STAPE_STATE_SLEEPING, 0);
	fake_switch(tape, 2500, 0, STAPE_STATE_SLEEPING, 0);
	program = compile_as(tape, &options);
	is_program(program, 0, "0:until 0; 350:exit", "a waking from before is no wake-up");
	is_program(program, 1, "0:until 50; 100:exit", "its wake-up comes from outside");
	schedtape_program_free(program);
}

/* 1 runs until 2300.  2 is only described. */
TEST(idle)
{
	struct schedtape_tape *tape = make_sleepers();
	struct schedtape_program *program;

	fake_switch(tape, 2300, 0, STAPE_STATE_SLEEPING, 0);
	program = compile(tape);
	is_program(program, 0, "0:until 500; 300:exit", "a last wait is left out");
	is_program(program, 1, "0:until 1300; 0:exit",
		   "a task that never runs stays until the last task that does has slept");
	ok(program && program->timed == 2, "that is a timed wait");
	ok(program && program->tasks[1].born == 1000, "a task has the time of its birth");
	schedtape_program_free(program);
}

TEST(only_idle)
{
	struct schedtape_tape *tape = fake_new(1000, 9000);
	struct schedtape_program *program;

	fake_info(tape, 1, "one", STAPE_STATE_SLEEPING, 0);
	program = compile(tape);
	is_program(program, 0, "0:until 0; 0:exit", "if no task runs, all wait for the start");
	schedtape_program_free(program);
}

TEST_MAIN
