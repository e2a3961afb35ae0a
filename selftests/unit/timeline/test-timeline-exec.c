// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: a thread that calls execve() and its leader, which swap their PIDs, stay two tasks
 * in whatever order the tape shows it; and so do a thread and a leader that ended before it.
 */
#include "timelines.h"
#include "tap.h"

#define R	STAPE_STATE_RUNNING
#define S	STAPE_STATE_SLEEPING
#define X	STAPE_STATE_DEAD

#define LEADER	50
#define THREAD	51
#define EXITS	STAPE_TASK_EXITS

/* The leader runs on CPU 0, and its thread on CPU 1. */
static void begin(void)
{
	fake_begin(0, 1000);
	fake_info(tape, LEADER, "old", R, 0)->start_time = 5;
	tape->tasks[0].ns_pid = 7;
	fake_switch(tape, 10, 0, R, LEADER);
	fake_described_fork(tape, 20, THREAD, LEADER);
	tape->events[tape->nr - 1].arg = STAPE_FORK_THREAD;
	fake_event(tape, 20, 0, STAPE_EV_WAKEUP_NEW, THREAD, 1);
	fake_switch(tape, 30, 1, R, THREAD);
}

static void exits(uint64_t time, uint32_t pid)
{
	fake_describe(tape, time, FAKE_NONE, pid, EXITS, pid == LEADER ? "" : "old",
		      pid == LEADER ? 5 : 0)->tgid = LEADER;
	fake_event(tape, time, FAKE_NONE, STAPE_EV_EXIT, pid, 0);
}

/* The thread has its new PID: it sleeps, runs and ends under that. */
static void go_on(bool succeeds)
{
	fake_rename(tape, 110, FAKE_NONE, LEADER, "new");
	fake_switch(tape, 120, 1, S, 0);
	fake_wake(tape, 130, 1, LEADER, STAPE_CTX_HARDIRQ);
	fake_switch(tape, 140, 1, R, LEADER);
	if (succeeds)
		fake_exec(tape, 150, FAKE_NONE, LEADER, THREAD);
}

static void finish(void)
{
	exits(190, LEADER);
	fake_switch(tape, 200, 1, X, 0);
}

/* @end: of the leader; @cpu_time: that it has had */
static void check(uint64_t end, uint64_t cpu_time, const char *name)
{
	const struct schedtape_task *leader, *thread;

	tl = fake_run(tape);
	leader = fake_task(tl, LEADER, 0);
	thread = fake_task(tl, LEADER, 1);
	ok(fake_count(tl) == 2 && leader->exited && leader->end == end &&
	   leader->cpu_time == cpu_time && !strcmp(leader->comm, "old"), "%s: the leader", name);
	ok(thread->thread && thread->exited && thread->end == 200 && thread->start_time == 5 &&
	   thread->ns_pid == 7 && thread->cpu_time == 90 + 60 &&
	   thread->wakeups == 1 && thread->sleeps == 1 &&
	   !strcmp(thread->comm, "new") && !strcmp(thread->first_comm, "old"),
	   "%s: the thread", name);
}

TEST(orders)
{
	begin();
	exits(100, LEADER);
	fake_switch(tape, 105, 0, X, 0);
	go_on(true);
	finish();
	check(105, 95, "the new name comes before the execve()");

	begin();
	exits(100, LEADER);
	go_on(true);
	fake_switch(tape, 160, 0, X, 0);
	finish();
	check(160, 150, "the leader's last switch comes after it");

	/* The leader is preempted, and goes on with the PID of the thread. */
	begin();
	exits(100, LEADER);
	fake_switch(tape, 102, 0, R, 0);
	fake_switch(tape, 104, 0, R, THREAD);
	fake_switch(tape, 106, 0, X, 0);
	go_on(true);
	finish();
	check(106, 94, "the leader runs with the thread's PID before the thread shows");

	begin();
	exits(100, LEADER);
	fake_switch(tape, 102, 0, R, 0);
	fake_rename(tape, 110, FAKE_NONE, LEADER, "new");
	fake_switch(tape, 112, 0, R, THREAD);
	fake_switch(tape, 114, 0, X, 0);
	go_on(true);
	finish();
	check(114, 94, "the leader runs with the thread's PID");

	/* The kernel forgets the thread's PID, so no last switch comes. */
	begin();
	exits(100, LEADER);
	fake_switch(tape, 102, 0, R, 0);
	go_on(true);
	finish();
	check(150, 92, "the leader has no last switch");

	/* The thread gets another CPU while its leader still runs. */
	begin();
	exits(100, LEADER);
	fake_switch(tape, 120, 1, S, 0);
	fake_switch(tape, 140, 2, R, LEADER);
	fake_rename(tape, 145, FAKE_NONE, LEADER, "new");
	fake_exec(tape, 150, FAKE_NONE, LEADER, THREAD);
	fake_switch(tape, 160, 0, X, 0);
	exits(190, LEADER);
	fake_switch(tape, 200, 2, X, 0);
	check(160, 150, "a switch to its PID is before the new name");
}

/* An execve() that fails after the swap kills the thread, and has no event. */
TEST(failure)
{
	begin();
	exits(100, LEADER);
	fake_switch(tape, 105, 0, X, 0);
	go_on(false);
	finish();
	check(105, 95, "an execve() that fails");

	begin();
	exits(100, LEADER);
	go_on(false);
	exits(190, LEADER);
	fake_story(tape, "195 [0] X -> idle; 200 [1] X -> idle");
	check(195, 185, "an execve() that fails before the leader's last switch");
}

/* A leader that has ended, and whose thread goes on, keeps its PID. */
TEST(zombie)
{
	const struct schedtape_task *thread;

	begin();
	exits(100, LEADER);
	fake_switch(tape, 105, 0, X, 0);
	fake_prio(tape, 110, FAKE_NONE, LEADER, 0, 7, 0);
	fake_affinity(tape, 110, FAKE_NONE, LEADER, 1);
	fake_describe(tape, 112, FAKE_NONE, LEADER, STAPE_TASK_MOVES, "old", 5)->cgroup = 9;
	fake_rename(tape, 115, FAKE_NONE, LEADER, "other");
	fake_switch(tape, 120, 1, S, 0);
	fake_wake(tape, 130, 1, THREAD, STAPE_CTX_HARDIRQ);
	fake_switch(tape, 140, 1, R, THREAD);
	exits(190, THREAD);
	fake_switch(tape, 200, 1, X, 0);
	/* Both PIDs are used again. */
	fake_described_fork(tape, 300, LEADER, 60);
	fake_described_fork(tape, 300, THREAD, LEADER);
	tl = fake_run(tape);
	thread = fake_task(tl, THREAD, 0);
	ok(fake_count(tl) == 5 && thread->exited && thread->end == 200 && thread->tgid == LEADER &&
	   thread->process == fake_task(tl, LEADER, 0)->index && thread->cpu_time == 150 &&
	   !thread->nice && !thread->cgroup, "a thread that outlives its leader keeps its PID");
	ok(!fake_task(tl, LEADER, 1)->exited && !fake_task(tl, LEADER, 1)->thread &&
	   fake_task(tl, THREAD, 1)->parent == fake_task(tl, LEADER, 1)->index,
	   "the next tasks with their PIDs");
}

/* The leader ended before the recording began, and is described as dead. */
TEST(zombie_from_start)
{
	fake_begin(0, 1000);
	fake_info(tape, LEADER, "old", X, 0)->time = 15;
	fake_info(tape, THREAD, "old", R, 1)->tgid = LEADER;
	fake_switch(tape, 30, 1, R, THREAD);
	go_on(true);
	finish();
	tl = fake_run(tape);
	ok(fake_count(tl) == 2 && fake_task(tl, LEADER, 0)->exited &&
	   fake_task(tl, LEADER, 1)->cpu_time == 150 && fake_task(tl, LEADER, 1)->exited &&
	   !strcmp(fake_task(tl, LEADER, 1)->comm, "new"), "a leader that ended before the start");
}

/* A thread's process, as by vfork() or clone() with shared memory, is a process of its own. */
TEST(children)
{
	const struct schedtape_task *child;

	begin();
	fake_described_fork(tape, 40, 52, THREAD);
	exits(100, LEADER);
	fake_switch(tape, 105, 0, X, 52);
	fake_rename(tape, 110, FAKE_NONE, 52, "child");
	fake_exec(tape, 115, FAKE_NONE, 52, 52);
	fake_wake(tape, 118, 0, THREAD, STAPE_CTX_TASK);
	fake_switch(tape, 120, 1, S, 0);
	go_on(true);
	/* The PID that the thread had is used again. */
	fake_described_fork(tape, 160, THREAD, LEADER);
	finish();
	tl = fake_run(tape);
	child = fake_task(tl, 52, 0);
	ok(fake_count(tl) == 4 && child->parent == fake_task(tl, LEADER, 1)->index &&
	   child->process == child->index && !strcmp(child->comm, "child") && !child->exited,
	   "a child of a thread");
	ok(fake_task(tl, THREAD, 0)->parent == fake_task(tl, LEADER, 1)->index &&
	   !strcmp(fake_task(tl, THREAD, 0)->comm, "new") && !fake_task(tl, THREAD, 0)->thread,
	   "a child with the PID that the thread had");
}

TEST_MAIN
