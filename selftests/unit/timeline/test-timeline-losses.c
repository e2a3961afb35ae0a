// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: what a timeline concludes around losses and damaged pages: earlier knowledge is
 * in doubt, and no event gets a time within a loss in which it did not happen.
 */
#include "timelines.h"
#include "tap.h"

#define R STAPE_STATE_RUNNING
#define S STAPE_STATE_SLEEPING

/* The loss claims to begin before the last event of its CPU. */
TEST(first)
{
	fake_begin(0, 1000);
	fake_story(tape, "100 [0] R -> 10; 300 [0] irq wakes 20");
	fake_loss(tape, 250, 500, 0, 7, 0);
	fake_switch(tape, 600, 0, R, 30);
	tl = fake_run(tape);
	ok(fake_task(tl, 10, 0)->cpu_time == 200,
	   "a task has run until the last event before the loss");
}

/* 10 was woken after the loss on the CPU that it runs on. */
TEST(since)
{
	fake_begin(0, 1000);
	fake_info(tape, 10, "sleeps", S, 0);
	fake_loss(tape, 200, 500, 0, 7, 0);
	fake_wake(tape, 600, 1, 10, STAPE_CTX_HARDIRQ);
	tape->curr[0] = 10;
	fake_switch(tape, 700, 0, S, 0);
	tl = fake_run(tape);
	ok(fake_task(tl, 10, 0)->cpu_time == 100, "a task has not run before it was woken");
}

/* 10 can run before the damage, and runs after it. */
TEST(damage)
{
	fake_begin(0, 1000);
	fake_story(tape, "100 [0] R -> 10; 150 [0] R -> idle");
	fake_damage(tape, 200, "one");
	fake_damage(tape, 200, "two");
	fake_story(tape, "300 [1] irq wakes 20; 310 [1] R -> 20");
	fake_damage(tape, 320, "three");
	fake_switch(tape, 400, 0, R, 10);
	tl = fake_run(tape);
	ok(!fake_task(tl, 10, 0)->delays, "no delay is counted across a damaged page");
	ok(fake_task(tl, 20, 0)->delays == 1, "a delay behind it is");
	ok(schedtape_timeline_damage(tl) && !strcmp(schedtape_timeline_damage(tl), "one"),
	   "the first damage is reported");
}

/* The last switch of 10 is lost, but not its EXIT. */
TEST(exiting)
{
	const struct schedtape_task *life;

	fake_begin(0, 1000);
	fake_story(tape, "100 [0] R -> 10; 100 [1] R -> 20; 150 [0] exit 10");
	fake_loss(tape, 200, 500, 0, 7, 0);
	fake_loss(tape, 200, 500, 1, 7, 0);
	fake_story(tape, "600 [0] S -> idle; 600 [1] S -> idle");
	tl = fake_run(tape);
	life = fake_task(tl, 10, 0);
	ok(life->exited && life->end == 1000, "a task that was exiting has ended");
	ok(!fake_task(tl, 20, 0)->exited, "another one has not");
}

TEST_MAIN
