// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: what a timeline makes of descriptions of tasks: who enters the
 * filter and leaves it, whose a PID is, names that come late, priorities; and of
 * pauses.
 */
#include "fake-tape.h"
#include "tap.h"

#define R STAPE_STATE_RUNNING
#define S STAPE_STATE_SLEEPING
#define X STAPE_STATE_DEAD

#define ENTERS STAPE_TASK_ENTERS
#define LEAVES STAPE_TASK_LEAVES
#define EXITS STAPE_TASK_EXITS

/* Start times of different tasks are this far apart, at least. */
#define MS 1000000

static void done(struct schedtape_tape *tape, struct schedtape_timeline *timeline)
{
	schedtape_timeline_free(timeline);
	fake_free(tape);
}

static size_t count_lives(const struct schedtape_timeline *tl)
{
	size_t n;

	schedtape_timeline_lives(tl, &n);
	return n;
}

/* Loopback: the softirq that wakes 20 is 10's own; the next one is somebody's. */
static void test_softirq(void)
{
	struct schedtape_tape *tape = fake_new(0, 1000);
	struct schedtape_timeline *tl;

	fake_switch(tape, 100, 0, R, 10);
	fake_wake(tape, 110, 0, 20, STAPE_CTX_SOFTIRQ_TASK);
	fake_switch(tape, 120, 1, R, 20);
	fake_switch(tape, 130, 1, S, 0);
	fake_wake(tape, 140, 0, 20, STAPE_CTX_SOFTIRQ);
	fake_switch(tape, 150, 1, R, 20);
	fake_switch(tape, 160, 1, S, 0);
	fake_wake(tape, 170, 0, 20, STAPE_CTX_SOFTIRQ_TASK + 1);
	tl = fake_run(tape);
	ok(fake_edge(tl, 10, 20) == 1 && fake_life(tl, 20, 0)->wakeups_by_task == 1 &&
	   fake_life(tl, 20, 0)->wakeups == 3, "a softirq of the task's own is its doing");
	done(tape, tl);
}

static void test_enter(void)
{
	struct schedtape_tape *tape = fake_new(0, 1000);
	const struct schedtape_life *life;
	struct schedtape_timeline *tl;
	struct schedtape_event *ev;

	tape->curr[0] = 10;
	ev = fake_describe(tape, 200, 0, 30, ENTERS, "asleep", 5);
	ev->state = S;
	ev->ppid = 1;
	ev->ns_pid = 3;
	fake_describe(tape, 210, 0, 31, ENTERS, "thread", 6)->tgid = 30;
	fake_wake(tape, 250, 0, 31, STAPE_CTX_TASK);	/* it was awake: nothing */
	fake_switch(tape, 260, 1, R, 31);		/* has run all the time: no wait */
	fake_switch(tape, 270, 1, S, 0);
	fake_wake(tape, 300, 0, 30, STAPE_CTX_TASK);
	fake_switch(tape, 310, 1, R, 30);
	fake_switch(tape, 350, 1, S, 0);
	tl = fake_run(tape);
	life = fake_life(tl, 30, 0);
	ok(count_lives(tl) == 3 && life->joined && !life->from_start && !life->left &&
	   life->start == 200 && life->end == 1000, "a task enters");
	ok(!strcmp(life->first_comm, "asleep") && !strcmp(life->comm, "asleep") &&
	   life->tgid == 30 && life->ppid == 1 && life->ns_pid == 3 && life->start_time == 5,
	   "it is who it is described to be");
	ok(life->cpu_time == 40 && life->wakeups == 1 && life->wakeups_by_task == 1 &&
	   life->latencies == 1 && life->latency_max == 10, "one that slept is woken");
	life = fake_life(tl, 31, 0);
	ok(life->joined && life->thread && life->tgid == 30 &&
	   life->process == fake_life(tl, 30, 0)->index, "so does a thread");
	ok(!life->wakeups && !life->latencies && life->cpu_time == 10 && life->sleeps == 1,
	   "one that was awake is not");
	ok(fake_life(tl, 10, 0)->from_start && !fake_life(tl, 10, 0)->joined, "others were there");
	done(tape, tl);
}

/* A task that is taken in while it is being forked is described before its fork. */
static void test_enter_newborn(void)
{
	struct schedtape_tape *tape = fake_new(0, 1000);
	const struct schedtape_life *life;
	struct schedtape_timeline *tl;

	fake_describe(tape, 190, 1, 10, ENTERS, "parent", 4);
	fake_switch(tape, 195, 0, R, 10);
	fake_describe(tape, 200, 1, 30, ENTERS, "child", 5)->state = S;
	fake_event(tape, 210, 0, STAPE_EV_FORK, 30, 0);
	fake_event(tape, 220, 0, STAPE_EV_WAKEUP_NEW, 30, 0);
	fake_switch(tape, 230, 0, S, 30);
	fake_switch(tape, 250, 0, S, 0);
	tl = fake_run(tape);
	life = fake_life(tl, 30, 0);
	ok(count_lives(tl) == 2 && life->joined && life->start == 200 && life->start_time == 5 &&
	   !life->exited, "one that enters while it is being forked is one");
	ok(!life->wakeups && life->cpu_time == 20 && life->latency_max == 10 && life->sleeps == 1,
	   "and wakes up for the first time");
	done(tape, tl);
}

static void test_leave(void)
{
	struct schedtape_tape *tape = fake_new(0, 1000);
	const struct schedtape_life *life;
	struct schedtape_timeline *tl;

	fake_task(tape, 10, "a", S, 0)->start_time = 5;
	fake_task(tape, 20, "b", S, 0)->start_time = 6;
	fake_switch(tape, 100, 0, R, 10);
	fake_switch(tape, 100, 1, R, 20);
	fake_switch(tape, 140, 1, S, 0);
	/* It still runs: its CPU's stream says so until the next switch. */
	fake_describe(tape, 150, 1, 10, LEAVES, "a", 5);
	fake_wake(tape, 160, 0, 20, STAPE_CTX_TASK);
	fake_switch(tape, 170, 0, S, 0);
	fake_describe(tape, 500, 1, 10, ENTERS, "a", 5)->state = S;
	fake_wake(tape, 600, 1, 10, STAPE_CTX_HARDIRQ);
	fake_switch(tape, 610, 0, R, 10);
	fake_switch(tape, 620, 0, S, 0);
	fake_describe(tape, 700, 1, 10, LEAVES, "a", 5);
	tl = fake_run(tape);
	life = fake_life(tl, 10, 0);
	ok(count_lives(tl) == 2, "who leaves and comes back is the same");
	ok(life->cpu_time == 50 + 10, "time in between is not its own");
	ok(life->bursts == 2 && life->sleeps == 1 && !life->preemptions && life->wakeups == 1 &&
	   life->latencies == 1, "nor is what it did then");
	ok(life->from_start && !life->joined && life->left && !life->exited && life->end == 700,
	   "it is out, not over");
	ok(fake_life(tl, 20, 0)->wakeups_by_task == 0 && fake_life(tl, 20, 0)->wakeups == 1,
	   "who is out wakes nobody");
	done(tape, tl);
}

/* Out and in again while it runs: no switch tells that it is back. */
static void test_leave_running(void)
{
	struct schedtape_tape *tape = fake_new(0, 1000);
	const struct schedtape_life *life;
	struct schedtape_timeline *tl;

	fake_switch(tape, 100, 0, R, 10);
	fake_describe(tape, 200, 1, 10, LEAVES, "a", 5);
	fake_describe(tape, 300, 1, 10, ENTERS, "a", 5);
	fake_switch(tape, 400, 0, S, 0);
	/* Back without a word: it is believed to be. */
	fake_describe(tape, 500, 1, 10, LEAVES, "a", 5);
	fake_switch(tape, 600, 0, R, 10);
	fake_switch(tape, 650, 0, S, 0);
	fake_describe(tape, 700, 1, 10, LEAVES, "a", 5);
	fake_wake(tape, 800, 1, 10, STAPE_CTX_HARDIRQ);
	tl = fake_run(tape);
	life = fake_life(tl, 10, 0);
	ok(count_lives(tl) == 1 && life->cpu_time == 100 + 100 + 50, "it ran on when it was back");
	ok(!life->left && life->wakeups == 1 && life->end == 1000, "the stream has the last word");
	done(tape, tl);
}

static void test_reuse(void)
{
	struct schedtape_tape *tape = fake_new(0, 100 * MS);
	const struct schedtape_life *first, *second;
	struct schedtape_timeline *tl;

	fake_describe(tape, 10, 0, 30, ENTERS, "one", 5);
	fake_describe(tape, 20, 0, 30, LEAVES, "one", 5);
	fake_describe(tape, 30, 0, 30, ENTERS, "two", 25);
	fake_switch(tape, 40, 0, R, 30);
	/* A fork that is as old as it says, and one that is lost. */
	fake_fork(tape, 10 * MS, 0, 31, false);
	fake_describe(tape, 11 * MS, 0, 31, EXITS, "late", 10 * MS - 50)->ppid = 30;
	fake_describe(tape, 20 * MS, 0, 31, ENTERS, "other", 18 * MS);
	fake_fork(tape, 30 * MS, 0, 32, false);
	fake_describe(tape, 40 * MS, 0, 32, ENTERS, "other", 35 * MS);
	tl = fake_run(tape);
	first = fake_life(tl, 30, 0);
	second = fake_life(tl, 30, 1);
	ok(first != second && first->exited && first->end == 30 && !strcmp(first->comm, "one") &&
	   !first->cpu_time, "another start time is another task");
	ok(second->joined && second->start == 30 && !strcmp(second->comm, "two") &&
	   second->cpu_time == 100 * MS - 40, "which has the PID from then on");
	first = fake_life(tl, 31, 0);
	second = fake_life(tl, 31, 1);
	ok(first->parent == fake_life(tl, 30, 1)->index && first->start_time == 10 * MS - 50 &&
	   first->exited && first->end == 20 * MS, "a child was made just before its fork");
	ok(second->start == 20 * MS && second->start_time == 18 * MS &&
	   second->parent == SCHEDTAPE_NONE && count_lives(tl) == 6,
	   "who was made later is not it");
	ok(fake_life(tl, 32, 0)->end == 40 * MS && fake_life(tl, 32, 0)->ppid == 30,
	   "whether or not the child was ever described");
	done(tape, tl);
}

/* Of rings that were overwritten: forks are gone, descriptions come at the end. */
static void test_late(void)
{
	struct schedtape_tape *tape = fake_new(50 * MS, 100 * MS);
	const struct schedtape_life *life;
	struct schedtape_timeline *tl;
	struct schedtape_task *task;
	struct schedtape_event *ev;

	task = fake_task(tape, 40, "next", S, 0);
	task->time = 101 * MS;
	task->start_time = 80 * MS;
	task = fake_task(tape, 41, "alive", S, 0);
	task->time = 101 * MS;
	task->start_time = 51 * MS + 500000;
	tape->curr[0] = 40;
	fake_fork(tape, 55 * MS, 0, 42, true);
	fake_switch(tape, 56 * MS, 0, S, 39);
	fake_switch(tape, 57 * MS, 0, S, 41);
	fake_switch(tape, 58 * MS, 0, S, 40);
	fake_fork(tape, 59 * MS, 0, 43, false);
	ev = fake_describe(tape, 60 * MS, 0, 40, EXITS, "last", 49 * MS);
	ev->tgid = 39;
	ev->ppid = 7;
	ev->policy = 1;
	ev->rt_priority = 9;
	fake_event(tape, 60 * MS, 0, STAPE_EV_EXIT, 40, 0);
	fake_switch(tape, 61 * MS, 0, X, 0);
	ev = fake_describe(tape, 70 * MS, 0, 42, EXITS, "thread", 55 * MS);
	ev->tgid = 39;
	task = fake_task(tape, 45, "next", S, 0);
	task->time = 101 * MS;
	task->start_time = 80 * MS;
	fake_describe(tape, 71 * MS, 0, 45, ENTERS, "before", 66 * MS);
	fake_wake(tape, 72 * MS, 0, 46, STAPE_CTX_HARDIRQ);
	fake_describe(tape, 75 * MS, 0, 46, EXITS, "young", 65 * MS);
	tl = fake_run(tape);

	life = fake_life(tl, 40, 0);
	ok(life->from_start && life->exited && !strcmp(life->comm, "last") &&
	   !strcmp(life->first_comm, "last") && life->start_time == 49 * MS && life->ppid == 7,
	   "who exits tells who it was");
	ok(life->thread && life->tgid == 39 && life->process == fake_life(tl, 39, 0)->index,
	   "and whose thread");
	ok(life->prio_known && life->policy == 1 && life->rt_priority == 9 && !life->prio_changes,
	   "and its policy, which is no change");
	life = fake_life(tl, 40, 1);
	ok(life->start == 100 * MS && !life->from_start && !strcmp(life->comm, "next") &&
	   !life->cpu_time, "a description is not of a task that came before");
	life = fake_life(tl, 41, 0);
	ok(!strcmp(life->first_comm, "alive") && !life->from_start && life->start == 57 * MS &&
	   life->task, "it is, of one whose fork is gone");
	life = fake_life(tl, 42, 0);
	ok(life->thread && life->tgid == 39 && life->process == fake_life(tl, 39, 0)->index &&
	   !strcmp(life->comm, "thread"), "a child of an unknown thread finds its group, too");
	ok(!fake_life(tl, 43, 0)->thread && fake_life(tl, 43, 0)->tgid == 43, "a process is one");
	ok(!fake_life(tl, 45, 0)->task && fake_life(tl, 45, 1)->task, "nor of one that came in");
	ok(!strcmp(fake_life(tl, 46, 0)->comm, "young") && fake_life(tl, 46, 0)->from_start &&
	   !fake_life(tl, 46, 1)->pid, "one whose fork is gone may be younger than the recording");
	done(tape, tl);
}

/* A thread that calls execve() has its leader's PID and start time from then on. */
static void test_exec(void)
{
	struct schedtape_tape *tape = fake_new(0, 100 * MS);
	struct schedtape_timeline *tl;

	fake_task(tape, 50, "old", R, 0)->start_time = 5;
	fake_switch(tape, 10, 0, R, 50);
	fake_fork(tape, 10 * MS, 0, 51, true);
	fake_switch(tape, 11 * MS, 1, R, 51);
	fake_describe(tape, 11 * MS, 1, 51, ENTERS, "old", 10 * MS - 50)->tgid = 50;
	fake_event(tape, 12 * MS, 0, STAPE_EV_EXIT, 50, 0);
	fake_switch(tape, 13 * MS, 0, X, 0);
	fake_exec(tape, 20 * MS, 1, 50, 51);
	fake_describe(tape, 30 * MS, 1, 50, EXITS, "old", 5);
	fake_event(tape, 30 * MS, 1, STAPE_EV_EXIT, 50, 0);
	fake_switch(tape, 31 * MS, 1, X, 0);
	tl = fake_run(tape);
	ok(count_lives(tl) == 2 && fake_life(tl, 50, 1)->start_time == 5 &&
	   fake_life(tl, 50, 1)->cpu_time == 20 * MS && fake_life(tl, 50, 1)->end == 31 * MS,
	   "who executes is who it became");
	done(tape, tl);

	/* The same, but the exec is lost. */
	tape = fake_new(0, 100 * MS);
	fake_task(tape, 50, "old", R, 0)->start_time = 5;
	fake_switch(tape, 10, 0, R, 50);
	fake_fork(tape, 10 * MS, 0, 51, true);
	fake_event(tape, 12 * MS, 0, STAPE_EV_EXIT, 50, 0);
	fake_switch(tape, 13 * MS, 0, X, 0);
	fake_describe(tape, 20 * MS, 1, 50, LEAVES, "old", 5);
	tl = fake_run(tape);
	ok(count_lives(tl) == 2 && fake_life(tl, 50, 1)->left, "who is left of a process is it");
	done(tape, tl);
}

static int count_identified(void *arg, const struct schedtape_life *life, uint64_t time)
{
	(void)life;
	(void)time;
	++*(unsigned int *)arg;
	return 0;
}

/* Only who was not known. */
static void test_identified(void)
{
	static const struct schedtape_timeline_ops ops = { .identified = count_identified };
	struct schedtape_tape *tape = fake_new(0, 1000);
	struct schedtape_timeline *tl;
	unsigned int n = 0;

	fake_task(tape, 10, "known", R, 0);
	fake_switch(tape, 10, 0, R, 10);
	fake_fork(tape, 20, 0, 11, true);
	fake_fork(tape, 30, 0, 12, false);
	fake_describe(tape, 40, 0, 11, EXITS, "known", 5)->tgid = 10;
	fake_describe(tape, 40, 0, 12, EXITS, "known", 6);
	fake_describe(tape, 40, 0, 10, EXITS, "known", 0);
	if (schedtape_timeline_run(tape, &ops, &n, &tl, NULL))
		abort();
	ok(n == 0 && fake_life(tl, 11, 0)->ppid == fake_life(tl, 10, 0)->ppid &&
	   fake_life(tl, 12, 0)->ppid == 10, "who is known is not told again");
	done(tape, tl);
}

static void test_prio(void)
{
	struct schedtape_tape *tape = fake_new(0, 1000);
	const struct schedtape_life *life;
	struct schedtape_timeline *tl;

	fake_task(tape, 10, "a", R, 0)->nice = 5;
	fake_switch(tape, 100, 0, R, 10);
	fake_prio(tape, 110, 0, 10, 0, 5, 0);		/* a boost: what it has is the same */
	fake_prio(tape, 120, 0, 10, 1, 5, 20);
	fake_fork(tape, 130, 0, 11, false);
	fake_prio(tape, 140, 0, 10, 0, -3, 0);
	fake_prio(tape, 150, 0, 12, 2, 0, 7);
	fake_wake(tape, 160, 0, 13, STAPE_CTX_TASK);
	tl = fake_run(tape);
	life = fake_life(tl, 10, 0);
	ok(life->prio_known && life->prio_changes == 2 && life->policy == 0 && life->nice == -3 &&
	   !life->rt_priority, "changes are counted, the last one holds");
	life = fake_life(tl, 11, 0);
	ok(life->prio_known && !life->prio_changes && life->policy == 1 && life->rt_priority == 20,
	   "a child has its parent's");
	life = fake_life(tl, 12, 0);
	ok(life->prio_known && life->prio_changes == 1 && life->rt_priority == 7,
	   "a change of what was not known is one");
	ok(!fake_life(tl, 13, 0)->prio_known, "nobody knows that of others");
	done(tape, tl);
}

static void test_pause(void)
{
	struct schedtape_tape *tape = fake_new(0, 2000);
	const struct schedtape_range *pauses;
	const struct schedtape_life *life;
	struct schedtape_timeline *tl;
	size_t n;

	fake_switch(tape, 100, 0, R, 10);
	fake_switch(tape, 100, 1, R, 20);
	fake_wake(tape, 150, 1, 30, STAPE_CTX_TASK);	/* waits for a CPU */
	fake_pause(tape, 200, 500, 0, 10);
	fake_pause(tape, 205, 700, 1, 21);
	fake_switch(tape, 710, 1, S, 30);
	fake_switch(tape, 750, 0, S, 0);
	fake_wake(tape, 760, 1, 20, STAPE_CTX_TASK);
	fake_pause(tape, 800, 900, 0, 0);
	tl = fake_run(tape);
	pauses = schedtape_timeline_pauses(tl, &n);
	ok(n == 2 && pauses[0].first == 205 && pauses[0].last == 500 && pauses[1].first == 800 &&
	   pauses[1].last == 900, "a pause is what it is on all CPUs");
	ok(fake_life(tl, 10, 0)->cpu_time == 100 + 250, "time in a pause is nobody's");
	life = fake_life(tl, 20, 0);
	ok(life->cpu_time == 105 && life->wakeups == 1 && life->sleeps == 1,
	   "a sleep that began in it shows by its end");
	ok(fake_life(tl, 21, 0)->cpu_time == 10, "who runs after it ran since its end");
	ok(fake_life(tl, 30, 0)->latencies == 0, "no wait across it is counted");
	done(tape, tl);
}

/* What the recorder says of tasks after a pause. */
static void test_described_again(void)
{
	struct schedtape_tape *tape = fake_new(0, 2000 * MS);
	const struct schedtape_life *life;
	struct schedtape_timeline *tl;
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

	fake_task(tape, 10, "a", S, 0)->start_time = 1;
	fake_task(tape, 11, "b", S, 0)->start_time = 2;
	fake_task(tape, 12, "c", S, 0)->start_time = 3;
	fake_task(tape, 14, "d", S, 0)->start_time = 5;
	fake_task(tape, 15, "e", S, 0)->start_time = 6;
	fake_task(tape, 17, "out", S, 0)->start_time = 8;
	fake_task(tape, 18, "same", R, 0);
	for (i = 0; i < sizeof(later) / sizeof(later[0]); i++) {
		struct schedtape_task *task = fake_task(tape, later[i].pid, later[i].comm,
							later[i].state, 0);

		task->time = 500 * MS;
		task->start_time = later[i].start_time;
	}
	fake_switch(tape, 50 * MS, 0, R, 18);
	fake_switch(tape, 90 * MS, 0, X, 16);
	fake_switch(tape, 100 * MS, 0, S, 10);
	fake_wake(tape, 110 * MS, 0, 12, STAPE_CTX_TASK);
	fake_describe(tape, 160 * MS, 1, 17, ENTERS, "in", 150 * MS);
	fake_pause(tape, 200 * MS, 400 * MS, 0, 0);
	fake_switch(tape, 450 * MS, 1, R, 15);
	fake_switch(tape, 490 * MS, 1, R, 0);		/* after the pause: it is believed */
	fake_wake(tape, 600 * MS, 1, 11, STAPE_CTX_HARDIRQ);
	fake_wake(tape, 600 * MS, 1, 13, STAPE_CTX_HARDIRQ);
	fake_wake(tape, 600 * MS, 1, 16, STAPE_CTX_HARDIRQ);
	fake_switch(tape, 610 * MS, 1, R, 11);
	fake_switch(tape, 620 * MS, 1, R, 15);
	tl = fake_run(tape);

	ok(count_lives(tl) == 12, "as many lives as there were");
	life = fake_life(tl, 10, 0);
	ok(life->cpu_time == 100 * MS && life->sleeps == 1 && life->bursts == 1,
	   "who ran before, and sleeps after a pause, fell asleep in it");
	life = fake_life(tl, 11, 0);
	ok(!life->wakeups && !life->latencies, "who is awake is not woken");
	ok(fake_life(tl, 16, 0)->wakeups == 1 && fake_life(tl, 16, 0)->sleeps == 1,
	   "who slept before, and is awake, was woken in it");
	ok(!strcmp(fake_life(tl, 12, 0)->first_comm, "c") &&
	   !strcmp(fake_life(tl, 12, 0)->comm, "renamed"), "another name");
	life = fake_life(tl, 13, 0);
	ok(!life->from_start && life->start == 500 * MS && !strcmp(life->comm, "new") &&
	   life->wakeups == 1, "a task that was made in it");
	ok(fake_life(tl, 14, 0)->exited && fake_life(tl, 14, 0)->end == 500 * MS &&
	   !strcmp(fake_life(tl, 14, 1)->comm, "other"), "and one that was made with a used PID");
	life = fake_life(tl, 15, 0);
	ok(!life->sleeps && !life->wakeups && life->latency_max == 130 * MS,
	   "what happened after it is known better than described");
	ok(fake_life(tl, 17, 1)->joined && fake_life(tl, 17, 1)->task &&
	   fake_life(tl, 17, 1)->task->start_time == 150 * MS, "who came in is described, too");
	ok(fake_life(tl, 18, 0)->exited && !fake_life(tl, 18, 1)->from_start &&
	   fake_life(tl, 18, 1)->start == 500 * MS, "who has a dead task's PID came later");
	done(tape, tl);
}

int main(void)
{
	test_softirq();
	test_enter();
	test_enter_newborn();
	test_leave();
	test_leave_running();
	test_reuse();
	test_late();
	test_exec();
	test_identified();
	test_prio();
	test_pause();
	test_described_again();
	return tap_done();
}
