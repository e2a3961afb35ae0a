// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: how a timeline uses descriptions that belong to no CPU, and what it makes of tasks
 * on CPUs that are not recorded.
 */
#include "timelines.h"
#include "tap.h"

#define R STAPE_STATE_RUNNING
#define S STAPE_STATE_SLEEPING
#define X STAPE_STATE_DEAD

#define EXITS STAPE_TASK_EXITS
#define ENDED (STAPE_EXIT_ENDED << STAPE_EXIT_SHIFT)

/* A child is forked and renamed while its parent runs, and comes to CPU 1 later. */
TEST(fork)
{
	const struct schedtape_task *task;

	fake_begin(0, 1000);
	fake_info(tape, 10, "parent", S, 0);
	fake_switch(tape, 100, 0, R, 10);
	fake_described_fork(tape, 150, 30, 10);
	fake_event(tape, 150, 0, STAPE_EV_WAKEUP_NEW, 30, 0);
	fake_rename(tape, 160, FAKE_NONE, 30, "child");
	fake_prio(tape, 170, FAKE_NONE, 30, 3, 5, 0);
	fake_story(tape, "200 [1] R -> 30; 230 [1] S -> idle; 240 [0] S -> idle");
	tl = fake_run(tape);
	task = fake_task(tl, 30, 0);
	ok(fake_count(tl) == 2 && task->parent == fake_task(tl, 10, 0)->index &&
	   task->start == 150 && !strcmp(task->first_comm, "parent") &&
	   !strcmp(task->comm, "child") && task->policy == 3 && task->nice == 5,
	   "a fork among the descriptions names its parent");
	ok(task->cpu_time == 30 && task->delay_max == 50 &&
	   fake_task(tl, 10, 0)->cpu_time == 140, "descriptions change no CPU's task");
}

/* The last switch is on CPU 0, which is not recorded. */
TEST(ended)
{
	const struct schedtape_task *task;

	fake_begin(0, 1000);
	tape->recorded = "1-3,5";
	fake_info(tape, 10, "a", S, 0)->start_time = 5;
	fake_story(tape, "100 [1] irq wakes 10; 110 [1] R -> 10; 120 [1] S -> idle");
	fake_describe(tape, 200, FAKE_NONE, 10, EXITS, "a", 5);
	fake_event(tape, 200, FAKE_NONE, STAPE_EV_EXIT, 10, 0);
	/* The PID has a new task, whose exit has not begun: the end is the old task's. */
	fake_info(tape, 20, "b", S, 0)->start_time = 6;
	fake_event(tape, 210, FAKE_NONE, STAPE_EV_EXIT, 20, ENDED);
	fake_event(tape, 300, FAKE_NONE, STAPE_EV_EXIT, 10, ENDED);
	fake_event(tape, 310, FAKE_NONE, STAPE_EV_EXIT, 10, ENDED);
	tl = fake_run(tape);
	task = fake_task(tl, 10, 0);
	ok(task->exited && task->end == 300 && task->cpu_time == 10 && fake_count(tl) == 3,
	   "a task that ends on a CPU that is not recorded has an end");
	ok(!fake_task(tl, 20, 0)->exited && fake_task(tl, 20, 0)->end == 1000,
	   "a task that does not exit has none");
}

/* A thread takes over its leader's PID.  Until its CPU says so, events there have the old one. */
TEST(exec)
{
	fake_begin(0, 1000);
	fake_info(tape, 50, "leader", S, 0)->start_time = 5;
	fake_info(tape, 51, "thread", S, 0)->tgid = 50;
	fake_info(tape, 60, "other", S, 0);
	fake_story(tape, "100 [1] R -> 50; 110 [1] X -> 51");
	fake_exec(tape, 200, FAKE_NONE, 50, 51);
	fake_story(tape, "210 [1] wakes 60; 220 [1] R -> 50; 300 [1] S -> idle");
	tl = fake_run(tape);
	ok(fake_count(tl) == 3 && fake_task(tl, 50, 1)->cpu_time == 190 &&
	   !fake_task(tl, 50, 1)->preemptions && fake_edge(tl, 50, 60) == 1,
	   "a thread that calls execve() goes on under its leader's PID");
}

/* Descriptions are lost: names may be wrong, states are not. */
TEST(loss)
{
	const struct schedtape_task *task;

	fake_begin(0, 1000);
	fake_info(tape, 10, "a", S, 0)->start_time = 5;
	fake_wake(tape, 100, 0, 10, STAPE_CTX_HARDIRQ);
	fake_loss(tape, 110, 120, FAKE_NONE, 3, 0);
	fake_story(tape, "130 [0] R -> 10; 140 [0] S -> idle");
	fake_describe(tape, 200, FAKE_NONE, 10, EXITS, "b", 5);
	tl = fake_run(tape);
	task = fake_task(tl, 10, 0);
	ok(!strcmp(task->comm, "b") && task->delays == 1 && task->delay_max == 30,
	   "after lost descriptions the next one has the name");
}

TEST(pause)
{
	const struct schedtape_range *pauses;
	size_t n;

	fake_begin(0, 1000);
	fake_switch(tape, 100, 0, R, 10);
	fake_pause(tape, 205, 290, FAKE_NONE, 0);
	fake_pause(tape, 200, 300, 0, 10);
	fake_switch(tape, 310, 0, S, 0);
	tl = fake_run(tape);
	pauses = schedtape_timeline_pauses(tl, &n);
	ok(n == 1 && pauses[0].first == 205 && pauses[0].last == 290 &&
	   fake_task(tl, 10, 0)->cpu_time == 110, "a pause is one for all");
}

TEST(interval_ends)
{
	const struct schedtape_interval_end *ends;
	size_t n;

	fake_begin(0, 1000);
	fake_switch(tape, 100, 0, R, 10);
	fake_event(tape, 200, FAKE_NONE, SCHEDTAPE_EV_INTERVAL, 0, 1);
	fake_event(tape, 300, FAKE_NONE, SCHEDTAPE_EV_INTERVAL, 0, 5);
	fake_switch(tape, 310, 0, S, 0);
	tl = fake_run(tape);
	ends = schedtape_timeline_interval_ends(tl, &n);
	ok(n == 2 && ends[0].time == 200 && ends[0].number == 1 && ends[1].time == 300 &&
	   ends[1].number == 5 && fake_task(tl, 10, 0)->cpu_time == 210,
	   "ends of intervals are a list");
}

/* A task that runs all the time has no event: on a recorded CPU, it had that CPU for itself. */
TEST(left_out)
{
	fake_begin(0, 1000);
	tape->recorded = "1-2,4,6-7";
	fake_info(tape, 10, "left out", R, 0);
	fake_info(tape, 20, "first", R, 1);
	fake_info(tape, 30, "left out", R, 3);
	fake_info(tape, 40, "alone", R, 4);
	fake_info(tape, 50, "left out", R, 5);
	fake_info(tape, 70, "last", R, 7);
	fake_info(tape, 80, "left out", R, 8);
	tl = fake_run(tape);
	ok(!fake_task(tl, 10, 0)->cpu_time && !fake_task(tl, 30, 0)->cpu_time &&
	   !fake_task(tl, 50, 0)->cpu_time && !fake_task(tl, 80, 0)->cpu_time,
	   "a task on a CPU that is not recorded gets no CPU time");
	ok(fake_task(tl, 20, 0)->cpu_time == 1000 && fake_task(tl, 40, 0)->cpu_time == 1000 &&
	   fake_task(tl, 70, 0)->cpu_time == 1000, "a task that has its CPU alone gets all");
}

/* What a runnable task does on a CPU that is not recorded is unknown. */
TEST(hidden)
{
	const struct schedtape_task *task;

	fake_begin(0, 1000);
	tape->recorded = "1";
	fake_info(tape, 10, "woken", S, 0);
	fake_info(tape, 20, "moved", S, 0);
	fake_story(tape, "100 [1] irq waking 10; 101 [1] woken 10 on 0; 110 [1] irq wakes 20; "
			 "120 [1] R -> 20; 130 [1] R -> idle; 135 [1] moves 20 to 0; "
			 "800 [1] R -> 10; 810 [1] S -> 20; 820 [1] S -> idle");
	tl = fake_run(tape);
	task = fake_task(tl, 10, 0);
	ok(task->wakeups == 1 && !task->delays && task->cpu_time == 10,
	   "a task that is woken on a CPU that is not recorded does not wait");
	task = fake_task(tl, 20, 0);
	ok(task->migrations == 1 && task->delays == 1 && task->delay_max == 10 &&
	   task->cpu_time == 20, "nor does one that is moved there");
}

TEST_MAIN
