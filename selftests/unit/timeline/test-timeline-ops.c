// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: callbacks of a running timeline: order, tickets, CPU times; and that no stream
 * of events breaks their rules.
 */
#include <errno.h>

#include "timelines.h"
#include "tap.h"

#define MAX_TASKS	4096
#define MAX_TICKETS	65536

enum seen { NEVER, AWAKE, ASLEEP, AWAY, OVER };

/**
 * struct witness - checks the callbacks
 * @broken: the first rule that was broken
 * @fail_at: the call that fails
 */
struct witness {
	enum seen seen[MAX_TASKS];
	uint64_t cpu_time[MAX_TASKS];
	uint64_t on_cpu[MAX_TASKS];
	uint64_t delay[MAX_TASKS];
	uint64_t wakeups[MAX_TASKS];
	uint32_t waker[MAX_TICKETS];
	uint32_t wakee[MAX_TICKETS];
	uint64_t ticket;
	uint64_t last;
	const char *broken;
	unsigned int calls;
	unsigned int fail_at;
	char log[4096];
};

static void promise(struct witness *w, bool kept, const char *what)
{
	if (!kept && !w->broken)
		w->broken = what;
}

static int told(struct witness *w, const struct schedtape_task *task, const char *what,
		uint64_t time)
{
	size_t length = strlen(w->log);

	if (task->index >= MAX_TASKS) {
		promise(w, false, "too many tasks for this test");
		return -E2BIG;
	}
	promise(w, task->cpu_time >= w->cpu_time[task->index], "CPU time goes back");
	promise(w, time >= w->last || (task->from_start && time == task->start),
		"time goes back");
	w->cpu_time[task->index] = task->cpu_time;
	w->last = time > w->last ? time : w->last;
	snprintf(w->log + length, sizeof(w->log) - length, "%s %u %u/%u; ", what, task->pid,
		 (unsigned int)time, (unsigned int)task->cpu_time);
	return ++w->calls == w->fail_at ? -ECANCELED : 0;
}

static int born(void *arg, const struct schedtape_task *task,
		const struct schedtape_task *parent, uint64_t time)
{
	struct witness *w = arg;

	promise(w, w->seen[task->index % MAX_TASKS] == NEVER, "born twice");
	w->seen[task->index % MAX_TASKS] = AWAKE;
	promise(w, parent ? parent->index == task->parent : task->parent == SCHEDTAPE_NONE,
		"another parent");
	if (parent) {
		promise(w, parent->cpu_time >= w->cpu_time[parent->index % MAX_TASKS],
			"a parent's CPU time goes back");
		w->cpu_time[parent->index % MAX_TASKS] = parent->cpu_time;
	}
	return told(w, task, "born", time);
}

static int waking(void *arg, const struct schedtape_task *waker,
		  const struct schedtape_task *wakee, uint64_t ticket, uint64_t time)
{
	struct witness *w = arg;

	promise(w, ticket == w->ticket + 1, "tickets are counted");
	promise(w, waker != wakee, "wakes itself");
	w->ticket = ticket;
	w->waker[ticket % MAX_TICKETS] = waker->index;
	w->wakee[ticket % MAX_TICKETS] = wakee->index;
	return told(w, waker, "waking", time);
}

static int woke(void *arg, const struct schedtape_task *task,
		const struct schedtape_task *waker, uint64_t ticket, uint64_t time)
{
	struct witness *w = arg;

	promise(w, w->seen[task->index % MAX_TASKS] == ASLEEP, "woken, but not asleep");
	promise(w, !waker == !ticket, "a ticket for each waker");
	promise(w, ticket <= w->ticket, "an unknown ticket");
	if (waker && ticket + MAX_TICKETS > w->ticket) {
		promise(w, w->waker[ticket % MAX_TICKETS] == waker->index, "another waker");
		promise(w, w->wakee[ticket % MAX_TICKETS] == task->index, "another wakee");
		w->wakee[ticket % MAX_TICKETS] = SCHEDTAPE_NONE;	/* once */
	}
	w->seen[task->index % MAX_TASKS] = AWAKE;
	w->wakeups[task->index % MAX_TASKS]++;
	return told(w, task, "woke", time);
}

static int slept(void *arg, const struct schedtape_task *task, uint64_t time)
{
	struct witness *w = arg;

	promise(w, w->seen[task->index % MAX_TASKS] == AWAKE, "sleeps twice");
	w->seen[task->index % MAX_TASKS] = ASLEEP;
	return told(w, task, "slept", time);
}

static int left(void *arg, const struct schedtape_task *task, uint64_t time)
{
	struct witness *w = arg;

	promise(w, w->seen[task->index % MAX_TASKS] == AWAKE ||
		w->seen[task->index % MAX_TASKS] == ASLEEP, "leaves, but is not there");
	promise(w, task->left && task->end == time, "leaves without an end");
	w->seen[task->index % MAX_TASKS] = AWAY;
	return told(w, task, "left", time);
}

static int joined(void *arg, const struct schedtape_task *task, uint64_t time)
{
	struct witness *w = arg;

	promise(w, w->seen[task->index % MAX_TASKS] == AWAY, "comes back, but was not away");
	promise(w, !task->left, "comes back, and is away");
	w->seen[task->index % MAX_TASKS] = AWAKE;
	return told(w, task, "joined", time);
}

static int identified(void *arg, const struct schedtape_task *task, uint64_t time)
{
	struct witness *w = arg;

	promise(w, w->seen[task->index % MAX_TASKS] != NEVER &&
		w->seen[task->index % MAX_TASKS] != OVER, "identified while it is not there");
	return told(w, task, "identified", time);
}

static int setprio(void *arg, const struct schedtape_task *task, uint64_t time)
{
	struct witness *w = arg;

	promise(w, task->prio_known && task->prio_changes, "a change that is none");
	return told(w, task, "setprio", time);
}

static int waited(void *arg, const struct schedtape_task *task, uint64_t delay, uint64_t time)
{
	(void)time;
	((struct witness *)arg)->delay[task->index % MAX_TASKS] = delay + 1;
	return 0;
}

/* Returns how long the task waited for the CPU, plus 1; 0: not known. */
static uint64_t delay_of(const struct schedtape_run *run)
{
	if (run->woke)
		return run->begin - run->woke + 1;
	if (run->left && run->left_state == STAPE_STATE_RUNNING)
		return run->begin - run->left + 1;
	return 0;
}

static int ran(void *arg, const struct schedtape_task *task, const struct schedtape_run *run)
{
	struct witness *w = arg;

	w->on_cpu[task->index % MAX_TASKS] += run->end - run->begin;
	promise(w, run->begin <= run->end, "runs backwards");
	promise(w, w->on_cpu[task->index % MAX_TASKS] == task->cpu_time,
		"the sum of all runs is the CPU time");
	promise(w, run->left <= run->begin && run->woke <= run->begin, "leaves after it comes");
	promise(w, run->left ? run->left_state <= STAPE_SWITCH_STATE_MASK :
		run->left_state == SCHEDTAPE_NONE, "a time without a state");
	promise(w, !run->woke || run->woke >= run->left, "woken before it leaves");
	promise(w, delay_of(run) == w->delay[task->index % MAX_TASKS], "another delay");
	w->delay[task->index % MAX_TASKS] = 0;
	return 0;
}

static int renamed(void *arg, const struct schedtape_task *task, uint64_t time)
{
	promise(arg, ((struct witness *)arg)->seen[task->index % MAX_TASKS] != NEVER,
		"renamed before it is born");
	return told(arg, task, "renamed", time);
}

static int exited(void *arg, const struct schedtape_task *task, uint64_t time)
{
	struct witness *w = arg;

	promise(w, w->seen[task->index % MAX_TASKS] != NEVER &&
		w->seen[task->index % MAX_TASKS] != OVER, "exits twice");
	promise(w, task->exited && !task->left && task->end == time, "an exit without an end");
	w->seen[task->index % MAX_TASKS] = OVER;
	return told(w, task, "exited", time);
}

static int ended(void *arg, const struct schedtape_task *task, uint64_t time)
{
	struct witness *w = arg;

	promise(w, w->seen[task->index % MAX_TASKS] != NEVER &&
		w->seen[task->index % MAX_TASKS] != OVER, "ends twice");
	promise(w, !task->exited, "ends after its exit");
	promise(w, task->left == (w->seen[task->index % MAX_TASKS] == AWAY), "away or not");
	w->seen[task->index % MAX_TASKS] = OVER;
	return told(w, task, "ended", time);
}

static const struct schedtape_timeline_ops ops = {
	.size = sizeof(ops),
	.born = born,
	.waking = waking,
	.woke = woke,
	.slept = slept,
	.left = left,
	.joined = joined,
	.renamed = renamed,
	.identified = identified,
	.setprio = setprio,
	.exited = exited,
	.ended = ended,
	.waited = waited,
	.ran = ran,
};

static void small_tape(void)
{
	fake_begin(0, 900);
	fake_info(tape, 1, "a", STAPE_STATE_SLEEPING, 0);
	fake_story(tape, "100 [0] irq wakes 1; 100 [0] R -> 1; 150 [0] forks 2; 200 [1] R -> 2; "
			 "250 [1] names 2 b; 260 [1] waking 1; 270 [0] S -> idle; 280 [0] woken 1; "
			 "300 [1] exit 2; 310 [1] X -> idle");
	fake_describe(tape, 400, 1, 1, STAPE_TASK_LEAVES, "a", 0);
	fake_describe(tape, 500, 1, 1, STAPE_TASK_ENTERS, "a", 0)->state = STAPE_STATE_SLEEPING;
	fake_wake(tape, 600, 1, 1, STAPE_CTX_HARDIRQ);
	fake_prio(tape, 650, 1, 3, 1, 0, 10);
	fake_describe(tape, 700, 1, 3, STAPE_TASK_EXITS, "c", 0);
}

TEST(story)
{
	static const char story[] =
		"born 1 0/0; slept 1 100/0; woke 1 100/0; born 2 150/0; renamed 2 250/50; "
		"waking 2 260/60; slept 1 270/170; woke 1 280/170; exited 2 310/110; "
		"left 1 400/170; joined 1 500/170; slept 1 500/170; woke 1 600/170; "
		"born 3 0/0; setprio 3 650/0; identified 3 700/0; setprio 3 700/0; "
		"ended 1 900/170; ended 3 900/0; ";
	struct witness *w = calloc(1, sizeof(*w));

	small_tape();
	ok(!schedtape_timeline_run(tape, &ops, w, &tl, NULL), "a run");
	ok(!w->broken, "promises are kept%s%s", w->broken ? ": " : "", w->broken ? w->broken : "");
	ok(!strcmp(w->log, story), "the whole story");
	if (strcmp(w->log, story))
		printf("# %s\n", w->log);
	free(w);
}

TEST(refusal)
{
	struct witness *w = calloc(1, sizeof(*w));
	unsigned int call, refused = 0;

	small_tape();
	for (call = 1; call <= 19; call++) {
		memset(w, 0, sizeof(*w));
		w->fail_at = call;
		if (schedtape_timeline_run(tape, &ops, w, &tl, NULL) == -ECANCELED && !tl &&
		    w->calls == call)
			refused++;
	}
	ok(refused == 19, "an operation that fails ends the run, and nothing comes after it");
	free(w);
}

static uint32_t random_state = 1;

static uint32_t pick(uint32_t below)
{
	random_state = random_state * 1664525 + 1013904223;
	return (random_state >> 8) % below;
}

static void random_description(uint64_t time, uint32_t cpu, uint32_t pid)
{
	struct schedtape_event *ev;

	if (!pick(3)) {
		fake_prio(tape, time, cpu, pid, pick(2), pick(2), pick(2));
		return;
	}
	/* Start times that are far enough from each other for different tasks. */
	ev = fake_describe(tape, time, cpu, pid, pick(4), pick(2) ? "x" : "", pick(3) * 2000000);
	ev->tgid = pick(13);
	ev->state = pick(2);
	ev->task_cpu = pick(5000);
}

/* Any event of any task at any time, also ones that no kernel would record. */
static void random_event(uint64_t time)
{
	static const unsigned int states[] = { 0, 0, 1, 1, 1, 1, 2, 3, 4, 5, 6, 7, 9 };
	uint32_t cpu = pick(4), pid = 1 + pick(12);

	if (!pick(10))
		tape->curr[cpu] = pick(13);
	switch (pick(13)) {
	case 12:
		random_description(time, cpu, pid);
		break;
	case 0:
		fake_fork(tape, time, cpu, pid, pick(2));
		break;
	case 1:
		fake_exec(tape, time, cpu, pid, 1 + pick(12));
		break;
	case 2:
		fake_rename(tape, time, cpu, pid, pick(2) ? "x" : "y");
		break;
	case 3:
		fake_event(tape, time, cpu, STAPE_EV_EXIT, pid, 0);
		break;
	case 4:
		if (pick(3)) {
			fake_waking(tape, time, cpu, pid, pick(2));
			break;
		}
		if (pick(2))
			fake_loss(tape, time, time + pick(30), cpu, 1, pick(13));
		else
			fake_pause(tape, time, time + pick(30), cpu, pick(13));
		break;
	case 5:
	case 6:
		fake_wake(tape, time, cpu, pid, pick(5));
		break;
	case 7:
		fake_wakeup(tape, time, cpu, pid);
		break;
	default:
		fake_switch(tape, time, cpu, states[pick(13)], pick(13));
		break;
	}
}

/* Rules for the tasks of any stream. */
static const char *check_tasks(const struct witness *w, uint64_t wall)
{
	const struct schedtape_task *tasks;
	const struct schedtape_edge *edges;
	uint64_t by_task = 0, woken = 0, sum = 0;
	size_t i, n;

	tasks = schedtape_timeline_tasks(tl, &n);
	for (i = 0; i < n; i++) {
		if (w->seen[i] != OVER)
			return "a task without an end";
		if (tasks[i].cpu_time > wall || tasks[i].end < tasks[i].start)
			return "longer than the recording";
		if (tasks[i].wakeups != w->wakeups[i])
			return "wake-ups that were not reported";
		if (tasks[i].sleeps + tasks[i].stops > tasks[i].bursts)
			return "sleeps without a burst";
		if (tasks[i].process >= n ||
		    (tasks[i].parent != SCHEDTAPE_NONE && tasks[i].parent >= i))
			return "no such parent";
		if (tasks[i].delay_max > tasks[i].delay_total)
			return "latencies that don't add up";
		by_task += tasks[i].wakeups_by_task;
		sum += tasks[i].cpu_time;
	}
	edges = schedtape_timeline_edges(tl, &n);
	for (i = 0; i < n; i++)
		woken += edges[i].count;
	if (woken != by_task)
		return "edges that don't add up";
	return sum > 4 * wall ? "more CPU time than there was" : NULL;
}

TEST(random)
{
	const char *broken = NULL;
	unsigned int round;

	for (round = 1; round <= 2000 && !broken; round++) {
		struct witness *w = calloc(1, sizeof(*w));
		uint64_t time = 100;
		int i;

		fake_begin(100, 5000);
		random_state = round;
		for (i = pick(6); i > 0; i--) {
			struct schedtape_task_info *info;

			info = fake_info(tape, 1 + pick(12), "t", pick(2), pick(4));
			info->tgid = 1 + pick(12);
			info->time = pick(4000);
			info->start_time = pick(3) * 2000000;
		}
		for (i = 0; i < 300; i++)
			random_event(time += pick(20));
		if (schedtape_timeline_run(tape, &ops, w, &tl, NULL))
			broken = "the run fails";
		else
			broken = w->broken ? w->broken : check_tasks(w, 10000);
		free(w);
	}
	ok(!broken, "2000 streams of nonsense%s%s", broken ? ": " : "", broken ? broken : "");
	if (broken)
		printf("# in round %u\n", round - 1);
}

static int count_event(void *arg, const struct schedtape_event *ev)
{
	(void)ev;
	++*(size_t *)arg;
	return 0;
}

/* Each event is told, a loss as well. */
TEST(events)
{
	static const struct schedtape_timeline_ops count = {
		.size = sizeof(count), .event = count_event,
	};
	size_t n = 0;

	small_tape();
	fake_loss(tape, 800, 850, 1, 5, 0);
	if (schedtape_timeline_run(tape, &count, &n, &tl, NULL))
		abort();
	ok(n == tape->nr, "each event is told");
}

static int print_run(void *arg, const struct schedtape_task *task, const struct schedtape_run *run)
{
	char *log = arg;
	size_t length = strlen(log);

	snprintf(log + length, 1024 - length, "%u [%u] %u-%u left %u/%d woke %u as %d; ", task->pid,
		 run->cpu, (unsigned int)run->begin, (unsigned int)run->end,
		 (unsigned int)run->left, (int)run->left_state, (unsigned int)run->woke,
		 (int)run->state);
	return 0;
}

static int print_begin(void *arg, const struct schedtape_task *task,
		       const struct schedtape_run *run)
{
	char *log = arg;
	size_t length = strlen(log);

	snprintf(log + length, 1024 - length, "%u [%u] %u woke %u in %d by %d%s; ", task->pid,
		 run->cpu, (unsigned int)run->begin, (unsigned int)run->woke, (int)run->woke_in,
		 run->waker == SCHEDTAPE_NONE ? -1 :
		 (int)schedtape_task_at(task, run->waker)->pid,
		 run->end == run->begin && run->state == SCHEDTAPE_NONE ? "" : " ended");
	return 0;
}

static int print_queued(void *arg, const struct schedtape_task *task, uint32_t cpu, uint64_t time)
{
	char *log = arg;
	size_t length = strlen(log);

	snprintf(log + length, 1024 - length, "%u at [%u] %u; ", task->pid, cpu,
		 (unsigned int)time);
	return 0;
}

/* Checks what the callbacks print about the tape. */
static void logs(const struct schedtape_timeline_ops *print, const char *what, const char *expected)
{
	char log[1024] = "";

	if (schedtape_timeline_run(tape, print, log, &tl, NULL))
		abort();
	ok(!strcmp(log, expected), "%s: %s", what, log);
}

TEST(begins)
{
	static const struct schedtape_timeline_ops print = {
		.size = sizeof(print), .began = print_begin, .queued = print_queued,
	};

	fake_begin(0, 900);
	fake_story(tape, "100 [0] irq wakes 1; 110 [0] R -> 1; 120 [0] forks 2; 130 [1] R -> 2; "
			 "140 [1] S -> idle; 150 [0] wakes 2; 160 [1] moves 2 to 1; "
			 "170 [1] R -> 2; 180 [1] S -> idle; 190 [1] moves 2 to 0; "
			 "200 [1] woken 2 on 0; 210 [1] R -> 2; 220 [1] R -> idle; 230 [1] R -> 2");
	logs(&print, "begins of runs", "1 at [0] 100; 1 [0] 110 woke 100 in 2 by -1; "
	     "2 at [0] 120; 2 [1] 130 woke 120 in 0 by 1; "
	     "2 at [0] 150; 2 at [1] 160; 2 [1] 170 woke 150 in 0 by 1; "
	     "2 at [0] 200; 2 [1] 210 woke 200 in -1 by -1; "
	     "2 [1] 230 woke 0 in -1 by -1; ");
}

static int print_wait(void *arg, const struct schedtape_task *task,
		      const struct schedtape_run *run)
{
	char *log = arg;
	size_t length = strlen(log);

	snprintf(log + length, 1024 - length, "%u left %u as %d woke %u by %d until %u%s; ",
		 task->pid, (unsigned int)run->left, (int)run->left_state,
		 (unsigned int)run->woke, run->waker == SCHEDTAPE_NONE ? -1 :
		 (int)schedtape_task_at(task, run->waker)->pid, (unsigned int)run->begin,
		 run->end == run->begin && run->cpu == SCHEDTAPE_NONE ? "" : " on a CPU");
	return 0;
}

/* 1 sleeps; 2 is woken by 3, which is preempted; 4 runs; 5 has ended; of 6 nothing is known. */
TEST(waits)
{
	static const struct schedtape_timeline_ops print = {
		.size = sizeof(print), .waits = print_wait,
	};

	fake_begin(0, 900);
	fake_switch(tape, 100, 1, 0, 6);
	fake_switch(tape, 110, 1, STAPE_STATE_SLEEPING, 0);
	fake_loss(tape, 120, 130, 1, 5, 0);
	fake_story(tape, "200 [0] R -> 1; 210 [0] D -> 2; 220 [0] S -> 5; 230 [0] X -> 3; "
			 "240 [0] wakes 2; 250 [0] R -> 4");
	logs(&print, "waits that last", "1 left 210 as 2 woke 0 by -1 until 900; "
	     "2 left 220 as 1 woke 240 by 3 until 900; "
	     "3 left 250 as 0 woke 0 by -1 until 900; ");
}

TEST(runs)
{
	static const struct schedtape_timeline_ops print = {
		.size = sizeof(print), .ran = print_run,
	};

	fake_begin(0, 900);
	fake_story(tape, "100 [0] irq wakes 1; 110 [0] R -> 1; 200 [0] R -> idle; 230 [1] R -> 1; "
			 "300 [1] S -> idle; 350 [0] irq wakes 1; 360 [0] R -> 1; 370 [0] forks 2; "
			 "390 [1] R -> 2");
	fake_loss(tape, 400, 450, 0, 5, 1);
	fake_story(tape, "500 [0] D -> idle; 600 [1] X -> idle; 700 [0] R -> 1");
	logs(&print, "runs", "1 [0] 110-200 left 0/-1 woke 100 as 0; "
	     "1 [1] 230-300 left 200/0 woke 0 as 1; "
	     "1 [0] 360-400 left 300/1 woke 350 as -1; "
	     "1 [0] 450-500 left 0/-1 woke 0 as 2; "
	     "2 [1] 390-600 left 0/-1 woke 370 as 5; "
	     "1 [0] 700-900 left 500/2 woke 0 as -1; ");
}

TEST_MAIN
