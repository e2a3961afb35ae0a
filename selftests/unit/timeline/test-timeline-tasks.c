// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: how a timeline uses descriptions of tasks: tasks that enter and leave the
 * filter, the owner of a PID, names that come late, priorities; and pauses.
 */
#include "timelines.h"
#include "tap.h"

#define R STAPE_STATE_RUNNING
#define S STAPE_STATE_SLEEPING
#define X STAPE_STATE_DEAD

#define ENTERS STAPE_TASK_ENTERS
#define LEAVES STAPE_TASK_LEAVES
#define EXITS STAPE_TASK_EXITS

/* Start times of different tasks are this far apart, at least. */
#define MS 1000000

/* Loopback: the softirq that wakes 20 is charged to 10; the next one to no task. */
TEST(softirq)
{
	fake_begin(0, 1000);
	fake_story(tape, "100 [0] R -> 10; 110 [0] own softirq wakes 20; 120 [1] R -> 20; "
			 "130 [1] S -> idle; 140 [0] softirq wakes 20; 150 [1] R -> 20; "
			 "160 [1] S -> idle");
	fake_wake(tape, 170, 0, 20, STAPE_CTX_SOFTIRQ_TASK + 1);
	tl = fake_run(tape);
	ok(fake_edge(tl, 10, 20) == 1 && fake_task(tl, 20, 0)->wakeups_by_task == 1 &&
	   fake_task(tl, 20, 0)->wakeups == 3, "a softirq of the task's own is its doing");
}

TEST(enter)
{
	const struct schedtape_task *task;
	struct schedtape_event *ev;

	fake_begin(0, 1000);
	tape->curr[0] = 10;
	ev = fake_describe(tape, 200, 0, 30, ENTERS, "asleep", 5);
	ev->state = S;
	ev->ppid = 1;
	ev->ns_pid = 3;
	fake_describe(tape, 210, 0, 31, ENTERS, "thread", 6)->tgid = 30;
	fake_wake(tape, 250, 0, 31, STAPE_CTX_TASK);	/* it was awake: not counted */
	fake_switch(tape, 260, 1, R, 31);		/* has run all the time: no delay */
	fake_story(tape, "270 [1] S -> idle; 300 [0] wakes 30; 310 [1] R -> 30; 350 [1] S -> idle");
	tl = fake_run(tape);
	task = fake_task(tl, 30, 0);
	ok(fake_count(tl) == 3 && task->joined && !task->from_start && !task->left &&
	   task->start == 200 && task->end == 1000, "a task enters");
	ok(!strcmp(task->first_comm, "asleep") && !strcmp(task->comm, "asleep") &&
	   task->tgid == 30 && task->ppid == 1 && task->ns_pid == 3 && task->start_time == 5,
	   "the task has the name and the IDs of its description");
	ok(task->cpu_time == 40 && task->wakeups == 1 && task->wakeups_by_task == 1 &&
	   task->delays == 1 && task->delay_max == 10, "one that slept is woken");
	task = fake_task(tl, 31, 0);
	ok(task->joined && task->thread && task->tgid == 30 &&
	   task->process == fake_task(tl, 30, 0)->index, "so does a thread");
	ok(!task->wakeups && !task->delays && task->cpu_time == 10 && task->sleeps == 1,
	   "one that was awake is not");
	ok(fake_task(tl, 10, 0)->from_start && !fake_task(tl, 10, 0)->joined, "others were there");
}

/* A task that enters the filter during its fork is described before the fork. */
TEST(enter_newborn)
{
	const struct schedtape_task *task;

	fake_begin(0, 1000);
	fake_describe(tape, 190, 1, 10, ENTERS, "parent", 4);
	fake_switch(tape, 195, 0, R, 10);
	fake_describe(tape, 200, 1, 30, ENTERS, "child", 5)->state = S;
	fake_event(tape, 210, 0, STAPE_EV_FORK, 30, 0);
	fake_event(tape, 220, 0, STAPE_EV_WAKEUP_NEW, 30, 0);
	fake_story(tape, "230 [0] S -> 30; 250 [0] S -> idle");
	tl = fake_run(tape);
	task = fake_task(tl, 30, 0);
	ok(fake_count(tl) == 2 && task->joined && task->start == 200 && task->start_time == 5 &&
	   !task->exited, "one that enters while it is being forked is one");
	ok(!task->wakeups && task->cpu_time == 20 && task->delay_max == 10 && task->sleeps == 1,
	   "and wakes up for the first time");
}

TEST(leave)
{
	const struct schedtape_task *task;

	fake_begin(0, 1000);
	fake_info(tape, 10, "a", S, 0)->start_time = 5;
	fake_info(tape, 20, "b", S, 0)->start_time = 6;
	fake_story(tape, "100 [0] R -> 10; 100 [1] R -> 20; 140 [1] S -> idle");
	/* It still runs: its CPU's stream has it until the next switch. */
	fake_describe(tape, 150, 1, 10, LEAVES, "a", 5);
	fake_story(tape, "160 [0] wakes 20; 170 [0] S -> idle");
	fake_describe(tape, 500, 1, 10, ENTERS, "a", 5)->state = S;
	fake_story(tape, "600 [1] irq wakes 10; 610 [0] R -> 10; 620 [0] S -> idle");
	fake_describe(tape, 700, 1, 10, LEAVES, "a", 5);
	tl = fake_run(tape);
	task = fake_task(tl, 10, 0);
	ok(fake_count(tl) == 2, "a task that leaves and comes back is the same task");
	ok(task->cpu_time == 50 + 10, "time in between is not its own");
	ok(task->bursts == 2 && task->sleeps == 1 && !task->preemptions && task->wakeups == 1 &&
	   task->delays == 1, "bursts, sleeps and wake-ups in between do not count");
	ok(task->from_start && !task->joined && task->left && !task->exited && task->end == 700,
	   "it is out, not over");
	ok(fake_task(tl, 20, 0)->wakeups_by_task == 0 && fake_task(tl, 20, 0)->wakeups == 1,
	   "a task outside the filter wakes no other task");
}

/* Leaves and enters again while it runs: no switch shows that it is back. */
TEST(leave_running)
{
	const struct schedtape_task *task;

	fake_begin(0, 1000);
	fake_switch(tape, 100, 0, R, 10);
	fake_describe(tape, 200, 1, 10, LEAVES, "a", 5);
	fake_describe(tape, 300, 1, 10, ENTERS, "a", 5);
	fake_switch(tape, 400, 0, S, 0);
	/* Back without a description: the timeline takes it as back. */
	fake_describe(tape, 500, 1, 10, LEAVES, "a", 5);
	fake_story(tape, "600 [0] R -> 10; 650 [0] S -> idle");
	fake_describe(tape, 700, 1, 10, LEAVES, "a", 5);
	fake_wake(tape, 800, 1, 10, STAPE_CTX_HARDIRQ);
	tl = fake_run(tape);
	task = fake_task(tl, 10, 0);
	ok(fake_count(tl) == 1 && task->cpu_time == 100 + 100 + 50, "it ran on when it was back");
	ok(!task->left && task->wakeups == 1 && task->end == 1000, "the stream has the last word");
}

TEST(reuse)
{
	const struct schedtape_task *first, *second;

	fake_begin(0, 100 * MS);
	fake_describe(tape, 10, 0, 30, ENTERS, "one", 5);
	fake_describe(tape, 20, 0, 30, LEAVES, "one", 5);
	fake_describe(tape, 30, 0, 30, ENTERS, "two", 25);
	fake_switch(tape, 40, 0, R, 30);
	/* A fork whose time matches its description, and one that is lost. */
	fake_fork(tape, 10 * MS, 0, 31, false);
	fake_describe(tape, 11 * MS, 0, 31, EXITS, "late", 10 * MS - 50)->ppid = 30;
	fake_describe(tape, 20 * MS, 0, 31, ENTERS, "other", 18 * MS);
	fake_fork(tape, 30 * MS, 0, 32, false);
	fake_describe(tape, 40 * MS, 0, 32, ENTERS, "other", 35 * MS);
	tl = fake_run(tape);
	first = fake_task(tl, 30, 0);
	second = fake_task(tl, 30, 1);
	ok(first != second && first->exited && first->end == 30 && !strcmp(first->comm, "one") &&
	   !first->cpu_time, "another start time is another task");
	ok(second->joined && second->start == 30 && !strcmp(second->comm, "two") &&
	   second->cpu_time == 100 * MS - 40, "which has the PID from then on");
	first = fake_task(tl, 31, 0);
	second = fake_task(tl, 31, 1);
	ok(first->parent == fake_task(tl, 30, 1)->index && first->start_time == 10 * MS - 50 &&
	   first->exited && first->end == 20 * MS, "a child was made just before its fork");
	ok(second->start == 20 * MS && second->start_time == 18 * MS &&
	   second->parent == SCHEDTAPE_NONE && fake_count(tl) == 6,
	   "a task that was made after the fork is not the child");
	ok(fake_task(tl, 32, 0)->end == 40 * MS && fake_task(tl, 32, 0)->ppid == 30,
	   "whether or not the child was ever described");
}

/* Overwritten rings: forks are lost, descriptions come at the end. */
TEST(late)
{
	const struct schedtape_task *task;
	struct schedtape_task_info *info;
	struct schedtape_event *ev;

	fake_begin(50 * MS, 100 * MS);
	info = fake_info(tape, 40, "next", S, 0);
	info->time = 101 * MS;
	info->start_time = 80 * MS;
	info = fake_info(tape, 41, "alive", S, 0);
	info->time = 101 * MS;
	info->start_time = 51 * MS + 500000;
	tape->curr[0] = 40;
	fake_story(tape, "55ms [0] forks thread 42; 56ms [0] S -> 39; 57ms [0] S -> 41; "
			 "58ms [0] S -> 40; 59ms [0] forks 43");
	ev = fake_describe(tape, 60 * MS, 0, 40, EXITS, "last", 49 * MS);
	ev->tgid = 39;
	ev->ppid = 7;
	ev->policy = 1;
	ev->rt_priority = 9;
	fake_story(tape, "60ms [0] exit 40; 61ms [0] X -> idle");
	ev = fake_describe(tape, 70 * MS, 0, 42, EXITS, "thread", 55 * MS);
	ev->tgid = 39;
	info = fake_info(tape, 45, "next", S, 0);
	info->time = 101 * MS;
	info->start_time = 80 * MS;
	fake_describe(tape, 71 * MS, 0, 45, ENTERS, "before", 66 * MS);
	fake_wake(tape, 72 * MS, 0, 46, STAPE_CTX_HARDIRQ);
	fake_describe(tape, 75 * MS, 0, 46, EXITS, "young", 65 * MS);
	tl = fake_run(tape);

	task = fake_task(tl, 40, 0);
	ok(task->from_start && task->exited && !strcmp(task->comm, "last") &&
	   !strcmp(task->first_comm, "last") && task->start_time == 49 * MS &&
	   !task->ppid && task->exit_ppid == 7, "the description at an exit identifies the task");
	ok(task->thread && task->tgid == 39 && task->process == fake_task(tl, 39, 0)->index,
	   "and its thread group");
	ok(task->prio_known && task->policy == 1 && task->rt_priority == 9 && !task->prio_changes,
	   "and its policy, which is no change");
	task = fake_task(tl, 40, 1);
	ok(task->start == 100 * MS && !task->from_start && !strcmp(task->comm, "next") &&
	   !task->cpu_time, "a description is not of a task that came before");
	task = fake_task(tl, 41, 0);
	ok(!strcmp(task->first_comm, "alive") && !task->from_start && task->start == 57 * MS &&
	   task->info, "a task whose fork is lost gets the description that its exit event has");
	task = fake_task(tl, 42, 0);
	ok(task->thread && task->tgid == 39 && task->process == fake_task(tl, 39, 0)->index &&
	   !strcmp(task->comm, "thread"), "a child of an unknown thread finds its group, too");
	ok(!fake_task(tl, 43, 0)->thread && fake_task(tl, 43, 0)->tgid == 43, "a process is one");
	ok(!fake_task(tl, 45, 0)->info && fake_task(tl, 45, 1)->info,
	   "a description is not of an older task that entered");
	ok(!strcmp(fake_task(tl, 46, 0)->comm, "young") && fake_task(tl, 46, 0)->from_start &&
	   !fake_task(tl, 46, 1)->pid, "a task with a lost fork may be younger than the recording");
}

/* A thread that calls execve() has its leader's PID and start time from then on. */
TEST(exec)
{
	fake_begin(0, 100 * MS);
	fake_info(tape, 50, "old", R, 0)->start_time = 5;
	fake_story(tape, "10 [0] R -> 50; 10ms [0] forks thread 51; 11ms [1] R -> 51");
	fake_describe(tape, 11 * MS, 1, 51, ENTERS, "old", 10 * MS - 50)->tgid = 50;
	fake_story(tape, "12ms [0] exit 50; 13ms [0] X -> idle");
	fake_exec(tape, 20 * MS, 1, 50, 51);
	fake_describe(tape, 30 * MS, 1, 50, EXITS, "old", 5);
	fake_story(tape, "30ms [1] exit 50; 31ms [1] X -> idle");
	tl = fake_run(tape);
	ok(fake_count(tl) == 2 && fake_task(tl, 50, 1)->start_time == 5 &&
	   fake_task(tl, 50, 1)->cpu_time == 20 * MS && fake_task(tl, 50, 1)->end == 31 * MS,
	   "a thread that calls execve() goes on under its leader's PID");

	/* The same, but the exec is lost. */
	fake_begin(0, 100 * MS);
	fake_info(tape, 50, "old", R, 0)->start_time = 5;
	fake_story(tape, "10 [0] R -> 50; 10ms [0] forks thread 51; 12ms [0] exit 50; "
			 "13ms [0] X -> idle");
	fake_describe(tape, 20 * MS, 1, 50, LEAVES, "old", 5);
	tl = fake_run(tape);
	ok(fake_count(tl) == 2 && fake_task(tl, 50, 1)->left,
	   "the last thread has its leader's PID, though its exec is lost");
}

static int count_identified(void *arg, const struct schedtape_task *task, uint64_t time)
{
	(void)task;
	(void)time;
	++*(unsigned int *)arg;
	return 0;
}

/* Only tasks that were not identified before. */
TEST(identified)
{
	static const struct schedtape_timeline_ops ops = {
		.size = sizeof(ops),
		.identified = count_identified,
	};
	unsigned int n = 0;

	fake_begin(0, 1000);
	fake_info(tape, 10, "known", R, 0);
	fake_story(tape, "10 [0] R -> 10; 20 [0] forks thread 11; 30 [0] forks 12");
	fake_describe(tape, 40, 0, 11, EXITS, "known", 5)->tgid = 10;
	fake_describe(tape, 40, 0, 12, EXITS, "known", 6);
	fake_describe(tape, 40, 0, 10, EXITS, "known", 0);
	if (schedtape_timeline_run(tape, &ops, &n, &tl, NULL))
		abort();
	ok(n == 0 && fake_task(tl, 11, 0)->ppid == fake_task(tl, 10, 0)->ppid &&
	   fake_task(tl, 12, 0)->ppid == 10, "an identified task is not reported again");
}

/* With CLONE_PARENT a task forks a child of its own parent. */
TEST(siblings)
{
	const struct schedtape_task *task;

	fake_begin(0, 1000);
	fake_info(tape, 10, "parent", R, 0);
	fake_info(tape, 20, "forker", R, 0)->ppid = 10;
	fake_switch(tape, 10, 0, R, 20);
	fake_event(tape, 20, 0, STAPE_EV_FORK, 21, STAPE_FORK_SIBLING);
	fake_event(tape, 30, 0, STAPE_EV_FORK, 22, 0);
	tl = fake_run(tape);
	task = fake_task(tl, 21, 0);
	ok(task->ppid == 10 && task->tgid == 21 && task->process == task->index &&
	   !strcmp(task->comm, "forker") && task->parent == fake_task(tl, 20, 0)->index,
	   "a process whose parent is that of its forker");
	ok(fake_task(tl, 22, 0)->ppid == 20, "and one of its own");
}

TEST(prio)
{
	const struct schedtape_task *task;

	fake_begin(0, 1000);
	fake_info(tape, 10, "a", R, 0)->nice = 5;
	fake_switch(tape, 100, 0, R, 10);
	fake_prio(tape, 110, 0, 10, 0, 5, 0);		/* a boost: nothing else changes */
	tape->events[tape->nr - 1].wish.slack = 1;	/* which is no change of priority */
	fake_prio(tape, 120, 0, 10, 1, 5, 20);
	fake_fork(tape, 130, 0, 11, false);
	fake_prio(tape, 140, 0, 10, 0, -3, 0);
	fake_prio(tape, 150, 0, 12, 2, 0, 7);
	fake_wake(tape, 160, 0, 13, STAPE_CTX_TASK);
	tl = fake_run(tape);
	task = fake_task(tl, 10, 0);
	ok(task->prio_known && task->prio_changes == 2 && task->policy == 0 && task->nice == -3 &&
	   !task->rt_priority, "changes are counted, the last one holds");
	task = fake_task(tl, 11, 0);
	ok(task->prio_known && !task->prio_changes && task->policy == 1 && task->rt_priority == 20,
	   "a child has its parent's");
	task = fake_task(tl, 12, 0);
	ok(task->prio_known && task->prio_changes == 1 && task->rt_priority == 7,
	   "a change of an unknown priority counts");
	ok(!fake_task(tl, 13, 0)->prio_known, "the priority of another task is not known");
}

TEST(pause)
{
	const struct schedtape_range *pauses;
	const struct schedtape_task *task;
	size_t n;

	fake_begin(0, 2000);
	fake_story(tape, "100 [0] R -> 10; 100 [1] R -> 20");
	fake_wake(tape, 150, 1, 30, STAPE_CTX_TASK);	/* is runnable */
	fake_pause(tape, 200, 500, 0, 10);
	fake_pause(tape, 205, 700, 1, 21);
	fake_story(tape, "710 [1] S -> 30; 750 [0] S -> idle; 760 [1] wakes 20");
	fake_pause(tape, 800, 900, 0, 0);
	tl = fake_run(tape);
	pauses = schedtape_timeline_pauses(tl, &n);
	ok(n == 2 && pauses[0].first == 205 && pauses[0].last == 500 && pauses[1].first == 800 &&
	   pauses[1].last == 900, "a pause lasts while all CPUs pause");
	ok(fake_task(tl, 10, 0)->cpu_time == 100 + 250, "time in a pause counts for no task");
	task = fake_task(tl, 20, 0);
	ok(task->cpu_time == 105 && task->wakeups == 1 && task->sleeps == 1,
	   "a sleep that began in it shows by its end");
	ok(fake_task(tl, 21, 0)->cpu_time == 10,
	   "the task that runs after a pause has run since its end");
	ok(fake_task(tl, 30, 0)->delays == 0, "no wait across it is counted");
}

/* Descriptions of tasks after a pause. */
TEST(described_again)
{
	const struct schedtape_task *task;
	static const struct {
		uint32_t pid;
		unsigned int state;
		const char *comm;
		uint64_t start_time;
	} later[] = {
		{ 10, S, "a", 1 }, { 11, R, "b", 2 }, { 12, S, "renamed", 3 },
		{ 13, S, "new", 300 * MS }, { 14, S, "other", 301 * MS }, { 15, S, "e", 6 },
		{ 16, R, "f", 7 }, { 17, S, "in", 150 * MS }, { 18, S, "same", 0 },
	};
	unsigned int i;

	fake_begin(0, 2000 * MS);
	fake_info(tape, 10, "a", S, 0)->start_time = 1;
	fake_info(tape, 11, "b", S, 0)->start_time = 2;
	fake_info(tape, 12, "c", S, 0)->start_time = 3;
	fake_info(tape, 14, "d", S, 0)->start_time = 5;
	fake_info(tape, 15, "e", S, 0)->start_time = 6;
	fake_info(tape, 17, "out", S, 0)->start_time = 8;
	fake_info(tape, 18, "same", R, 0);
	for (i = 0; i < sizeof(later) / sizeof(later[0]); i++) {
		struct schedtape_task_info *info = fake_info(tape, later[i].pid, later[i].comm,
							later[i].state, 0);

		info->time = 500 * MS;
		info->start_time = later[i].start_time;
	}
	fake_story(tape, "50ms [0] R -> 18; 90ms [0] X -> 16; 100ms [0] S -> 10; "
			 "110ms [0] wakes 12");
	fake_describe(tape, 160 * MS, 1, 17, ENTERS, "in", 150 * MS);
	fake_pause(tape, 200 * MS, 400 * MS, 0, 0);
	fake_switch(tape, 450 * MS, 1, R, 15);
	fake_switch(tape, 490 * MS, 1, R, 0);		/* after the pause: it counts */
	fake_story(tape, "600ms [1] irq wakes 11; 600ms [1] irq wakes 13; 600ms [1] irq wakes 16; "
			 "610ms [1] R -> 11; 620ms [1] R -> 15");
	tl = fake_run(tape);

	ok(fake_count(tl) == 12, "as many tasks as there were");
	task = fake_task(tl, 10, 0);
	ok(task->cpu_time == 100 * MS && task->sleeps == 1 && task->bursts == 1,
	   "a task that ran before a pause and sleeps after it fell asleep in it");
	task = fake_task(tl, 11, 0);
	ok(!task->wakeups && !task->delays, "a task that is described as awake is not woken");
	ok(fake_task(tl, 16, 0)->wakeups == 1 && fake_task(tl, 16, 0)->sleeps == 1,
	   "a task that slept before a pause and is awake after it was woken in it");
	ok(!strcmp(fake_task(tl, 12, 0)->first_comm, "c") &&
	   !strcmp(fake_task(tl, 12, 0)->comm, "renamed"), "another name");
	task = fake_task(tl, 13, 0);
	ok(!task->from_start && task->start == 500 * MS && !strcmp(task->comm, "new") &&
	   task->wakeups == 1, "a task that was made in it");
	ok(fake_task(tl, 14, 0)->exited && fake_task(tl, 14, 0)->end == 500 * MS &&
	   !strcmp(fake_task(tl, 14, 1)->comm, "other"), "and one that was made with a used PID");
	task = fake_task(tl, 15, 0);
	ok(!task->sleeps && !task->wakeups && task->delay_max == 130 * MS,
	   "an event after a pause counts more than a description");
	ok(fake_task(tl, 17, 1)->joined && fake_task(tl, 17, 1)->info &&
	   fake_task(tl, 17, 1)->info->start_time == 150 * MS,
	   "a task that entered before the pause is described, too");
	ok(fake_task(tl, 18, 0)->exited && !fake_task(tl, 18, 1)->from_start &&
	   fake_task(tl, 18, 1)->start == 500 * MS,
	   "a described task with a dead task's PID is a later one");
}

static int late_parents(void *arg, const struct schedtape_task *task,
			const struct schedtape_task *parent, uint64_t time)
{
	bool *known = arg;

	(void)parent;
	(void)time;
	if (task->pid == 30)
		*known = !task->ppid && task->exit_ppid == 1;
	return 0;
}

/*
 * 10 forks 20 and 21, and ends; they get 1 as their parent, which is not recorded for 21.  Of 30
 * only the end is described; 40 has a parent only in its second description, 41 in both.
 */
TEST(parents)
{
	const struct schedtape_timeline_ops born = { .size = sizeof(born), .born = late_parents };
	const struct schedtape_task *task;
	bool known = false;

	fake_begin(0, 1000 * MS);
	fake_info(tape, 10, "ten", S, 0)->ppid = 5;
	fake_info(tape, 40, "other", S, 0)->start_time = 2;
	fake_described_fork(tape, 100 * MS, 20, 10);
	fake_described_fork(tape, 100 * MS, 21, 10);
	fake_described_fork(tape, 100 * MS, 22, 10);
	fake_describe(tape, 200 * MS, FAKE_NONE, 10, EXITS, "ten", 0)->ppid = 5;
	fake_describe(tape, 300 * MS, FAKE_NONE, 20, EXITS, "ten", 100 * MS)->ppid = 1;
	fake_describe(tape, 300 * MS, FAKE_NONE, 21, EXITS, "ten", 100 * MS);
	fake_describe(tape, 300 * MS, FAKE_NONE, 30, EXITS, "other", 1)->ppid = 1;
	fake_switch(tape, 400 * MS, 0, R, 41);
	fake_describe(tape, 500 * MS, FAKE_NONE, 40, STAPE_TASK_MOVES, "other", 2)->ppid = 1;
	fake_describe(tape, 500 * MS, FAKE_NONE, 41, STAPE_TASK_MOVES, "other", 3)->ppid = 2;
	fake_describe(tape, 600 * MS, FAKE_NONE, 41, STAPE_TASK_MOVES, "other", 3)->ppid = 1;
	tl = fake_run(tape);
	task = fake_task(tl, 10, 0);
	ok(task->ppid == 5 && task->exit_ppid == 5, "a parent that stays");
	task = fake_task(tl, 20, 0);
	ok(task->ppid == 10 && task->exit_ppid == 1,
	   "one that ends before: another one at the end");
	ok(fake_task(tl, 21, 0)->ppid == 10 && !fake_task(tl, 21, 0)->exit_ppid,
	   "which is not recorded");
	ok(fake_task(tl, 22, 0)->ppid == 10 && fake_task(tl, 22, 0)->exit_ppid == SCHEDTAPE_NONE,
	   "without an end, it is not known");
	task = fake_task(tl, 30, 0);
	ok(!task->ppid && task->exit_ppid == 1, "the one at the end is not the first one");
	ok(!fake_task(tl, 40, 0)->ppid, "nor is one that a later description has");
	ok(fake_task(tl, 41, 0)->ppid == 2, "but the one of the first description is");
	schedtape_timeline_free(tl);
	schedtape_tape_rewind(tape, NULL);
	if (schedtape_timeline_run(tape, &born, &known, &tl, NULL))
		abort();
	ok(known, "a task that is first seen at its end is born with these");
}

static int count_regrouped(void *arg, const struct schedtape_task *task, uint64_t time)
{
	(void)task;
	(void)time;
	++*(unsigned int *)arg;
	return 0;
}

/* Autogroups that are listed, inherited, left by setsid(), and known by a description only. */
TEST(autogroups)
{
	const struct schedtape_timeline_ops ops = {
		.size = sizeof(ops), .regrouped = count_regrouped,
	};
	const struct schedtape_task *task;
	unsigned int n = 0;

	fake_begin(0, 1000);
	fake_info(tape, 10, "a", R, 0)->start_time = 5;
	tape->groups[tape->nr_groups++] = (struct schedtape_group){
		.start_time = 5, .pid = 10, .autogroup = 9, .nice = 3, .core = 7,
	};
	tape->groups[tape->nr_groups++] = (struct schedtape_group){
		.start_time = 4, .pid = 11, .autogroup = 8,
	};
	fake_story(tape, "100 [0] R -> 10; 110 [0] forks 11; 120 [0] forks 12");
	fake_describe(tape, 130, FAKE_NONE, 12, STAPE_TASK_REGROUPED, "a", 119)->autogroup = 12;
	fake_describe(tape, 140, FAKE_NONE, 13, ENTERS, "b", 6)->autogroup = 6;
	if (schedtape_timeline_run(tape, &ops, &n, &tl, NULL))
		abort();
	task = fake_task(tl, 10, 0);
	ok(task->autogroup == 9 && task->autogroup_nice == 3 && task->core == 7,
	   "a task is in the autogroup that is listed");
	task = fake_task(tl, 11, 0);
	ok(task->autogroup == 9 && task->autogroup_nice == 3 && task->core == 7,
	   "so is its child, although another task had its PID");
	task = fake_task(tl, 12, 0);
	ok(task->autogroup == 12 && task->autogroup_nice == SCHEDTAPE_NICE_UNKNOWN && !task->core,
	   "and not one with a session of its own");
	ok(fake_task(tl, 13, 0)->autogroup == 6 && n == 1, "which is the only change");
}

/* Lists a task with its autogroup. */
static void list_group(uint64_t time, uint32_t pid, uint32_t autogroup, int nice)
{
	struct schedtape_task_info *info = fake_info(tape, pid, "a", S, 0);

	info->time = time;
	info->start_time = pid;
	tape->groups[tape->nr_groups++] = (struct schedtape_group){
		.time = time, .start_time = pid, .pid = pid, .autogroup = autogroup, .nice = nice,
	};
}

static int first_group(void *arg, const struct schedtape_task *task,
		       const struct schedtape_task *parent, uint64_t time)
{
	uint32_t *first = arg;

	(void)parent;
	(void)time;
	if (task->pid == 10)
		*first = task->autogroup;
	return 0;
}

/* 10 calls setsid(), and 11 is in another autogroup after a pause; both are listed again. */
TEST(listed_again)
{
	const struct schedtape_timeline_ops born = { .size = sizeof(born), .born = first_group };
	const struct schedtape_timeline_ops regrouped = {
		.size = sizeof(regrouped), .regrouped = count_regrouped,
	};
	const struct schedtape_task *task;
	unsigned int n = 0;
	uint32_t first = 0;

	fake_begin(100 * MS, 900 * MS);
	list_group(100 * MS, 10, 7, 0);
	list_group(100 * MS, 11, 7, 0);
	list_group(500 * MS, 10, 10, 5);
	list_group(500 * MS, 11, 8, 4);
	fake_switch(tape, 150 * MS, 0, R, 10);
	fake_describe(tape, 200 * MS, FAKE_NONE, 10, STAPE_TASK_REGROUPED, "a", 10)->autogroup =
		10;
	fake_switch(tape, 250 * MS, 0, S, 0);
	fake_pause(tape, 300 * MS, 490 * MS, 0, 0);
	fake_wake(tape, 600 * MS, 0, 11, STAPE_CTX_HARDIRQ);
	if (schedtape_timeline_run(tape, &born, &first, &tl, NULL))
		abort();
	ok(first == 7, "a task is born in the autogroup that it was in, not in a later one");
	schedtape_timeline_free(tl);
	schedtape_tape_rewind(tape, NULL);
	if (schedtape_timeline_run(tape, &regrouped, &n, &tl, NULL))
		abort();
	task = fake_task(tl, 10, 0);
	ok(task->autogroup == 10 && task->autogroup_nice == 5,
	   "an event says that it changes, and a list the new one's nice value");
	task = fake_task(tl, 11, 0);
	ok(task->autogroup == 8 && task->autogroup_nice == 4 && n == 2,
	   "after a pause a list says it");
}

/* A task ends, and is described afterwards; and one of which no description says the nice value. */
TEST(group_unknown)
{
	const struct schedtape_task *task;

	fake_begin(0, 1000 * MS);
	fake_info(tape, 10, "a", S, 0)->start_time = 5;
	fake_story(tape, "100ms [0] R -> 10; 200ms [0] X -> idle");
	fake_describe(tape, 300 * MS, FAKE_NONE, 10, STAPE_TASK_REGROUPED, "a", 5)->autogroup = 6;
	fake_switch(tape, 400 * MS, 0, R, 20);
	tl = fake_run(tape);
	task = fake_task(tl, 10, 0);
	ok(task->exited && !task->autogroup, "a task that has ended is in no other autogroup");
	task = fake_task(tl, 20, 0);
	ok(task->autogroup_nice == SCHEDTAPE_NICE_UNKNOWN,
	   "without a description the nice value of its autogroup is not known");
}

TEST_MAIN
