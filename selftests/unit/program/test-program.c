// SPDX-License-Identifier: GPL-2.0-only
/*
 * Description: what tapes compile to.
 */
#include "programs.h"

TEST(round_trip)
{
	round_trip();
	compile();
	is_program(0, "0:until 500; 100:wake 0!; 300:wait 1; 400:exit",
		   "a timer's wake-up, a wake-up, a wait, and the end of the tape");
	is_program(1, "0:wait 0; 500:wake 1; 600:exit",
		   "a task that slept from the start waits for its waker");
	ok(program && program->nr_edges == 2 && program->edges[0] == 1 && program->edges[1] == 0,
	   "an edge has its wakee");
	ok(program && program->wakeups == 2 && program->timed == 1, "two edges, one timer");
	ok(program && !strcmp(program->tasks[0].name, "one"), "a name");
	ok(program && program->duration == 8000, "the recording's duration");
}

/* A timer wakes 1, which wakes 2, which wakes 3; and 4, which has slept for less time. */
static void tape_expected(void)
{
	fake_begin(1000, 9000);
	fake_info(tape, 1, "one", STAPE_STATE_SLEEPING, 0);
	fake_info(tape, 2, "two", STAPE_STATE_SLEEPING, 0);
	fake_info(tape, 3, "three", STAPE_STATE_SLEEPING, 0);
	fake_info(tape, 4, "four", STAPE_STATE_RUNNING, 0);
	fake_story(tape, "1100 [1] R -> 4; 1500 [0] irq wakes 1; 2000 [0] R -> 1; "
			 "2100 [0] wakes 2; 2200 [1] S -> idle; 2300 [0] S -> 2; 2400 [0] wakes 3; "
			 "2500 [0] wakes 4; 2600 [0] S -> idle");
}

TEST(expected)
{
	const struct schedtape_program_options absolute = {
		.external = SCHEDTAPE_EXTERNAL_ABSOLUTE,
	};

	tape_expected();
	compile();
	is_program(0, "0:until 500; 100:wake 0!; 300:exit",
		   "a wakee that slept when the timer fired is expected to sleep");
	is_program(1, "0:wait 0; 100:wake 1!; 200:wake 2; 300:exit",
		   "so is the wakee's wakee, but not a task that went to sleep after the timer");
	compile_as(&absolute);
	is_program(0, "0:until 500; 100:wake 0; 300:exit", "an absolute time is never delayed");
}

/* 1 sleeps in state D and then in state S, and interrupts end both sleeps. */
TEST(external)
{
	static const struct {
		enum schedtape_external external;
		const char *program;
	} as[] = {
		{ SCHEDTAPE_EXTERNAL_AUTO, "0:until 500; 100:for 300 D; 200:until 1300; 300:exit" },
		{ SCHEDTAPE_EXTERNAL_ABSOLUTE,
		  "0:until 500; 100:until 900 D; 200:until 1300; 300:exit" },
		{ SCHEDTAPE_EXTERNAL_RELATIVE,
		  "0:until 500; 100:for 300 D; 200:for 200; 300:exit" },
	};
	struct schedtape_program_options options = { 0 };
	size_t i;

	fake_begin(1000, 9000);
	fake_info(tape, 1, "one", STAPE_STATE_SLEEPING, 0);
	fake_story(tape, "1500 [0] irq wakes 1; 1500 [0] R -> 1; 1600 [0] D -> idle; "
			 "1900 [0] softirq wakes 1; 2000 [0] R -> 1; 2100 [0] S -> idle; "
			 "2300 [0] irq wakes 1; 2300 [0] R -> 1; 2400 [0] X -> idle");
	for (i = 0; i < sizeof(as) / sizeof(*as); i++) {
		options.external = as[i].external;
		compile_as(&options);
		is_program(0, as[i].program, "waits that external wake-ups end");
	}
}

/* Times that are too large for a program, because the tape is corrupt. */
TEST(times)
{
	fake_begin(0, UINT64_MAX);
	fake_switch(tape, UINT64_MAX - 1, 0, STAPE_STATE_RUNNING, 1);
	fake_switch(tape, UINT64_MAX, 0, STAPE_STATE_SLEEPING, 0);
	compile();
	ok(program && program->duration == (1ULL << 56) - 1, "a duration without end has one");
}

/* Activity of a task between its EXIT and its last switch is a part of its program. */
TEST(after_exit)
{
	fake_begin(1000, 9000);
	fake_info(tape, 1, "one", STAPE_STATE_RUNNING, 0);
	fake_info(tape, 2, "two", STAPE_STATE_SLEEPING, 1);
	fake_story(tape, "1000 [0] R -> 1; 1100 [0] exit 1; 1200 [0] wakes 2; 1200 [1] R -> 2; "
			 "1300 [0] D -> idle; 1500 [1] wakes 1; 1500 [0] R -> 1; "
			 "1600 [1] S -> idle; 1700 [0] X -> idle");
	compile();
	is_program(0, "0:until 0; 200:wake 0; 300:wait 1 D; 500:exit",
		   "a wake-up, a wait and CPU time behind an EXIT");
	is_program(1, "0:wait 0; 300:wake 1; 400:exit",
		   "a task that the exiting task wakes, and that wakes it");
}

TEST(no_sleep)
{
	fake_begin(0, 9000);
	fake_info(tape, 1, "one", STAPE_STATE_RUNNING, 0);
	fake_info(tape, 2, "two", STAPE_STATE_RUNNING, 1);
	fake_story(tape, "0 [0] R -> 1; 0 [1] R -> 2");
	fake_wake(tape, 100, 0, 2, STAPE_CTX_TASK);	/* 2 runs: no effect */
	fake_story(tape, "200 [1] R -> idle; 300 [1] R -> 2; 400 [1] S -> idle; "
			 "500 [0] softirq waking 2; 510 [1] woken 2; 600 [1] R -> 2; "
			 "700 [1] X -> idle");
	compile();
	is_program(0, "0:until 0; 9000:exit",
		   "a wake-up of a task that does not sleep is left out");
	is_program(1, "0:until 0; 300:until 510; 400:exit",
		   "a preemption ends no burst, a softirq wakes externally");
}

/* The waking comes before the wakee's switch-out on another CPU, the wake-up after it. */
TEST(overlap)
{
	fake_begin(0, 1000);
	fake_story(tape, "0 [0] R -> 1; 0 [1] R -> 2; 100 [0] waking 2; 110 [1] S -> idle; "
			 "120 [0] S -> idle; 130 [1] woken 2; 140 [1] R -> 2");
	compile();
	is_program(0, "0:until 0; 100:wake 0; 120:exit",
		   "a wake-up stands where its waker was, though it came through later");
	is_program(1, "0:until 0; 110:wait 0; 970:exit", "and ends the sleep");
}

TEST(structure)
{
	fake_begin(0, 1000);
	fake_story(tape, "0 [0] R -> 1; 100 [0] forks 2; 150 [0] forks thread 3; 200 [0] S -> 2; "
			 "250 [0] names 2 child; 300 [0] exit 2; 320 [0] wakes 1; 350 [0] X -> 1; "
			 "400 [0] X -> 3; 500 [0] X -> idle");
	compile();
	is_program(0, "0:until 0; 100:fork 1; 150:fork 2; 200:wait 0; 250:exit",
		   "forks stand at the parent's CPU time");
	is_program(1, "50:name child; 120:wake 0; 150:exit",
		   "a child begins with its fork, and wakes its parent after exit()");
	is_program(2, "100:exit", "a thread");
	ok(program && program->nr_tasks == 3 && program->tasks[1].parent == 0 &&
	   program->tasks[1].process == 1, "the child is a process");
	ok(program && program->nr_tasks == 3 && program->tasks[2].parent == 0 &&
	   program->tasks[2].process == 0, "the thread is one of its parent's process");
}

/* 11 forks 12, which may be brief. */
TEST(brief)
{
	static const struct {
		const char *story;
		bool brief;
		const char *what;
	} children[] = {
		{ "150 [0] names 12 child; 160 [0] wakes 11; 1000100 [0] X -> 11", true,
		  "a child of 1 ms that wakes its parent and changes its name is brief" },
		{ "1000101 [0] X -> 11", false, "a longer one is not" },
		{ "150 [0] S -> 11; 200 [0] wakes 12; 200 [0] S -> 12; 300 [0] X -> idle", false,
		  "nor one that sleeps" },
		{ "150 [0] forks 13; 200 [0] X -> 11", false, "nor one that forks" },
		{ "200 [0] R -> 11", false, "nor one that does not end on the tape" },
		{ "200 [0] R -> 11; 300 [0] X -> 12; 400 [0] X -> idle", false,
		  "nor one that ends after its parent" },
	};
	size_t i;

	for (i = 0; i < sizeof(children) / sizeof(*children); i++) {
		fake_begin(0, 2000000);
		fake_story(tape, "0 [0] R -> 11; 100 [0] forks 12; 100 [0] S -> 12");
		fake_story(tape, children[i].story);
		compile();
		ok(program && program->tasks[1].brief == children[i].brief, "%s",
		   children[i].what);
	}
	fake_begin(0, 2000);
	fake_story(tape, "0 [0] R -> 1; 100 [0] forks thread 2; 100 [0] R -> 2; 200 [0] X -> 1");
	compile();
	ok(program && !program->tasks[1].brief, "nor a thread");
}

/* In a process that exists from the start: with those of its threads that no task creates. */
TEST(threads)
{
	fake_begin(0, 1000);
	fake_info(tape, 1, "one", STAPE_STATE_SLEEPING, 0);
	fake_info(tape, 2, "two", STAPE_STATE_SLEEPING, 0)->tgid = 1;
	fake_info(tape, 3, "three", STAPE_STATE_SLEEPING, 0)->tgid = 1;
	fake_story(tape, "10 [0] R -> 1; 20 [0] forks thread 4; 30 [0] X -> idle");
	compile();
	ok(program && program->nr_tasks == 4 && program->nr_roots == 1 && !program->roots[0],
	   "one process");
	ok(program && program->nr_tasks == 4 && program->tasks[0].threads == 1 &&
	   program->tasks[1].sibling == 2 && program->tasks[2].sibling == SCHEDTAPE_NONE,
	   "it has its two threads from the start, in order, and makes the third");
}

/* Outside of the filter, a task waits for an external wake-up. */
TEST(leave)
{
	fake_begin(0, 9000);
	fake_info(tape, 1, "one", STAPE_STATE_SLEEPING, 0)->start_time = 5;
	fake_story(tape, "100 [0] irq wakes 1; 100 [0] R -> 1");
	fake_describe(tape, 200, 1, 1, STAPE_TASK_LEAVES, "one", 5);
	fake_switch(tape, 250, 0, STAPE_STATE_RUNNING, 0);
	fake_describe(tape, 1000, 1, 1, STAPE_TASK_ENTERS, "one", 5)->state = STAPE_STATE_SLEEPING;
	fake_describe(tape, 1100, 1, 2, STAPE_TASK_ENTERS, "two", 6);
	fake_story(tape, "1500 [1] irq wakes 1; 1600 [0] R -> 1; 1650 [0] own softirq wakes 3; "
			 "1700 [0] S -> 2; 1800 [0] X -> idle");
	fake_describe(tape, 2000, 1, 1, STAPE_TASK_LEAVES, "one", 5);
	compile();
	is_program(0, "0:until 100; 100:until 1000; 100:until 1500; 150:wake 0!; 200:exit",
		   "a task that leaves and comes back");
	is_program(1, "0:until 1100; 100:exit", "a task that enters begins then");
	is_program(2, "0:wait 0; 0:exit", "a wake-up out of a softirq of one's own");
}

/* A task that is described only at the end. */
TEST(late)
{
	fake_begin(0, 9000);
	fake_story(tape, "100 [0] R -> 1; 200 [0] S -> 2");
	fake_describe(tape, 250, 0, 2, STAPE_TASK_EXITS, "thread", 5)->tgid = 1;
	fake_switch(tape, 300, 0, STAPE_STATE_DEAD, 0);
	compile();
	ok(program && program->nr_tasks == 2 && !strcmp(program->tasks[1].name, "thread") &&
	   program->tasks[1].process == 0, "a late name is there from the start, and a late group");
	is_program(1, "0:until 0; 100:exit", "and no rename");
}

/* More tasks, edges and names than the first allocations hold. */
TEST(growth)
{
	uint32_t pid, right = 0;
	uint64_t t = 0;

	fake_begin(0, 1000000);
	fake_switch(tape, 0, 0, STAPE_STATE_RUNNING, 1);
	for (pid = 2; pid < 1002; pid++) {
		fake_fork(tape, t += 10, 0, pid, false);
		fake_switch(tape, t += 10, 0, STAPE_STATE_RUNNING, pid);
		fake_rename(tape, t += 10, 0, pid, "x");
		fake_switch(tape, t += 10, 0, STAPE_STATE_SLEEPING, 1);
	}
	for (pid = 2; pid < 1002; pid++)
		fake_wake(tape, t += 10, 0, pid, STAPE_CTX_TASK);
	compile();
	ok(program && program->nr_tasks == 1001 && program->nr_edges == 1000 &&
	   program->nr_names == 1000, "a thousand tasks, edges and names");
	for (pid = 0; program && pid < program->nr_edges; pid++)
		right += program->edges[pid] == pid + 1;
	ok(right == 1000, "each edge wakes the right one");
}

/* Lets a sleeping task run, in place of task 1, until @state.  It wakes @wakee; 0: none. */
static void run_once(uint64_t *t, uint32_t pid, uint32_t wakee, int state)
{
	fake_wake(tape, *t += 10, 0, pid, STAPE_CTX_HARDIRQ);
	fake_switch(tape, *t += 10, 0, STAPE_STATE_RUNNING, pid);
	if (wakee)
		fake_wake(tape, *t += 10, 0, wakee, STAPE_CTX_TASK);
	fake_switch(tape, *t += 10, 0, state, 1);
}

/* Tasks come and go, and each wakes another one, in any pairs: few numbers and edges are enough. */
TEST(numbers)
{
	enum { ALIVE = 64, STEPS = 3000 };
	const struct schedtape_program_options hasty = { .hasty = true };
	uint32_t pids[ALIVE] = { 0 }, last = 1, i, j, step;
	uint64_t t = 0;

	fake_begin(0, 10000000);
	fake_switch(tape, 0, 0, STAPE_STATE_RUNNING, 1);
	srandom(1);
	for (step = 0; step < STEPS; step++) {
		i = random() % ALIVE;
		j = random() % ALIVE;
		if (pids[i] && pids[j] && i != j) {
			run_once(&t, pids[i], pids[j], STAPE_STATE_SLEEPING);
			fake_switch(tape, t += 10, 0, STAPE_STATE_RUNNING, pids[j]);
			fake_switch(tape, t += 10, 0, STAPE_STATE_SLEEPING, 1);
		}
		if (pids[i])
			run_once(&t, pids[i], 0, STAPE_STATE_DEAD);
		pids[i] = ++last;
		fake_fork(tape, t += 10, 0, last, false);
		fake_switch(tape, t += 10, 0, STAPE_STATE_RUNNING, last);
		fake_switch(tape, t += 10, 0, STAPE_STATE_SLEEPING, 1);
	}
	compile_as(&hasty);
	ok(program && program->nr_tasks == STEPS + 1 && program->wakeups > STEPS / 2,
	   "many tasks, in pairs that change");
	ok(program && program->nr_players <= ALIVE + 2, "a number for each that is alive");
	ok(program && program->nr_edges <= 4 * ALIVE, "and some edges to each");
	if (program)
		printf("# %u tasks, %u numbers, %u edges, %u wake-ups\n", program->nr_tasks,
		       program->nr_players, program->nr_edges, (unsigned int)program->wakeups);
}

TEST(nothing)
{
	const struct schedtape_program_options options = { 0 };
	struct schedtape_program *none;
	struct schedtape_error err = { "" };

	fake_begin(0, 10);
	ok(schedtape_program_compile(tape, &options, &none, &err) < 0 && err.text[0],
	   "a tape without a task is refused, with a reason");
}

TEST_MAIN
