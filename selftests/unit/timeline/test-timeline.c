// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: what a timeline concludes from events: run time, bursts, sleeps, wake-ups and
 * their wakers, forks, exits, reuse of PIDs.
 */
#include "timelines.h"
#include "tap.h"

#define R STAPE_STATE_RUNNING
#define S STAPE_STATE_SLEEPING
#define X STAPE_STATE_DEAD

TEST(ping_pong)
{
	const struct schedtape_task *ping, *pong;

	fake_begin(1000, 2000);
	fake_info(tape, 10, "ping", S, 0);
	fake_info(tape, 20, "pong", S, 0);
	fake_story(tape, "1100 [0] irq wakes 10; 1110 [0] R -> 10; 1150 [0] wakes 20; "
			 "1200 [0] S -> 20; 1250 [0] wakes 10; 1300 [0] S -> 10; "
			 "1310 [0] S -> idle");
	tl = fake_run(tape);
	ping = fake_task(tl, 10, 0);
	pong = fake_task(tl, 20, 0);

	ok(ping->cpu_time == 100 && pong->cpu_time == 100, "CPU time");
	ok(ping->bursts == 2 && pong->bursts == 1, "bursts");
	ok(ping->sleeps == 2 && pong->sleeps == 1, "sleeps");
	ok(ping->wakeups == 2 && ping->wakeups_by_task == 1, "an interrupt is not a task");
	ok(pong->wakeups == 1 && pong->wakeups_by_task == 1, "a sleep from before the start ends");
	ok(fake_edge(tl, 10, 20) == 1 && fake_edge(tl, 20, 10) == 1, "each task wakes the other");
	ok(ping->delays == 2 && ping->delay_total == 60 && ping->delay_max == 50 &&
	   ping->delay_max_time == 1300, "delay");
	ok(ping->from_start && !ping->exited && ping->start == 1000 && ping->end == 2000,
	   "alive all the time");
	ok(ping->process == ping->index && ping->parent == SCHEDTAPE_NONE, "a process, no parent");
}

TEST(preemption)
{
	const struct schedtape_task *task;

	fake_begin(0, 1000);
	fake_story(tape, "100 [0] irq wakes 10; 100 [0] R -> 10; 200 [0] R -> idle; "
			 "210 [1] moves 10 to 1; 250 [1] R -> 10; 300 [1] T -> idle; "
			 "400 [0] irq wakes 10; 400 [0] R -> 10");
	tl = fake_run(tape);
	task = fake_task(tl, 10, 0);

	ok(task->preemptions == 1 && task->migrations == 1, "preempted and moved");
	ok(task->bursts == 2, "a preemption splits no burst, the end ends one");
	ok(task->stops == 1 && task->sleeps == 0, "a stop is no sleep");
	ok(task->wakeups == 2, "it ends like one");
	ok(task->delay_max == 50 && task->delays == 3, "waits after a preemption, too");
	ok(task->cpu_time == 150 + 600, "runs until the end");
}

TEST(early_waking)
{
	const struct schedtape_task *task;

	fake_begin(0, 1000);
	fake_story(tape, "10 [0] R -> 10; 10 [1] R -> 20");
	/* Both before the switch-out: it never slept. */
	fake_story(tape, "100 [1] wakes 10; 150 [0] R -> idle; 160 [0] R -> 10");
	/*
	 * The waking is before the switch-out, the wakeup after it, on another CPU: real, and
	 * by 20.
	 */
	fake_story(tape, "200 [1] waking 10; 210 [0] S -> idle; 220 [0] woken 10; 230 [0] R -> 10");
	/* It wakes itself, and an interrupt on its CPU wakes it: neither counts. */
	fake_story(tape, "300 [0] wakes 10; 310 [0] irq wakes 10");
	/* An interrupt on 20's CPU: external. */
	fake_story(tape, "320 [0] S -> idle; 330 [1] softirq wakes 10");
	/* It wakes itself between another task's waking and wakeup: these two belong together. */
	fake_story(tape, "340 [0] R -> 10; 350 [1] waking 10; 355 [0] wakes 10; 360 [0] S -> idle; "
			 "370 [1] woken 10");
	tl = fake_run(tape);
	task = fake_task(tl, 10, 0);

	ok(task->wakeups == 3 && task->wakeups_by_task == 2, "only those that end a sleep");
	ok(fake_edge(tl, 20, 10) == 2, "the waker is the one of the waking");
	ok(task->sleeps == 3 && task->bursts == 3, "sleeps that were");
	ok(fake_task(tl, 20, 0)->cpu_time == 990, "the waker ran on");
}

/* 20 begins to wake 10, but no wakeup follows; then an interrupt wakes 10. */
TEST(waking_without_wakeup)
{
	fake_begin(0, 1000);
	fake_info(tape, 10, "sleeps", S, 0);
	fake_story(tape, "10 [1] R -> 20; 100 [1] waking 10; 200 [1] irq wakes 10");
	tl = fake_run(tape);
	ok(fake_task(tl, 10, 0)->wakeups == 1 && !fake_task(tl, 10, 0)->wakeups_by_task &&
	   !fake_edge(tl, 20, 10), "a waker is forgotten when something else wakes its wakee");
}

/* Each line: the times when it becomes runnable and when it runs. */
TEST(longest_delay)
{
	static const struct { uint64_t from, to; } delays[] = {
		{ 100, 130 }, { 200, 250 }, { 300, 350 }, { 400, 410 },
	};
	const struct schedtape_task *life;
	size_t i;

	fake_begin(0, 1000);
	fake_info(tape, 10, "waits", S, 0);
	fake_info(tape, 20, "does not", S, 1);
	for (i = 0; i < sizeof(delays) / sizeof(*delays); i++) {
		fake_wake(tape, delays[i].from, 0, 10, STAPE_CTX_HARDIRQ);
		fake_switch(tape, delays[i].to, 0, R, 10);
		fake_switch(tape, delays[i].to + 20, 0, S, 0);
	}
	fake_story(tape, "500 [1] irq wakes 20; 500 [1] R -> 20");
	tl = fake_run(tape);
	life = fake_task(tl, 10, 0);
	ok(life->delay_max == 50 && life->delay_max_time == 250,
	   "of equally long delays the first is kept");
	life = fake_task(tl, 20, 0);
	ok(life->delays == 1 && !life->delay_max && life->delay_max_time == 500,
	   "a delay of 0 has a time, too");
}

TEST(fork_and_reuse)
{
	const struct schedtape_task *parent, *child, *thread, *second, *third;

	fake_begin(0, 1000);
	fake_info(tape, 10, "sh", R, 0);
	tape->curr[0] = 10;
	fake_story(tape, "100 [0] forks 30; 110 [1] R -> 30; 120 [1] names 30 make; "
			 "130 [1] forks thread 31; 200 [1] exit 30; 210 [1] S -> idle; "
			 "220 [0] wakes 30; 230 [1] R -> 30");
	/* Its parent has reaped it already: another task gets the PID before it leaves the CPU. */
	fake_story(tape, "240 [0] forks 30; 250 [1] X -> 30; 300 [1] S -> idle");
	/* The end of the second 30 is lost. */
	fake_fork(tape, 400, 0, 30, false);
	tl = fake_run(tape);
	parent = fake_task(tl, 10, 0);
	child = fake_task(tl, 30, 0);
	thread = fake_task(tl, 31, 0);
	second = fake_task(tl, 30, 1);
	third = fake_task(tl, 30, 2);

	ok(child->parent == parent->index && !child->from_start && !child->thread, "a child");
	ok(!strcmp(child->first_comm, "sh") && !strcmp(child->comm, "make"), "its names");
	ok(child->exited && child->end == 250 && child->start == 100, "its exit");
	ok(child->cpu_time == 100 + 20 && child->bursts == 2 && child->sleeps == 1,
	   "it runs and sleeps after its exit has begun");
	ok(child->wakeups == 1 && child->delays == 2, "a new task's first time is no wake-up");
	ok(thread->thread && thread->process == child->index && !strcmp(thread->comm, "make"),
	   "its thread");
	ok(thread->bursts == 0 && thread->cpu_time == 0 && !thread->exited, "which never ran");
	ok(thread->tgid == 30, "thread group");
	ok(second != child && second->cpu_time == 50 && second->start == 240 &&
	   second->exited && second->end == 400, "a PID used again is another task");
	ok(third->start == 400 && !third->exited, "and again");
	ok(parent->cpu_time == 1000 && parent->bursts == 1,
	   "the parent ran from the start to the end, without a switch");
}

/* From Linux 6.16 on a task frees its memory after its EXIT: it may sleep and wake others. */
TEST(after_exit)
{
	const struct schedtape_task *task, *joiner;

	fake_begin(0, 1000);
	fake_info(tape, 10, "ends", R, 0);
	fake_info(tape, 20, "joins", S, 1);
	fake_story(tape, "100 [0] R -> 10; 150 [0] exit 10; 160 [0] wakes 20; 165 [1] R -> 20; "
			 "200 [0] D -> idle; 300 [1] wakes 10; 310 [1] moves 10 to 2; "
			 "320 [2] R -> 10; 350 [2] R -> idle; 360 [2] R -> 10; 400 [2] X -> idle; "
			 "500 [1] S -> idle");
	tl = fake_run(tape);
	task = fake_task(tl, 10, 0);
	joiner = fake_task(tl, 20, 0);

	ok(task->cpu_time == 100 + 30 + 40, "runs until its last switch, not until its EXIT");
	ok(task->bursts == 2 && task->sleeps == 1 && task->preemptions == 1,
	   "bursts and sleeps behind an EXIT");
	ok(task->wakeups == 1 && task->wakeups_by_task == 1 && fake_edge(tl, 20, 10) == 1,
	   "woken behind its EXIT");
	ok(task->delays == 2 && task->delay_total == 30, "and waits for a CPU");
	ok(joiner->wakeups_by_task == 1 && fake_edge(tl, 10, 20) == 1, "wakes behind its EXIT");
	ok(task->exited && task->end == 400, "ends with its last switch");
	ok(!fake_task(tl, 10, 1)->pid, "no other task has its PID");
}

/*
 * With proxy execution a task that blocks on a mutex stays on its run queue. The kernel moves
 * it without a MIGRATE, and only its next switch-in shows its CPU.
 */
TEST(proxy)
{
	const struct schedtape_task *task;

	fake_begin(0, 1000);
	fake_info(tape, 10, "waits", R, 0);
	fake_info(tape, 20, "owns", R, 1);
	fake_story(tape, "100 [0] R -> 10; 100 [1] R -> 20");
	fake_switch(tape, 200, 0, STAPE_SWITCH_PROXY | STAPE_STATE_BLOCKED, 0);
	fake_story(tape, "300 [1] wakes 10; 310 [1] R -> 10");
	/* It blocks again, and runs on another CPU without a wake-up. */
	fake_switch(tape, 400, 1, STAPE_SWITCH_PROXY | STAPE_STATE_BLOCKED, 20);
	fake_story(tape, "500 [2] R -> 10; 600 [2] S -> idle; 700 [1] S -> idle");
	tl = fake_run(tape);
	task = fake_task(tl, 10, 0);

	ok(task->cpu_time == 100 + 90 + 100, "a task runs where a switch says, without a MIGRATE");
	ok(task->sleeps == 3 && task->bursts == 3 && task->slept_as == S && !task->migrations,
	   "a switch's state is read beside the bit of proxy execution");
	ok(task->wakeups == 2 && task->wakeups_by_task == 1 && fake_edge(tl, 20, 10) == 1,
	   "woken by the mutex's owner, and once by nobody");
	ok(fake_task(tl, 20, 0)->cpu_time == 210 + 300, "the owner has the time in which it ran");
}

static void test_exec(bool early)
{
	const struct schedtape_task *leader, *task;
	size_t n;

	fake_begin(0, 1000);
	fake_story(tape, "10 [0] R -> 50; 100 [0] forks thread 51; 110 [1] R -> 51; "
			 "150 [0] exit 50; 160 [0] X -> idle");
	if (early) {
		/* It is preempted after it has the PID, and before the event. */
		fake_story(tape, "170 [1] R -> idle; 180 [1] R -> 50");
	}
	fake_exec(tape, 200, 1, 50, 51);
	fake_story(tape, "210 [1] names 50 new; 300 [1] S -> idle; 400 [1] irq wakes 50; "
			 "410 [1] R -> 50; 450 [1] exit 50; 460 [1] X -> idle");
	tl = fake_run(tape);
	leader = fake_task(tl, 50, 0);
	task = fake_task(tl, 50, 1);
	schedtape_timeline_tasks(tl, &n);

	ok(n == 2 && leader->exited && leader->end == 160 && leader->cpu_time == 150,
	   "the leader is over%s", early ? ", early" : "");
	ok(task->parent == leader->index && task->process == task->index && task->pid == 50 &&
	   !strcmp(task->comm, "new") && task->exited, "the thread goes on under its PID");
	ok(task->cpu_time == (early ? 180 : 190) + 50 && task->bursts == 2 && task->wakeups == 1,
	   "all that it did is its own");
}

/* The last thread follows its dead leader on the same CPU, with the same PID. */
TEST(exec_at_once)
{
	fake_begin(0, 1000);
	fake_story(tape, "10 [0] R -> 50; 20 [0] forks thread 51; 30 [0] R -> 51; 40 [0] R -> 50; "
			 "50 [0] exit 50; 60 [0] X -> 50");
	fake_exec(tape, 70, 0, 50, 51);
	fake_switch(tape, 80, 0, S, 0);
	tl = fake_run(tape);
	ok(fake_task(tl, 50, 0)->exited && fake_task(tl, 50, 0)->end == 60 &&
	   fake_task(tl, 50, 1)->cpu_time == 10 + 20 && fake_task(tl, 50, 1)->thread,
	   "a leader that is followed by its own PID");
}

/* Dead leaders with one thread each: a search for it among all tasks would take minutes. */
TEST(exec_many)
{
	const struct schedtape_task *tasks;
	size_t i, n, over = 0;

	fake_begin(0, 10000000);
	for (i = 0; i < 2 * 200000; i += 2) {
		fake_event(tape, 10 + i, 0, STAPE_EV_FORK, 10 + i, 0);
		fake_switch(tape, 10 + i, 0, R, 10 + i);
		fake_event(tape, 10 + i, 0, STAPE_EV_FORK, 11 + i, STAPE_FORK_THREAD);
		fake_event(tape, 10 + i, 0, STAPE_EV_EXIT, 10 + i, 0);
		fake_switch(tape, 11 + i, 0, X, 0);
	}
	for (i = 0; i < 2 * 200000; i += 2)
		fake_wakeup(tape, 1000000, 0, 10 + i);
	tl = fake_run(tape);
	tasks = schedtape_timeline_tasks(tl, &n);
	for (i = 0; i + 1 < n; i += 2)
		over += tasks[i].exited && tasks[i + 1].process == i + 1 &&
			tasks[i + 1].pid == tasks[i].pid;
	ok(n == 2 * 200000 && over == 200000, "200,000 threads have their leaders' PIDs");
}

/* A thread's description names another group than its creator's, to which it was counted. */
TEST(exec_regrouped)
{
	fake_begin(0, 1000);
	fake_info(tape, 40, "leader", S, 1);
	fake_switch(tape, 10, 0, R, 50);
	fake_event(tape, 20, 0, STAPE_EV_FORK, 51, STAPE_FORK_THREAD);
	fake_event(tape, 30, 0, STAPE_EV_FORK, 52, STAPE_FORK_THREAD);
	fake_describe(tape, 40, 0, 52, STAPE_TASK_EXITS, "other", 0)->tgid = 40;
	fake_story(tape, "50 [0] exit 50; 60 [0] X -> idle; 70 [0] woken 50");
	tl = fake_run(tape);
	ok(fake_task(tl, 50, 1)->parent == fake_task(tl, 50, 0)->index,
	   "it is not counted to that any more");
}

TEST(start)
{
	const struct schedtape_task *task;
	size_t n;

	fake_begin(100, 1000);
	fake_info(tape, 1, "asleep", S, 0);
	fake_info(tape, 2, "wrong", S, 0);	/* the stream says that it is runnable */
	fake_info(tape, 3, "ready", R, 0);	/* woken although it does not sleep */
	fake_info(tape, 4, "hog", R, 5);	/* no event at all on its CPU */
	fake_info(tape, 5, "late", R, 0)->time = 300;	/* described after its wake-up */
	fake_info(tape, 7, "child", R, 0)->time = 300;	/* described after its fork */
	fake_info(tape, 8, "thread", S, 0)->tgid = 9;
	fake_info(tape, 9, "leader", S, 0);
	fake_info(tape, 13, "gone", S, 0);	/* its end is not recorded, its PID is reused */
	tape->curr[1] = 6;			/* not described at all */
	fake_story(tape, "200 [1] wakes 3; 200 [1] wakes 5; 210 [0] R -> 2; 220 [1] forks 7; "
			 "225 [1] forks 13; 230 [0] S -> 3; 240 [0] S -> idle; 250 [1] S -> idle");
	tl = fake_run(tape);
	schedtape_timeline_tasks(tl, &n);

	ok(n == 11, "as many tasks as there were");
	ok(fake_task(tl, 13, 0)->from_start && fake_task(tl, 13, 0)->end == 225 &&
	   !fake_task(tl, 13, 1)->from_start, "a fork takes the PID of a task from the start");
	task = fake_task(tl, 1, 0);
	ok(task->from_start && !task->cpu_time && !task->bursts && task->start == 100 &&
	   task->end == 1000, "a task that sleeps all the time");
	task = fake_task(tl, 2, 0);
	ok(task->cpu_time == 20 && !task->wakeups && task->sleeps == 1 && !task->delays,
	   "the stream wins against a description");
	ok(fake_task(tl, 3, 0)->wakeups == 0,
	   "a wake-up of a task that was described as runnable does not count");
	ok(fake_task(tl, 4, 0)->cpu_time == 900 && fake_task(tl, 4, 0)->bursts == 1,
	   "a task that ran alone, with no event");
	ok(fake_task(tl, 5, 0)->wakeups == 1 && fake_edge(tl, 6, 5) == 1,
	   "a description that is later than the event says nothing");
	task = fake_task(tl, 6, 0);
	ok(task->from_start && !task->info && task->cpu_time == 150 && task->start == 100,
	   "a task without a description ran from the start");
	task = fake_task(tl, 7, 0);
	ok(!task->from_start && task->parent == fake_task(tl, 6, 0)->index && task->start == 220,
	   "a fork whose child was described later is a fork");
	task = fake_task(tl, 8, 0);
	ok(task->thread && task->process == fake_task(tl, 9, 0)->index &&
	   task->tgid == 9 && task->process < task->index, "a thread described before its leader");
}

TEST(loss)
{
	const struct schedtape_task *task;

	fake_begin(0, 2000);
	fake_story(tape, "100 [0] R -> 10; 100 [1] R -> 20; 110 [2] R -> 30");
	fake_switch(tape, 150, 2, R, 0);		/* 30 is runnable */
	fake_switch(tape, 160, 3, R, 40);
	fake_switch(tape, 170, 3, R, 0);		/* 40, too */
	fake_loss(tape, 200, 500, 0, 7, 11);		/* 10 ran here, now 11 does */
	fake_wake(tape, 600, 1, 10, STAPE_CTX_TASK);	/* 10 has blocked in the loss */
	fake_switch(tape, 610, 2, R, 30);		/* may have run in the loss */
	fake_wake(tape, 620, 1, 40, STAPE_CTX_TASK);	/* was asleep, so it has run */
	fake_story(tape, "630 [3] R -> 40; 700 [0] S -> 10; 800 [0] S -> idle");
	fake_switch(tape, 900, 0, R, 10);		/* without a wake-up */
	tl = fake_run(tape);

	task = fake_task(tl, 10, 0);
	ok(task->cpu_time == 100 + 100 + 1100,
	   "the task that runs before a loss has run until its beginning");
	ok(task->wakeups == 2 && task->wakeups_by_task == 1 && task->sleeps == 2 &&
	   task->bursts == 3, "a sleep in a loss shows by its end");
	ok(fake_task(tl, 11, 0)->cpu_time == 200,
	   "the task that runs after a loss has run since its end");
	ok(fake_task(tl, 30, 0)->delays == 0, "no wait across a loss is counted");
	ok(task->delays == 1 && task->delay_max == 100, "waits after it are");
	ok(fake_task(tl, 40, 0)->wakeups == 1 && fake_task(tl, 40, 0)->delay_max == 10,
	   "a wake-up after a loss is real");
}

TEST(two_places)
{
	const struct schedtape_task *task;

	fake_begin(0, 1000);
	fake_switch(tape, 100, 0, R, 10);
	/* The clocks of the CPUs differ by 1: it arrives before it leaves. */
	fake_story(tape, "200 [1] R -> 10; 201 [0] R -> idle; 300 [1] S -> idle");
	/* No event says that it left: the next one shows another task on its CPU. */
	fake_switch(tape, 400, 2, R, 20);
	tape->curr[2] = 21;
	fake_story(tape, "500 [2] wakes 10; 600 [2] S -> idle");
	/* After a loss it is back on the CPU on which it once seemed to be. */
	fake_loss(tape, 700, 800, 0, 1, 10);
	fake_switch(tape, 900, 0, S, 0);
	tl = fake_run(tape);
	task = fake_task(tl, 10, 0);

	ok(task->cpu_time == 200 + 100 && task->sleeps == 2, "never on two CPUs at once");
	ok(fake_task(tl, 20, 0)->cpu_time == 0 && fake_task(tl, 21, 0)->cpu_time == 100,
	   "a switch-in that the next event contradicts does not count");
	ok(fake_edge(tl, 21, 10) == 1, "the waker is the current task of the event");
}

TEST(rename)
{
	fake_begin(0, 1000);
	fake_info(tape, 10, "one", R, 0);
	fake_info(tape, 20, "two", S, 0);
	fake_switch(tape, 100, 0, R, 10);
	fake_rename(tape, 200, 0, 20, "other");		/* through /proc */
	fake_rename(tape, 300, 0, 30, "unknown");
	tl = fake_run(tape);
	ok(!strcmp(fake_task(tl, 20, 0)->comm, "other") &&
	   !strcmp(fake_task(tl, 20, 0)->first_comm, "two"), "renamed by another task");
	ok(!strcmp(fake_task(tl, 10, 0)->comm, "one"),
	   "a task that renames another one keeps its own name");
	ok(!strcmp(fake_task(tl, 30, 0)->first_comm, "unknown"), "a first name");
}

int main(void)
{
	tap_run();
	test_exec(false);
	test_exec(true);
	return tap_done();
}
